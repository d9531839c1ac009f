"""The table of docs/explanation/writes.md, and whether a call is in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from tests.writes.recorder import WrittenCall

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "writes.md"
_CODE = re.compile(r"`([^`]+)`")
_ALL = "all"
_PRECONDITIONS = ("uid", "resourceVersion")


@dataclass(frozen=True, slots=True)
class ListedWrite:
    """One row. `name` is a pattern; `fields` are those that may be changed, None for all of them.

    `file` is that of the role, below cronjob/, and `role` its name, "" where the file has only one.
    """

    verb: str
    resource: str
    name: str
    fields: frozenset[str] | None
    preconditions: frozenset[str]
    file: str
    role: str

    def lacks(self, call: WrittenCall) -> str:
        """Why the call is not this one, "" for one that is."""
        if (call.verb, call.resource) != (self.verb, self.resource) or not fnmatchcase(call.name, self.name):
            return "another object"
        missing = sorted(self.preconditions - _stated(call))
        if missing:
            return f"{', '.join(missing)} is not stated"
        if self.fields is None or self.verb not in _CHANGES:
            return ""
        others = [field for field in _CHANGES[self.verb](call) if not _is_in(field, self.fields)]
        return f"{', '.join(others)} is changed" if others else ""


@cache
def listed_writes() -> tuple[ListedWrite, ...]:
    """The rows of the table."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    return tuple(_row(line) for line in lines)


def _row(line: str) -> ListedWrite:
    verb, resource, name, _, fields, preconditions, role = (cell.strip() for cell in line.strip("|").split("|"))
    return ListedWrite(
        verb=_one(verb),
        resource=_one(resource),
        name=_one(name).replace("NAME", "*"),
        fields=None if fields == _ALL else frozenset(_CODE.findall(fields)),
        preconditions=frozenset(_CODE.findall(preconditions)),
        file=_CODE.findall(role)[0],
        role=(*_CODE.findall(role), "")[1],
    )


def _one(cell: str) -> str:
    (found,) = _CODE.findall(cell)
    return str(found)


def objection(call: WrittenCall) -> str:
    """What is wrong with the call, "" for one that is on the list with all that its row asks for."""
    reasons = [listed.lacks(call) for listed in listed_writes()]
    if "" in reasons:
        return ""
    near = sorted({reason for reason in reasons if reason != "another object"})
    return f"{call.verb} {call.resource} {call.name}: {'; '.join(near) or 'not on the list'}"


def _stated(call: WrittenCall) -> frozenset[str]:
    """The preconditions that a call states: in its options where it has some, else in the metadata of the object."""
    body: Mapping[str, Any] = call.body if isinstance(call.body, dict) else {}
    options = body.get("deleteOptions") or (body if call.verb == "delete" else {})
    of_object = {} if call.verb == "delete" else body.get("metadata") or {}
    places = (options.get("preconditions") or {}, of_object)
    found = {field for field in _PRECONDITIONS for place in places if place.get(field)}
    return frozenset(found | ({"name"} if call.verb == "create" and call.name else set()))


def _patched(call: WrittenCall) -> list[str]:
    """The fields that a merge patch changes, by their paths; its preconditions are none of them."""
    return [path for path, _ in _leaves(call.body)]


def _replaced(call: WrittenCall) -> list[str]:
    """The fields that an update changes, also those that it drops.

    There are none where the object is another one by now, for the server refuses such an update.
    """
    if call.before is None or _version(call.before) != _version(call.body):
        return []
    before, after = dict(_leaves(call.before)), dict(_leaves(call.body))
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


_CHANGES: Mapping[str, Callable[[WrittenCall], Sequence[str]]] = {"patch": _patched, "update": _replaced}
_OF_SERVER = frozenset(
    {"apiVersion", "kind"}
    | {f"metadata.{key}" for key in ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields")}
)
"""Fields that the server alone sets."""


def _leaves(body: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Path and value of every field that holds no others, but for those of the server."""
    for key, part in (body or {}).items():
        path = f"{prefix}{key}"
        if path in _OF_SERVER:
            continue
        if isinstance(part, dict) and part:
            yield from _leaves(part, f"{path}.")
        elif part != {}:
            yield path, part


def _version(body: Any) -> str:
    return str(((body or {}).get("metadata") or {}).get("resourceVersion", ""))


def _is_in(field: str, fields: frozenset[str]) -> bool:
    return any(field == listed or field.startswith(f"{listed}.") for listed in fields)
