"""What runs as `DeviceShare`."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from descheduler.model.annotations import (
    DEVICE_HINT_ANNOTATION,
    DEVICES_ALLOCATED_ANNOTATION,
    GPU_PARTITION_SPEC_ANNOTATION,
    JOINT_DEVICES_ANNOTATION,
)
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.interactions import (
    GatheredPods,
    Interactions,
    Meeting,
    OnOwnNode,
    meeting_each_other,
)
from descheduler.placement.framework.scheduling_plugin import About, Compares, Preference, SchedulingPlugin
from descheduler.placement.plugins.device_share.args import ARGS, DeviceShareArgs
from descheduler.placement.plugins.device_share.explain import explain_devices
from descheduler.placement.plugins.device_share.filter import DeviceShare, DeviceShareScore
from descheduler.placement.plugins.device_share.parts import GpuParts
from descheduler.placement.plugins.device_share.reasons import DeviceReason
from descheduler.placement.plugins.device_share.requests import RequestError, device_requests

__all__ = ["ROW"]


class _DeviceInteractions(OnOwnNode):
    """Placed pods take devices of their own node.

    Joint allocation can be helped by that: Filter looks at devices by their minors, and a leading device that has no
    other next to it stands in the way of the following ones until some pod takes it.
    """

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether it asks for devices on the same PCIe switch."""
        return JOINT_DEVICES_ANNOTATION in pod.annotations

    def closing(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """All that ask for devices."""
        return meeting_each_other(gathered.where(_asks))


def _asks(pod: Pod) -> bool:
    try:
        return bool(device_requests(pod.spec.requests))
    except RequestError:
        return True


def _interactions(profile: SchedulerProfile) -> Interactions:
    del profile
    return _DeviceInteractions()


def _without_devices(pod: Pod) -> Pod:
    """`pod` without the note of devices that another one was given."""
    if DEVICES_ALLOCATED_ANNOTATION not in pod.annotations:
        return pod
    kept = {key: value for key, value in pod.annotations.items() if key != DEVICES_ALLOCATED_ANNOTATION}
    return replace(pod, annotations=kept)


def _preference(profile: SchedulerProfile) -> Preference:
    return Preference(prefers_idle_parts=profile.args.of(DeviceShareArgs).strategy == "LeastAllocated")


ROW = SchedulingPlugin(
    plugin=DeviceShare,
    score=DeviceShareScore,
    points=frozenset({"pre_filter", "filter", "pre_score", "score", "reserve", "pre_bind"}),
    prepared_for=frozenset({"filter"}),
    args=ARGS,
    interactions=_interactions,
    compares=Compares.PARTS,
    prefers=_preference,
    parts=GpuParts,
    renews=_without_devices,
    explain=explain_devices,
    reads_annotations=(DEVICE_HINT_ANNOTATION, JOINT_DEVICES_ANNOTATION, GPU_PARTITION_SPEC_ANNOTATION),
    reads_kinds=frozenset({"Device.scheduling.koordinator.sh"}),
    about=About(
        check="GPUs, RDMA and FPGA devices of the node, one by one: enough of them must have enough left. A node "
        "without a Device is left to NodeResourcesFit.",
        preference="By default nodes whose devices are used the least.",
        reasons=tuple(dict.fromkeys(reason.reason for reason in DeviceReason)),
    ),
)
