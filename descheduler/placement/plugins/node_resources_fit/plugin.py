"""NodeResourcesFit (kube-scheduler 1.37): what the pod asks for has to be free on the node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.model.names import is_extended_resource
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, PODS
from descheduler.model.text.amounts import amount_text, cpu_texts
from descheduler.placement.configuration.kube_scheduler.plugin_args import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, PreFilterResult, ReasonBits
from descheduler.placement.framework.obstacle import Code, Obstacle, Shortage
from descheduler.placement.framework.refused_node import RefusedNode, listed
from descheduler.placement.framework.scheduling_plugin import About, Compares, Preference, SchedulingPlugin, by_requests
from descheduler.placement.framework.scoring import KeptColumns
from descheduler.placement.plugins.helper.device_resources import ContestedResource, ExtendedResources
from descheduler.placement.plugins.node_resources_fit.score import ARGS, NodeResourcesFitArgs, NodeResourcesFitScore
from descheduler.placement.shadow.node_table import CPU_ROW, EPHEMERAL_ROW, MEMORY_ROW, PODS_ROW, SomeNodes
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

_PODS_BIT, _CPU_BIT, _MEMORY_BIT, _EPHEMERAL_BIT, _SCALAR_BIT = (1 << bit for bit in range(5))
"""Reason bits. `_SCALAR_BIT` stands for any of the other resources; `obstacle` names them."""

_BITS = {PODS_ROW: _PODS_BIT, CPU_ROW: _CPU_BIT, MEMORY_ROW: _MEMORY_BIT, EPHEMERAL_ROW: _EPHEMERAL_BIT}


class _Compared(NamedTuple):
    """What is compared with what is free: rows of the node table (ascending), and beside each the amount and the
    reason bit."""

    rows: tuple[int, ...]
    amounts: NDArray[np.int64]
    bits: ReasonBits


class NodeResourcesFit:
    """The filter. Only what the pod asks for is compared, so an overcommitted node still takes a pod of nothing."""

    name = "NodeResourcesFit"
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._table = cluster.table
        self._rules_out = profile.release(cluster.version).gate("rules_out_nodes_too_small")
        args = profile.args.of(NodeResourcesFitArgs)
        self._ignored = args.ignored_resources
        self._ignored_groups = args.ignored_resource_groups
        self._extended = ExtendedResources(cluster, profile)
        self._checked: dict[PlacementClass, tuple[tuple[int, int], ...]] = {}
        self._compared: dict[tuple[tuple[int, int], ...], _Compared] = {}
        self._kept = KeptColumns(cluster.table)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        return PASS

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """What each node is short of."""
        asked = self._asked(cycle.pod)
        if cycle.credit:
            short = [self._is_short(cycle, row, amount) * np.uint32(_bit(row)) for row, amount in asked]
            against: ReasonBits = np.bitwise_or.reduce(short)
        else:
            # A copy, as what was found holds while others are asked about.
            against = self._kept.column(asked, lambda some: self._shortages(asked, some)).copy()
        return against

    def _shortages(self, asked: tuple[tuple[int, int], ...], some: SomeNodes) -> ReasonBits:
        """What each of some nodes is short of, for pods without credit."""
        rows, amounts, bits = self._compared[asked]
        short = amounts > some.free(rows)
        for place, row in enumerate(rows):
            if self._is_left_to_devices(row):
                short[place] &= self._table.allocatable[row].take(some.nodes) > 0
        against: ReasonBits = reduce(np.bitwise_or, short * bits)
        return against

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The resources that `node` is short of. None but preemption helps, unless one exceeds the node as a whole."""
        names = self._table.resources
        found: list[Shortage | ContestedResource] = []
        code = Code.UNSCHEDULABLE
        for row, amount in self._asked(cycle.pod):
            free, allocatable = int(self._free(cycle, row)[node]), int(self._table.allocatable[row, node])
            if not bits & _bit(row) or amount <= free or (not allocatable and self._is_left_to_devices(row)):
                continue
            contested = None if allocatable else self._extended.served.contested.get(names[row])
            found.append(contested or Shortage(names[row], amount, free, allocatable))
            if row != PODS_ROW and self._rules_out and amount > allocatable:
                code = Code.UNRESOLVABLE
        is_brief = all(isinstance(fact, ContestedResource) for fact in found)
        return Obstacle.of(self.name, code, *sorted(found, key=lambda fact: fact.reason), is_brief=is_brief)

    def _free(self, cycle: Cycle, row: int) -> NDArray[np.int64]:
        # In this order no step leaves int64, however large the amounts.
        free: NDArray[np.int64] = self._table.allocatable[row] - self._table.requested[row]
        credit = cycle.credit.get(row)
        return free if credit is None else free + credit

    def _is_short(self, cycle: Cycle, row: int, amount: int) -> NDArray[np.bool_]:
        short: NDArray[np.bool_] = amount > self._free(cycle, row)
        return short & (self._table.allocatable[row] > 0) if self._is_left_to_devices(row) else short

    def _is_left_to_devices(self, row: int) -> bool:
        """Whether a DeviceClass serves the resource on nodes that have none of it."""
        return self._table.resources[row] in self._extended.served.classes

    def _asked(self, pod: PlacementClass) -> tuple[tuple[int, int], ...]:
        """(resource row, amount) of what is compared; every pod takes one place."""
        known = self._checked.get(pod)
        if known is None:
            names = self._table.resources
            amounts = (pair for pair in pod.demand.amounts if not self._is_ignored(names[pair[0]]))
            known = self._checked[pod] = ((PODS_ROW, 1), *amounts)
            if known not in self._compared:
                self._compared[known] = _columns(known)
        return known

    def _is_ignored(self, name: str) -> bool:
        # Only extended resources can be ignored.
        if is_extended_resource(name) and (name in self._ignored or name.partition("/")[0] in self._ignored_groups):
            return True
        return self._extended.is_unknown(name)


def _columns(asked: tuple[tuple[int, int], ...]) -> _Compared:
    in_order = sorted(asked)
    amounts = np.array([amount for _, amount in in_order], dtype=np.int64)
    bits = np.array([_bit(row) for row, _ in in_order], dtype=np.uint32)
    return _Compared(tuple([row for row, _ in in_order]), amounts[:, np.newaxis], bits[:, np.newaxis])


def _bit(row: int) -> int:
    return _BITS.get(row, _SCALAR_BIT)


_ONE_CPU = 1000


def _preference(profile: SchedulerProfile) -> Preference:
    """Nodes with more room by LeastAllocated, full ones by MostAllocated."""
    args = profile.args.of(NodeResourcesFitArgs)
    weights = {each.name: each.weight for each in args.resources} if args.strategy == "MostAllocated" else {}
    return Preference(prefers_empty_nodes=args.strategy == "LeastAllocated", packing_weights=weights)


def _explain_resources(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """Such as `200m CPU short: requests 500m, 300m of 4 free`, and which pods that are being deleted hold more."""
    ending = [pod for pod in refused.pods_here() if pod.is_terminating]
    for fact in obstacle.facts:
        if isinstance(fact, Shortage):
            yield _sentence(fact) + _held_by(ending, refused.cycle.cluster, fact)


def _held_by(ending: Sequence[Pod], cluster: ShadowCluster, fact: Shortage) -> str:
    """What terminating pods hold of what is short; it is free once they are gone."""
    held = {pod.key: _held(pod, cluster, fact.resource) for pod in ending}
    names = [name for name, amount in held.items() if amount]
    if not names or fact.requested > fact.allocatable:
        return ""
    who = f"terminating pod {names[0]} holds" if len(names) == 1 else f"terminating pods {listed(names)} hold"
    return f"; {who} {amount_text(fact.resource, sum(held.values()))} until gone"


def _held(pod: Pod, cluster: ShadowCluster, resource: str) -> int:
    if resource == PODS:
        return 1
    names = cluster.table.resources
    return next((amount for row, amount in cluster.placement_class(pod).demand.amounts if names[row] == resource), 0)


def _sentence(fact: Shortage) -> str:
    name = fact.resource
    if name == PODS:
        return f"maximum pods reached: {fact.allocatable - fact.free} of {fact.allocatable} pods"
    shown = "CPU" if name == CPU else name
    missing = fact.requested - fact.free
    amounts = missing, fact.requested, abs(fact.free), fact.allocatable
    in_cpus = name == CPU and fact.requested >= _ONE_CPU
    more, asked, free, whole = cpu_texts(amounts) if in_cpus else [amount_text(name, amount) for amount in amounts]
    if fact.requested > fact.allocatable:
        return f"node too small: requests {asked} {shown}, {whole} is allocatable"
    if fact.free < 0:
        return f"{more} {shown} short: requests {asked}, node is over-committed by {free}"
    return f"{more} {shown} short: requests {asked}, {free} of {whole} free"


ROW = SchedulingPlugin(
    plugin=NodeResourcesFit,
    score=NodeResourcesFitScore,
    points=frozenset({"pre_filter", "filter", "pre_score", "score", "placement_score"}),
    by_default=ByDefault(weight=1),
    prepared_for=frozenset({"filter"}),
    args=ARGS,
    interactions=by_requests,
    compares=Compares.REQUESTS,
    prefers=_preference,
    explain=_explain_resources,
    about=About(
        check="The requests of the pod must be free on the node: allocatable less the requests of the pods there.",
        preference="By default nodes with lower requests of cpu and memory.",
        reasons=("Insufficient <resource>", "Too many pods"),
    ),
)
