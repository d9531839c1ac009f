"""Small full clusters whose pods have four priorities, as a scheduler leaves them: some pods are pending.

Made after the experiments of arXiv 2511.08373, which has CP-SAT as a fallback of kube-scheduler: 4 to 32 equal nodes,
CPU and memory at random, and as much requested in all as the nodes have, or nearly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.problem import Problem, make_problem

NUM_PRIORITIES = 4
_LEAST, _MOST = 100, 1000
"""CPU in milli and memory in MiB that a pod requests."""


@dataclass(frozen=True, slots=True, eq=False)
class PriorityWorld:
    """`priority` is int64[P], 0 the lowest."""

    problem: Problem
    priority: Ints

    @property
    def weight(self) -> Ints:
        """int64[P]: a pod counts more than all pods of lower priorities together."""
        return (self.problem.num_pods + 1) ** self.priority

    def placed(self, assignment: Ints) -> tuple[int, ...]:
        """How many pods of each priority have a node, the highest first."""
        counts = np.bincount(self.priority[assignment != PENDING], minlength=NUM_PRIORITIES)
        return tuple(counts[::-1].tolist())


def make_priority_world(*, nodes: int, pods_a_node: int, usage: float, seed: int, preempts: bool) -> PriorityWorld:
    """Pods come in random order, each to the least allocated node, or in place of pods of lower priority.

    `usage` is what all pods request as a share of what all nodes have. Nothing is driven out unless `preempts`.
    """
    rng = np.random.default_rng(seed)
    need = rng.integers(_LEAST, _MOST + 1, (nodes * pods_a_node, 2))
    capacity = np.tile(np.ceil(need.sum(axis=0) / usage / nodes).astype(np.int64), (nodes, 1))
    priority = rng.integers(0, NUM_PRIORITIES, len(need))
    cluster = _Cluster(need, capacity, priority if preempts else np.zeros_like(priority))
    for pod in rng.permutation(len(need)).tolist():
        cluster.schedule(pod)
    return PriorityWorld(make_problem(need, capacity, cluster.at), priority)


class _Cluster:
    """kube-scheduler's rules for one pod after the other: fit, LeastAllocated, preemption."""

    def __init__(self, need: Ints, capacity: Ints, priority: Ints) -> None:
        self._need, self._capacity, self._priority = need, capacity, priority
        self._free = capacity.copy()
        self.at = np.full(len(need), PENDING)

    def schedule(self, pod: int) -> None:
        """Places the pod, and then the pods that it drove out, the highest priority first."""
        waiting = [pod]
        while waiting:
            waiting.sort(key=lambda each: (-int(self._priority[each]), each))
            waiting.extend(self._place(waiting.pop(0)))

    def _place(self, pod: int) -> list[int]:
        """The pods that had to leave for it; none where it found room, or has to wait."""
        fits = np.flatnonzero((self._free >= self._need[pod]).all(axis=1))
        if len(fits):
            shares = (self._free[fits] / self._capacity[fits]).mean(axis=1)
            self._put(pod, int(fits[np.argmax(shares)]))
            return []
        options = [(victims, node) for node in range(len(self._capacity)) if (victims := self._victims(pod, node))]
        if not options:
            return []
        victims, node = min(options, key=lambda option: (self._harm(option[0]), option[1]))
        for victim in victims:
            self._put(victim, PENDING)
        self._put(pod, node)
        return victims

    def _victims(self, pod: int, node: int) -> list[int]:
        """Pods of lower priority on the node whose room is needed: all leave, and return as long as it still fits."""
        lower = np.flatnonzero((self.at == node) & (self._priority < self._priority[pod]))
        left = self._free[node] + self._need[lower].sum(axis=0) - self._need[pod]
        if (left < 0).any():
            return []
        victims: list[int] = []
        for each in sorted(lower.tolist(), key=lambda one: (-int(self._priority[one]), one)):
            if (left >= self._need[each]).all():
                left = left - self._need[each]
            else:
                victims.append(each)
        return victims

    def _harm(self, victims: list[int]) -> tuple[int, int, int]:
        """The highest priority of the victims, the sum of their priorities, and how many they are."""
        priorities = self._priority[victims]
        return int(priorities.max()), int(priorities.sum()), len(victims)

    def _put(self, pod: int, node: int) -> None:
        if node == PENDING:
            self._free[self.at[pod]] += self._need[pod]
        else:
            self._free[node] -= self._need[pod]
        self.at[pod] = node
