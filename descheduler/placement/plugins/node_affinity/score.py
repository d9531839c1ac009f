"""The score of NodeAffinity (kube-scheduler 1.36): weights of the preferred terms that a node matches."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from descheduler.model.affinity import PreferredNodeTerm
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import ScoreError, Scores
from descheduler.placement.plugins.helper.score_arithmetic import normalize
from descheduler.placement.plugins.node_affinity.args import NodeAffinityArgs
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

__all__ = ["NodeAffinityScore"]


class NodeAffinityScore:
    """The score. A preferred term that cannot be parsed, which the API server lets pass, makes it fail."""

    name = "NodeAffinity"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._terms = cluster.table.masks.terms
        added = profile.args.of(NodeAffinityArgs).added_affinity
        self._added = added.node_preferred if added is not None else ()
        self._sums: dict[PlacementClass, NDArray[np.int64]] = {}

    def score(self, cycle: Cycle, nodes: NDArray[np.intp]) -> Scores | None:
        """In proportion to the highest sum of weights; None without preferred terms."""
        affinity = cycle.pod.spec.affinity
        preferred = affinity.node_preferred if affinity is not None else ()
        if not preferred and not self._added:
            return None
        known = self._sums.get(cycle.pod)
        if known is None:
            _check(preferred)
            known = self._sums[cycle.pod] = self._terms.weights((*preferred, *self._added))
        raw = known[nodes]
        return Scores(normalize(raw), raw)


def _check(preferred: Iterable[PreferredNodeTerm]) -> None:
    """Raises ScoreError with all that is wrong, in the words of the scheduler."""
    faults = dict.fromkeys(
        f"[{index}].{fault}"
        for index, entry in enumerate(preferred)
        if entry.weight
        for fault in entry.term.error.splitlines()
    )
    if faults:
        text = ", ".join(faults)
        raise ScoreError(f'running PreScore plugin "NodeAffinity": {text if len(faults) == 1 else f"[{text}]"}')
