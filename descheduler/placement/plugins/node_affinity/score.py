"""The score of NodeAffinity (kube-scheduler 1.36): weights of the preferred terms that a node matches."""

from __future__ import annotations

from collections.abc import Iterable

from descheduler.model.selection.affinity import PreferredNodeTerm
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import ScoreError, Scores
from descheduler.placement.plugins.helper.normalized_scores import NormalizedScores
from descheduler.placement.plugins.node_affinity.args import NodeAffinityArgs
from descheduler.placement.shadow.node_masks import BoolMask
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
        self._sums: dict[PlacementClass, NormalizedScores] = {}
        self._by_terms: dict[tuple[PreferredNodeTerm, ...], NormalizedScores] = {}

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """In proportion to the highest sum of weights; None without preferred terms."""
        affinity = cycle.pod.spec.affinity
        preferred = affinity.node_preferred if affinity is not None else ()
        if not preferred and not self._added:
            return None
        known = self._sums.get(cycle.pod)
        if known is None:
            _check(preferred)
            known = self._sums[cycle.pod] = self._weigh((*preferred, *self._added))
        return known.among(feasible)

    def _weigh(self, terms: tuple[PreferredNodeTerm, ...]) -> NormalizedScores:
        """The sums of the weights of `terms`, which many workloads state alike."""
        known = self._by_terms.get(terms)
        if known is None:
            known = self._by_terms[terms] = NormalizedScores(self._terms.weights(terms))
        return known


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
