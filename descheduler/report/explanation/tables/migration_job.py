"""A PodMigrationJob as tables."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from descheduler.model.text.printable import printable
from descheduler.report.explanation.migration_job import MigrationJobExplanation
from descheduler.report.tables.table_style import TableStyle

__all__ = ["migration_job_table"]


def migration_job_table(job: MigrationJobExplanation, style: TableStyle) -> Iterator[str]:
    """Which pod moves and how, how far that has come, and what is in its way."""
    yield from style.heading(printable(f"PodMigrationJob {job.name}"))
    row = [job.pod.namespace, job.pod.name, job.node or "", job.mode or "default", _time(job.ends_at) or "never"]
    yield from style.table(["NAMESPACE", "POD", "NODE", "MODE", "TIME LIMIT"], [row])
    replacement = "" if job.replacement is None else f"{job.replacement.namespace}/{job.replacement.name}"
    row = [f"{job.phase}, paused" if job.is_paused else job.phase, job.condition, job.reason]
    yield from style.table(["PHASE", "STATUS", "REASON"], [row])
    yield from style.labelled({"Reservation": printable(job.reservation or ""), "Replacement": printable(replacement)})
    if job.reservation or replacement:
        yield ""
    rows = [[each.type, str(each.is_true), each.reason, _time(each.at)] for each in job.steps]
    yield from style.table(["CONDITION", "TRUE", "REASON", "SINCE"], rows)
    for note in job.notes:
        yield from style.paragraph(printable(note))
    if job.notes:
        yield ""


def _time(instant: datetime | None) -> str:
    return "" if instant is None else f"{instant:%Y-%m-%dT%H:%M:%SZ}"
