"""The explanation of a node as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from descheduler.explanation.landings import landing_lines
from descheduler.explanation.subjects.node.document import (
    BatchFigures,
    Departure,
    DrainBlocker,
    NodeDevices,
    NodeExplanation,
    NodeFacts,
)
from descheduler.model.text.amounts import amount_text, percent_text
from descheduler.model.text.counted import counted
from descheduler.report.plan.document import LandingWord
from descheduler.report.tables.gang_rows import by_gang, shown_pods
from descheduler.report.tables.table_style import TableStyle
from descheduler.report.tables.targets import target_text


def node_table(explanation: NodeExplanation, style: TableStyle) -> Iterator[str]:
    """The node, its resources, which pods leave, stay and come, what blocks a drain, and last the sum of it."""
    yield from _facts(explanation.facts, style)
    yield from _departures(explanation, style)
    yield from _stays(explanation, style)
    yield from _arrivals(explanation, style)
    pending = [[pod.namespace, pod.name] for pod in explanation.pending_pods]
    yield from style.table(["NAMESPACE", "PENDING POD SCHEDULED ONTO THE NODE"], pending)
    rows = [
        [
            each.pod.namespace,
            each.pod.name,
            target_text(each.landing, each.to_node),
            _said(each.landing, each.message, style),
        ]
        for each in explanation.landings
    ]
    header = ["NAMESPACE", "POD IF EVICTED ALONE", "TARGET", "REASON"]
    yield from style.table(header, style.without_repeats(rows))
    yield from _drain(explanation.drain_blockers, style)
    yield from style.labelled({"Can be drained": _drain_answer(explanation)})
    yield from landing_lines(explanation.landing_counts, explanation.causes, style)
    if explanation.role != "without policy":
        yield style.palette.heading(_summary(explanation))
        yield ""


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
    header = ["RESOURCE", "ALLOCATABLE", "REQUESTED", "SHARE", *(["AFTER RUN", "SHARE"] if is_planned else [])]
    yield from style.table(header, rows if is_planned else [row[:-1] for row in rows])
    yield from _devices(facts.devices, style)
    yield from _batch(facts.batch, style)


def _devices(figures: Sequence[NodeDevices], style: TableStyle) -> Iterator[str]:
    """The devices of resource claims by class and driver; columns in which every number is 0 are left out."""
    counts = {
        "IN USE": [each.in_use for each in figures],
        "SHARED": [each.shared for each in figures],
        "TAINTED": [each.tainted for each in figures],
        "UNUSABLE": [each.unusable for each in figures],
        "FREE": [each.free for each in figures],
    }
    if any(each.planned_free != each.free for each in figures):
        counts["FREE AFTER RUN"] = [each.planned_free for each in figures]
    shown = {header: numbers for header, numbers in counts.items() if any(numbers) or header == "FREE"}
    rows = [
        [
            each.device_class or "none",
            each.driver,
            str(each.num_devices),
            *(str(shown[header][place]) for header in shown),
        ]
        for place, each in enumerate(figures)
    ]
    yield from style.table(["DEVICE CLASS", "DRIVER", "DEVICES", *shown], rows)


def _batch(figures: Sequence[BatchFigures], style: TableStyle) -> Iterator[str]:
    """What is left for best-effort pods: what the capacity loses on the way, and what the node states."""
    rows = [
        [
            each.resource,
            *(
                amount_text(each.resource, amount)
                for amount in (each.capacity, each.margin, each.system_used, each.pods_used, each.allocatable)
            ),
            amount_text(each.resource, each.published),
            "" if each.limit is None else amount_text(each.resource, each.limit),
        ]
        for each in figures
    ]
    header = ["FOR BATCH PODS", "CAPACITY", "- MARGIN", "- SYSTEM", "- PODS USED", "= LEFT", "NODE STATES", "MAY USE"]
    yield from style.table(header, rows)


def _summary(explanation: NodeExplanation) -> str:
    if explanation.unjudged:
        return f"skipped: {explanation.unjudged}"
    num_staying = sum(count.num_pods for count in explanation.stay_counts)
    num_pending = len(explanation.pending_pods)
    pending = f" and {counted(num_pending, 'pending pod')}" if num_pending else ""
    left_out = "; plugins do not process this node: it is not ready, or nodeSelector does not match it"
    return (
        f"{counted(len(explanation.departures), 'pod')} would be evicted, {counted(num_staying, 'pod')} not evicted, "
        f"{counted(len(explanation.arrivals), 'replacement pod')}{pending} would be scheduled onto the node"
        f"{left_out if explanation.role == 'left out' else ''}"
    )


def _departures(explanation: NodeExplanation, style: TableStyle) -> Iterator[str]:
    rows = [
        [d.pod.namespace, d.pod.name, target_text(d.landing, d.to_node), d.plugin, _reason(d, style)]
        for d in explanation.departures
    ]
    yield from style.table(["NAMESPACE", "EVICTED POD", "TARGET", "PLUGIN", "REASON"], style.without_repeats(rows))


def _reason(departure: Departure, style: TableStyle) -> str:
    """Why the pod is evicted; and why its replacement stays pending."""
    said = _said(departure.landing, departure.message, style)
    return f"{departure.reason}; replacement: {said}" if said else departure.reason


def _said(landing: LandingWord | None, message: str, style: TableStyle) -> str:
    """What a row says of a replacement. What was not checked is said once, below all rows."""
    return message if style.is_wide or landing not in ("likely", "unknown") else ""


def _stays(explanation: NodeExplanation, style: TableStyle) -> Iterator[str]:
    groups = [[stay] for stay in explanation.stays] if style.is_wide else by_gang(explanation.stays)
    rows = [[g[0].pod.namespace, shown_pods(g), g[0].plugin, g[0].code, g[0].message] for g in groups]
    header = ["NAMESPACE", "POD NOT EVICTED", "PLUGIN", "CODE", "BLOCKED BY"]
    yield from style.table(header, style.without_repeats(rows))
    rows = [[str(count.num_pods), count.code, count.summary] for count in explanation.stay_counts]
    yield from style.table(["PODS NOT EVICTED", "CODE", "REASON"], rows)
    rows = [[str(each.num_pods), each.plugin, each.message] for each in explanation.not_selected]
    yield from style.table(["PODS NOT SELECTED", "PLUGIN", "REASON"], rows)


def _arrivals(explanation: NodeExplanation, style: TableStyle) -> Iterator[str]:
    rows = [
        [
            a.pod.namespace,
            a.pod.name,
            a.from_node,
            target_text(a.landing, explanation.facts.name),
            a.plugin,
            _others(a.nodes, explanation),
        ]
        for a in explanation.arrivals
    ]
    header = ["NAMESPACE", "REPLACEMENT OF POD", "FROM", "TARGET", "PLUGIN", "NODES OF EQUAL SCORE"]
    yield from style.table(header, rows)


def _drain_answer(explanation: NodeExplanation) -> str:
    """Yes, or in a later run, or no with the first pod in the way; pods of DaemonSets stay on any drained node."""
    causes = {each.pod: each.message for each in explanation.landings if each.landing == "no"}
    causes |= {each.pod: each.message for each in explanation.drain_blockers if each.blocker != "DaemonSet"}
    if not causes and explanation.blocked_in_run:
        return f"in a later run; not in this one: {explanation.blocked_in_run}"
    if not causes:
        return "yes"
    pod, message = next(iter(causes.items()))
    more = f" (and {counted(len(causes) - 1, 'more pod')})" if len(causes) > 1 else ""
    return f"no, because of pod {pod.namespace}/{pod.name}: {message}{more}"


def _drain(blockers: Sequence[DrainBlocker], style: TableStyle) -> Iterator[str]:
    rows = [[b.pod.namespace, b.pod.name, b.blocker, b.message] for b in blockers]
    yield from style.table(
        ["NAMESPACE", "POD THAT BLOCKS A DRAIN", "BLOCKED BY", "REASON"], style.without_repeats(rows)
    )


def _others(nodes: tuple[str, ...], explanation: NodeExplanation) -> str:
    others = [node for node in nodes if node != explanation.facts.name]
    return others[0] if len(others) == 1 else f"{len(others)} nodes" if others else ""
