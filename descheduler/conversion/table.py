"""The converters: one table, a row for each form of configuration that can be converted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from descheduler.conversion.conversion import Conversion, ConversionNotes
from descheduler.conversion.descheduler_policy import convert_descheduler_policy, is_descheduler_policy
from descheduler.conversion.strategies_policy import convert_strategies_policy, is_strategies_policy
from descheduler.conversion.volcano_scheduler import convert_volcano_scheduler, is_volcano_scheduler
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.document import Document, member_text, to_plain
from descheduler.documents.problems import DocumentProblem, PolicyError
from descheduler.documents.source import read_document
from descheduler.policy.load import load_policy


class Converter(msgspec.Struct, frozen=True):
    """One form: how it is called, what it is called in a ConfigMap, and what becomes of it."""

    name: str
    noun: str
    recognizes: Callable[[Document], bool]
    convert: Callable[[Document], Conversion]
    """Raises PolicyError where nothing can come of it."""


def _is_configuration(document: Document) -> bool:
    return member_text(document.root, "kind") == "DeschedulerConfiguration"


def _convert_configuration(document: Document) -> Conversion:
    """A document of koord-descheduler, which runs as it is. Raises PolicyError for one that does not load."""
    plain = to_plain(document.root)
    stated = plain if isinstance(plain, Mapping) else {}
    policy = load_policy(stated, REGISTRY, name=document.path)
    notes = ConversionNotes(document)
    notes.add(("kind",), "runs as it is; pods whose replacement cannot be scheduled are not evicted")
    notes.found.extend(policy.warnings)
    return notes.of(stated)


CONVERTERS: tuple[Converter, ...] = (
    Converter("DeschedulerPolicy", "policy", is_strategies_policy, convert_strategies_policy),
    Converter("DeschedulerPolicy", "policy", is_descheduler_policy, convert_descheduler_policy),
    Converter("DeschedulerConfiguration", "policy", _is_configuration, _convert_configuration),
    Converter("volcano-scheduler.conf", "scheduler configuration", is_volcano_scheduler, convert_volcano_scheduler),
)


def convert_file(source: Path | str, name: str | None = None) -> Conversion:
    """What becomes of the configuration in a file or a text, or in the ConfigMap or the values in it.

    `name` stands for the file in messages. Raises PolicyError where it cannot be read, or is of none of the forms.
    """
    unread: list[PolicyError] = []
    for row in CONVERTERS:
        try:
            document = read_document(source, name, row.noun)
        except PolicyError as error:  # a ConfigMap without the one form may hold another
            unread.append(error)
            continue
        if row.recognizes(document):
            return row.convert(document)
    if len(unread) == len(CONVERTERS):
        raise unread[0]
    names = " or ".join(dict.fromkeys(row.name for row in CONVERTERS))
    message = f"is not a {names}, which can be converted"
    raise PolicyError([DocumentProblem(name or str(source), None, None, "", message)])
