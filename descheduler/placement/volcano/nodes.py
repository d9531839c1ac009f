"""What is idle, used, released and promised on each node, as Volcano sums it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from descheduler.model.requests import CPU, MEMORY, PODS
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import NodeTable
from descheduler.placement.volcano.jobs import Status, Task
from descheduler.placement.volcano.resources import QUANTUM, Amounts, amounts_of, named, total_of

_Columns = NDArray[np.float64]


class Nodes:
    """The nodes of `table` that are ready; columns have one row a resource, in the order of `rows`."""

    def __init__(self, table: NodeTable, requests: Iterable[Amounts]) -> None:
        self.table = table
        self.is_there: BoolMask = np.array([node.is_ready for node in table.nodes], dtype=bool)
        amounts = [amounts_of(node.allocatable) for node in table.nodes]
        names = dict.fromkeys((CPU, MEMORY, PODS))
        for each in (*amounts, *requests):
            names.update(dict.fromkeys(each))
        self.rows = {name: row for row, name in enumerate(names)}
        self.allocatable: _Columns = np.zeros((len(self.rows), len(table)))
        for node, each in enumerate(amounts):
            for name, amount in each.items():
                self.allocatable[self.rows[name], node] = amount
        self.idle = self.allocatable.copy()
        self.used = np.zeros_like(self.idle)
        self.releasing = np.zeros_like(self.idle)
        self.pipelined = np.zeros_like(self.idle)
        self.kept_idle = self.allocatable.copy()
        """What is idle as the cache has it, which knows nothing of tasks that are not bound."""
        self.tasks: list[dict[str, Task]] = [{} for _ in table.nodes]
        self.total = total_of(each for node, each in enumerate(amounts) if self.is_there[node])

    def know(self, request: Amounts) -> None:
        """Has a row for each resource of `request`, also for one that no node has."""
        for name in request.keys() - self.rows.keys():
            self.rows[name] = len(self.rows)
            for columns in ("allocatable", "idle", "used", "releasing", "pipelined", "kept_idle"):
                found: _Columns = getattr(self, columns)
                setattr(self, columns, np.vstack((found, np.zeros((1, found.shape[1])))))

    @property
    def future_idle(self) -> _Columns:
        """What is idle once all that is released is gone and all that is promised is taken."""
        return self.idle + self.releasing - self.pipelined

    def add(self, task: Task) -> None:
        """Counts `task` on its node, by its status."""
        self.tasks[task.node][task.key] = task
        self._count(task, 1)

    def remove(self, task: Task) -> None:
        """Counts it no longer; its status is the one that it was counted by."""
        del self.tasks[task.node][task.key]
        self._count(task, -1)

    def _count(self, task: Task, by: int) -> None:
        node, is_releasing = task.node, task.status is Status.RELEASING
        if task.status is Status.PIPELINED:
            for name, amount in task.request.items():
                self.pipelined[self.rows[name], node] += by * amount
            return
        for name, amount in task.request.items():
            row = self.rows[name]
            self.idle[row, node] -= by * amount
            self.used[row, node] += by * amount
            if is_releasing:
                self.releasing[row, node] += by * amount

    def have(self, columns: _Columns, request: Amounts) -> BoolMask:
        """The nodes on which `columns` has room for `request`."""
        found = self.is_there.copy()
        for name, amount in request.items():
            found &= columns[self.rows[name]] > amount - QUANTUM
        return found

    def has(self, columns: _Columns, node: int, request: Amounts, more: Amounts | None = None) -> bool:
        """The same of one node, with `more` on top."""
        extra = more or {}
        return all(
            columns[self.rows[name], node] + extra.get(name, 0.0) > amount - QUANTUM for name, amount in request.items()
        )

    def bind(self, task: Task) -> bool:
        """Whether the cache takes the binding: not where the node has no room for the task any more."""
        if not self.has(self.kept_idle, task.node, task.request):
            return False
        for name, amount in task.request.items():
            self.kept_idle[self.rows[name], task.node] -= amount
        return True

    def amounts(self, columns: _Columns, node: int) -> Amounts:
        """One node's amounts by name."""
        return {name: float(columns[row, node]) for name, row in self.rows.items()}

    @property
    def scarce(self) -> frozenset[str]:
        """The resources that the nodes have."""
        return frozenset(named(self.total))
