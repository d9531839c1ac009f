"""What is left of a run, whichever way it ends."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from descheduler.supervision import Watch
from descheduler.telemetry import recording
from descheduler.telemetry.metrics.export import MetricsTarget
from descheduler.telemetry.notifying import NoticeTarget
from descheduler.telemetry.recording import TelemetrySettings, recorded
from descheduler.telemetry.run_record import RunRecord
from tests.telemetry.webhook import Webhook, webhook

__all__ = ["webhook"]


class OddEndError(Exception):
    """How a run ends in these tests."""


def record_run(settings: TelemetrySettings, error: Exception | None = None, code: int | None = None) -> RunRecord:
    """A run that reaches its end with exit code 0, or ends with `error`, which the program ends with `code` for."""
    kept = []
    try:
        with recorded(settings, lambda _: code, Watch()) as record:
            kept.append(record)
            record.exit_code = 0
            if error is not None:
                raise error
    except OddEndError:
        pass
    return kept[0]


def warned(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str, object]]:
    return [(record.levelname, record.message, vars(record)["event_fields"]) for record in caplog.records]


def test_record_of_a_run_that_ended_is_kept() -> None:
    kept: list[RunRecord] = []

    record = record_run(TelemetrySettings(keep=kept.append))

    assert kept == [record]
    assert (record.exit_code, record.ended_at > 0) == (0, True)
    assert record.observer.run_seconds is not None


@pytest.mark.parametrize(("code", "is_kept"), [(4, True), (0, True), (None, False)])
def test_error_ends_a_run_with_its_exit_code_or_says_that_there_was_none(code: int | None, is_kept: bool) -> None:
    kept: list[RunRecord] = []

    record = record_run(TelemetrySettings(keep=kept.append), OddEndError(), code)

    assert (record.exit_code, bool(kept)) == (code or 0, is_kept)


def test_metrics_are_written_and_the_webhook_is_told_of_a_run(webhook: Webhook, tmp_path: Path) -> None:
    settings = TelemetrySettings(
        MetricsTarget(tmp_path / "m.prom"), notice=NoticeTarget("x", webhook.url, when="always")
    )

    record_run(settings)

    assert b"descheduler_build_info" in (tmp_path / "m.prom").read_bytes()
    assert len(webhook.requests) == 1


def test_nothing_is_left_where_there_was_no_run(webhook: Webhook, tmp_path: Path) -> None:
    settings = TelemetrySettings(
        MetricsTarget(tmp_path / "m.prom"), notice=NoticeTarget("x", webhook.url, when="always")
    )

    record_run(settings, OddEndError(), None)

    assert (webhook.requests, list(tmp_path.iterdir())) == ([], [])


def test_nothing_is_left_where_nothing_was_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    record_run(TelemetrySettings())

    assert warned(caplog) == []


@pytest.mark.parametrize(
    ("error", "level", "message", "why"),
    [
        (
            TimeoutError(),
            "WARNING",
            "Metrics may be incomplete",
            {"file": "", "url": "http://h", "reason": "not done in time"},
        ),
        (ZeroDivisionError(), "ERROR", "Metrics not written", {"err": "ZeroDivisionError"}),
    ],
)
def test_fault_of_the_metrics_changes_nothing_about_the_run(
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    level: str,
    message: str,
    why: object,
) -> None:
    def fail(record: RunRecord, target: MetricsTarget) -> None:
        raise error

    monkeypatch.setattr(recording, "export_metrics", fail)

    record = record_run(TelemetrySettings(MetricsTarget(push_url="http://h")))

    assert record.exit_code == 0
    assert warned(caplog) == [(level, message, why)]


@pytest.mark.parametrize(
    ("error", "level", "why"),
    [
        (TimeoutError(), "WARNING", {"reason": "not done in time"}),
        (ZeroDivisionError(), "ERROR", {"err": "ZeroDivisionError"}),
    ],
)
def test_fault_of_the_notice_changes_nothing_about_the_run(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, error: Exception, level: str, why: object
) -> None:
    def fail(record: RunRecord, target: NoticeTarget) -> None:
        raise error

    monkeypatch.setattr(recording, "notify", fail)
    with caplog.at_level(logging.WARNING):
        record_run(TelemetrySettings(notice=NoticeTarget("x", "http://h")))

    assert warned(caplog) == [(level, "Notification not sent", why)]
