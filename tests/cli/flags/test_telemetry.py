from __future__ import annotations

import os
from pathlib import Path

import click
import pytest

from descheduler.cli.flags.telemetry import takes_telemetry
from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.load import load_policy
from descheduler.telemetry.metrics.export import MetricsTarget
from descheduler.telemetry.notifying import NoticeTarget
from descheduler.telemetry.recording import TelemetrySettings
from descheduler.telemetry.tracing import OtlpSettings
from tests.cli.commands import Descheduler
from tests.report.decided_cycles import pod_life_time_policy


@click.command()
@takes_telemetry
def sample(**flags: object) -> object:
    return flags["telemetry"]


def settings(*arguments: str) -> TelemetrySettings:
    found: TelemetrySettings = sample.main(list(arguments), standalone_mode=False)(
        load_policy(pod_life_time_policy(), REGISTRY)
    )
    return found


def test_nothing_is_left_behind_unless_asked_for() -> None:
    assert settings() == TelemetrySettings(MetricsTarget(push_job="descheduler-main"))


def test_metrics_go_where_the_flags_say() -> None:
    found = settings("--metrics-textfile=a.prom", "--metrics-push-url=https://gateway/base", "--metrics-push-job=tidy")

    assert found == TelemetrySettings(MetricsTarget(Path("a.prom"), "https://gateway/base", "tidy"))


def test_flags_of_upstream_say_where_traces_go() -> None:
    found = settings(
        "--otel-collector-endpoint=collector:4317",
        "--otel-transport-ca-cert=ca.crt",
        "--otel-service-name=tidy",
        "--otel-trace-namespace=ops",
        "--otel-sample-rate=0.5",
    )

    assert found.otlp == OtlpSettings("collector:4317", Path("ca.crt"), "tidy", "ops", 0.5)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        pytest.param([], None, id="nobody"),
        pytest.param(["--notify-url", ""], None, id="an empty variable"),
        pytest.param(
            ["--notify-url", "https://hooks/x"],
            NoticeTarget("descheduler-main", "https://hooks/x", None, None, "json", "evictions"),
            id="a webhook",
        ),
        pytest.param(
            ["--notify-url-file=u", "--notify-token-file=t", "--notify-format=slack", "--notify-when=always"],
            NoticeTarget("descheduler-main", None, Path("u"), Path("t"), "slack", "always"),
            id="a webhook in a file",
        ),
    ],
)
def test_notifications_go_where_the_flags_say(flags: list[str], expected: NoticeTarget | None) -> None:
    assert settings(*flags).notice == expected


def test_webhook_is_told_of_a_run_without_a_valid_policy_and_nothing_else_is() -> None:
    flags = ["--notify-url=https://hooks/x", "--metrics-textfile=a.prom", "--otel-collector-endpoint=collector:4317"]

    found: TelemetrySettings = sample.main(flags, standalone_mode=False)(None)

    assert found == TelemetrySettings(
        notice=NoticeTarget("descheduler", "https://hooks/x", None, None, "json", "evictions")
    )


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param(
            ["--notify-url=https://h", "--notify-url-file=f"],
            "--notify-url and --notify-url-file exclude each other",
            id="two webhooks",
        ),
        pytest.param(
            ["--notify-token-file=t"], "--notify-token-file needs --notify-url or --notify-url-file", id="no webhook"
        ),
        pytest.param(
            ["--notify-url=https://me:secret@h"], "contains credentials; use --notify-token-file", id="a password"
        ),
        pytest.param(["--notify-url=hooks"], "is not a URL such as https://hooks.example.com/alerts", id="no URL"),
        pytest.param(["--metrics-push-url=http://me@h"], "contains credentials; remove them from the URL", id="a user"),
        pytest.param(["--metrics-push-url=gateway"], "is not a URL such as http://pushgateway:9091", id="no gateway"),
        pytest.param(
            ["--otel-collector-endpoint=me@h:1"], "contains credentials; remove them from the address", id="a collector"
        ),
    ],
)
def test_flags_that_make_no_sense_are_refused_without_what_they_hold(flags: list[str], message: str) -> None:
    with pytest.raises(click.UsageError) as raised:
        settings(*flags)

    assert message in raised.value.format_message()
    assert "secret" not in raised.value.format_message()


@pytest.mark.parametrize("flags", [["--notify-token-file=t", "--notify-url=https://h"], ["--notify-token-file="]])
def test_token_goes_with_a_webhook(flags: list[str]) -> None:
    settings(*flags)


@pytest.mark.parametrize("flag", ["--metrics-push-url=", "--otel-collector-endpoint=", "--notify-url-file="])
def test_empty_values_ask_for_nothing(flag: str) -> None:
    assert settings(flag) == settings()


def test_metrics_of_a_run_on_a_dump_are_written_as_well(
    descheduler: Descheduler, policy: Path, dump: Path, tmp_path: Path
) -> None:
    file = tmp_path / "run.prom"

    ended = descheduler("run", "--config", policy, "--snapshot", dump, "--metrics-textfile", file)

    text = file.read_text()
    assert ended.code == 0
    assert 'descheduler_snapshot_objects{kind="Pod"} 2.0' in text
    assert "descheduler_run_dry 1.0" in text


def test_dump_that_cannot_be_read_leaves_metrics_that_say_so(
    descheduler: Descheduler, policy: Path, tmp_path: Path
) -> None:
    file = tmp_path / "run.prom"

    ended = descheduler("run", "--config", policy, "--snapshot", tmp_path / "none", "--metrics-textfile", file)

    lines = file.read_text().splitlines()
    assert ended.code == 2
    assert "descheduler_run_exit_code 2.0" in lines
    assert not any(line.startswith("descheduler_last_success_timestamp_seconds") for line in lines)


def test_metrics_go_to_a_device_or_an_open_stream_without_replacing_it(
    descheduler: Descheduler, policy: Path, dump: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to("/dev/fd/1")

    with (tmp_path / "out").open("wb") as out:
        kept = os.dup(1)
        os.dup2(out.fileno(), 1)
        try:
            ended = descheduler("run", "--config", policy, "--snapshot", dump, "--metrics-textfile", link)
        finally:
            os.dup2(kept, 1)
            os.close(kept)

    assert ended.code == 0
    assert link.is_symlink()
    assert b"descheduler_" in (tmp_path / "out").read_bytes()


def test_metrics_are_not_mixed_into_the_plan(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    ended = descheduler("run", "--config", policy, "--snapshot", dump, "--metrics-textfile", "-")

    assert ended.code == 2
    assert "standard output is used for the plan; name a file" in ended.err
    assert ended.out == ""


def test_file_of_metrics_can_be_read_by_others(
    descheduler: Descheduler, policy: Path, dump: Path, tmp_path: Path
) -> None:
    """The node exporter is another user."""
    file = tmp_path / "run.prom"

    descheduler("run", "--config", policy, "--snapshot", dump, "--metrics-textfile", file)

    assert file.stat().st_mode & 0o044 == 0o044 & ~_umask()


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask
