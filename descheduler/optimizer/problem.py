"""The problem as arrays: which pods stand where, what they need, and what keeps them from going elsewhere.

P pods, N nodes, R resources; K classes of pods that may run on the same nodes. Nothing here knows of Kubernetes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from descheduler.optimizer.arrays import PENDING, Bools, Ints
from descheduler.optimizer.parts import Parts
from descheduler.optimizer.rules import AtMost, MaxSkew, MinDomains, MoveLimit, Rule, Together

LARGEST_EXACT = 2**53
"""Sums are kept in float64, where larger whole numbers are no longer exact."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """One cluster at one moment, made by `make_problem`.

    need:        int64[P, R], what each pod requests. Columns may be measured usage too: give them unlimited capacity.
    capacity:    int64[N, R], allocatable less what is reserved; with parts, the most that one pod can have of it.
    assignment:  int64[P], the node of each pod, or -1 (`PENDING`) for a pod that has none.
    evictable:   bool[P]; a pending pod is placed, not evicted, and counts as evictable.
    cost:        int64[P], the price of moving each pod once; at least 0.
    pod_class:   int64[P], the row of `allowed` for each pod.
    allowed:     bool[K, N], the nodes that each class of pods may run on (affinity, taints, volumes, devices).
    rules:       constraints between pods.
    both_ends:   bool[R], the resources of which a moved pod holds its need on its old node too, to the end of the
                 plan (ROADEF/EURO 2012's transient resources). A plan that respects this for all resources can be
                 carried out in any order, pods that were pending last: they take what others leave. For the other
                 resources the order is found afterwards.
    parts:       what nodes share, where they are choices of devices or NUMA nodes; None: each has its own capacity.
    """

    need: Ints
    capacity: Ints
    assignment: Ints
    evictable: Bools
    cost: Ints
    pod_class: Ints
    allowed: Bools
    rules: tuple[Rule, ...]
    both_ends: Bools
    parts: Parts | None = None

    def __post_init__(self) -> None:
        """Raises ValueError that names the array, where shapes or values do not go together."""
        pods, resources = self.need.shape
        nodes = len(self.capacity)
        _expect(self.capacity.shape == (nodes, resources), "capacity", self.capacity.shape, (nodes, resources))
        for name in ("assignment", "evictable", "cost", "pod_class"):
            found = getattr(self, name).shape
            _expect(found == (pods,), name, found, (pods,))
        _expect(self.allowed.shape[1:] == (nodes,), "allowed", self.allowed.shape, ("classes", nodes))
        _expect(self.both_ends.shape == (resources,), "both_ends", self.both_ends.shape, (resources,))
        _expect_within("assignment", self.assignment, PENDING, nodes)
        _expect_within("pod_class", self.pod_class, 0, len(self.allowed))
        _expect_within("need", self.need, 0, LARGEST_EXACT)
        _expect_within("cost", self.cost, 0, LARGEST_EXACT)
        _expect_within("sums of need", self.need.sum(axis=0, dtype=np.float64), 0, LARGEST_EXACT)
        if self.parts is not None:
            _expect(self.parts.machine.shape == (nodes,), "parts.machine", self.parts.machine.shape, (nodes,))
        for rule in self.rules:
            _check_rule(rule, pods, nodes)

    @property
    def num_pods(self) -> int:
        """P."""
        return len(self.need)

    @property
    def num_nodes(self) -> int:
        """N."""
        return len(self.capacity)

    @property
    def num_resources(self) -> int:
        """R."""
        return int(self.need.shape[1])

    @property
    def part_capacity(self) -> Ints:
        """int64[C, R]; without parts each node is one."""
        return self.capacity if self.parts is None else self.parts.capacity

    @property
    def move_limits(self) -> list[MoveLimit]:
        """The limits on moves among the rules."""
        return [rule for rule in self.rules if isinstance(rule, MoveLimit)]

    def refuse_parts(self, objective: str) -> None:
        """Raises ValueError where nodes share parts, of which the objective of that name knows nothing."""
        if self.parts is not None:
            raise ValueError(f"{objective} needs nodes with capacity of their own, not made of parts")

    def parts_at(self, node: int) -> list[int]:
        """The parts that a pod on the node takes from; none where it is pending."""
        if node == PENDING:
            return []
        return [node] if self.parts is None else self.parts.of(node)

    def parts_of(self, nodes: Ints) -> list[int]:
        """The parts of all the nodes, each once, ascending."""
        return sorted({part for node in nodes.tolist() for part in self.parts_at(node)})

    def parts_by_rank(self, nodes: Ints) -> list[tuple[Ints, Bools | None]]:
        """The first part of each of `nodes`, their second parts, and so on: (int64[n], bool[n] of nodes that have one).

        Nodes without one are given part 0. None: all have one.
        """
        if self.parts is None:
            return [(nodes, None)]
        return [(np.maximum(parts, 0), parts >= 0) for parts in self.parts.taken[nodes].T]

    def takes(self, nodes: Ints, part: int) -> Bools:
        """bool[...]: whether a pod on each of `nodes` (-1: none) takes from that part."""
        if self.parts is None:
            return np.asarray(nodes == part)
        return np.asarray((self.parts.taken[nodes] == part).any(axis=-1) & (nodes != PENDING))

    def leaves_machine(self, pod: int, nodes: Ints) -> Bools:
        """bool[n]: whether the nodes are of other machines than that which the pod was on before the plan."""
        home = self.assignment[pod]
        if self.parts is None or home == PENDING:
            return np.ones(len(nodes), bool)
        return np.asarray(self.parts.machine[nodes] != self.parts.machine[home])

    def usage(self, assignment: Ints) -> Ints:
        """int64[C, R]: what the pods of `assignment` need on each part (or node); pending pods count nowhere."""
        total = np.zeros_like(self.part_capacity)
        placed = np.flatnonzero(assignment != PENDING)
        self.add_needs(total, placed, assignment[placed])
        return total

    def add_needs(self, total: Ints, pods: Ints, nodes: Ints, sign: int = 1) -> None:
        """Adds to int64[C, R] what `pods` need on the parts of `nodes`, pod by pod."""
        if self.parts is None:
            np.add.at(total, nodes, sign * self.need[pods])
            return
        for parts in self.parts.taken[nodes].T:
            has = parts >= 0
            np.add.at(total, parts[has], sign * self.need[pods[has]])

    def moved(self, assignment: Ints) -> Ints:
        """The pods that `assignment` has taken from their node, ascending; pending pods that got one are not."""
        return np.flatnonzero((assignment != self.assignment) & (self.assignment != PENDING))


def make_problem(
    need: npt.ArrayLike,
    capacity: npt.ArrayLike | Parts,
    assignment: npt.ArrayLike,
    *,
    evictable: npt.ArrayLike | None = None,
    cost: npt.ArrayLike | None = None,
    pod_class: npt.ArrayLike | None = None,
    allowed: npt.ArrayLike | None = None,
    rules: Sequence[Rule] = (),
    both_ends: npt.ArrayLike | None = None,
) -> Problem:
    """The problem of these arrays (see `Problem`); every pod may be moved anywhere at cost 1 unless told otherwise.

    capacity: of the nodes, or the parts that they are made of.
    Raises ValueError for arrays that do not go together. The arrays are kept where they have the right type already.
    """
    needs = np.atleast_2d(np.asarray(need, dtype=np.int64))
    parts = capacity if isinstance(capacity, Parts) else None
    own = capacity.least(capacity.capacity) if isinstance(capacity, Parts) else capacity
    capacities = np.atleast_2d(np.asarray(own, dtype=np.int64))
    pods, nodes, resources = len(needs), len(capacities), capacities.shape[1]
    at = np.asarray(assignment, dtype=np.int64)
    return Problem(
        need=needs,
        capacity=capacities,
        assignment=at,
        evictable=np.ones(pods, bool) if evictable is None else np.asarray(evictable, bool) | (at == PENDING),
        cost=np.ones(pods, np.int64) if cost is None else np.asarray(cost, np.int64),
        pod_class=np.zeros(pods, np.int64) if pod_class is None else np.asarray(pod_class, np.int64),
        allowed=np.ones((1, nodes), bool) if allowed is None else np.asarray(allowed, bool),
        rules=tuple(rules),
        both_ends=np.zeros(resources, bool) if both_ends is None else np.asarray(both_ends, bool),
        parts=parts,
    )


def _expect(holds: bool, name: str, found: object, expected: object) -> None:
    if not holds:
        raise ValueError(f"{name}: shape {found}, expected {expected}")


def _expect_within(name: str, values: npt.NDArray[np.int64 | np.float64], low: int, high: int) -> None:
    if values.size and (values.min() < low or values.max() >= high):
        raise ValueError(
            f"{name}: values from {values.min()} to {values.max()}, expected {low} or more and below {high}"
        )


def _check_rule(rule: Rule, pods: int, nodes: int) -> None:
    name = type(rule).__name__
    _expect(rule.group.shape == (pods,), f"{name}.group", rule.group.shape, (pods,))
    if not isinstance(rule, MoveLimit):
        _expect(rule.domain.shape == (nodes,), f"{name}.domain", rule.domain.shape, (nodes,))
    match rule:
        case AtMost() | MoveLimit():
            _expect_within(f"{name}.group", rule.group, -1, len(rule.limit))
        case MaxSkew():
            _expect(rule.there.shape[:1] == rule.skew.shape, f"{name}.there", rule.there.shape, rule.skew.shape)
            if rule.others is not None:
                _expect(rule.others.shape == rule.there.shape, f"{name}.others", rule.others.shape, rule.there.shape)
            if rule.free is not None:
                _expect(rule.free.shape == (pods,), f"{name}.free", rule.free.shape, (pods,))
            _expect_within(f"{name}.domain", rule.domain, -1, rule.there.shape[1])
            _expect_within(f"{name}.group", rule.group, -1, len(rule.skew))
        case MinDomains():
            _expect_within(f"{name}.group", rule.group, -1, len(rule.minimum))
        case Together():
            _expect(rule.pairs.shape[1:] == (2,), f"{name}.pairs", rule.pairs.shape, ("pairs", 2))
