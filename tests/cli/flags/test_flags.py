from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest

from descheduler.cli.flags.go import GoFlagsCommand
from descheduler.cli.flags.upstream import IDLE_FLAGS, IdleFlag
from descheduler.cli.flags.values import read_duration, read_feature_gates, read_instant, read_rate
from tests.cli.commands import Descheduler

CONTEXT = click.Context(click.Command("test"))
OPTION = click.Option(["--test"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("2026-06-30T12:00:00Z", datetime(2026, 6, 30, 12, tzinfo=UTC), id="UTC"),
        pytest.param("2026-06-30t12:00:00z", datetime(2026, 6, 30, 12, tzinfo=UTC), id="small letters"),
        pytest.param("2026-06-30T14:00:00+02:00", datetime(2026, 6, 30, 12, tzinfo=UTC), id="another zone"),
        pytest.param(
            "2026-06-30T12:00:00.123456789Z", datetime(2026, 6, 30, 12, 0, 0, 123456, tzinfo=UTC), id="nanoseconds"
        ),
        pytest.param("2026-06-30T12:00:00.5Z", datetime(2026, 6, 30, 12, 0, 0, 500000, tzinfo=UTC), id="half a second"),
    ],
)
def test_instants_are_read_as_rfc_3339(text: str, expected: datetime) -> None:
    assert read_instant(CONTEXT, OPTION, text) == expected


def test_durations_are_read_as_go_does() -> None:
    assert read_duration(CONTEXT, OPTION, "1h30m") == timedelta(minutes=90)


def test_a_rate_of_zero_leaves_the_choice_to_the_policy() -> None:
    assert read_rate(CONTEXT, OPTION, 0.0) is None
    assert read_rate(CONTEXT, OPTION, 2.5) == 2.5


@pytest.mark.parametrize(
    ("texts", "is_on"),
    [
        pytest.param((), False, id="off unless asked for"),
        pytest.param(("EvictionsInBackground=true",), True, id="on when asked for"),
        pytest.param(("AllAlpha=true",), True, id="on with all of its kind"),
        pytest.param(("AllBeta=true",), False, id="not with another kind"),
        pytest.param(("AllAlpha=true,EvictionsInBackground=false",), False, id="its own switch wins"),
        pytest.param(("EvictionsInBackground=true", "EvictionsInBackground=false"), False, id="the last one counts"),
    ],
)
def test_feature_gates(texts: tuple[str, ...], is_on: bool) -> None:
    assert read_feature_gates(CONTEXT, OPTION, texts) == {"EvictionsInBackground": is_on}


@click.command(cls=GoFlagsCommand)
@click.option("--dry-run/--no-dry-run", default=False)
@click.option("--quiet", is_flag=True)
@click.option("-v", "--v", "level", type=int, default=0)
@click.option("--config-file")
@click.argument("rest", nargs=-1)
def sample(**flags: object) -> Mapping[str, object]:
    return flags


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(["--config_file=a_b"], {"config_file": "a_b"}, id="underscores in names, not in values"),
        pytest.param(["--config_file", "a_b"], {"config_file": "a_b"}, id="underscores with the value apart"),
        pytest.param(["--dry-run=true"], {"dry_run": True}, id="a boolean with its value"),
        pytest.param(["--dry_run=T"], {"dry_run": True}, id="a short boolean"),
        pytest.param(["--dry-run", "--dry-run=false"], {"dry_run": False}, id="the last boolean counts"),
        pytest.param(["--quiet=0"], {"quiet": False}, id="a boolean that has no opposite"),
        pytest.param(["-v=4"], {"level": 4}, id="a short flag with an equals sign"),
        pytest.param(["-v4"], {"level": 4}, id="a short flag with its value attached"),
        pytest.param(["--v=4"], {"level": 4}, id="a single letter with two dashes"),
        pytest.param(["--", "--a_b=c"], {"rest": ("--a_b=c",)}, id="nothing is a flag after two dashes"),
    ],
)
def test_flags_are_taken_as_go_programs_take_them(arguments: list[str], expected: Mapping[str, object]) -> None:
    flags = sample.main(arguments, standalone_mode=False)

    assert flags | expected == flags


@pytest.mark.parametrize("flag", IDLE_FLAGS, ids=lambda flag: flag.name)
def test_flags_of_upstream_without_effect_are_taken_with_one_warning(
    descheduler: Descheduler, policy: Path, dump: Path, flag: IdleFlag
) -> None:
    value = () if flag.is_boolean else ("7",)

    ended = descheduler("run", "--config", policy, "--snapshot", dump, f"--{flag.name}", *value)

    warnings = [line for line in ended.err.splitlines() if line.startswith("W")]
    assert ended.code == 0
    assert len(warnings) == 1
    assert f'flag="--{flag.name}" reason="{flag.why}"' in warnings[0]


@pytest.mark.parametrize(
    "flag",
    ["--descheduling-interval=0", "--leader-elect=false", "--secure-port=0", "--otel-collector-endpoint="],
)
def test_asking_for_what_is_done_anyway_is_not_warned_of(
    descheduler: Descheduler, policy: Path, dump: Path, flag: str
) -> None:
    ended = descheduler("run", "--config", policy, "--snapshot", dump, flag)

    assert ended.code == 0
    assert "has no effect" not in ended.err


def test_the_arguments_of_upstreams_manifests_work_unchanged(
    descheduler: Descheduler, policy: Path, dump: Path
) -> None:
    arguments = [f"--policy-config-file={policy}", "--descheduling-interval=5m", "--v=3", "--leader-elect=true"]

    ended = descheduler(*arguments, f"--snapshot={dump}", "--now=2026-06-30T12:00:00Z")

    assert ended.code == 0
    assert "runs once; let the CronJob repeat it" in ended.err
    assert "1 pod would be evicted" in ended.out
