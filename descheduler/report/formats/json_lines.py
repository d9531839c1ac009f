"""Plans and outcomes as JSON Lines: an object a line, each with its `type`, the document without its lists last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from descheduler.documents.fields import Fields
from descheduler.report.outcome.document import Outcome
from descheduler.report.plan.document import Plan

__all__ = ["json_lines"]


def json_lines(document: Plan | Outcome) -> Iterator[str]:
    """One line for every entry of the document's lists, in the order of its fields, and a last one for the rest.

    The `type` of an entry is the name of its list (`moves`, `refusals`, …), of the last line `Plan` or `Outcome`.
    """
    if isinstance(document, Outcome):
        yield from _entries(document, leave_out=("plan",))
        yield from _entries(document.plan, leave_out=())
        yield _line(document.kind, {**_scalars(document), "plan": _scalars(document.plan)})
    else:
        yield from _entries(document, leave_out=())
        yield _line(document.kind, _scalars(document))


def _entries(document: Fields, leave_out: Sequence[str]) -> Iterator[str]:
    for name, value in _members(document):
        if isinstance(value, tuple) and name not in leave_out:
            yield from (_line(name, _object(entry)) for entry in value)


def _scalars(document: Fields) -> dict[str, object]:
    return {name: value for name, value in _members(document) if not isinstance(value, tuple) and name != "plan"}


def _members(document: Fields) -> Iterator[tuple[str, object]]:
    for name, field in zip(document.__struct_encode_fields__, document.__struct_fields__, strict=True):
        yield name, getattr(document, field)


def _object(entry: object) -> dict[str, object]:
    """An entry as an object; a plain text becomes its `message`."""
    return dict(_members(entry)) if isinstance(entry, Fields) else {"message": entry}


def _line(kind: str, members: dict[str, object]) -> str:
    return msgspec.json.encode({"type": kind, **members}).decode() + "\n"
