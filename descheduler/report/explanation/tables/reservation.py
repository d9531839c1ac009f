"""A Reservation as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from descheduler.model.text.amounts import amount_text, amounts_text
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import printable
from descheduler.report.explanation.reservation import ReservationExplanation, ReservationFacts, ReservedResource
from descheduler.report.explanation.tables.placement import placement_table
from descheduler.report.explanation.tables.waiting import waiting_table
from descheduler.report.tables.table_style import TableStyle

__all__ = ["reservation_table"]


_MOST_OWNERS = 10


def reservation_table(explanation: ReservationExplanation, style: TableStyle) -> Iterator[str]:
    """What it holds, who may use it, who uses it, which pods wait for it, and why it is pending."""
    facts = explanation.facts
    yield from _facts(facts, style)
    rows = [_resource(each) for each in explanation.resources]
    yield from style.table(["RESOURCE", "RESERVED", "USED", "FREE FOR OWNERS"], rows)
    rows = [[each.type, str(each.minor), _amounts(each.reserved), _amounts(each.free)] for each in explanation.devices]
    yield from style.table(["DEVICE", "MINOR", "RESERVED", "FREE FOR OWNERS"], rows)
    rows = [
        [
            each.pod.namespace,
            each.pod.name,
            each.node or "does not exist",
            "status.currentOwners alone" if each.is_listed else "its annotation",
            amounts_text(each.requests.items()),
        ]
        for each in explanation.users
    ]
    yield from style.table(["NAMESPACE", "POD THAT USES IT", "NODE", "BY", "REQUESTS"], rows)
    yield from waiting_table(explanation.waiting, style, "PENDING POD")
    for note in explanation.notes:
        yield from style.paragraph(printable(note))
    if explanation.notes:
        yield ""
    if explanation.placement is not None:
        yield from placement_table(explanation.placement, style, f"the Reservation {facts.name}")


def _facts(facts: ReservationFacts, style: TableStyle) -> Iterator[str]:
    yield from style.heading(printable(f"Reservation {facts.name}"))
    policy = facts.allocate_policy or "default"
    once = "true" if facts.allocate_once else "false"
    ends = "never" if facts.ends_at is None else f"{facts.ends_at:%Y-%m-%dT%H:%M:%SZ}"
    row = [facts.phase, facts.node or "", facts.scheduler, once, policy, ends, ", ".join(facts.taints) or "none"]
    yield from style.table(["PHASE", "NODE", "SCHEDULER", "ALLOCATE ONCE", "POLICY", "EXPIRES", "TAINTS"], [row])
    owned = f" ({counted(facts.num_owned_pods, 'pod')})"
    more = [f"{len(facts.owners) - _MOST_OWNERS:,} more"] if len(facts.owners) > _MOST_OWNERS else []
    named = "; or ".join([*facts.owners[:_MOST_OWNERS], *more])
    who = named + owned if named else "no pod (spec.owners is empty)"
    yield from style.labelled({"For": printable(who)})
    yield ""


def _resource(each: ReservedResource) -> list[str]:
    left = "holds nothing" if each.free is None else amount_text(each.resource, each.free)
    return [each.resource, amount_text(each.resource, each.reserved), amount_text(each.resource, each.used), left]


def _amounts(amounts: Mapping[str, int]) -> str:
    return ", ".join(f"{name.rpartition('/')[2]} {amount_text(name, amount)}" for name, amount in amounts.items())
