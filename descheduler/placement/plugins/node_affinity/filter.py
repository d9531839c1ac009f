"""NodeAffinity (kube-scheduler 1.36): node selector, required node affinity, and the affinity that the profile adds."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP, PreFilterResult, ReasonBits
from descheduler.placement.framework.obstacle import Code, Obstacle, ObstacleReason
from descheduler.placement.plugins.node_affinity.args import NodeAffinityArgs
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

__all__ = ["NodeAffinity", "NodeAffinityReason"]


class NodeAffinityReason(ObstacleReason):
    """Whose affinity a node fails, and affinity that no node can meet."""

    OWN = (
        1,
        "node(s) didn't match Pod's node affinity/selector",
        "didn't match Pod's node affinity/selector",
    )
    ADDED = (
        2,
        "node(s) didn't match scheduler-enforced node affinity",
        "didn't match scheduler-enforced node affinity",
    )
    CONFLICT = 0, "pod affinity terms conflict"


class NodeAffinity:
    """The filter. On a node that fails both affinities the added one is what the scheduler reports."""

    name = "NodeAffinity"
    is_static = True

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._terms = cluster.table.masks.terms
        added = profile.args.of(NodeAffinityArgs).added_affinity
        required = added.node_required if added is not None else None
        self._added = None if required is None else self._terms.any_of(required)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Narrows the nodes to those that the pod names, when every alternative of its affinity names some."""
        spec = cycle.pod.spec
        required = spec.affinity.node_required if spec.affinity is not None else None
        if required is None:
            return PASS if spec.node_selector or self._added is not None else SKIP
        names = _pinned_names(required)
        if names is None:
            return PASS
        if not names:
            return PreFilterResult(Obstacle.of(self.name, Code.UNRESOLVABLE, NodeAffinityReason.CONFLICT))
        return PreFilterResult(nodes=self._terms.named(names), names=names)

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """The nodes that do not match."""
        spec = cycle.pod.spec
        required = spec.affinity.node_required if spec.affinity is not None else None
        matches = self._terms.selected(spec.node_selector, required)
        against = np.where(matches, 0, NodeAffinityReason.OWN.bit).astype(np.uint32)
        if self._added is not None:
            against[~self._added] = NodeAffinityReason.ADDED.bit
        return against if against.any() else None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """Whose affinity the node fails."""
        found = next(reason for reason in NodeAffinityReason if reason.bit == bits)
        return Obstacle.of(self.name, Code.UNRESOLVABLE, found)


def _pinned_names(terms: Iterable[NodeSelectorTerm]) -> frozenset[str] | None:
    """Names of the nodes that `terms` leave; None when a term does not ask for names, or when there are no terms."""
    union: frozenset[str] | None = None
    for term in terms:
        wanted = [field.values for field in term.fields if field.key == "metadata.name" and field.operator == "In"]
        if not wanted:
            return None
        union = (union or frozenset()) | frozenset.intersection(*wanted)
    return union
