"""One entry to all writers: a document in the format that was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from descheduler.report.explanation.document import Explanation
from descheduler.report.explanation.table import explanation_table
from descheduler.report.json_text import json_text
from descheduler.report.outcome_document import Outcome
from descheduler.report.palette import PLAIN, Palette
from descheduler.report.plan_document import Plan
from descheduler.report.table import TableStyle, outcome_table, plan_table
from descheduler.report.yaml_lines import yaml_lines

__all__ = ["Format", "render"]

Format = Literal["table", "wide", "json", "yaml"]


def render(
    document: Plan | Outcome | Explanation, output_format: Format, *, width: int | None = None, palette: Palette = PLAIN
) -> Iterator[str]:
    """The pieces of text, each with its newlines, that together show `document`. Width and colours are for tables."""
    match output_format:
        case "json":
            yield json_text(document)
        case "yaml":
            yield from yaml_lines(document)
        case "table" | "wide":
            style = TableStyle(is_wide=output_format == "wide", width=width, palette=palette)
            yield from (f"{line}\n" for line in _table(document, style))


def _table(document: Plan | Outcome | Explanation, style: TableStyle) -> Iterator[str]:
    match document:
        case Plan():
            return plan_table(document, style)
        case Outcome():
            return outcome_table(document, style)
        case Explanation():
            return explanation_table(document, style)
