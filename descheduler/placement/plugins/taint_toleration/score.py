"""The score of TaintToleration (kube-scheduler 1.36): untolerated `PreferNoSchedule` taints make a node worse."""

from __future__ import annotations

from descheduler.model.node import Node
from descheduler.model.selection.taints import PREFER_NO_SCHEDULE, Taint, Toleration
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import Scores
from descheduler.placement.plugins.helper.normalized_scores import NormalizedScores
from descheduler.placement.shadow.node_masks import BoolMask, TaintSets
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.placement.shadow.tolerations import honoured_tolerations

__all__ = ["TaintTolerationScore"]


class TaintTolerationScore:
    """Counts once for each distinct list of tolerations."""

    name = "TaintToleration"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._version = cluster.version
        self._taints = TaintSets([_soft_taints(node) for node in cluster.table.nodes])
        self._counts: dict[tuple[Toleration, ...], NormalizedScores] = {}
        self._by_class: dict[PlacementClass, NormalizedScores] = {}

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """100 for the nodes with none, down to 0 for those with the most."""
        known = self._by_class.get(cycle.pod)
        if known is None:
            known = self._by_class[cycle.pod] = self._untolerated(cycle.pod.spec.tolerations)
        return known.among(feasible)

    def _untolerated(self, tolerations: tuple[Toleration, ...]) -> NormalizedScores:
        """The number of taints by node."""
        known = self._counts.get(tolerations)
        if known is None:
            honoured = honoured_tolerations(tolerations, self._version)
            raw = self._taints.num_untolerated(honoured)
            known = self._counts[tolerations] = NormalizedScores(raw, is_reversed=True)
        return known


def _soft_taints(node: Node) -> tuple[Taint, ...]:
    return tuple(taint for taint in node.taints if taint.effect == PREFER_NO_SCHEDULE)
