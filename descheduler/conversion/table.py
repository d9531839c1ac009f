"""The converters: one table, a row for each form of configuration that can be converted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from descheduler.conversion.conversion import Conversion
from descheduler.conversion.descheduler_policy import convert_descheduler_policy, is_descheduler_policy
from descheduler.conversion.volcano_scheduler import convert_volcano_scheduler, is_volcano_scheduler
from descheduler.documents.document import Document
from descheduler.documents.problems import DocumentProblem, PolicyError
from descheduler.documents.source import read_document

__all__ = ["CONVERTERS", "Converter", "convert_file"]


class Converter(msgspec.Struct, frozen=True):
    """One form: how it is called, what it is called in a ConfigMap, and what becomes of it."""

    name: str
    noun: str
    recognizes: Callable[[Document], bool]
    convert: Callable[[Document], Conversion]
    """Raises PolicyError where nothing can come of it."""


CONVERTERS: tuple[Converter, ...] = (
    Converter("DeschedulerPolicy", "policy", is_descheduler_policy, convert_descheduler_policy),
    Converter("volcano-scheduler.conf", "scheduler configuration", is_volcano_scheduler, convert_volcano_scheduler),
)


def convert_file(path: Path) -> Conversion:
    """What becomes of the configuration in a file, or in the ConfigMap in it.

    Raises PolicyError where it cannot be read, or is of none of the forms.
    """
    unread: list[PolicyError] = []
    for row in CONVERTERS:
        try:
            document = read_document(path, None, row.noun)
        except PolicyError as error:  # a ConfigMap without the one form may hold another
            unread.append(error)
            continue
        if row.recognizes(document):
            return row.convert(document)
    if len(unread) == len(CONVERTERS):
        raise unread[0]
    names = " or ".join(row.name for row in CONVERTERS)
    raise PolicyError([DocumentProblem(str(path), None, None, "", f"is not a {names}, which can be converted")])
