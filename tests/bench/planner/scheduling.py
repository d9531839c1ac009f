"""The embedded scheduler's choice on arrays: pods are evicted and placed one by one, without being told a target."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Floats, Ints
from descheduler.optimizer.problem import Problem


def evict_one_by_one(problem: Problem, pods: Iterable[int], *, most_allocated: bool) -> Ints:
    """Where all pods are (int64[P], -1: nowhere) after `pods` were evicted in that order."""
    placement = Arrangement(problem)
    for pod in pods:
        evict_and_schedule(placement, pod, most_allocated=most_allocated)
    return placement.at


def evict_and_schedule(placement: Arrangement, pod: int, *, most_allocated: bool) -> bool:
    """Puts the pod where LeastAllocated (or MostAllocated) scores highest, its old node included; False: nowhere.

    Mirrors kube-scheduler 1.36 `noderesources`: the mean of the free (or used) shares with the pod on the node.
    """
    placement.move(pod, PENDING)
    nodes = np.arange(placement.problem.num_nodes)
    nodes = nodes[placement.open_moves(np.array([pod]), nodes)[0]]
    if not len(nodes):
        return False
    free: Floats = (placement.free[:, nodes] - placement.need[:, [pod]]) / placement.problem.capacity.T[:, nodes]
    score = free.mean(axis=0)
    placement.move(pod, int(nodes[np.argmin(score) if most_allocated else np.argmax(score)]))
    return True
