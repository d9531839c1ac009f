"""Explanations as tables for people."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.text.printable import printable
from descheduler.report.explanation.document import Explanation
from descheduler.report.explanation.tables.budget import budgets_table
from descheduler.report.explanation.tables.device import device_table
from descheduler.report.explanation.tables.group import group_table
from descheduler.report.explanation.tables.migration_job import migration_job_table
from descheduler.report.explanation.tables.node import node_table
from descheduler.report.explanation.tables.plugin import plugin_table
from descheduler.report.explanation.tables.pod import pod_table
from descheduler.report.explanation.tables.pod_group import pod_group_table
from descheduler.report.explanation.tables.quota import quota_explanation_table
from descheduler.report.explanation.tables.reservation import reservation_table
from descheduler.report.tables.table_style import TableStyle

__all__ = ["explanation_table"]


def explanation_table(explanation: Explanation, style: TableStyle) -> Iterator[str]:
    """Lines that show what was asked about, and last what the answer leaves out of account."""
    if explanation.pod is not None:
        yield from pod_table(explanation.pod, style)
    if explanation.node is not None:
        yield from node_table(explanation.node, style)
    if explanation.group is not None:
        yield from group_table(explanation.group, style)
    if explanation.plugin is not None:
        yield from plugin_table(explanation.plugin, style)
    if explanation.quota is not None:
        yield from quota_explanation_table(explanation.quota, style)
    if explanation.budgets is not None:
        yield from budgets_table(explanation.budgets, style)
    yield from _of_koordinator(explanation, style)
    left_out = () if explanation.snapshot is None else explanation.snapshot.skipped_objects
    for warning in (*explanation.warnings, *(f"left out: {sentence}" for sentence in left_out)):
        yield style.palette.warning(f"warning: {printable(warning)}")


def _of_koordinator(explanation: Explanation, style: TableStyle) -> Iterator[str]:
    if explanation.reservation is not None:
        yield from reservation_table(explanation.reservation, style)
    if explanation.pod_group is not None:
        yield from pod_group_table(explanation.pod_group, style)
    if explanation.device is not None:
        yield from device_table(explanation.device, style)
    if explanation.migration_job is not None:
        yield from migration_job_table(explanation.migration_job, style)
