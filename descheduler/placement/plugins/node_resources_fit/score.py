"""Arguments and score of NodeResourcesFit (kube-scheduler 1.36): how full each node would be, by one of three
strategies.

cpu and memory are read from the scoring ledger, in which a container that asks for none still wants a little; other
resources from the real one. Amounts beyond 2^56 wrap as they do in the scheduler. The rules of the arguments are in
`pkg/scheduler/apis/config/v1/defaults.go` and `pkg/scheduler/apis/config/validation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple, cast, get_args

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from descheduler.documents.decode import Path
from descheduler.documents.problems import shown
from descheduler.model.requests import CPU, MEMORY, pod_requests
from descheduler.model.selection.labels import key_problem
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.scoring import Amounts, OwnNodeScore
from descheduler.placement.plugins.helper.scores import (
    MAX_SCORE,
    Divide,
    Ints,
    ScoredResource,
    ShapePoint,
    ShapePointSection,
    exact_div,
    is_scored_unasked,
    ratings_of,
    read_shape,
    scored_resource,
    shown_shape,
    tdiv,
)
from descheduler.placement.shadow.node_table import SomeNodes, amount, is_counted, is_exact_amount
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.policy.shared_args import Args

ScoringStrategyType = Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]
_STRATEGIES: tuple[ScoringStrategyType, ...] = get_args(ScoringStrategyType)
_Weight = Annotated[int, msgspec.Meta(ge=0, le=100)]


class ResourceWeight(msgspec.Struct, frozen=True):
    """A resource that takes part in scoring, and its weight from 1 to 100."""

    name: str
    weight: int = 1


class NodeResourcesFitArgs(msgspec.Struct, frozen=True):
    """What the filter leaves out, and how free room is scored."""

    ignored_resources: frozenset[str] = frozenset()
    """Extended resources that are not checked; those that an extender takes over are among them."""
    ignored_resource_groups: frozenset[str] = frozenset()
    """Prefixes, without `/`, of extended resources that are not checked."""
    strategy: ScoringStrategyType = "LeastAllocated"
    resources: tuple[ResourceWeight, ...] = (ResourceWeight("cpu"), ResourceWeight("memory"))
    """At least one, in the order given."""
    shape: tuple[ShapePoint, ...] = ()
    """At least one point, by ascending utilization, for RequestedToCapacityRatio; empty for the other strategies."""


class ResourceSection(Args, frozen=True):
    """A resource to score; weight 0 stands for 1."""

    name: str = ""
    """Name of the resource."""
    weight: _Weight = 0
    """1 to 100; 1 when 0 or not given."""


class RatioSection(Args, frozen=True):
    """`requestedToCapacityRatio`."""

    shape: tuple[ShapePointSection, ...] = ()
    """Points of the function from utilization to score, by ascending utilization; at least one."""


class ScoringStrategySection(Args, frozen=True):
    """`scoringStrategy`."""

    type: str = ""
    """`LeastAllocated` (the default) prefers empty nodes, `MostAllocated` full ones, `RequestedToCapacityRatio` follows
    a shape."""
    resources: tuple[ResourceSection, ...] = ()
    """What is scored; cpu and memory alike by default."""
    requested_to_capacity_ratio: RatioSection | None = None
    """For the strategy of that name alone."""


class NodeResourcesFitSection(Args, frozen=True):
    """`NodeResourcesFitArgs`."""

    ignored_resources: tuple[str, ...] = ()
    """Extended resources that are not checked."""
    ignored_resource_groups: tuple[str, ...] = ()
    """All extended resources of a group are not checked, such as example.com."""
    scoring_strategy: ScoringStrategySection | None = None
    """How free room is scored."""


def _read_fit(block: ArgsBlock, section: NodeResourcesFitSection) -> NodeResourcesFitArgs:
    for index, resource in enumerate(section.ignored_resources):
        if key_problem(resource):
            message = f"{shown(resource)} is not the name of a resource, such as example.com/gpu"
            block.fail(("ignoredResources", index), message)
    for index, group in enumerate(section.ignored_resource_groups):
        if "/" in group or key_problem(group):
            message = f"{shown(group)} is not a group of resources; write the part before the '/', such as example.com"
            block.fail(("ignoredResourceGroups", index), message)
    fit = NodeResourcesFitArgs(frozenset(section.ignored_resources), frozenset(section.ignored_resource_groups))
    if section.scoring_strategy is not None:
        fit = _with_strategy(block, section.scoring_strategy, fit)
    return fit


def _with_strategy(
    block: ArgsBlock, section: ScoringStrategySection, fit: NodeResourcesFitArgs
) -> NodeResourcesFitArgs:
    place: Path = ("scoringStrategy",)
    block.choose((*place, "type"), section.type, _STRATEGIES)
    strategy = cast(ScoringStrategyType, section.type)
    resources = tuple(ResourceWeight(resource.name, resource.weight or 1) for resource in section.resources)
    ratio = section.requested_to_capacity_ratio
    shape: tuple[ShapePoint, ...] = ()
    if strategy == "RequestedToCapacityRatio":
        place = (*place, "requestedToCapacityRatio")
        if ratio is None:
            block.fail(place, "is missing; the strategy RequestedToCapacityRatio needs a shape")
        else:
            shape = read_shape(block, ratio.shape, (*place, "shape"))
    elif ratio is not None:
        message = "counts for the strategy RequestedToCapacityRatio only, ignored; Kubernetes 1.36 refuses it"
        block.warn((*place, "requestedToCapacityRatio"), message)
    return replace(fit, strategy=strategy, resources=resources or fit.resources, shape=shape)


def _ignoring(args: NodeResourcesFitArgs, names: frozenset[str]) -> NodeResourcesFitArgs:
    """What extenders look after takes the place of the own list."""
    return replace(args, ignored_resources=names)


def _shown(args: NodeResourcesFitArgs) -> Mapping[str, object]:
    return {
        "ignoredResources": sorted(args.ignored_resources),
        "ignoredResourceGroups": sorted(args.ignored_resource_groups),
        "scoringStrategy.type": args.strategy,
        "scoringStrategy.resources": [{"name": each.name, "weight": each.weight} for each in args.resources],
        "scoringStrategy.requestedToCapacityRatio.shape": shown_shape(args.shape),
    }


ARGS = ArgsKind(NodeResourcesFitSection, _read_fit, NodeResourcesFitArgs, _shown, _ignoring)


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
