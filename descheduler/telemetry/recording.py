"""Watches one run from beginning to end and leaves its figures behind, whichever way it ends."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import msgspec

from descheduler.supervision import RunStopped, Watch
from descheduler.telemetry.logging import fields
from descheduler.telemetry.metrics.export import MetricsTarget, export_metrics
from descheduler.telemetry.notifying import NoticeTarget, notify
from descheduler.telemetry.observer import RunObserver
from descheduler.telemetry.run_record import RunRecord
from descheduler.telemetry.tracing import OtlpSettings, traced

_logger = logging.getLogger(__name__)
_EXPORT_SECONDS = 15.0
"""For the file and two pushes; each push has five seconds for each of its steps."""
_NOTIFY_SECONDS = 10.0


class TelemetrySettings(msgspec.Struct, frozen=True):
    """What a run leaves behind beside its document and its log; nothing by default."""

    metrics: MetricsTarget = msgspec.field(default_factory=MetricsTarget)
    otlp: OtlpSettings | None = None
    notice: NoticeTarget | None = None
    keep: Callable[[RunRecord], None] = lambda record: None
    """Takes the record of a run that has ended."""


@contextmanager
def recorded(
    settings: TelemetrySettings, exit_code_of: Callable[[BaseException], int | None], watch: Watch
) -> Iterator[RunRecord]:
    """The record of a run that lasts as long as the context; at its end metrics are written, traces are sent, and
    the webhook is told.

    `exit_code_of` tells how an exception ends the program; None means that there was no run, so that nothing is
    written and what the last run left stays. `watch` bounds both when its time is over.
    """
    with traced(settings.otlp, patience_seconds=watch.patience_seconds) as spans:
        record = RunRecord(RunObserver(spans=spans))
        has_run = True
        try:
            with record.observer.run():
                yield record
        except BaseException as error:
            code = exit_code_of(error)
            has_run = code is not None
            record.exit_code = code or 0
            raise
        finally:
            record.ended_at = time.time()
            if has_run:
                settings.keep(record)
                _export(record, settings.metrics, watch)
                _notify(record, settings.notice, watch)


def _export(record: RunRecord, target: MetricsTarget, watch: Watch) -> None:
    if target.textfile is None and target.push_url is None:
        return
    try:
        watch.finish("exporting metrics", partial(export_metrics, record, target), most_seconds=_EXPORT_SECONDS)
    except (RunStopped, TimeoutError):
        where = fields(file=str(target.textfile or ""), url=target.push_url or "", reason="not done in time")
        _logger.warning("Metrics may be incomplete", extra=where)
    except Exception as error:  # the run is over, and how it ended is what counts
        _logger.error("Metrics not written", extra=fields(err=type(error).__name__))


def _notify(record: RunRecord, target: NoticeTarget | None, watch: Watch) -> None:
    if target is None:
        return
    try:
        watch.finish("notifying", partial(notify, record, target), most_seconds=_NOTIFY_SECONDS)
    except (RunStopped, TimeoutError):
        _logger.warning("Notification not sent", extra=fields(reason="not done in time"))
    except Exception as error:  # the run is over, and how it ended is what counts
        _logger.error("Notification not sent", extra=fields(err=type(error).__name__))
