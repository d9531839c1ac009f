from __future__ import annotations

from pathlib import Path

import pytest

from descheduler.cli.flags.upstream import IDLE_FLAGS, IdleFlag
from tests.cli.commands import Descheduler


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
    assert "a run is a single cycle; use a CronJob or 'descheduler loop' to repeat it" in ended.err
    assert "1 pod would be evicted" in ended.out
