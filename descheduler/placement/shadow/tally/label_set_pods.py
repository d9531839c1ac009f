"""Pods of equal namespace and labels, which no selector tells apart, and on which nodes they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = ["FoundPods", "LabelSetPods", "found_in"]


class FoundPods(msgspec.Struct, frozen=True, gc=False):
    """Pods by node: the `nodes` that have some, each once and in any order, and how many are there.

    Not to be written to; valid until the next change.
    """

    nodes: NDArray[np.intp]
    numbers: NDArray[np.int64]

    def on(self, node: int) -> int:
        """How many are on `node`."""
        return int(self.numbers[self.nodes == node].sum())


class LabelSetPods:
    """How many pods of a group are on which node, those being deleted included; `ending` are these alone.

    `version` grows with each change.
    """

    __slots__ = ("all_pods", "ending", "labels", "namespace", "version")

    def __init__(self, namespace: str, labels: Mapping[str, str]) -> None:
        self.namespace = namespace
        self.labels = labels
        self.all_pods: dict[int, int] = {}
        self.ending: dict[int, int] = {}
        self.version = 0

    def change(self, node: int, by: int, *, is_terminating: bool) -> None:
        """Counts `by` pods more on `node`, or fewer."""
        self.version += 1
        _add(self.all_pods, node, by)
        if is_terminating:
            _add(self.ending, node, by)


def found_in(groups: Sequence[tuple[LabelSetPods, int]], *, counts_terminating: bool) -> FoundPods:
    """The pods of some groups, by node, each pod with the weight of its group; sums of 0 are left out."""
    if len(groups) == 1 and groups[0][1] == 1 and (counts_terminating or not groups[0][0].ending):
        return _found(groups[0][0].all_pods)
    sums: dict[int, int] = {}
    for group, weight in groups:
        for node, number in group.all_pods.items():
            lasting = number if counts_terminating else number - group.ending.get(node, 0)
            sums[node] = sums.get(node, 0) + weight * lasting
    return _found({node: number for node, number in sums.items() if number})


def _found(by_node: Mapping[int, int]) -> FoundPods:
    return FoundPods(np.fromiter(by_node, np.intp, len(by_node)), np.fromiter(by_node.values(), np.int64, len(by_node)))


def _add(by_node: dict[int, int], node: int, by: int) -> None:
    number = by_node.get(node, 0) + by
    if number:
        by_node[node] = number
    else:
        del by_node[node]
