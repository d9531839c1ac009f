"""Plans and outcomes as one flat row or object a pod: for spreadsheets, shells and log collectors."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

import msgspec

from descheduler.documents.fields import Fields
from descheduler.model.text.printable import printable
from descheduler.report.outcome.document import EvictionResult, OutcomeDocument
from descheduler.report.plan.document import BackgroundEviction, Plan, PlanMove, PlannedRefusal

_FORMULA = ("=", "+", "-", "@")
CSV_HEADER = (
    *("decision", "namespace", "pod", "uid", "node", "target", "verdict"),
    *("profile", "plugin", "reason", "code", "message", "new_node"),
)
"""Columns of the CSV. `decision` is evict, background or blocked in a plan; in an outcome the result, or blocked."""


def names(document: Plan | OutcomeDocument) -> Iterator[str]:
    """`namespace/name` of every pod that would be evicted or, of an outcome, was; a line each."""
    if isinstance(document, Plan):
        pods = [move.pod for move in document.moves]
    else:
        pods = [result.pod for result in document.results if result.result == "evicted"]
    yield from (printable(f"{pod.namespace}/{pod.name}") + "\n" for pod in pods)


def csv_lines(document: Plan | OutcomeDocument, *, has_header: bool = True) -> Iterator[str]:
    """The pods that are selected, evicted or not, as CSV (RFC 4180, but with bare line feeds).

    A row is one line: messages are texts of others, and what does not print in them is escaped. A cell that a
    spreadsheet would take for a formula gets an apostrophe in front; no name that Kubernetes accepts begins so.
    """
    if has_header:
        yield _csv_line(CSV_HEADER)
    plan = document if isinstance(document, Plan) else document.plan
    if isinstance(document, Plan):
        yield from (_csv_line(_move(move)) for move in document.moves)
        yield from (_csv_line(_background(eviction)) for eviction in document.background)
    else:
        yield from (_csv_line(_result(result)) for result in document.results)
    yield from (_csv_line(_refusal(refusal)) for refusal in plan.refusals)


def _move(move: PlanMove) -> Sequence[str]:
    pod, verdict = move.pod, "" if move.landing is None else move.landing.verdict
    where = pod.namespace, pod.name, pod.uid, move.from_node, move.to_node or ""
    return "evict", *where, verdict, move.profile, move.plugin, move.reason, "", "", ""


def _background(eviction: BackgroundEviction) -> Sequence[str]:
    pod = eviction.pod
    where = pod.namespace, pod.name, pod.uid, eviction.node, ""
    return "background", *where, "", eviction.profile, eviction.plugin, eviction.reason, "", "", ""


def _refusal(refusal: PlannedRefusal) -> Sequence[str]:
    pod = refusal.pod
    where = pod.namespace, pod.name, pod.uid, refusal.node, ""
    who = refusal.profile, refusal.plugin
    return "blocked", *where, "", *who, refusal.reason, refusal.code, refusal.message, ""


def _result(result: EvictionResult) -> Sequence[str]:
    pod, target = result.pod, result.target
    node, verdict = ("", "") if target is None else (target.node, target.verdict)
    where = pod.namespace, pod.name, pod.uid, result.node, node
    what = result.profile, result.plugin, result.why, result.code, result.message, result.landed_on
    return result.result, *where, verdict, *what


def _csv_line(values: Sequence[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(map(_cell, values))
    return buffer.getvalue()


def _cell(value: str) -> str:
    text = printable(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def json_lines(document: Plan | OutcomeDocument) -> Iterator[str]:
    """One line for every entry of the document's lists, in the order of its fields, and a last one for the rest.

    The `type` of an entry is the name of its list (`moves`, `refusals`, …), of the last line `Plan` or `Outcome`.
    """
    if isinstance(document, OutcomeDocument):
        yield from _entries(document, leave_out=("plan",))
        yield from _entries(document.plan, leave_out=())
        yield _json_line(document.kind, {**_scalars(document), "plan": _scalars(document.plan)})
    else:
        yield from _entries(document, leave_out=())
        yield _json_line(document.kind, _scalars(document))


def _entries(document: Fields, leave_out: Sequence[str]) -> Iterator[str]:
    for name, value in _members(document):
        if isinstance(value, tuple) and name not in leave_out:
            yield from (_json_line(name, _object(entry)) for entry in value)


def _scalars(document: Fields) -> dict[str, object]:
    return {name: value for name, value in _members(document) if not isinstance(value, tuple) and name != "plan"}


def _members(document: Fields) -> Iterator[tuple[str, object]]:
    for name, field in zip(document.__struct_encode_fields__, document.__struct_fields__, strict=True):
        yield name, getattr(document, field)


def _object(entry: object) -> dict[str, object]:
    """An entry as an object; a plain text becomes its `message`."""
    return dict(_members(entry)) if isinstance(entry, Fields) else {"message": entry}


def _json_line(kind: str, members: dict[str, object]) -> str:
    return msgspec.json.encode({"type": kind, **members}).decode() + "\n"
