"""Topology keys as columns: which domain each node is in, and what is found where."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import NodeTable

_ABSENT = ""
"""Stands for the keys that no node has; a label's key is never empty."""


class Domains:
    """The domains of one topology key. `ids` is the domain of each node, `num` on nodes without the key.

    Columns over domains therefore have `num + 1` cells, the last of which stands for nodes without the key.
    """

    __slots__ = ("has_key", "ids", "ids_with_blank", "is_everywhere", "num")

    def __init__(self, table: NodeTable, key: str) -> None:
        column = table.label(key)
        self.num = len(column.values)
        self.has_key: BoolMask = column.ids >= 0
        self.is_everywhere = bool(self.has_key.all())
        """Whether every node has the key."""
        self.ids: NDArray[np.intp] = np.where(self.has_key, column.ids, self.num).astype(np.intp)
        self.ids_with_blank = self.ids
        """As `ids`, but nodes without the key are in the domain of the empty value, if some node has that."""
        if "" in column.values:
            self.ids_with_blank = np.where(self.has_key, self.ids, column.values.index(""))

    def marks(self) -> BoolMask:
        """An empty column of marks over domains, for `mark` and `spread`."""
        return np.zeros(self.num + 1, dtype=bool)

    def mark(self, marks: BoolMask, nodes: NDArray[np.intp]) -> None:
        """Marks the domains of `nodes`, which may repeat."""
        marks[self.ids[nodes]] = True
        marks[self.num] = False

    def spread(self, marks: BoolMask) -> BoolMask:
        """The nodes in marked domains."""
        return marks[self.ids]


class Topology:
    """Domains by topology key, each computed once."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._domains: dict[str, Domains] = {}
        self._keys = frozenset(key for node in table.nodes for key in node.labels)

    def domains(self, key: str) -> Domains:
        known = self._domains.get(key)
        if known is None:
            # Tenants may name any number of keys that no node has: all of these have the same, empty domains.
            known = self._domains.get(_ABSENT) if key not in self._keys else None
            known = self._domains[key] = known or Domains(self._table, key)
            if key not in self._keys:
                self._domains[_ABSENT] = known
        return known
