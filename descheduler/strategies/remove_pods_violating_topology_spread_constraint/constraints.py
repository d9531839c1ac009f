"""The distinct topology spread constraints that the pods of a namespace state."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import NodeSelectorTerm, TopologySpreadConstraint
from descheduler.model.selection.labels import LabelSelector, Requirement
from descheduler.model.selection.taints import Toleration

_HONOR = "Honor"


class PodConstraint(msgspec.Struct, frozen=True):
    """One constraint with what it takes from its pod.

    Node selector, required node affinity and tolerations narrow the nodes that count, and are empty or None where the
    constraint's inclusion policies ignore them.
    """

    max_skew: int
    topology_key: str
    selector: LabelSelector
    node_selector: frozenset[tuple[str, str]]
    node_required: tuple[NodeSelectorTerm, ...] | None
    tolerations: tuple[Toleration, ...] | None


def states_constraint(pod: Pod, whens: Iterable[str]) -> bool:
    """Whether `pod` has a constraint whose `whenUnsatisfiable` is one of `whens`."""
    return any(stated.when_unsatisfiable in whens for stated in pod.spec.topology_spread)


def distinct_constraints(pods: Iterable[Pod], whens: Iterable[str]) -> list[PodConstraint]:
    """The constraints of `pods` whose `whenUnsatisfiable` is one of `whens`, each once, in order of first appearance.

    Constraints with a malformed selector are left out, and `minDomains` is not looked at. Mirrors
    kubernetes-sigs/descheduler 0.36 `pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint`.
    """
    found: dict[PodConstraint, None] = {}
    seen: set[tuple[int, int]] = set()
    for pod in pods:
        # Equal specs and equal labels are one object in a snapshot.
        key = (id(pod.spec), id(pod.labels))
        if pod.spec.topology_spread and key not in seen:
            seen.add(key)
            for stated in pod.spec.topology_spread:
                if stated.when_unsatisfiable in whens and not stated.error:
                    found[_taken_from(pod, stated)] = None
    return list(found)


def _taken_from(pod: Pod, stated: TopologySpreadConstraint) -> PodConstraint:
    spec = pod.spec
    honors_affinity = stated.node_affinity_policy == _HONOR
    return PodConstraint(
        max_skew=stated.max_skew,
        topology_key=stated.topology_key,
        selector=stated.selector.with_requirements(
            [
                Requirement(key, "In", frozenset((pod.labels[key],)))
                for key in stated.match_label_keys
                if key in pod.labels
            ]
        ),
        node_selector=frozenset(spec.node_selector.items() if honors_affinity else ()),
        node_required=spec.affinity.node_required if honors_affinity and spec.affinity is not None else None,
        tolerations=spec.tolerations if stated.node_taints_policy == _HONOR else None,
    )
