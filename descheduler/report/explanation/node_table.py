"""The explanation of a node as tables."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.amounts import amount_text, percent_text
from descheduler.report.explanation.node import Departure, NodeExplanation, NodeFacts
from descheduler.report.table_style import TableStyle

__all__ = ["node_table"]

_VERDICTS = {
    "lands": "scheduled",
    "lands_if": "conditional",
    "likely": "likely",
    "unknown": "unknown",
    "no": "pending",
    None: "none",
}


def node_table(explanation: NodeExplanation, style: TableStyle) -> Iterator[str]:
    """The node, its resources, who leaves, who stays, who comes."""
    yield from _facts(explanation.facts, style)
    if explanation.role != "without policy":
        yield style.palette.heading(_summary(explanation))
        yield ""
    yield from _departures(explanation, style)
    yield from _stays(explanation, style)
    yield from _arrivals(explanation, style)
    rows = [
        [each.pod.namespace, each.pod.name, _VERDICTS[each.landing], each.to_node or "", each.message]
        for each in explanation.landings
    ]
    yield from style.table(["NAMESPACE", "POD", "IF EVICTED ALONE", "TO", "REASON"], rows)


def _facts(facts: NodeFacts, style: TableStyle) -> Iterator[str]:
    state = [*(["Ready"] if facts.is_ready else ["NotReady"]), *(["SchedulingDisabled"] if facts.is_cordoned else [])]
    row = [facts.name, ",".join(state), str(facts.num_pods), ", ".join(facts.taints) or "none"]
    yield from style.table(["NODE", "STATUS", "PODS", "TAINTS"], [row])
    is_planned = any(each.planned != each.requested for each in facts.resources)
    rows = [
        [
            each.resource,
            amount_text(each.resource, each.allocatable),
            amount_text(each.resource, each.requested),
            percent_text(each.requested, each.allocatable),
            *([amount_text(each.resource, each.planned)] if is_planned else []),
            percent_text(each.planned, each.allocatable) if is_planned else "",
        ]
        for each in facts.resources
    ]
    header = ["RESOURCE", "ALLOCATABLE", "REQUESTED", "SHARE", *(["AFTER THE RUN", "SHARE"] if is_planned else [])]
    yield from style.table(header, rows if is_planned else [row[:-1] for row in rows])


def _summary(explanation: NodeExplanation) -> str:
    if explanation.unjudged:
        return f"nothing was judged: {explanation.unjudged}"
    num_staying = sum(count.num_pods for count in explanation.stay_counts)
    staying = "1 stays" if num_staying == 1 else f"{num_staying} stay"
    left_out = " (the run leaves the node out: it is not ready, or the policy does not select it)"
    return (
        f"the run: {_pods(len(explanation.departures))} would leave, {staying}, "
        f"{len(explanation.arrivals)} would come{left_out if explanation.role == 'left out' else ''}"
    )


def _departures(explanation: NodeExplanation, style: TableStyle) -> Iterator[str]:
    rows = [
        [d.pod.namespace, d.pod.name, d.plugin, _VERDICTS[d.landing], d.to_node or "", _reason(d, style)]
        for d in explanation.departures
    ]
    yield from style.table(["NAMESPACE", "POD THAT LEAVES", "PLUGIN", "REPLACEMENT", "TO", "REASON"], rows)


def _reason(departure: Departure, style: TableStyle) -> str:
    """Why the pod leaves; and why its replacement does not land, unless there is no more to it than a condition."""
    is_shown = departure.message and (style.is_wide or departure.landing in ("no", "unknown"))
    return f"{departure.reason}; its replacement: {departure.message}" if is_shown else departure.reason


def _stays(explanation: NodeExplanation, style: TableStyle) -> Iterator[str]:
    rows = [[s.pod.namespace, s.pod.name, s.plugin, s.code, s.message] for s in explanation.stays]
    yield from style.table(["NAMESPACE", "POD THAT STAYS", "PLUGIN", "CODE", "REASON"], rows)
    rows = [[str(count.num_pods), count.code, count.summary] for count in explanation.stay_counts]
    yield from style.table(["STAY", "CODE", "REASON"], rows)


def _arrivals(explanation: NodeExplanation, style: TableStyle) -> Iterator[str]:
    rows = [
        [a.pod.namespace, a.pod.name, a.from_node, a.plugin, _VERDICTS[a.landing], _others(a.nodes, explanation)]
        for a in explanation.arrivals
    ]
    header = ["NAMESPACE", "POD WHOSE REPLACEMENT COMES", "FROM", "PLUGIN", "LANDING", "OR AS LIKELY TO"]
    yield from style.table(header, rows)


def _others(nodes: tuple[str, ...], explanation: NodeExplanation) -> str:
    others = [node for node in nodes if node != explanation.facts.name]
    return others[0] if len(others) == 1 else f"{len(others)} other nodes" if others else ""


def _pods(number: int) -> str:
    return "1 pod" if number == 1 else f"{number} pods"
