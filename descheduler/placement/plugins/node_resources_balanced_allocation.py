"""NodeResourcesBalancedAllocation (kube-scheduler 1.36): nodes whose resources are used to the same degree are better.

Until 1.35 the balance with the pod is the score; since 1.36 it is what the pod changes about the balance. All steps in
float64 are taken in the order in which the scheduler takes them, since the result is cut to a whole number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.documents.problems import shown
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind, ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.framework.scoring import Amounts, OwnNodeScore
from descheduler.placement.plugins.helper.scores import (
    MAX_SCORE,
    Ints,
    ScoredResource,
    is_scored_unasked,
    scored_resource,
)
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import SomeNodes, is_counted
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.policy.shared_args import Args, Int64

Floats = NDArray[np.float64]


class NodeResourcesBalancedAllocationArgs(msgspec.Struct, frozen=True):
    """Names of the resources whose shares are balanced; at least one, none twice."""

    resources: tuple[str, ...] = ("cpu", "memory")


class BalancedResourceSection(Args, frozen=True):
    """A resource to balance; its weight is 1, or not given."""

    name: str = ""
    """Name of the resource."""
    weight: Int64 = 0
    """1, or not given; balance has no weights."""


class NodeResourcesBalancedAllocationSection(Args, frozen=True):
    """`NodeResourcesBalancedAllocationArgs`."""

    resources: tuple[BalancedResourceSection, ...] = ()
    """What is balanced; cpu and memory by default."""


def _read_args(
    block: ArgsBlock, section: NodeResourcesBalancedAllocationSection
) -> NodeResourcesBalancedAllocationArgs | None:
    names: list[str] = []
    for index, resource in enumerate(section.resources):
        if resource.name in names:
            block.fail(("resources", index, "name"), f"{shown(resource.name)} is listed twice; keep one of them")
        if resource.weight not in (0, 1):
            block.fail(("resources", index, "weight"), f"{resource.weight} is not 1; balance has no weights")
        names.append(resource.name)
    if not names:
        return None
    return NodeResourcesBalancedAllocationArgs(tuple(names))


class _Balanced(NamedTuple):
    """What is balanced: rows of the node table, what a pod adds to each of them (nothing, and then its requests), what
    the nodes have, and which have any."""

    rows: tuple[int, ...]
    amounts: Ints
    allocatable: Floats
    is_available: Sequence[BoolMask | None]


class NodeResourcesBalancedAllocation(OwnNodeScore):
    """100 for perfect balance; since 1.36, 75 for no change of it.

    Reads real requests. Pods that ask for none of the configured resources are not scored.
    """

    name = "NodeResourcesBalancedAllocation"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._scores_change = profile.release(cluster.version).gate("scores_balance_change")
        names = filter(is_counted, profile.args.of(NodeResourcesBalancedAllocationArgs).resources)
        self._resources = {name: scored_resource(cluster.table, name) for name in names}
        self._balanced: dict[Amounts, _Balanced] = {}

    def asked_by(self, pod: PlacementClass) -> Amounts | None:
        """The resources that count for the pod and how much it asks for; None where it asks for none of them."""
        asked = self.amounts_of(pod)
        return asked if any(amount for _, amount in asked) else None

    def amounts_of(self, pod: PlacementClass) -> Amounts:
        """The same, also of a pod that asks for nothing."""
        wanted = dict(pod.demand.amounts)
        return tuple(
            (name, wanted.get(resource.row, 0))
            for name, resource in self._resources.items()
            if resource.row in wanted or is_scored_unasked(name)
        )

    def of_nodes(self, asked: Amounts, some: SomeNodes) -> Ints:
        """What each node has by its balance."""
        balanced = self._balanced.get(asked)
        if balanced is None:
            balanced = self._balanced[asked] = _balanced([(self._resources[name], amount) for name, amount in asked])
        # The first axis is without and with the pod, then come resources and nodes.
        taken = some.requested(balanced.rows)
        shares = np.minimum((taken + balanced.amounts) / balanced.allocatable.take(some.nodes, axis=1), 1.0)
        masks = [None if there is None else there.take(some.nodes) for there in balanced.is_available]
        balances = _balance(shares, masks)
        with_pod: Ints = balances[1]
        if not self._scores_change:
            return with_pod
        half = MAX_SCORE // 2
        # Cut toward zero; all numbers are small.
        scores: Ints = half + ((half + with_pod - balances[0]) / 2).astype(np.int64)
        return scores


def _balanced(asked: Sequence[tuple[ScoredResource, int]]) -> _Balanced:
    rows = tuple([resource.row for resource, _ in asked])
    amounts = np.array([[0] * len(asked), [amount for _, amount in asked]], dtype=np.int64)
    allocatable = np.array([resource.allocatable for resource, _ in asked], dtype=np.float64)
    return _Balanced(rows, amounts[:, :, np.newaxis], allocatable, [resource.is_available for resource, _ in asked])


def _balance(shares: Floats, masks: list[BoolMask | None]) -> Ints:
    """100 minus the spread of the shares of what each node offers, in percent, cut; the second axis is resources."""
    if len(masks) == 2 and masks[0] is None and masks[1] is None:
        spread: Floats = np.abs((shares[:, 0] - shares[:, 1]) / 2)
    else:
        spread = np.array([_spread_of(each, masks) for each in shares])
    return ((1 - spread) * float(MAX_SCORE)).astype(np.int64)


def _spread_of(shares: Floats, masks: list[BoolMask | None]) -> Floats:
    """As `_spread`; a node that does not offer a resource has no share of it."""
    fractions = [share if mask is None else share * mask for share, mask in zip(shares, masks, strict=True)]
    return _spread(fractions, [np.ones(shares.shape[1], dtype=bool) if m is None else m for m in masks])


def _spread(fractions: list[Floats], masks: list[BoolMask]) -> Floats:
    """Where a node offers two of the resources half their distance, where more the deviation, else 0."""
    first, second = np.zeros_like(fractions[0]), np.zeros_like(fractions[0])
    num_seen = np.zeros(len(first), dtype=np.int64)
    for fraction, mask in zip(fractions, masks, strict=True):
        num_seen += mask
        first = np.where(mask & (num_seen == 1), fraction, first)
        second = np.where(mask & (num_seen == 2), fraction, second)
    halved = np.where(num_seen == 2, np.abs((first - second) / 2), 0.0)
    return np.where(num_seen > 2, _deviation(fractions, masks, np.maximum(num_seen, 1)), halved)


def _deviation(fractions: list[Floats], masks: list[BoolMask], num_available: Ints) -> Floats:
    """The population's standard deviation over what each node offers; adding 0 for the rest changes no sum."""
    total = np.zeros_like(fractions[0])
    for fraction in fractions:
        total = total + fraction
    mean = total / num_available
    squares = np.zeros_like(mean)
    for fraction, mask in zip(fractions, masks, strict=True):
        squares = squares + np.where(mask, (fraction - mean) * (fraction - mean), 0.0)
    deviation: Floats = np.sqrt(squares / num_available)
    return deviation


def _shown(args: NodeResourcesBalancedAllocationArgs) -> Mapping[str, object]:
    return {"resources": [{"name": name} for name in args.resources]}


ROW = SchedulingPlugin(
    score=NodeResourcesBalancedAllocation,
    points=frozenset({"pre_score", "score"}),
    by_default=ByDefault(weight=1),
    args=ArgsKind(NodeResourcesBalancedAllocationSection, _read_args, NodeResourcesBalancedAllocationArgs, _shown),
    interactions=own_node,
    about=About(
        preference="Nodes on which the shares of requested cpu and memory are similar with the pod.",
    ),
)
