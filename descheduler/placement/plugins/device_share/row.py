"""What runs as `DeviceShare`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from descheduler.model.annotations import (
    DEVICE_HINT_ANNOTATION,
    DEVICES_ALLOCATED_ANNOTATION,
    GPU_PARTITION_SPEC_ANNOTATION,
    JOINT_DEVICES_ANNOTATION,
)
from descheduler.model.koordinator.devices import DEVICE_TYPES, GPU, Amounts
from descheduler.model.pod import Pod
from descheduler.model.requests import ResourceList
from descheduler.model.text.amounts import short_amounts_text
from descheduler.placement.framework.interactions import GatheredPods, Meeting, OnOwnNode, meeting_each_other
from descheduler.placement.framework.node_parts import WHOLE_PART, FreePart, PartNeed
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, Compares, Preference, SchedulingPlugin
from descheduler.placement.plugins.device_share.allocation import DeviceAllocator
from descheduler.placement.plugins.device_share.answers import PodOnNodes
from descheduler.placement.plugins.device_share.args import ARGS, DeviceShareArgs
from descheduler.placement.plugins.device_share.device_state import DeviceCache, DeviceState, fits, is_zero
from descheduler.placement.plugins.device_share.filter import NAME, DeviceLedger, DeviceShare, DeviceShareScore
from descheduler.placement.plugins.device_share.hardware import ISOLATION_LABEL
from descheduler.placement.plugins.device_share.pod_devices import PodDevices
from descheduler.placement.plugins.device_share.reasons import DeviceReason
from descheduler.placement.plugins.device_share.requests import (
    GPU_CORE,
    GPU_MEMORY,
    GPU_MEMORY_RATIO,
    RequestError,
    device_requests,
    gpu_request,
)
from descheduler.placement.shadow.shadow_cluster import ShadowCluster


class GpuParts:
    """The healthy GPUs of Device objects, by their minors."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._devices = cluster.follow(DeviceCache)
        self.is_listed = bool(cluster.snapshot.devices)

    def state(self, node: int) -> object:
        """The devices of the node; those of nodes that are alike and in the same state are one object."""
        return self._devices.state(node)

    def free(self, node: int) -> Mapping[int, FreePart]:
        """Of each healthy GPU."""
        state = self._devices.state(node)
        total, free = state.total.get(GPU, {}), state.free.get(GPU, {})
        return {
            minor: FreePart(free[minor].get(GPU_CORE, 0), _memory_ratio(free[minor], total[minor].get(GPU_MEMORY, 0)))
            for minor in sorted(total)
            if total[minor].get(GPU_MEMORY_RATIO)
        }

    def held_by(self, pod: Pod) -> tuple[int, ...]:
        """As the annotation of a bound pod says."""
        return tuple(sorted(each.minor for each in self._devices.held_by(pod).get(GPU, ())))

    def most_memory(self, nodes: Iterable[int]) -> int:
        """The memory of the largest GPU."""
        totals = (self._devices.state(node).total.get(GPU, {}) for node in nodes)
        return max((amounts.get(GPU_MEMORY, 0) for total in totals for amounts in total.values()), default=0)

    def need_of(self, pod: Pod, most_memory: int) -> PartNeed | None:
        """What it requests."""
        return self.need(pod.spec.requests, most_memory)

    def why_uncounted(self, pod: Pod) -> str:
        """Nothing: requests say it."""
        return ""

    def need(self, requests: ResourceList, most_memory: int) -> PartNeed | None:
        """As DeviceShare reads the requests."""
        try:
            asked = device_requests(requests).get(GPU)
        except RequestError:
            return None
        if asked is None:
            return None
        request = gpu_request(asked)
        return PartNeed(request.number, request.each.get(GPU_CORE, 0), _memory_ratio(request.each, most_memory))


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


def _without_devices(pod: Pod) -> Pod:
    """`pod` without the note of devices that another one was given."""
    if DEVICES_ALLOCATED_ANNOTATION not in pod.annotations:
        return pod
    kept = {key: value for key, value in pod.annotations.items() if key != DEVICES_ALLOCATED_ANNOTATION}
    return replace(pod, annotations=kept)


def explain_devices(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """What the pod asks of each device, and what is left of those of the node."""
    found = refused.cycle.scratch.get(NAME)
    if not isinstance(found, PodOnNodes):
        return
    state = refused.cycle.cluster.ledger(DeviceLedger).cache.state(refused.node_index)
    if DeviceReason.ISOLATION in obstacle.facts:
        yield (
            f"the pod is labelled {ISOLATION_LABEL}={found.answers.pod.isolation_provider}, and the node "
            f"{state.hardware.traits.isolation_provider or 'has no such label'}"
        )
        return
    yield from _devices(found.answers.pod, state)
    if DeviceReason.INSUFFICIENT_PARTITIONS in obstacle.facts or DeviceReason.UNSUPPORTED_NUMBER in obstacle.facts:
        yield from _partitions(state)


def _devices(pod: PodDevices, state: DeviceState) -> Iterator[str]:
    instances = DeviceAllocator(pod, state).instances
    for device_type in DEVICE_TYPES:
        if device_type not in pod.requests:
            continue
        total = state.total.get(device_type)
        if not total:
            yield f"the node has no {device_type} devices"
        elif not isinstance(instances, DeviceReason) and device_type in instances:
            yield _device_sentence(device_type, *instances[device_type], state)


def _device_sentence(device_type: str, each: Amounts, number: int, state: DeviceState) -> str:
    total, free = state.total[device_type], state.free[device_type]
    healthy = [minor for minor in total if not is_zero(total[minor])]
    open_minors = [minor for minor in healthy if fits(each, free[minor])]
    asked = f"{number} {device_type} device{'' if number == 1 else 's'} with {short_amounts_text(each)} each"
    by_amounts: dict[str, list[int]] = {}
    for minor in sorted(healthy):
        by_amounts.setdefault(short_amounts_text({name: free[minor].get(name, 0) for name in each}), []).append(minor)
    left = " and ".join(f"{amounts} on {_minors(minors)}" for amounts, minors in by_amounts.items()) or "nothing"
    sick = f", {len(total) - len(healthy)} unhealthy" if len(healthy) < len(total) else ""
    return f"requests {asked}; {len(open_minors)} of {len(total)} have as much left{sick}; free: {left}"


def _partitions(state: DeviceState) -> Iterator[str]:
    table = state.hardware.partitions or {}
    in_use = sorted(state.used.get(GPU, {}))
    yield f"the node gives out {', '.join(map(str, sorted(table))) or 'no'} GPUs together; in use: {_minors(in_use)}"


def _minors(minors: list[int]) -> str:
    return ", ".join(map(str, minors)) or "none"


def _memory_ratio(amounts: Amounts, memory: int) -> int:
    """The percent of GPU memory that `amounts` are, on a GPU that has `memory` bytes."""
    if GPU_MEMORY_RATIO in amounts or not memory:
        return amounts.get(GPU_MEMORY_RATIO, 0)
    return -(-WHOLE_PART * amounts.get(GPU_MEMORY, 0) // memory)


ROW = SchedulingPlugin(
    plugin=DeviceShare,
    score=DeviceShareScore,
    points=frozenset({"pre_filter", "filter", "pre_score", "score", "reserve", "pre_bind"}),
    prepared_for=frozenset({"filter"}),
    args=ARGS,
    interactions=lambda profile: _DeviceInteractions(),
    compares=Compares.PARTS,
    prefers=lambda profile: Preference(
        prefers_idle_parts=profile.args.of(DeviceShareArgs).strategy == "LeastAllocated"
    ),
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
