"""Whose replacements can take the room on some nodes before others do: many pods are asked about many nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from descheduler.model.pod import Pod, PodSpec
from descheduler.placement.landings.openings import Openings, OpenNodes
from descheduler.placement.shadow.node_masks import BoolMask


class Takers(NamedTuple):
    """The pods whose replacements can take one node: the `first` of them, and how many there are."""

    first: Sequence[Pod]
    number: int


class TakerSearch:
    """Is told of one pod after the other which of `nodes` can take it; of each node it keeps the first `most` pods."""

    def __init__(self, nodes: Sequence[str], most: int) -> None:
        self._nodes, self._most = nodes, most
        self._first: list[list[Pod]] = [[] for _ in nodes]
        self._numbers = np.zeros(len(nodes), dtype=np.int64)
        # Keys are identities of what is kept with the value.
        self._known: dict[tuple[int, int], tuple[OpenNodes, PodSpec, BoolMask]] = {}

    def ask(self, pod: Pod, openings: Openings) -> None:
        """Looks where the replacement of `pod` can go now, by `openings`, which are the same for one scheduler."""
        found = openings.open_to(pod, is_for_itself=True)
        if found is None:
            return
        key = id(found), id(pod.spec)
        if key not in self._known:
            self._known[key] = found, pod.spec, self._taking(pod, found, openings)
        taking = self._known[key][2]
        self._numbers += taking
        for place in (taking & (self._numbers <= self._most)).nonzero()[0].tolist():
            self._first[place].append(pod)

    def found(self) -> dict[str, Takers]:
        """What was found of each node."""
        found = zip(self._nodes, self._first, self._numbers.tolist(), strict=True)
        return {node: Takers(first, number) for node, first, number in found}

    def _taking(self, pod: Pod, found: OpenNodes, openings: Openings) -> BoolMask:
        """Which of the nodes are open to the replacement of `pod` and have room for it."""
        places = np.array(list(map(openings.place_of, self._nodes)), dtype=np.intp)
        need = openings.need(pod.spec)[:, None]
        has_room = (openings.taken[:, places] + need <= openings.capacity[:, places]).all(axis=0)
        return found.now[places] & np.asarray(has_room)
