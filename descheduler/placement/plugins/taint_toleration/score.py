"""The score of TaintToleration (kube-scheduler 1.36): untolerated `PreferNoSchedule` taints make a node worse."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from descheduler.model.node import Node
from descheduler.model.taints import PREFER_NO_SCHEDULE, Taint, Toleration
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import Scores
from descheduler.placement.plugins.helper.score_arithmetic import normalize
from descheduler.placement.shadow.node_masks import TaintSets
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.placement.shadow.tolerations import honoured_tolerations

__all__ = ["TaintTolerationScore"]


class TaintTolerationScore:
    """Counts once for each distinct list of tolerations."""

    name = "TaintToleration"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._version = cluster.version
        self._taints = TaintSets([_soft_taints(node) for node in cluster.table.nodes])
        self._counts: dict[tuple[Toleration, ...], NDArray[np.int64]] = {}

    def score(self, cycle: Cycle, nodes: NDArray[np.intp]) -> Scores | None:
        """100 for the nodes with none, down to 0 for those with the most."""
        raw = self._untolerated(cycle.pod.spec.tolerations)[nodes]
        return Scores(normalize(raw, is_reversed=True), raw)

    def _untolerated(self, tolerations: tuple[Toleration, ...]) -> NDArray[np.int64]:
        """The number of taints by node."""
        known = self._counts.get(tolerations)
        if known is None:
            honoured = honoured_tolerations(tolerations, self._version)
            known = self._counts[tolerations] = self._taints.num_untolerated(honoured)
        return known


def _soft_taints(node: Node) -> tuple[Taint, ...]:
    return tuple(taint for taint in node.taints if taint.effect == PREFER_NO_SCHEDULE)
