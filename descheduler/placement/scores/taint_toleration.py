"""The score of TaintToleration (kube-scheduler 1.36): untolerated `PreferNoSchedule` taints make a node worse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from descheduler.model.node import Node
from descheduler.model.taints import PREFER_NO_SCHEDULE, Taint, Toleration
from descheduler.placement.framework import Cycle, Scores
from descheduler.placement.scores.normalize import normalize
from descheduler.placement.tolerations import honoured_tolerations

if TYPE_CHECKING:
    from descheduler.placement.shadow_cluster import ShadowCluster
    from descheduler.policy.scheduler_profile import SchedulerProfile

__all__ = ["TaintTolerationScore"]

_NO_TAINTS: tuple[Taint, ...] = ()


class TaintTolerationScore:
    """Counts once for each distinct set of taints, of which a cluster has few."""

    name = "TaintToleration"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._version = cluster.version
        set_ids: dict[tuple[Taint, ...], int] = {_NO_TAINTS: 0}
        ids = [set_ids.setdefault(_soft_taints(node), len(set_ids)) for node in cluster.table.nodes]
        self._set_of = np.array(ids, dtype=np.intp)
        self._taint_sets = tuple(set_ids)
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
            by_set = [_num_untolerated(taints, honoured) for taints in self._taint_sets]
            known = self._counts[tolerations] = np.array(by_set, dtype=np.int64)[self._set_of]
        return known


def _soft_taints(node: Node) -> tuple[Taint, ...]:
    return tuple(taint for taint in node.taints if taint.effect == PREFER_NO_SCHEDULE)


def _num_untolerated(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> int:
    return sum(not any(toleration.tolerates(taint) for toleration in tolerations) for taint in taints)
