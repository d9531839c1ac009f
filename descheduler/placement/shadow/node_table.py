"""The nodes of a shadow cluster as columns: what they have, what is taken, and where they stand in the topology.

Amounts are int64, cpu in milli and everything else in whole units, each pod's request rounded up once, as
`k8s.io/kubernetes/pkg/scheduler/framework/types.go` (1.36) keeps them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.model.node import Node
from descheduler.model.pod import Pod, PodSpec
from descheduler.model.requests import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, ResourceList, ceil_amount
from descheduler.placement.shadow.node_masks import NodeMasks

CPU_ROW, MEMORY_ROW, PODS_ROW, EPHEMERAL_ROW = _FIRST_ROWS = 0, 1, 2, 3

_MOST = 2**61
"""Amounts above this are cut: no machine has as much."""
_MOST_TAKEN = 2**62
"""What is taken is shown as this where it is more: more than any node has, and a pod on top leaves it in int64."""
_SMALL = 2**40
"""Millions of amounts up to this leave a sum in int64."""
_REQUESTED, _SCORING = range(2)
_FEW_CHANGES = 64
_MOST_EXACT = 2**46
_FEW = 4
"""Changes are told apart up to one in so many nodes."""


class Demand(NamedTuple):
    """What one pod takes: (resource row, amount) without zeros, and its cpu and memory in the scoring ledger."""

    amounts: tuple[tuple[int, int], ...]
    scoring_cpu: int
    scoring_memory: int


class LabelColumn(NamedTuple):
    """One label key over all nodes: the id of each node's value, -1 where the key is absent, and the values by id."""

    ids: NDArray[np.int32]
    values: tuple[str, ...]


def is_counted(name: str) -> bool:
    """Whether the scheduler counts a resource of this name: native ones, hugepages, attachable volumes, extended.

    Names of quotas, such as `requests.nvidia.com/gpu`, are not resources.
    """
    return (
        name in (CPU, MEMORY, EPHEMERAL_STORAGE)
        or name.startswith(("hugepages-", "attachable-volumes-"))
        # Extended resources, and native ones written with their prefix.
        or ("/" in name and not name.startswith("requests."))
    )


def is_exact_amount(number: int) -> bool:
    """Whether float64 holds the hundredfold of `number`, as of all whole numbers below 2^53; no amount is below 0."""
    return 0 <= number <= _MOST_EXACT


def amount(name: str, nano: int) -> int:
    """A quantity in the unit of its column, rounded up, within bounds that int64 sums of a few of them keep."""
    return max(-_MOST, min(_MOST, ceil_amount(name, nano)))


class SomeNodes:
    """What the table has of some nodes, which may repeat, each part looked up once. Valid until the cluster changes.

    `nodes` are their indices, in the order of which all columns are.
    """

    __slots__ = ("_free", "_requested", "_scoring", "_table", "nodes")

    def __init__(self, table: NodeTable, nodes: NDArray[np.intp]) -> None:
        self.nodes = nodes
        self._table = table
        self._requested: NDArray[np.int64] | None = None
        self._free: NDArray[np.int64] | None = None
        self._scoring: NDArray[np.int64] | None = None

    def requested(self, rows: tuple[int, ...]) -> NDArray[np.int64]:
        """What is requested of the resources `rows`, a row a resource."""
        return _rows(self._all_requested(), rows)

    def free(self, rows: tuple[int, ...]) -> NDArray[np.int64]:
        """What is free of the resources `rows`, a row a resource."""
        if self._free is None:
            # In this order no step leaves int64, however large the amounts.
            self._free = self._table.allocatable.take(self.nodes, axis=1) - self._all_requested()
        return _rows(self._free, rows)

    def scoring(self) -> NDArray[np.int64]:
        """The second ledger: cpu and memory."""
        if self._scoring is None:
            self._scoring = self._table.scoring.take(self.nodes, axis=1)
        return self._scoring

    def _all_requested(self) -> NDArray[np.int64]:
        if self._requested is None:
            self._requested = self._table.requested.take(self.nodes, axis=1)
        return self._requested


class NodeTable:
    """One column a node, in name order. `requested` and `allocatable` have one row a resource; see `row`.

    `scoring` is the second ledger, in which containers without a request of cpu or memory count as if they asked for a
    little (row 0 cpu, row 1 memory). `requested[PODS_ROW]` is the number of pods.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = tuple(nodes)
        self.names = tuple([node.name for node in self.nodes])
        self.index: Mapping[str, int] = {name: index for index, name in enumerate(self.names)}
        self.masks = NodeMasks(self.nodes)
        self._rows = {CPU: CPU_ROW, MEMORY: MEMORY_ROW, PODS: PODS_ROW, EPHEMERAL_STORAGE: EPHEMERAL_ROW}
        for node in nodes:
            for name in node.allocatable:
                if name not in self._rows and is_counted(name):
                    self._rows[name] = len(self._rows)
        shape = len(self._rows), len(self.nodes)
        self.allocatable: NDArray[np.int64] = np.zeros(shape, dtype=np.int64)
        self._requested: NDArray[np.int64] = np.zeros(shape, dtype=np.int64)
        self._scoring: NDArray[np.int64] = np.zeros((2, len(self.nodes)), dtype=np.int64)
        for index, node in enumerate(self.nodes):
            for name, nano in node.allocatable.items():
                row = self._rows.get(name)
                if row is not None:
                    self.allocatable[row, index] = amount(name, nano)
        self._are_exact = all(map(is_exact_amount, (self.allocatable.max(initial=0), self.allocatable.min(initial=0))))
        self._are_large = False
        self._beyond: dict[tuple[int, int, int], int] = {}  # by ledger, row and node: what is really taken
        self.before_reading: Callable[[], None] | None = None
        """Called before anybody reads what is taken, while that is out of date."""
        self._labels: dict[str, LabelColumn] = {}
        self._changed = array("q")
        self._everywhere = np.arange(len(self.nodes))
        self._asked: tuple[tuple[int, int], SomeNodes] = ((-1, -1), self.everywhere())
        self._num_forgotten = 0

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def requested(self) -> NDArray[np.int64]:
        """What is taken, one row a resource."""
        if self.before_reading is not None:
            self.before_reading()
        return self._requested

    @property
    def scoring(self) -> NDArray[np.int64]:
        """What is taken by the second ledger: cpu and memory."""
        if self.before_reading is not None:
            self.before_reading()
        return self._scoring

    @property
    def has_exact_shares(self) -> bool:
        """Whether all amounts, of pods and of nodes, are such as `is_exact_amount` says."""
        return self._are_exact

    @property
    def resources(self) -> tuple[str, ...]:
        """Resource names by row."""
        return tuple(self._rows)

    def row(self, name: str) -> int:
        """The row of a counted resource; one that no node offers gets a row of zeros."""
        row = self._rows.get(name)
        if row is None:
            row = self._rows[name] = len(self._rows)
            empty = np.zeros((1, len(self.nodes)), dtype=np.int64)
            self.allocatable = np.concatenate((self.allocatable, empty))
            self._requested = np.concatenate((self._requested, empty))
        return row

    def demand(self, requests: ResourceList, scoring: ResourceList) -> Demand:
        """What a pod of these effective requests (nano units) takes in both ledgers."""
        amounts = ((name, amount(name, nano)) for name, nano in requests.items() if is_counted(name))
        made = Demand(
            tuple((self.row(name), taken) for name, taken in amounts if taken),
            amount(CPU, scoring.get(CPU, 0)),
            amount(MEMORY, scoring.get(MEMORY, 0)),
        )
        all_taken = (made.scoring_cpu, made.scoring_memory, *(taken for _, taken in made.amounts))
        self._are_exact = self._are_exact and all(map(is_exact_amount, all_taken))
        self._are_large = self._are_large or max(map(abs, all_taken)) > _SMALL
        return made

    def take(self, node: int, demand: Demand, sign: int = 1) -> None:
        """Charges `node` with one pod, or gives it back with `sign` -1."""
        if self._are_large:
            self._take_exactly(node, demand, sign)
        else:
            for row, taken in demand.amounts:
                self._requested[row, node] += sign * taken
            self._scoring[0, node] += sign * demand.scoring_cpu
            self._scoring[1, node] += sign * demand.scoring_memory
        self._requested[PODS_ROW, node] += sign
        self._changed.append(node)

    def _take_exactly(self, node: int, demand: Demand, sign: int) -> None:
        """The same for amounts whose sums may leave int64: these are kept beside the columns."""
        for row, taken in demand.amounts:
            self._add(_REQUESTED, row, node, sign * taken)
        self._add(_SCORING, 0, node, sign * demand.scoring_cpu)
        self._add(_SCORING, 1, node, sign * demand.scoring_memory)

    def _add(self, ledger: int, row: int, node: int, by: int) -> None:
        column = self._scoring[row] if ledger == _SCORING else self._requested[row]
        total = self._beyond.pop((ledger, row, node), int(column[node])) + by
        column[node] = max(-_MOST_TAKEN, min(_MOST_TAKEN, total))
        if abs(total) > _MOST_TAKEN:
            self._beyond[ledger, row, node] = total

    def take_all(self, demand: Demand, nodes: NDArray[np.intp]) -> None:
        """Charges every entry of `nodes`, which may repeat, with one pod of this demand."""
        if self._are_large:
            for node in nodes.tolist():
                self._take_exactly(node, demand, 1)
        else:
            for row, taken in demand.amounts:
                np.add.at(self._requested[row], nodes, taken)
            np.add.at(self._scoring[0], nodes, demand.scoring_cpu)
            np.add.at(self._scoring[1], nodes, demand.scoring_memory)
        np.add.at(self._requested[PODS_ROW], nodes, 1)
        self._num_forgotten = self.num_changes + 1
        del self._changed[:]

    @property
    def num_changes(self) -> int:
        """How often a pod came or went so far."""
        return self._num_forgotten + len(self._changed)

    def everywhere(self) -> SomeNodes:
        return SomeNodes(self, self._everywhere)

    def changed_since(self, num_changes: int) -> SomeNodes | None:
        """The nodes where pods came or went after that many changes, which may repeat; None where that may be most."""
        most = len(self.nodes) // _FEW
        if len(self._changed) > 2 * most:
            self._num_forgotten += len(self._changed) - most
            del self._changed[: len(self._changed) - most]
        start = num_changes - self._num_forgotten
        if start < 0 or len(self._changed) - start > most:
            return None
        # Many ask one after the other, and most of them since the same moment. As a log that somebody looks at cannot
        # grow, it is copied.
        moment = num_changes, self.num_changes
        if self._asked[0] != moment:
            self._asked = moment, SomeNodes(self, self._distinct(start))
        return self._asked[1]

    def _distinct(self, start: int) -> NDArray[np.intp]:
        """The nodes in the log from `start` on; each once where there are many."""
        found = np.frombuffer(self._changed, dtype=np.int64)[start:]
        if len(found) <= _FEW_CHANGES:
            return found.copy()
        is_changed = np.zeros(len(self.nodes), dtype=bool)
        is_changed[found] = True
        return is_changed.nonzero()[0]

    def label(self, key: str) -> LabelColumn:
        known = self._labels.get(key)
        if known is None:
            known = self._labels[key] = _label_column(node.labels.get(key) for node in self.nodes)
        return known


def _rows(table: NDArray[np.int64], rows: tuple[int, ...]) -> NDArray[np.int64]:
    """Rows of `table`; the first ones, which are cpu, memory and pods, are had without a copy."""
    num = len(rows)
    return table[:num] if rows == _FIRST_ROWS[:num] else table.take(rows, axis=0)


def _label_column(values: Iterable[str | None]) -> LabelColumn:
    ids: dict[str, int] = {}
    column = [-1 if value is None else ids.setdefault(value, len(ids)) for value in values]
    return LabelColumn(np.array(column, dtype=np.int32), tuple(ids))


class PodDemands:
    """What pods take of `table`; pods with one spec are asked about once.

    `sums_resized` is the gate by which a pod that is resized in place takes what all its containers have together.
    """

    def __init__(self, table: NodeTable, *, sums_resized: bool) -> None:
        self._table = table
        self._sums_resized = sums_resized
        self._placed: dict[int, tuple[PodSpec, Demand]] = {}
        self._incoming: dict[int, tuple[PodSpec, Demand]] = {}

    def incoming(self, spec: PodSpec) -> Demand:
        """What a pod of this spec takes that looks for a node."""
        known = self._incoming.get(id(spec))
        if known is None:
            demand = self._table.demand(spec.requests, spec.incoming_scoring_requests)
            known = self._incoming[id(spec)] = (spec, demand)
        return known[1]

    def placed(self, pod: Pod) -> Demand:
        """What a placed pod takes; in-place resizing may make that more than its spec says."""
        if pod.resized is not None:
            held = (self._sums_resized and pod.resized.summed) or pod.resized
            return self._table.demand(held.requests, held.scoring_requests)
        known = self._placed.get(id(pod.spec))
        if known is None:
            demand = self._table.demand(pod.spec.requests, pod.spec.scoring_requests)
            known = self._placed[id(pod.spec)] = (pod.spec, demand)
        return known[1]
