"""The nodes by all topologies of a pod's constraints at once: nodes of one cell are in the same domain of each.

What a constraint says of an empty node hangs on its domain alone, so it is worked out for a handful of cells and not
for thousands of nodes. Single nodes as domains would make as many cells; they only tell those with the key apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.topology import HOSTNAME_KEY, Domains

__all__ = ["Cells"]


class Cells:
    """The cells of some topologies. `ids` is the cell of each node, `first` the first node of each cell; `numbers` are
    the cells themselves."""

    __slots__ = ("_in_order", "_likely", "_starts", "first", "ids", "num", "numbers")

    def __init__(self, topologies: Iterable[tuple[str, Domains]], num_nodes: int) -> None:
        columns = {id(domains): _told_apart(key, domains) for key, domains in topologies}
        joined = reduce(_joined, columns.values(), np.zeros(num_nodes, dtype=np.intp))
        _, self.first, ids = np.unique(joined, return_index=True, return_inverse=True)
        self.ids: NDArray[np.intp] = ids.reshape(-1)
        self.num = len(self.first)
        self.numbers = np.arange(self.num)
        self._in_order = np.argsort(self.ids, kind="stable")
        self._starts = np.searchsorted(self.ids[self._in_order], self.numbers)
        self._likely = self.first

    def having(self, nodes: BoolMask) -> tuple[BoolMask, bool]:
        """The cells that have some of `nodes`, and whether these are all."""
        # Most masks have some of every cell, mostly a node that the last one had.
        found = nodes.take(self._likely)
        if np.count_nonzero(found) == self.num:
            return found, True
        ordered = nodes.take(self._in_order)
        places = np.append(ordered.nonzero()[0], len(ordered))
        following = places.take(np.searchsorted(places, self._starts))
        first = self._in_order.take(following, mode="clip")
        having: BoolMask = (following < len(ordered)) & (self.ids.take(first) == self.numbers)
        self._likely = np.where(having, first, self._likely)
        return having, bool(np.count_nonzero(having) == self.num)


def _told_apart(key: str, domains: Domains) -> NDArray[np.intp]:
    return domains.has_key.astype(np.intp) if key == HOSTNAME_KEY else domains.ids


def _joined(first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.intp]:
    """One number for each pair of numbers, small ones, so that no further join leaves the range."""
    _, found = np.unique(first * (int(second.max(initial=0)) + 1) + second, return_inverse=True)
    numbers: NDArray[np.intp] = found.reshape(-1).astype(np.intp)
    return numbers
