"""The problem of a cluster with GPUs told apart: a node of it is a node of the cluster with a choice of its GPUs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from descheduler.model.pod import Pod
from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.problem import Problem, make_problem
from descheduler.optimizer.rules import MoveLimit, Rule
from descheduler.placement.framework.node_parts import ALL_PARTS, FreePart, PartNeed
from descheduler.placement.landings.openings import Openings
from descheduler.planner.gpus.gpu_choices import Choice, GpuChoices
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.planner.problem.units import Units

_LARGE, _LARGE_UNIT = 2**30, 2**20
"""Bytes are counted in MiB, so that no node has as much as `UNLIMITED`."""


class GpuProblem(ClusterProblem):
    """`nodes` names each node of the cluster once for each choice.

    `resources` are those of nodes, in the units of `units_of`, and then those of one GPU.
    """

    def __init__(self, problem: Problem, cluster: ClusterProblem, host: Ints) -> None:
        names = [cluster.nodes[place] for place in host.tolist()]
        resources = (*cluster.resources, "gpu-core of one GPU", "gpu-memory-ratio of one GPU")
        allocatable = cluster.allocatable[host]
        super().__init__(problem, cluster.pods, names, resources, allocatable, cluster.unasked, held=cluster.held[host])


def units_of(allocatable: Ints) -> Ints:
    """int64[R]: how many of each resource count as one, for int64[N, R]."""
    return np.where(allocatable.max(axis=0, initial=0) >= _LARGE, _LARGE_UNIT, 1)


def with_gpus(cluster: ClusterProblem, openings: Openings) -> GpuProblem:
    """`cluster` with its GPUs. A pod stays where it is if its GPUs are unknown."""
    parts, nodes = openings.parts, [openings.place_of(name) for name in cluster.nodes]
    gpus = [parts.free(node) for node in nodes]
    memory = parts.most_memory(nodes)
    needs = [parts.need_of(pod, memory) for pod in cluster.pods]
    placed = zip(cluster.pods, cluster.problem.assignment.tolist(), needs, strict=True)
    places = [None if at == PENDING else (at, _minors(openings, pod, need, gpus[at])) for pod, at, need in placed]
    choices = GpuChoices(gpus, needs, places)
    uncounted = [parts.why_uncounted(pod) for pod in cluster.pods]
    is_known = [
        place is None or (not why and (_is_all_of(place[1], count, gpus[place[0]]) or not gpus[place[0]]))
        for place, count, why in zip(places, choices.counts.tolist(), uncounted, strict=True)
    ]
    units = dataclasses.replace(cluster.units, sizes=units_of(cluster.allocatable))
    problem = _divided(cluster, units, choices, places)
    evictable = problem.evictable & np.array(is_known, dtype=bool)
    return GpuProblem(dataclasses.replace(problem, evictable=evictable), cluster, choices.host)


def _minors(openings: Openings, pod: Pod, need: PartNeed | None, gpus: Mapping[int, FreePart]) -> tuple[int, ...]:
    """The GPUs of a pod; none for one without any, or where they are not as many as it asks for."""
    minors = () if need is None else openings.parts.held_by(pod)
    is_known = need is not None and _is_all_of(minors, need.number, gpus) and all(minor in gpus for minor in minors)
    return minors if is_known else ()


def _is_all_of(minors: Sequence[int], count: int, gpus: Mapping[int, FreePart]) -> bool:
    """Whether these are as many as a pod asks for that is on a node with `gpus`."""
    return len(minors) == (len(gpus) if count == ALL_PARTS else count)


def _divided(cluster: ClusterProblem, units: Units, choices: GpuChoices, places: Sequence[Choice | None]) -> Problem:
    """The problem over choices, in `units`."""
    old, room = cluster.problem, np.maximum(cluster.allocatable - cluster.held, 0)
    kinds, pod_class = np.unique(np.column_stack((old.pod_class, choices.counts)), axis=0, return_inverse=True)
    allowed = [choices.allowed(old.allowed[row], count) for row, count in kinds.tolist()]
    return make_problem(
        np.hstack((units.needs(cluster.units.amounts(old.need)), choices.need())),
        choices.parts(units.room(room)),
        [PENDING if place is None else choices.number_of[place] for place in places],
        evictable=old.evictable,
        cost=old.cost,
        pod_class=pod_class.reshape(-1),
        allowed=np.array(allowed, dtype=bool).reshape(len(kinds), len(choices.host)),
        rules=list(_over(old.rules, choices.host)),
    )


def _over(rules: Sequence[Rule], host: Ints) -> Iterator[Rule]:
    """Rules over choices: each is in the domain of its node."""
    for rule in rules:
        yield rule if isinstance(rule, MoveLimit) else dataclasses.replace(rule, domain=rule.domain[host])
