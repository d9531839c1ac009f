"""Koordinator's Device, the devices of one node, and what pods have and ask of them (koordinator 1.8).

Amounts are whole units, rounded up: percent of a device for gpu-core, gpu-memory-ratio, rdma and fpga, bytes for
gpu-memory, pieces for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.model.selection.labels import LabelSelector

PARTITION_POLICY_LABEL = "node.koordinator.sh/gpu-partition-policy"
PLANNED_LABEL = "node.koordinator.sh/secondary-device-well-planned"

GPU, RDMA, FPGA = "gpu", "rdma", "fpga"
DEVICE_TYPES = (GPU, RDMA, FPGA)
"""The types that the scheduler allocates, in the order in which they are looked at here."""

_DEPRECATED = {
    f"kubernetes.io/{name}": f"koordinator.sh/{name}"
    for name in ("gpu", "gpu-core", "gpu-memory", "gpu-memory-ratio", "rdma", "fpga")
}

Amounts = Mapping[str, int]
_encode = msgspec.json.Encoder().encode


def current_name(resource: str) -> str:
    """The name that stands for a deprecated one; other names stay (`pkg/util/transformer`)."""
    return _DEPRECATED.get(resource, resource)


class DeviceTopology(msgspec.Struct, frozen=True, gc=False):
    """Where a device is plugged in. `numa_node` is -1 where no NUMA node is nearer than another."""

    numa_node: int
    pcie: str


class VirtualFunction(msgspec.Struct, frozen=True, gc=False):
    """A part of a network device that one pod may have for itself."""

    bus_id: str
    minor: int = 0


class VirtualFunctionGroup(msgspec.Struct, frozen=True):
    """Virtual functions of one device that are alike."""

    labels: Mapping[str, str]
    functions: tuple[VirtualFunction, ...]


class DeviceInfo(msgspec.Struct, frozen=True):
    """One device. `resources` is what it has while it is healthy; `id` is its UUID or bus id."""

    type: str
    minor: int
    id: str
    is_healthy: bool
    labels: Mapping[str, str]
    resources: Amounts
    topology: DeviceTopology | None = None
    function_groups: tuple[VirtualFunctionGroup, ...] = ()


class GpuPartition(msgspec.Struct, frozen=True):
    """GPUs that may be given to one pod together; `ring_bus_bandwidth` is None where it is not stated."""

    minors: tuple[int, ...]
    allocation_score: int = 0
    ring_bus_bandwidth: int | None = None


PartitionTable = Mapping[int, tuple[GpuPartition, ...]]
"""Number of GPUs → the partitions of so many, in the order stated."""


class Device(msgspec.Struct, frozen=True, eq=False):
    """The devices of the node `name`.

    `partitions` is None without a table; `honors_partitions` says that GPUs are given out by it alone.
    `has_planned_secondaries` says that whoever gets its GPUs finds the other devices next to them.
    """

    name: str
    devices: tuple[DeviceInfo, ...]
    partitions: PartitionTable | None = None
    honors_partitions: bool = False
    has_planned_secondaries: bool = False


class AllocatedDevice(msgspec.Struct, frozen=True):
    """What a pod has of one device. `template` names the GPU shared resource template that it is cut by."""

    minor: int
    resources: Amounts
    id: str = ""
    functions: tuple[VirtualFunction, ...] = ()
    template: str = ""


AllocatedDevices = Mapping[str, tuple[AllocatedDevice, ...]]
"""Device type → what a pod has of devices of this type, in the order in which they were chosen."""


def allocation_text(devices: AllocatedDevices) -> str:
    """The annotation by which a scheduler notes what a pod has (`apis/extension/device_share.go`)."""
    return _encode({name: [_allocation(each) for each in entries] for name, entries in devices.items()}).decode()


def _allocation(device: AllocatedDevice) -> dict[str, object]:
    """As it is written; what is empty is left out."""
    extension: dict[str, object] = {}
    if device.functions:
        extension["vfs"] = [{"minor": each.minor, "busID": each.bus_id} for each in device.functions]
    if device.template:
        extension["gpuSharedResourceTemplate"] = device.template
    return {
        "minor": device.minor,
        "resources": {name: str(amount) for name, amount in device.resources.items()},
        **({"id": device.id} if device.id else {}),
        **({"extension": extension} if extension else {}),
    }


class DeviceHint(msgspec.Struct, frozen=True):
    """What a pod asks of the devices of one type beside their resources.

    Without a `selector` any device will do. A `function_selector`, even an empty one, asks for a virtual function.
    """

    selector: LabelSelector | None = None
    function_selector: LabelSelector | None = None
    allocate_strategy: str = ""
    required_topology_scope: str = ""
    exclusive_policy: str = ""

    @property
    def applies_for_all(self) -> bool:
        """Whether the pod gets all devices that there are, each with the whole request."""
        return self.allocate_strategy == "ApplyForAll"


class JointAllocation(msgspec.Struct, frozen=True):
    """Types of devices that are chosen next to each other, the leading one first."""

    device_types: tuple[str, ...] = ()
    is_same_pcie: bool = False


class PartitionSpec(msgspec.Struct, frozen=True):
    """A request for GPUs by the partition table of the node; `is_restricted` looks at its first group alone."""

    is_restricted: bool = False
    ring_bus_bandwidth: int | None = None
