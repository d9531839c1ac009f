"""In which wave of the plan each move is made, as its replacement is expected to land."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.optimizer.order.waves import WaveState
from descheduler.planner.problem.cluster_problem import ClusterProblem


class MoveWaves:
    """The waves of moves over `cluster` in the order in which they are granted, from the number `first`.

    A move that does not fit beside all that is there during the wave begins the next one, unless it is the first of the
    wave: the scheduler places it by the room that the moves before it leave. So does one that leaves a further node
    where `nodes_at_once` are left in the wave, and one that leaves another zone than those before it, by `zone_of` the
    node. `targets` has the nodes of all so far, by the UID of the pod that leaves.
    """

    def __init__(
        self,
        cluster: ClusterProblem,
        first: int,
        nodes_at_once: int | None = None,
        zone_of: Callable[[str], str] = lambda node: "",
    ) -> None:
        self._waves = WaveState(cluster.problem)
        self._cluster = cluster
        self._number = self._first = first
        self._zone_of = zone_of
        self._drained: set[str] = set()
        self._nodes_at_once = nodes_at_once
        self._left: set[str] = set()
        self.targets: dict[str, str] = {}

    def of(self, pod: Pod, node: str | None) -> int:
        """The wave in which `pod` leaves for `node`, which is noted.

        Without a node, or with one that is not of the problem, it is the current one: no room is needed here.
        """
        if node is not None:
            self.targets[pod.uid] = node
        if not self._may_leave(pod.node_name):
            self._begin()
        is_first = not self._left
        self._left.add(pod.node_name)
        self._drained.add(pod.node_name)
        number = self._cluster.number_of(pod)
        places = [] if node is None else self._cluster.places_of(number, node)
        if places:
            place = self._open_place(number, places)
            if place is None and not is_first:  # the plan counts with the pod, the scheduler with what its owner makes
                self._begin()
                self._left.add(pod.node_name)
                place = self._open_place(number, places)
            self._waves.start(number, places[0] if place is None else place)
        return self._number

    @property
    def text(self) -> str:
        """Such as `3 waves (at least 2 are needed)`; "" where pods may leave any number of nodes in one wave."""
        if self._nodes_at_once is None or not self._drained:
            return ""
        zones = Counter(map(self._zone_of, self._drained))
        least = sum(-(-number // self._nodes_at_once) for number in zones.values())
        number = self._number - self._first + 1
        return f"{counted(number, 'wave')} (at least {least:,} {'is' if least == 1 else 'are'} needed)"

    def _may_leave(self, node: str) -> bool:
        """Whether pods of `node` may leave in the wave with those that leave in it already."""
        if self._nodes_at_once is not None and len(self._left | {node}) > self._nodes_at_once:
            return False
        return all(self._zone_of(other) == self._zone_of(node) for other in self._left)

    def _begin(self) -> None:
        self._waves.begin()
        self._number += 1
        self._left.clear()

    def _open_place(self, number: int, places: Sequence[int]) -> int | None:
        """The first place that has room in this wave."""
        return next((place for place in places if self._waves.can_start(number, place)), None)
