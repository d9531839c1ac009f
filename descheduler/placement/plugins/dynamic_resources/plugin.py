"""DynamicResources: a pod's claims have to get their devices on the node.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/dynamicresources` (1.36, 1.37). What expressions select
outside the subset that is known, and searches that take too long, leave nodes undecided.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import numpy as np

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import COMING_CLAIM
from descheduler.model.resource_claims import (
    CLAIM_KIND,
    CLAIM_TEMPLATE_KIND,
    DEVICE_CLASS_KIND,
    DEVICE_KINDS,
    SLICE_KIND,
)
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind, ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import (
    PASS,
    SKIP,
    SKIP_FOR_GOOD,
    Conclusion,
    PreFilterResult,
    ReasonBits,
    Scores,
)
from descheduler.placement.framework.obstacle import Code, Obstacle, Said
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, Compares, SchedulingPlugin
from descheduler.placement.plugins.dynamic_resources.device_world import DeviceWorld
from descheduler.placement.plugins.dynamic_resources.grants import ClaimLedger
from descheduler.placement.plugins.dynamic_resources.interplay import ClaimInterplay, OwnDevices
from descheduler.placement.plugins.dynamic_resources.on_nodes import ClaimsOnNodes, extended_resources
from descheduler.placement.plugins.dynamic_resources.parts import ClaimParts
from descheduler.placement.plugins.dynamic_resources.pod_claims import ClaimMark, ClaimsOfPod, missing_class
from descheduler.placement.plugins.dynamic_resources.rules import ClaimFault, DeviceFault, DeviceRules, knows_order
from descheduler.placement.plugins.helper.device_resources import ExtendedResources, unlisted_sentence
from descheduler.placement.plugins.helper.scores import NormalizedScores
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import Mark, PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.policy.shared_args import Args

_NEEDED = (CLAIM_KIND, DEVICE_CLASS_KIND, SLICE_KIND)


class DynamicResources:
    """Looks for the devices that the scheduler would take; `ledger` keeps what is taken."""

    name = ClaimLedger.NAME
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self.ledger = cluster.ledger(ClaimLedger)
        version = profile.release(cluster.version)
        self._unread = [kind for kind in _NEEDED if kind not in cluster.snapshot.kinds]
        self._has_templates = CLAIM_TEMPLATE_KIND in cluster.snapshot.kinds
        self._knows_order = knows_order(version)
        self._resources = ExtendedResources(cluster, profile)
        self._claims = ClaimsOfPod(cluster.snapshot, self.ledger.claims)
        self._world = DeviceWorld(cluster, DeviceRules.of(version), self._resources.served)
        own_devices = OwnDevices(self._claims, self._world)
        self.interactions = ClaimInterplay(self._resources.served.classes, own_devices)

    def pre_enqueue(self, cycle: Cycle) -> Obstacle | None:
        """Refuses pods with a claim that is not there, or not theirs."""
        if not cycle.pod.spec.resource_claims or self._doubts(cycle.pod):
            return None
        claims = self._claims.of(cycle.pod.pod)
        if not isinstance(claims, ClaimFault):
            return None
        cycle.notes.extend(self._claims.unmade(cycle.pod.pod))
        return self._refused(claims)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Refuses pods with a claim of a class that does not exist; leaves those alone that need no devices."""
        pod = cycle.pod
        if not pod.spec.has_resource_claims and not extended_resources(pod.pod):
            return SKIP_FOR_GOOD
        doubts = self._doubts(pod)
        if doubts:
            return PreFilterResult(Obstacle.of(self.name, Code.UNDECIDED, *doubts))
        claims = self._claims.of(pod.pod)
        if isinstance(claims, ClaimFault):
            return PreFilterResult(self._refused(claims))
        fault = missing_class(claims, self._world.catalog.classes)
        if fault is not None:
            return PreFilterResult(Obstacle.of(self.name, Code.UNRESOLVABLE, fault))
        on_nodes = ClaimsOnNodes(self._world, pod.pod, claims, is_left_over=self._claims.left_over(pod.pod) is not None)
        if on_nodes.is_idle:
            return SKIP
        cycle.scratch[self.name] = on_nodes
        return PASS

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Nodes that have no devices for the claims, or on which an allocated claim cannot be used."""
        on_nodes = on_nodes_of(cycle)
        bits = None if on_nodes is None else on_nodes.bits()
        return bits if bits is not None and bits.any() else None

    def may_open(self, cycle: Cycle) -> BoolMask:
        """The nodes whose devices would do for the claims if none were in use."""
        on_nodes = on_nodes_of(cycle)
        return np.ones(len(cycle.cluster.table.nodes), dtype=bool) if on_nodes is None else on_nodes.may_open()

    def conclude(self, cycle: Cycle, reached: BoolMask, *, is_sampled: bool) -> Conclusion | None:
        """An error on one of the nodes ends the attempt."""
        on_nodes = on_nodes_of(cycle)
        return None if on_nodes is None else on_nodes.conclude(self.name, reached, is_sampled=is_sampled)

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """What the first test that fails says."""
        on_nodes = on_nodes_of(cycle)
        assert on_nodes is not None  # noqa: S101 - only it gives bits
        return on_nodes.obstacle(self.name, node, bits)

    def why_unbound(self, cycle: Cycle, node: int) -> Obstacle | None:
        """A claim that has as many consumers as it may, or a fault of the pod at which binding fails."""
        on_nodes = on_nodes_of(cycle)
        fault = None if on_nodes is None else on_nodes.why_unbound(node)
        return None if fault is None else Obstacle.of(self.name, Code.UNRESOLVABLE, fault)

    def pre_bind(self, cycle: Cycle, node: int) -> tuple[str, ...]:
        """What may still keep the pod from being bound."""
        on_nodes = on_nodes_of(cycle)
        return () if on_nodes is None else on_nodes.conditions(node)

    def _refused(self, fault: ClaimFault) -> Obstacle:
        return Obstacle.of(self.name, Code.UNRESOLVABLE, fault, is_brief=fault.is_brief)

    def _doubts(self, pod: PlacementClass) -> tuple[Said, ...]:
        """Why nothing can be told of a pod with claims, or with extended resources."""
        found = [Said.alike(text) for text in map(unlisted_sentence, self._unlisted(pod))]
        if pod.spec.has_resource_claims:
            if self._unread:
                text = f"uses resource claims, and the snapshot has no {self._unread[0].partition('.')[0]} objects"
                found.append(Said.alike(text))
            elif not self._has_templates and any(
                name.endswith(COMING_CLAIM) for name in pod.pod.generated_claims.values()
            ):
                text = "uses resource claims, and the snapshot has no ResourceClaimTemplate objects"
                found.append(Said.alike(text))
            elif not self._knows_order:
                text = "uses resource claims, which Kubernetes before 1.36 allocates in no known order"
                found.append(Said.alike(text))
        return tuple(found)

    def _unlisted(self, pod: PlacementClass) -> list[str]:
        """The extended resources that a class may serve which was not read."""
        return [name for name in extended_resources(pod.pod) if self._resources.is_unknown(name)]


class DynamicResourcesScore:
    """Prefers nodes on which earlier alternatives of requests can be had."""

    name = ClaimLedger.NAME

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        del cluster, profile  # what was found out is in the cycle

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """In proportion to the highest."""
        on_nodes = on_nodes_of(cycle)
        raw = None if on_nodes is None else on_nodes.raw_scores(feasible)
        return None if raw is None else NormalizedScores(raw).among(feasible)


def on_nodes_of(cycle: Cycle) -> ClaimsOnNodes | None:
    """What was found out about the pod of a cycle; None for one that needs no devices, or of which nothing is known."""
    found = cycle.scratch.get(ClaimLedger.NAME)
    return found if isinstance(found, ClaimsOnNodes) else None


class DynamicResourcesSection(Args, frozen=True):
    """`DynamicResourcesArgs`."""

    filter_timeout: timedelta | None = None
    """10s by default; without effect here."""
    binding_timeout: timedelta | None = None
    """10m by default; without effect here."""


def _read_args(block: ArgsBlock, section: DynamicResourcesSection) -> None:
    if section.filter_timeout is not None and section.filter_timeout < timedelta(0):
        block.fail(("filterTimeout",), "is negative; 0s means no limit")
    if section.binding_timeout is not None and section.binding_timeout < timedelta(seconds=1):
        block.fail(("bindingTimeout",), "is below 1s")


def _marks(snapshot: Snapshot) -> Mark | None:
    return ClaimMark(snapshot) if snapshot.kinds & DEVICE_KINDS else None


def explain_claims(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """The first test that the devices of the node fail, and what else keeps the claims of the pod off it."""
    found = on_nodes_of(refused.cycle)
    if found is not None:
        yield from found.why_not(refused.node_index)


ROW = SchedulingPlugin(
    plugin=DynamicResources,
    score=DynamicResourcesScore,
    points=frozenset({"pre_filter", "filter", "pre_enqueue", "post_filter", "score", "reserve", "pre_bind"}),
    by_default=ByDefault(weight=2, gate="DynamicResourceAllocation"),
    prepared_for=frozenset({"filter", "reserve"}),
    args=ArgsKind(DynamicResourcesSection, _read_args),
    marks=_marks,
    explain=explain_claims,
    compares=Compares.PARTS,
    parts=ClaimParts,
    reads_kinds=DEVICE_KINDS,
    about=About(
        check="Devices for the pod's resource claims, and for extended resources that a DeviceClass serves.",
        preference="Nodes on which earlier alternatives of `firstAvailable` requests can be had.",
        reasons=(
            *(fault.reason for fault in DeviceFault),
            'pod "<pod>": ResourceClaim not created yet',
            'could not find ResourceClaim "<claim>"',
            'resourceclaim "<claim>" is being deleted',
            "ResourceClaim <claim> was not created for Pod <pod> (Pod is not owner)",
            "ResourceClaimTemplate <template> does not exist",
            "request <request>: device class <class> does not exist",
            "uses resource claims, and the snapshot has no <kind> objects",
            "no node lists <resource>; a DeviceClass with extendedResourceName: <resource> may serve it",
        ),
    ),
)
