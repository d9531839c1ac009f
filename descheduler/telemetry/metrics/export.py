"""Where the metrics of a batch job go, which cannot be scraped: a file for the node exporter, or a Pushgateway."""

from __future__ import annotations

import logging
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError, URLError

import msgspec

from descheduler.output_file import written_file
from descheduler.telemetry.faults import error_words
from descheduler.telemetry.logging import fields
from descheduler.telemetry.metrics.table import LAST_SUCCESS
from descheduler.telemetry.run_record import RunRecord

_logger = logging.getLogger(__name__)
_PUSH_TIMEOUT_SECONDS = 5.0
_FOR_ALL = 0o666
"""The node exporter runs as another user; the umask says who may not read metrics."""
_LAST_SUCCESS_GROUP = {"group": "last_success"}
"""Pushing replaces a whole group, and a failed run must not remove when the last one succeeded."""


class MetricsTarget(msgspec.Struct, frozen=True):
    """Where metrics are to go: a file, the base URL of a Pushgateway, both or neither; `push_job` is the label job."""

    textfile: Path | None = None
    push_url: str | None = None
    push_job: str = "descheduler"


def export_metrics(record: RunRecord, target: MetricsTarget) -> None:
    """Writes and pushes the metrics of a run. A fault is a warning: it changes nothing about the run."""
    if target.textfile is not None:
        try:
            _write(record, target.textfile)
        except OSError as error:
            why = error_words(error)
            _logger.warning("Metrics not written", extra=fields(file=str(target.textfile), reason=why))
    if target.push_url is not None:
        try:
            _push(record, target.push_url, target.push_job)
        except (OSError, HTTPException, ValueError) as error:
            _logger.warning("Metrics not pushed", extra=fields(url=target.push_url, reason=_why_not_pushed(error)))


def _why_not_pushed(error: Exception) -> str:
    """A few words without the error's own text, which may quote the address of a proxy with its password."""
    if isinstance(error, HTTPError):
        return f"the server answered {error.code}"
    cause = error.reason if isinstance(error, URLError) and isinstance(error.reason, OSError) else error
    return error_words(cause)


def _write(record: RunRecord, file: Path) -> None:
    """Replaces the file in one step, so that no reader sees half of it. Raises OSError."""
    from prometheus_client import generate_latest

    from descheduler.telemetry.metrics.families import run_registry

    last_success = record.ended_at if record.is_success else _last_success_in(file)
    text = generate_latest(run_registry(record, last_success=last_success))
    # A run does not end later because nobody reads a pipe.
    with written_file(file, mode=_FOR_ALL, waits_for_reader=False) as out:
        out.write(text)


def _last_success_in(file: Path) -> float | None:
    """What an earlier run wrote; None when there is nothing that can be read."""
    from prometheus_client.parser import text_string_to_metric_families

    if not file.is_file():  # reading a pipe or a terminal would wait for what nobody writes
        return None
    try:
        families = text_string_to_metric_families(file.read_text("utf-8"))
        samples = [sample for family in families for sample in family.samples if sample.name == LAST_SUCCESS]
    except Exception:  # the parser raises whatever its steps raise, and the file can hold anything
        return None
    return samples[0].value if samples else None


def _push(record: RunRecord, url: str, job: str) -> None:
    """Replaces what the last run of the same shard pushed. Raises OSError, HTTPException or ValueError."""
    from prometheus_client import push_to_gateway

    from descheduler.telemetry.metrics.families import last_success_registry, run_registry

    group = {} if record.shard.is_whole else {"shard": str(record.shard.index)}
    registry = run_registry(record, last_success=None)
    push_to_gateway(url, job, registry, grouping_key=group, timeout=_PUSH_TIMEOUT_SECONDS)
    if record.is_success:
        registry, group = last_success_registry(record), {**group, **_LAST_SUCCESS_GROUP}
        push_to_gateway(url, job, registry, grouping_key=group, timeout=_PUSH_TIMEOUT_SECONDS)
