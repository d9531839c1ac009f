"""The part of documents about what a plugin saw, and the words for a plugin that evicts nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from descheduler.plan import facts as plan_facts
from descheduler.report.document import Fields

__all__ = ["NearestValue", "NodeClasses", "PluginFacts", "make_facts"]


class NearestValue(Fields, frozen=True):
    """The value nearest to a limit among all that were examined, on whichever side of it.

    `key` is the limit's name in the policy or in the pod's spec. `subject` is the node, the pod (`namespace/name`) or
    the topology domain that has the `value`.
    """

    key: str
    limit: float
    value: float
    unit: Literal["percent", "seconds", "restarts", "pods"]
    subject: str


class NodeClasses(Fields, frozen=True):
    """How many nodes are under, between and over the thresholds, which are percent of allocatable by resource.

    They are those in effect: with `useDeviationThresholds` they stand around the average.
    """

    under: int
    between: int
    over: int
    thresholds: Mapping[str, float]
    target_thresholds: Mapping[str, float]


class PluginFacts(Fields, frozen=True):
    """What the plugin saw.

    `why_nothing` is the sentence that says why it evicts nothing, empty when it evicts something. `stopped` is the line
    that kubernetes-sigs/descheduler logs when a condition ends the plugin before it looks at a pod, else empty. Each of
    the `pods_examined` is in `pods_selected`, or left out by the first rule that it does not meet: `left_out` counts by
    the rule's key in the policy, or the field of the pod's spec that decides. `counts` are of other things that the
    plugin looks at, such as `constraints`; `nodes` is null for a plugin that does not go by the load of nodes.
    """

    why_nothing: str
    stopped: str
    pods_examined: int
    pods_selected: int
    left_out: Mapping[str, int]
    nearest: tuple[NearestValue, ...]
    nodes: NodeClasses | None
    counts: Mapping[str, int]


def make_facts(facts: plan_facts.PluginFacts, *, evicted: int, refused: Mapping[str, int]) -> PluginFacts:
    """The document of `facts` about a plugin with `evicted` pods and so many `refused` by reason code."""
    nodes = facts.nodes
    return PluginFacts(
        why_nothing="" if evicted else facts.why_nothing or _all_refused(facts.pods_selected, refused),
        stopped=facts.stopped,
        pods_examined=facts.pods_examined,
        pods_selected=facts.pods_selected,
        left_out=facts.left_out,
        nearest=tuple(
            NearestValue(key=n.key, limit=n.limit, value=n.value, unit=n.unit, subject=n.subject) for n in facts.nearest
        ),
        nodes=None
        if nodes is None
        else NodeClasses(
            under=nodes.under,
            between=nodes.between,
            over=nodes.over,
            thresholds=nodes.thresholds,
            target_thresholds=nodes.target_thresholds,
        ),
        counts=facts.counts,
    )


def _all_refused(num_selected: int, refused: Mapping[str, int]) -> str:
    """Of a plugin that selects pods, none of which is evicted."""
    selected = "the selected pod is" if num_selected == 1 else f"none of {num_selected:,} selected pods is"
    blocked = ", ".join(f"{code} {number:,}" for code, number in refused.items())
    return f"{selected}{' not' if num_selected == 1 else ''} evicted" + (f": blocked by {blocked}" if blocked else "")
