"""What was seen of a job beside what was recorded of it."""

from __future__ import annotations

from collections.abc import Iterator

from tests.conformance.koordinator.phases import PASSING, conditions_of, departure_of, words_of
from tests.e2e.peers.koord_phases.rounds import Seen
from tests.e2e.peers.koord_phases.script import LiveScript


def differences(script: LiveScript, seen: Seen, *, departs: bool) -> Iterator[str]:
    """A sentence for each difference; with `departs` where the program has decided to do otherwise, from that."""
    expected = script.case["expect"]
    departure = departure_of(script.case) if departs else None
    if departure is not None and departure.end is not None:
        if seen.sequence[-1] != departure.end:
            yield f"ended as {seen.sequence[-1]}, and not as {departure.end} ({departure.why})"
        return
    recorded = [words_of(entry) for entry in expected["sequence"] if "phase" in entry]
    if _lasting(seen.sequence) != _lasting(recorded):
        yield f"sequence {told(seen.sequence)}, recorded {told(recorded)}"
    if seen.is_deleted is not any("deleted" in entry for entry in expected["sequence"]):
        yield f"the job is {'gone' if seen.is_deleted else 'there'}"
    conditions = conditions_of(seen.last.get("status", {}).get("conditions") or ())
    if conditions != conditions_of(expected["conditions"]):
        yield f"conditions {conditions}, recorded {conditions_of(expected['conditions'])}"
    if bool(seen.is_replaced) is not bool(expected["pod_replaced_or_gone"]):
        yield f"the pod was {'' if seen.is_replaced else 'not '}replaced"


def _lasting(sequence: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [entry for entry in sequence if entry not in PASSING]


def told(sequence: list[tuple[str, ...]]) -> str:
    """The states of a job in one line."""
    return " > ".join("/".join(part for part in entry if part) or "-" for entry in sequence)
