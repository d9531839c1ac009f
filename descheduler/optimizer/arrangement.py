"""A placement that changes move by move: where pods are, what nodes hold, and which moves are open."""

from __future__ import annotations

import copy

import numpy as np

from descheduler.optimizer.arrays import PENDING, Bools, Floats, Ints
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.rule_counts import MovedCounts, count_rules


class NodeRoom:
    """What is left on each node as pods come and go, whether nodes have capacity of their own or share parts.

    `usage` is float64[R, C], what pods need on each part, `free` float64[R, N], what each node has left for a pod.

    Without parts each node is its own part. Both are kept in place; change them by `take` alone.
    """

    def __init__(self, problem: Problem, usage: Floats) -> None:
        self.usage = usage
        self._left: Floats = problem.part_capacity.T - usage
        self._parts = problem.parts
        self.free: Floats = self._left
        if problem.parts is not None:
            # Nodes with fewer parts than others have the last column for the rest, which is never scarce.
            self._left = np.hstack((self._left, np.full((len(usage), 1), np.inf)))
            self.free = self._left[:, problem.parts.taken].min(axis=2)

    def take(self, node: int, need: Floats) -> None:
        """A pod of that need comes to `node`; a negative need leaves it."""
        if self._parts is None:
            self.usage[:, node] += need
            self.free[:, node] -= need
            return
        parts = self._parts.of(node)
        self.usage[:, parts] += need[:, None]
        self._left[:, parts] -= need[:, None]
        near = self._parts.nodes_of[int(self._parts.machine[node])]
        self.free[:, near] = self._left[:, self._parts.taken[near]].min(axis=2)

    def copy(self) -> NodeRoom:
        """The same room, which changes by itself from now on."""
        other = copy.copy(self)
        other.usage, other._left = self.usage.copy(), self._left.copy()
        other.free = other._left if self._parts is None else self.free.copy()
        return other


class Arrangement:
    """Where every pod is while a plan is searched for. Resources come first in its arrays, one row a resource.

    `at` is int64[P], `usage` float64[R, C], a column a part or node (whole numbers, which `Problem` keeps small enough
    to be exact), `free` float64[R, N], what nodes have left. `need` is float64[R, P]. Read them freely; change them by
    `move` alone.
    """

    def __init__(self, problem: Problem, assignment: Ints | None = None) -> None:
        self.problem = problem
        self.origins = problem.assignment
        self.at = np.array(problem.assignment if assignment is None else assignment)
        self.need: Floats = np.ascontiguousarray(problem.need.T, dtype=np.float64)
        self._room = NodeRoom(problem, np.ascontiguousarray(problem.usage(self.at).T, dtype=np.float64))
        self.usage, self.free = self._room.usage, self._room.free
        self._both_ends = np.flatnonzero(problem.both_ends)
        self._room_held = NodeRoom(problem, self._held()) if len(self._both_ends) else None
        self._counts = count_rules(problem.rules, self.origins, self.at)
        self._pods_on: list[list[int]] = [[] for _ in range(problem.num_nodes + 1)]
        for pod, node in enumerate(self.at.tolist()):
            if problem.evictable[pod]:
                self._pods_on[node].append(pod)

    def _held(self) -> Floats:
        """float64[R, C]: what pods that had a node hold there and where they are, if that is held at both ends."""
        held = self.problem.usage(np.where(self.origins == PENDING, PENDING, self.at))
        moved = self.problem.moved(self.at)
        self.problem.add_needs(held, moved, self.origins[moved])
        return np.ascontiguousarray(held.T, dtype=np.float64)

    @property
    def free_beside_moved(self) -> Floats | None:
        """float64[R, N]: what is left beside what moved pods still hold; None where nothing is held at both ends."""
        return None if self._room_held is None else self._room_held.free

    def room_while_moving(self) -> NodeRoom:
        """What is left now, for what is on its way: take arrivals from it, and give nothing back."""
        return self._room.copy()

    def evictable_on(self, node: int) -> Ints:
        """The evictable pods that are on `node` now (-1: pending), ascending."""
        return np.array(sorted(self._pods_on[node]), dtype=np.int64)

    def open_moves(self, pods: Ints, nodes: Ints) -> Bools:
        """bool[k, n]: whether each pod alone may go to each node now: capacity, classes and rules.

        The pod's own node is never open. A resource that a pod does not need is not looked at, even where a node has
        more of it in use than it has.
        """
        is_open = self.allowed_moves(pods, nodes)
        free = self.free[:, nodes]
        for resource, need in enumerate(self.need[:, pods]):
            is_open &= need[:, None] <= np.maximum(free[resource], 0.0)
        return is_open & self._held_moves(pods, nodes)

    def is_open(self, pod: int, node: int) -> bool:
        """As `open_moves`, of one pod and one node."""
        return bool(self.open_moves(np.array([pod]), np.array([node]))[0, 0])

    def free_shares(self, nodes: Ints) -> Floats:
        """float64[R, n]: what is left of each node, as shares of its capacity; below 0 where more is in use."""
        shares: Floats = self.free[:, nodes] / np.maximum(self.problem.capacity.T[:, nodes], 1)
        return shares

    def allowed_moves(self, pods: Ints, nodes: Ints) -> Bools:
        """As `open_moves`, without a look at capacity. Back home is open whatever the class: the pod runs there."""
        sources = self.at[pods]
        is_open: Bools = self.problem.allowed[self.problem.pod_class[pods][:, None], nodes]
        is_open |= self.origins[pods][:, None] == nodes
        is_open &= sources[:, None] != nodes
        if self.problem.parts is not None:
            is_open &= self._leaves_machine(pods, nodes, self.problem.parts.machine)
        for counts in self._counts:
            also = counts.open_moves(pods, sources, nodes)
            if also is not None:
                is_open &= also
        return is_open

    def may_leave(self, pods: Ints) -> Bools:
        """bool[k]: whether limits of moves let each pod that is at home leave it."""
        may: Bools = np.ones(len(pods), bool)
        for counts in self._counts:
            if isinstance(counts, MovedCounts):
                may &= counts.may_leave(pods)
        return may

    def _leaves_machine(self, pods: Ints, nodes: Ints, machine: Ints) -> Bools:
        """Whether nodes are of another machine than each pod's own and the one it was on before; back home is open."""
        machines, now, before = machine[nodes], self.at[pods][:, None], self.origins[pods][:, None]
        elsewhere: Bools = (machines != machine[before]) | (before == PENDING) | (before == nodes)
        elsewhere &= (machines != machine[now]) | (now == PENDING)
        return elsewhere

    def _held_moves(self, pods: Ints, nodes: Ints) -> Bools:
        """Whether nodes have room beside what moved pods still hold there; a pod's old node always has, for itself.

        So has every node for a pod that was pending, which waits until all others have moved.
        """
        if self._room_held is None:
            return np.ones((1, 1), bool)
        is_open = np.ones((len(pods), len(nodes)), bool)
        for resource in self._both_ends.tolist():
            need, room = self.need[resource, pods], self._room_held.free[resource, nodes]
            is_open &= need[:, None] <= np.maximum(room, 0.0)
        is_open |= self._holds_nothing(pods, nodes)
        return is_open

    def _holds_nothing(self, pods: Ints, nodes: Ints) -> Bools:
        """bool[k, n]: whether each pod takes nothing more there of what is held at both ends."""
        origins = self.origins[pods][:, None]
        return np.asarray((origins == nodes) | (origins == PENDING))

    def move(self, pod: int, node: int) -> None:
        """Puts `pod` on `node` (-1: nowhere), without asking whether it may."""
        source = int(self.at[pod])
        self._charge(pod, source, -1.0)
        self._charge(pod, node, 1.0)
        for counts in self._counts:
            counts.move(pod, source, node)
        self.at[pod] = node
        self._pods_on[source].remove(pod)
        self._pods_on[node].append(pod)

    def _charge(self, pod: int, node: int, sign: float) -> None:
        if node == PENDING:
            return
        need = sign * self.need[:, pod]
        self._room.take(node, need)
        if self._room_held is not None and self.origins[pod] not in (node, PENDING):
            self._room_held.take(node, need)

    def reset(self, assignment: Ints) -> None:
        """Moves pods until they are at `assignment`."""
        for pod in np.flatnonzero(self.at != assignment).tolist():
            self.move(pod, int(assignment[pod]))
