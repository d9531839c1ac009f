"""The row of DynamicResources in the table of scheduling plugins."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from descheduler.model.resource_claims import DEVICE_KINDS
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.configuration.kube_scheduler.plugin_settings import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.interactions import GatheredPods, Interactions, Meeting, meeting_each_other
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin
from descheduler.placement.plugins.dynamic_resources.plugin import DynamicResources, DynamicResourcesScore
from descheduler.placement.plugins.dynamic_resources.pod_claims import ClaimMark
from descheduler.placement.plugins.dynamic_resources.reasons import DeviceFault
from descheduler.placement.shadow.placement_class import Mark
from descheduler.policy.shared_args import Args

__all__ = ["ROW"]


class _ClaimInterplay:
    """Devices can be shared by nodes, a claim binds its pods to where it is, and a device in use hides an error."""

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether it needs devices: a pod that takes the one on which a selector fails helps others."""
        return _may_need_devices(pod)

    def is_local(self, pod: Pod) -> bool:
        """Whether it needs no devices."""
        return not _may_need_devices(pod)

    def is_felt_widely(self, pod: Pod) -> bool:
        """Not beyond those that need devices, which are not local themselves."""
        del pod
        return False

    def interact(self, first: Pod, second: Pod) -> bool:
        """Whether both need devices."""
        return _may_need_devices(first) and _may_need_devices(second)

    def interacting(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """All that need devices."""
        return meeting_each_other(gathered.where(_may_need_devices))

    def closing(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """All that need devices."""
        return meeting_each_other(gathered.where(_may_need_devices))


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


def _interactions(profile: SchedulerProfile) -> Interactions:
    del profile
    return _ClaimInterplay()


ROW = SchedulingPlugin(
    plugin=DynamicResources,
    score=DynamicResourcesScore,
    points=frozenset({"pre_filter", "filter", "pre_enqueue", "post_filter", "score", "reserve", "pre_bind"}),
    by_default=ByDefault(weight=2, gate="DynamicResourceAllocation"),
    prepared_for=frozenset({"filter", "reserve"}),
    args=ArgsKind(DynamicResourcesSection, _read_args),
    interactions=_interactions,
    marks=_marks,
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


def _may_need_devices(pod: Pod) -> bool:
    """Whether a pod has claims, or requests a resource that a class may serve."""
    return pod.spec.has_resource_claims or any("/" in name for name in pod.spec.requests)
