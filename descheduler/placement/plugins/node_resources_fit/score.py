"""The score of NodeResourcesFit (kube-scheduler 1.36): how full each node would be, under one of three strategies.

cpu and memory are read from the scoring ledger, in which a container that asks for none still wants a little; other
resources from the real one. Amounts beyond 2^56 wrap as they do in the scheduler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.model.requests import CPU, MEMORY, pod_requests
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.own_node_score import Amounts, OwnNodeScore
from descheduler.placement.plugins.helper.scores import (
    MAX_SCORE,
    Divide,
    Ints,
    ScoredResource,
    ShapePoint,
    exact_div,
    is_scored_unasked,
    ratings_of,
    scored_resource,
    tdiv,
)
from descheduler.placement.plugins.node_resources_fit.args import NodeResourcesFitArgs
from descheduler.placement.shadow.node_table import SomeNodes, amount, is_counted, is_exact_amount
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["NodeResourcesFitScore"]

_IN_LEDGER = CPU, MEMORY
"""The resources that are read from the scoring ledger, in the order of its rows."""

Rating = Callable[[Ints, Ints, Divide], Ints]
"""From what would be requested and what is allocatable, which is positive, to 0..100, by some division."""


class _Rated(NamedTuple):
    """What is rated: resources, a row for each what a pod adds and what the nodes have, and what they weigh.

    `is_available` says which nodes have them, None where all have all. `is_ordinary` says that a pod adds no more than
    anything has, and nothing below 0.
    """

    names: tuple[str, ...]
    wanted: Ints
    allocatable: Ints
    is_available: NDArray[np.bool_] | None
    weights: Ints
    total_weight: int
    is_ordinary: bool


class NodeResourcesFitScore(OwnNodeScore):
    """The weighted mean over the configured resources that a node offers, cut.

    RequestedToCapacityRatio leaves ratings of 0 out and rounds the rest.
    """

    name = "NodeResourcesFit"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        args = profile.args.of(NodeResourcesFitArgs)
        self._table = cluster.table
        self._weights = {resource.name: resource.weight for resource in args.resources if is_counted(resource.name)}
        self._resources = {name: scored_resource(cluster.table, name) for name in self._weights}
        self._rate = _rating(args)
        self._skips_zero = args.strategy == "RequestedToCapacityRatio"
        self._rated: dict[Amounts, _Rated] = {}
        self._rows: dict[tuple[str, ...], tuple[Ints, NDArray[np.bool_] | None]] = {}

    def asked_by(self, pod: PlacementClass) -> Amounts:
        """What the pod adds, by resource that counts for it. Requests of the pod as a whole do not (1.36.3)."""
        spec = pod.spec
        requests = pod_requests(spec.containers, spec.init_containers, pod_level={}, overhead=spec.overhead)
        amounts = {name: amount(name, requests.get(name, 0)) for name in self._weights}
        ledger = {CPU: pod.demand.scoring_cpu, MEMORY: pod.demand.scoring_memory}
        amounts.update({name: ledger[name] for name in ledger if name in amounts})
        return tuple((name, wanted) for name, wanted in amounts.items() if wanted or is_scored_unasked(name))

    def of_nodes(self, asked: Amounts, some: SomeNodes) -> Ints:
        """The mean of the ratings."""
        if not asked:
            return np.zeros(len(some.nodes), dtype=np.int64)
        rated = self._rated.get(asked) or self._new_rated(asked)
        divide = exact_div if rated.is_ordinary and self._table.has_exact_shares else tdiv
        taken = self._taken(rated.names, some) + rated.wanted
        ratings = self._rate(taken, rated.allocatable.take(some.nodes, axis=1), divide)
        total, weights = self._summed_up(rated, ratings, some.nodes)
        if self._skips_zero:
            # Half is rounded up, which for positive numbers is away from zero.
            rounded: Ints = (2 * total + weights) // (2 * weights)
            return rounded
        return divide(total, weights)

    def _new_rated(self, asked: Amounts) -> _Rated:
        names = tuple([name for name, _ in asked])
        wanted = np.array([amount for _, amount in asked], dtype=np.int64)[:, np.newaxis]
        if names not in self._rows:
            self._rows[names] = _joined([self._resources[name] for name in names])
        weights = np.array([self._weights[name] for name in names], dtype=np.int64)
        total_weight = max(1, int(weights.sum()))
        is_ordinary = all(is_exact_amount(amount) for _, amount in asked)
        known = self._rated[asked] = _Rated(names, wanted, *self._rows[names], weights, total_weight, is_ordinary)
        return known

    def _summed_up(self, rated: _Rated, ratings: Ints, nodes: NDArray[np.intp]) -> tuple[Ints, Ints | int]:
        """The weighted sum of the ratings that take part, and the sum of their weights, which is at least 1."""
        if rated.is_available is None and not self._skips_zero:
            return rated.weights.dot(ratings), rated.total_weight
        weights: Ints = np.broadcast_to(rated.weights[:, np.newaxis], ratings.shape)
        if rated.is_available is not None:
            weights = weights * rated.is_available.take(nodes, axis=1)
        if self._skips_zero:
            weights = weights * (ratings > 0)
        total: Ints = np.add.reduce(ratings * weights)
        return total, np.maximum(np.add.reduce(weights), 1)

    def _taken(self, names: tuple[str, ...], some: SomeNodes) -> Ints:
        """What is taken on some nodes, a row a resource."""
        if names == _IN_LEDGER:
            return some.scoring()
        ledger = dict(zip(_IN_LEDGER, some.scoring(), strict=True))
        others = tuple([self._resources[name].row for name in names if name not in ledger])
        rows = iter(some.requested(others))
        return np.array([ledger[name] if name in ledger else next(rows) for name in names])


def _joined(resources: Sequence[ScoredResource]) -> tuple[Ints, NDArray[np.bool_] | None]:
    """What the nodes have of the resources, and which have them; None where all have all."""
    allocatable = np.array([each.allocatable for each in resources])
    if all(each.is_available is None for each in resources):
        return allocatable, None
    everywhere = np.ones(allocatable.shape[1], dtype=bool)
    return allocatable, np.array([everywhere if each.is_available is None else each.is_available for each in resources])


def _rating(args: NodeResourcesFitArgs) -> Rating:
    match args.strategy:
        case "LeastAllocated":
            return _least_allocated
        case "MostAllocated":
            return _most_allocated
        case "RequestedToCapacityRatio":
            return _by_shape(args.shape)


def _least_allocated(requested: Ints, allocatable: Ints, divide: Divide) -> Ints:
    return divide(np.maximum(allocatable - requested, 0) * MAX_SCORE, allocatable)


def _most_allocated(requested: Ints, allocatable: Ints, divide: Divide) -> Ints:
    return divide(np.minimum(requested, allocatable) * MAX_SCORE, allocatable)


def _by_shape(shape: tuple[ShapePoint, ...]) -> Rating:
    ratings = ratings_of(shape)

    def rate(requested: Ints, allocatable: Ints, divide: Divide) -> Ints:
        return ratings.take(_most_allocated(requested, allocatable, divide), mode="clip")

    return rate
