from __future__ import annotations

import logging
from pathlib import Path

import pytest

from descheduler.model.shard import WHOLE_CLUSTER, Shard
from descheduler.telemetry.metrics.export import MetricsTarget, export_metrics
from descheduler.telemetry.metrics.table import LAST_SUCCESS
from descheduler.telemetry.run_record import RunRecord
from tests.telemetry.pushgateway import Pushgateway, pushgateway

__all__ = ["pushgateway"]


def reason_of(record: logging.LogRecord) -> object:
    """The field `reason` of an event."""
    return vars(record)["event_fields"]["reason"]


def test_refused_push_is_a_warning_with_the_status(pushgateway: Pushgateway, caplog: pytest.LogCaptureFixture) -> None:
    pushgateway.status_code = 503

    export_metrics(RunRecord(), MetricsTarget(push_url=pushgateway.url))

    assert [reason_of(record) for record in caplog.records] == ["the server answered 503"]


@pytest.mark.parametrize(
    ("proxy", "reason"),
    [
        pytest.param("http://ops:s3cr3t@127.0.0.1:1", "connection refused", id="a proxy that is not there"),
        pytest.param("http://ops:s3cr3t@127.0.0.1:s3cr3t", "InvalidURL", id="a proxy with an odd port"),
        pytest.param("s3cr3t://ops:s3cr3t@127.0.0.1:1", "URLError", id="a proxy of another kind"),
    ],
)
def test_password_of_a_proxy_is_not_shown_when_a_push_fails(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, proxy: str, reason: str
) -> None:
    for name in ("HTTP_PROXY", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", proxy)

    export_metrics(RunRecord(), MetricsTarget(push_url="http://192.0.2.1:9091"))

    (warning,) = caplog.records
    assert reason_of(warning) == reason
    assert "s3cr3t" not in str(vars(warning))


def test_each_shard_pushes_to_a_group_of_its_own(pushgateway: Pushgateway) -> None:
    for shard in (WHOLE_CLUSTER, Shard(0, 2), Shard(1, 2)):
        export_metrics(RunRecord(shard=shard, exit_code=0), MetricsTarget(push_url=pushgateway.url))

    groups = {path.removeprefix("/metrics/job/descheduler") for path in pushgateway.groups}
    of_runs = {"", "/shard/0", "/shard/1"}
    assert groups == of_runs | {f"/group/last_success{group}" for group in of_runs}


def value_in(file: Path, name: str) -> float | None:
    """The value of a metric without labels in the file."""
    lines = [line for line in file.read_text().splitlines() if line.startswith(f"{name} ")]
    return float(lines[0].rpartition(" ")[2]) if lines else None


def test_file_keeps_when_the_last_run_succeeded_although_later_ones_fail(tmp_path: Path) -> None:
    file = tmp_path / "m.prom"

    for exit_code, ended_at, last_success in ((1, 10.0, None), (0, 20.0, 20.0), (1, 30.0, 20.0), (3, 40.0, 40.0)):
        export_metrics(RunRecord(exit_code=exit_code, ended_at=ended_at), MetricsTarget(file))

        assert value_in(file, LAST_SUCCESS) == last_success
        assert value_in(file, "descheduler_run_exit_code") == exit_code


@pytest.mark.parametrize("content", [b"\xff", b"{ oops", b"other 5\n"])
def test_file_that_holds_something_else_is_replaced(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "m.prom"
    file.write_bytes(content)

    export_metrics(RunRecord(exit_code=1, ended_at=1.0), MetricsTarget(file))

    assert value_in(file, LAST_SUCCESS) is None
    assert value_in(file, "descheduler_run_exit_code") == 1


def test_file_that_cannot_be_written_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    export_metrics(RunRecord(), MetricsTarget(tmp_path / "none" / "m.prom"))

    assert [reason_of(record) for record in caplog.records] == ["no such file or directory"]
