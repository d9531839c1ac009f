"""The row of DynamicResources in the table of scheduling plugins."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.resource_claims import DEVICE_KINDS
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.configuration.kube_scheduler.plugin_settings import ByDefault
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, Compares, SchedulingPlugin
from descheduler.placement.plugins.dynamic_resources.claims.pod_claims import ClaimMark
from descheduler.placement.plugins.dynamic_resources.parts import ClaimParts
from descheduler.placement.plugins.dynamic_resources.plugin import DynamicResources, DynamicResourcesScore, on_nodes_of
from descheduler.placement.plugins.dynamic_resources.reasons import DeviceFault
from descheduler.placement.shadow.placement_class import Mark
from descheduler.policy.shared_args import Args

__all__ = ["ROW"]


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
    del obstacle
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
