"""The status of the last runs as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from descheduler.model.text.amounts import rounded_percent
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import printable
from descheduler.report.outcome.document import goal_text
from descheduler.report.outcome.predictions import hit_rate_text
from descheduler.report.outcome.status_document import RunSummary, StatusDocument, TakenUp
from descheduler.report.tables.columns import Row
from descheduler.report.tables.head_line import time_text
from descheduler.report.tables.summary import results_text
from descheduler.report.tables.table_style import TableStyle

_HEADER = (
    "TIME",
    "PLANNED",
    "EVICTED",
    "REFUSED",
    "FAILED",
    "NOT ATTEMPTED",
    "AS PREDICTED",
    "SECONDS",
    "API CALLS",
    "ENDED BY",
)


def status_table(status: StatusDocument, style: TableStyle) -> Iterator[str]:
    """A row for each run, the latest first, and more lines about the latest one."""
    yield from style.figures(_HEADER, [_row(run) for run in status.runs], title="Last runs")
    if status.runs:
        yield from _latest(status.runs[0], style)
    else:
        yield "no run"


def _row(run: RunSummary) -> Row:
    share = run.predictions.hit_rate
    return [
        time_text(run.at),
        f"{run.planned:,}",
        f"{run.counts.get('evicted', 0):,}",
        f"{run.counts.get('refused', 0):,}",
        f"{run.counts.get('failed', 0):,}",
        f"{run.counts.get('not-attempted', 0):,}",
        "" if share is None else rounded_percent(100 * share),
        f"{run.seconds:,.1f}",
        f"{run.num_api_calls:,}",
        run.stopped_by or run.skipped,
    ]


def _latest(run: RunSummary, style: TableStyle) -> Iterator[str]:
    evicted = ((each.plugin or "PodMigrationJobs of users", each.counts.get("evicted", 0)) for each in run.plugins)
    yield style.palette.heading("Latest run")
    yield from style.labelled(
        {
            "Version": printable(run.version),
            "Policy": printable(f"{run.policy} ({run.policy_digest})"),
            "Result": results_text(run.counts, run.unconfirmed),
            "Evicted by": ", ".join(printable(f"{plugin} {number:,}") for plugin, number in evicted if number),
            "Not evicted": _not_evicted(run.not_evicted),
            "Goal": "; ".join(map(goal_text, run.goals)),
            "Scheduled": hit_rate_text(run.predictions),
            "Earlier runs": _taken_up(run.taken_up),
            "Jobs of users": f"{run.taken_up.of_users:,} succeeded" if run.taken_up.of_users else "",
            "Reservations": f"{run.reservations_unused:,} not used" if run.reservations_unused else "",
        }
    )


def _not_evicted(num_by_code: Mapping[str, int]) -> str:
    by_code = ", ".join(printable(f"{code} {number:,}") for code, number in num_by_code.items())
    return f"{counted(sum(num_by_code.values()), 'pod')} ({by_code})" if num_by_code else ""


def _taken_up(taken_up: TakenUp) -> str:
    parts = (
        (taken_up.finished, "migration", "finished"),
        (taken_up.undone, "migration", "undone"),
        (taken_up.removed, "reservation", "removed"),
    )
    return ", ".join(f"{counted(number, what)} {done}" for number, what, done in parts if number)
