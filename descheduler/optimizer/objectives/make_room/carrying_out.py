"""Carries exchanges out move by move: a pod departs once a place is open to it, so that an order leads to all of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import pairwise

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.objectives.fullest_node import place_on_fullest
from descheduler.optimizer.objectives.make_room.exchanges import Chosen
from descheduler.optimizer.objectives.make_room.pod_kinds import PodKinds


def carry_out(
    placement: Arrangement, chosen: Chosen, kinds: PodKinds, waiting: Mapping[tuple[int, int], Sequence[int]]
) -> None:
    """Moves the pods that depart, those of a machine together or not at all, then pending pods to what is left.

    waiting: the pending pods of each kind and weight, of which the weightiest come first. A place is there once it is
    open: its machine has room, because pods have departed before, and rules let the pod come. Where all that are left
    wait for each other, pods of one machine go to the fullest nodes that are open, which others may have counted on.
    What waits even then stays.
    """
    places = _Places(placement, chosen, kinds)
    left = [exchange.departing for exchange in chosen.exchanges if exchange.departing]
    while left:
        rest = [pods for pods in left if not places.take(pods)]
        if len(rest) == len(left):
            opening = next((pods for pods in left if places.take(pods, anywhere=True)), None)
            if opening is None:
                break
            rest.remove(opening)
        left = rest
    pending: dict[int, list[int]] = defaultdict(list)
    for kind, weight, count in sorted(chosen.placed, key=lambda one: -one[1]):
        pending[kind] += waiting[kind, weight][:count]
    for kind in kinds.largest_first():
        for pod in pending[kind]:
            places.take([pod])


class _Places:
    """The places of the exchanges that are not taken yet, by kind; a pod takes one of its kind or what it is handed."""

    def __init__(self, placement: Arrangement, chosen: Chosen, kinds: PodKinds) -> None:
        self._placement, self._kind_of = placement, kinds.of
        self._nodes: dict[int, list[int]] = defaultdict(list)
        for exchange in chosen.exchanges:
            for kind, node in exchange.places:
                self._nodes[kind].append(node)
        self._handed = Counter({(each, kind): count for kind, to in chosen.handed.items() for each, count in to})
        self._larger: dict[int, list[int]] = defaultdict(list)
        for smaller, kind in self._handed:
            self._larger[smaller].append(kind)

    def take(self, pods: Sequence[int], *, anywhere: bool = False) -> bool:
        """Moves `pods` to places that are open, or with `anywhere` to open nodes; none where one of them has none."""
        with ExitStack() as undo:
            for pod in pods:
                if not (self._take(pod, undo) or (anywhere and self._go_anywhere(pod, undo))):
                    return False
            undo.pop_all()
        return True

    def _take(self, pod: int, undo: ExitStack) -> bool:
        """Moves the pod to a place that is open, one of its own kind if there is one; whether there is any."""
        paths: list[tuple[int, ...]] = [(int(self._kind_of[pod]),)]
        for path in paths:  # which grows: from each kind to those that hand places to it
            kind = path[-1]
            nodes = np.array(self._nodes[kind], dtype=np.int64)
            nodes = nodes[self._placement.open_moves(np.array([pod]), nodes)[0]]
            if len(nodes):
                self._nodes[kind].remove(int(nodes[0]))
                self._handed.subtract(pairwise(path))
                undo.callback(self._give_back, path, int(nodes[0]), pod, int(self._placement.at[pod]))
                self._placement.move(pod, int(nodes[0]))
                return True
            known = {path[-1] for path in paths}
            paths += ((*path, each) for each in self._larger[kind] if each not in known and self._handed[kind, each])
        return False

    def _give_back(self, path: Sequence[int], node: int, pod: int, before: int) -> None:
        self._placement.move(pod, before)
        self._nodes[path[-1]].append(node)
        self._handed.update(pairwise(path))

    def _go_anywhere(self, pod: int, undo: ExitStack) -> bool:
        """Moves the pod to the fullest node that is open; whether there is one."""
        before = int(self._placement.at[pod])
        is_moved = place_on_fullest(self._placement, pod)
        if is_moved:
            undo.callback(self._placement.move, pod, before)
        return is_moved
