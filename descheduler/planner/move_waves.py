"""In which wave of the plan each move is made, as its replacement is expected to land."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.model.pod import Pod
from descheduler.optimizer.order.waves import WaveState
from descheduler.planner.problem.cluster_problem import ClusterProblem

__all__ = ["MoveWaves"]


class MoveWaves:
    """The waves of moves over `cluster` in the order in which they are granted, from the number `first`.

    A move that does not fit beside all that is there during the wave begins the next one: the scheduler places it by
    the room that the moves before it leave. So does one that leaves a further node where `nodes_at_once` are left in
    the wave. `targets` has the nodes of all so far, by the UID of the pod that leaves.
    """

    def __init__(self, cluster: ClusterProblem, first: int, nodes_at_once: int | None = None) -> None:
        self._waves = WaveState(cluster.problem)
        self._cluster = cluster
        self._number = first
        self._nodes_at_once = nodes_at_once
        self._left: set[str] = set()
        self.targets: dict[str, str] = {}

    def of(self, pod: Pod, node: str | None) -> int:
        """The wave in which `pod` leaves for `node`, which is noted.

        Without a node, or with one that is not of the problem, it is the current one: no room is needed here.
        """
        if node is not None:
            self.targets[pod.uid] = node
        if self._nodes_at_once is not None and len(self._left | {pod.node_name}) > self._nodes_at_once:
            self._begin()
        self._left.add(pod.node_name)
        number = self._cluster.number_of(pod)
        places = [] if node is None else self._cluster.places_of(number, node)
        if places:
            place = self._open_place(number, places)
            if place is None:
                self._begin()
                self._left.add(pod.node_name)
                place = self._open_place(number, places)
            self._waves.start(number, places[0] if place is None else place)
        return self._number

    def _begin(self) -> None:
        self._waves.begin()
        self._number += 1
        self._left.clear()

    def _open_place(self, number: int, places: Sequence[int]) -> int | None:
        """The first place that has room in this wave."""
        return next((place for place in places if self._waves.can_start(number, place)), None)
