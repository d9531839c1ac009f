"""One entry to all writers: a document in the format that was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal

from msgspec.structs import replace

from descheduler.documents.fields import Fields
from descheduler.report.formats.json_text import json_pieces
from descheduler.report.outcome.document import OutcomeDocument
from descheduler.report.outcome.status_document import StatusDocument
from descheduler.report.plan.document import Plan
from descheduler.report.simulation_document import Simulation
from descheduler.report.tables.table_style import TableStyle

Format = Literal["table", "wide", "json", "yaml"]
"""Formats that every document has."""
PictureFormat = Literal["html", "markdown"]
"""Formats of plans and simulations alone."""
FlatFormat = Literal["name", "csv", "jsonl"]
"""Formats of plans and outcomes alone."""

_PLAIN_TABLE = TableStyle()


class TabledDocument(Fields, frozen=True):
    """Base of documents that are put together in packages above, and that know their tables."""

    def head(self) -> Sequence[str]:
        """What the line above its tables says, part by part."""
        raise NotImplementedError

    def table(self, style: TableStyle) -> Iterator[str]:
        """The lines of its tables."""
        raise NotImplementedError


def render(
    document: Plan | OutcomeDocument | StatusDocument | Simulation | TabledDocument,
    output_format: Format | FlatFormat | PictureFormat,
    style: TableStyle = _PLAIN_TABLE,
) -> Iterator[str]:
    """The pieces of text, each with its newlines, that together show `document`. `style` is for tables and CSV.

    Raises ValueError for a format that the document does not have.
    """
    # Who asks for one format goes without the others, and what makes them.
    match output_format, document:
        case "json", _:
            yield from json_pieces(document)
        case "yaml", _:
            from descheduler.report.formats.yaml_lines import yaml_lines

            yield from yaml_lines(document)
        case (("table" | "wide"), _):
            from descheduler.report.tables.head_line import head_lines, head_parts

            style = replace(style, is_wide=output_format == "wide")
            head = document.head() if isinstance(document, TabledDocument) else head_parts(document)
            yield from (f"{line}\n" for line in chain(head_lines(head, style), _table(document, style)))
        case (("name" | "csv" | "jsonl"), (Plan() | OutcomeDocument())):
            yield from _flat(document, output_format, style)
        case "html", Plan():
            from descheduler.report.pictures.page import page_pieces

            yield from page_pieces(document)
        case "html", Simulation():
            from descheduler.report.pictures.page import simulation_pieces

            yield from simulation_pieces(document)
        case "markdown", Plan():
            from descheduler.report.pictures.markdown import markdown_lines

            yield from markdown_lines(document)
        case "markdown", Simulation():
            from descheduler.report.pictures.markdown import simulation_markdown

            yield from simulation_markdown(document)
        case _:
            raise ValueError(f"{type(document).__name__} cannot be written as {output_format}")


def _flat(document: Plan | OutcomeDocument, output_format: FlatFormat, style: TableStyle) -> Iterator[str]:
    from descheduler.report.formats.flat_rows import csv_lines, json_lines, names

    match output_format:
        case "name":
            return names(document)
        case "csv":
            return csv_lines(document, has_header=style.has_headers)
        case "jsonl":
            return json_lines(document)


def _table(
    document: Plan | OutcomeDocument | StatusDocument | Simulation | TabledDocument, style: TableStyle
) -> Iterator[str]:
    match document:
        case Plan():
            from descheduler.report.tables.plan_table import plan_table

            return plan_table(document, style)
        case OutcomeDocument():
            from descheduler.report.tables.outcome_table import outcome_table

            return outcome_table(document, style)
        case StatusDocument():
            from descheduler.report.tables.status_table import status_table

            return status_table(document, style)
        case Simulation():
            from descheduler.report.tables.simulation_table import simulation_table

            return simulation_table(document, style)
        case _:
            return document.table(style)
