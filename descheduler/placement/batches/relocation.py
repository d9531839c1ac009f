"""Relocation after a sequential run that left replacements without a node: others of the batch make way for them.

No scheduler does that. What is found shows that an assignment exists, which another order of events may reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from descheduler.placement.batches.exhaustive_search import Assignment
from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Placed, ShadowCluster

__all__ = ["Relocation"]

_MOST_TRIES = 200
_DEPTHS = (1, 2)


class Relocation:
    """One relocation on `cluster`, in which the replacements of `placed` are. Leaves the cluster changed."""

    def __init__(self, cluster: ShadowCluster, placed: Mapping[UnplacedReplacement, Placed]) -> None:
        self._cluster = cluster
        self._placed = dict(placed)
        self._num_left = _MOST_TRIES

    def assignment(
        self, failed: Sequence[UnplacedReplacement], open_nodes: Mapping[UnplacedReplacement, BoolMask]
    ) -> Assignment | None:
        """An assignment of all replacements, once each of `failed` has a place; None when that was not brought about.

        `open_nodes` are those that each of `failed` may ever go to. Whether there is an order in which the scheduler
        comes to that is for the caller to try.
        """
        for unplaced in failed:
            if not any(self._makes_room(unplaced, open_nodes[unplaced], depth) for depth in _DEPTHS):
                return None
        return tuple((unplaced, placed.node) for unplaced, placed in self._placed.items())

    def _makes_room(self, unplaced: UnplacedReplacement, open_nodes: BoolMask, depth: int) -> bool:
        for node, movers in self._movers(open_nodes, depth):
            if not self._num_left:
                return False
            self._num_left -= 1
            with self._cluster.what_if() as trial:
                places = self._swapped(unplaced, node, movers)
                if places is not None:
                    trial.keep()
                    self._placed.update(places)
                    return True
        return False

    def _swapped(
        self, unplaced: UnplacedReplacement, node: int, movers: Sequence[UnplacedReplacement]
    ) -> dict[UnplacedReplacement, Placed] | None:
        """New places of `unplaced` and of those that leave `node` for it."""
        for mover in movers:
            self._cluster.take_off(self._placed[mover])
        evaluation = unplaced.evaluate()
        if not evaluation.feasible[node]:
            return None
        places = {unplaced: put_on_node(evaluation, node).placed}
        for mover in movers:
            placement = mover.place().placement
            if placement is None:
                return None
            places[mover] = placement.placed
        return places

    def _movers(self, open_nodes: BoolMask, depth: int) -> Iterator[tuple[int, tuple[UnplacedReplacement, ...]]]:
        """Nodes, and replacements there that may be moved; of equal ones one stands for all."""
        by_node: dict[int, list[UnplacedReplacement]] = {}
        for unplaced, placed in self._placed.items():
            if open_nodes[placed.node]:
                by_node.setdefault(placed.node, []).append(unplaced)
        for node, replacements in by_node.items():
            seen = set()
            for movers in combinations(replacements, depth):
                classes = tuple(id(mover.placement_class) for mover in movers)
                if classes not in seen:
                    seen.add(classes)
                    yield node, movers
