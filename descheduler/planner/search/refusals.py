"""What was refused of the plans of a search, without which later ones are made."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from descheduler.model.node import ZONE_LABEL, Node
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.objectives.cluster_objective import ClusterObjective
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.planner.search.trials import Trial

_MOST_REFUSALS_OF_CHAINS, _MOST_REFUSALS_AS_SCHEDULED = 2, 3
"""After so many a pod stays, of a chain, or where the plan counts with the scheduler's choice of nodes."""
_MOST_REFUSED_NODES = 2
"""After so many a pod with a chosen node is not moved to the zones of the next ones."""


class Refusals:
    """Pods that stay, and moves to nodes or zones that are closed, of the plans for one objective over `nodes`."""

    def __init__(self, objective: ClusterObjective, nodes: Sequence[Node], *, chooses_nodes: bool) -> None:
        self._nodes = nodes
        self._chooses_nodes = chooses_nodes
        self._has_targets = chooses_nodes or bool(objective.scheduled_share)
        self._is_chain = objective.is_planned_further
        self._kept: set[PodIdentity] = set()
        self._num_refused: Counter[PodIdentity] = Counter()
        self._closed: defaultdict[PodIdentity, set[str]] = defaultdict(set)

    def add(self, refused: Collection[PodIdentity], trial: Trial) -> None:
        """Has later plans go without what was refused: moves to nodes or zones, or pods where targets are only wishes.

        Moves are refused for what others of the same plan do, mostly, or for the nodes or the zone that they lead to.
        """
        to_blame = [pod for pod in refused if pod not in trial.companions]
        self._num_refused.update(to_blame)
        if not self._has_targets:
            self.keep(to_blame)
            return
        cluster = trial.cluster
        targets = {identity_of(cluster.pods[move.pod]): cluster.nodes[move.target] for move in trial.plan.moves}
        times = _MOST_REFUSALS_OF_CHAINS if self._is_chain else _MOST_REFUSALS_AS_SCHEDULED
        may_stay = self._is_chain or not self._chooses_nodes
        for pod in to_blame:
            if pod not in targets or (may_stay and self._num_refused[pod] >= times):
                self._kept.add(pod)
            elif not self._is_chain:
                by_zone = self._num_refused[pod] > _MOST_REFUSED_NODES
                self._closed[pod] |= self._zone_of(targets[pod]) if by_zone else {targets[pod]}

    def keep(self, pods: Iterable[PodIdentity]) -> None:
        """Has pods stay in later plans."""
        self._kept.update(pods)

    def forget_pods(self) -> None:
        """Has later plans move the pods again that were to stay."""
        self._kept.clear()

    def without_refused(self, cluster: ClusterProblem) -> ClusterProblem:
        """Without pods and moves that were refused or not asked about: no bound may be of this."""
        names = np.array(cluster.nodes)
        refused = (
            ((number,), np.isin(names, list(self._closed[identity_of(pod)])))
            for number, pod in enumerate(cluster.pods if self._closed else ())
            if identity_of(pod) in self._closed
        )
        return cluster.where_stay(self._kept | cluster.unasked).without_moves(refused)

    def _zone_of(self, name: str) -> frozenset[str]:
        """The nodes in the zone of this one, or in none where it is in none."""
        zones = {node.name: node.labels.get(ZONE_LABEL) for node in self._nodes}
        return frozenset({name}.union(other for other, zone in zones.items() if zone == zones.get(name)))
