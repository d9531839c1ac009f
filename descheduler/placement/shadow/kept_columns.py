"""Columns over nodes that hang, node by node, on what the node table has of that node alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from numpy.typing import NDArray

from descheduler.placement.shadow.node_table import NodeTable, SomeNodes

__all__ = ["KeptColumns"]

_MOST_CELLS = 1_000_000
"""Columns together have no more cells than this (8 MB); the one that was not asked for longest gives way."""
_LEAST_COLUMNS = 4

Compute = Callable[[SomeNodes], NDArray[Any]]
"""The cells of these nodes."""


class KeptColumns:
    """Columns by what they are the answer to: pods that ask for the same share one, however many classes they are.

    A column that is asked for again is brought up to date where pods came or went.
    """

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._most = max(_LEAST_COLUMNS, _MOST_CELLS // max(1, len(table)))
        self._kept: dict[Hashable, tuple[NDArray[Any], int]] = {}

    def column(self, key: Hashable, compute: Compute) -> NDArray[Any]:
        """What `compute` says of all nodes. Not to be written to; valid until the cluster changes."""
        column, num_seen = self._kept.pop(key, (None, 0))
        num_changes = self._table.num_changes
        if column is None or num_seen < num_changes:
            column = self._brought_up_to_date(column, num_seen, compute)
        if len(self._kept) >= self._most:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = column, num_changes
        return column

    def _brought_up_to_date(self, column: NDArray[Any] | None, num_seen: int, compute: Compute) -> NDArray[Any]:
        changed = None if column is None else self._table.changed_since(num_seen)
        if column is None or changed is None:
            return compute(self._table.everywhere())
        column[changed.nodes] = compute(changed)
        return column
