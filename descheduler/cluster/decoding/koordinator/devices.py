"""Device objects, and the annotations in which pods name devices (koordinator 1.8, `apis/extension`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from descheduler.cluster.decoding.affinity_blocks import decode_selector
from descheduler.cluster.decoding.blocks import decode_labels, decode_quantities, decode_quantity, decode_text
from descheduler.cluster.decoding.wire import ABSENT, Int32, MetadataWire, SpecReader, Wire
from descheduler.model.annotations import GPU_PARTITIONS_ANNOTATION
from descheduler.model.koordinator.devices import (
    PARTITION_POLICY_LABEL,
    PLANNED_LABEL,
    AllocatedDevice,
    AllocatedDevices,
    Amounts,
    Device,
    DeviceHint,
    DeviceInfo,
    DeviceTopology,
    GpuPartition,
    JointAllocation,
    PartitionSpec,
    PartitionTable,
    VirtualFunction,
    VirtualFunctionGroup,
    current_name,
)
from descheduler.model.quantity import ceil_value
from descheduler.model.selection.labels import LabelError, LabelSelector


class _TopologyWire(Wire):
    node_id: Int32 | None = msgspec.field(default=None, name="nodeID")
    pcie_id: str | None = msgspec.field(default=None, name="pcieID")


class _FunctionWire(Wire):
    minor: Int32 | None = None
    bus_id: str | None = msgspec.field(default=None, name="busID")


class _FunctionGroupWire(Wire):
    labels: msgspec.Raw = ABSENT
    vfs: list[_FunctionWire] | None = None


class _DeviceInfoWire(Wire):
    type: str | None = None
    labels: msgspec.Raw = ABSENT
    id: str | None = None
    minor: Int32 | None = None
    health: bool | None = None
    resources: msgspec.Raw = ABSENT
    topology: _TopologyWire | None = None
    vf_groups: list[_FunctionGroupWire] | None = None


class _DeviceSpecWire(Wire):
    devices: list[_DeviceInfoWire] | None = None


class _PartitionWire(Wire):
    minors: list[Int32] | None = None
    ring_bus_bandwidth: msgspec.Raw = ABSENT
    allocation_score: Int32 | None = None


class _ExtensionWire(Wire):
    vfs: list[_FunctionWire] | None = None
    gpu_shared_resource_template: str | None = None


class _AllocatedWire(Wire):
    minor: Int32 | None = None
    resources: msgspec.Raw = ABSENT
    id: str | None = None
    extension: _ExtensionWire | None = None


class _HintWire(Wire):
    selector: msgspec.Raw = ABSENT
    vf_selector: msgspec.Raw = ABSENT
    allocate_strategy: str | None = None
    required_topology_scope: str | None = None
    exclusive_policy: str | None = None


class _JointWire(Wire):
    device_types: list[str] | None = None
    required_scope: str | None = None


class _PartitionSpecWire(Wire):
    allocate_policy: str | None = None
    ring_bus_bandwidth: msgspec.Raw = ABSENT


_read_device = SpecReader(_DeviceSpecWire)
_decode_partitions = msgspec.json.Decoder(dict[str, list[_PartitionWire] | None]).decode
_decode_allocated = msgspec.json.Decoder(dict[str, list[_AllocatedWire] | None] | None).decode
_decode_hints = msgspec.json.Decoder(dict[str, _HintWire | None] | None).decode
_decode_joint = msgspec.json.Decoder(_JointWire | None).decode
_decode_spec = msgspec.json.Decoder(_PartitionSpecWire | None).decode


def decode_device(block: bytes) -> Device:
    """One Device. A partition table that cannot be read counts as none."""
    metadata, spec = _read_device(block)
    labels = decode_labels(bytes(metadata.labels))
    return Device(
        name=metadata.name or "",
        devices=tuple(map(_info, spec.devices or ())),
        partitions=_partitions(metadata),
        honors_partitions=labels.get(PARTITION_POLICY_LABEL) == "Honor",
        has_planned_secondaries=labels.get(PLANNED_LABEL) == "true",
    )


def decode_allocated(text: str) -> AllocatedDevices:
    """What the annotation says that a pod has, in current resource names. Raises ValueError."""
    found = _decode_allocated(text) or {}
    return {name: tuple(map(_allocated, entries)) for name, entries in found.items() if entries}


def decode_hints(text: str) -> Mapping[str, DeviceHint]:
    """Device type → hint. Raises ValueError for what is no such document, and LabelError for a bad selector."""
    return {name: _hint(name, wire) for name, wire in (_decode_hints(text) or {}).items() if wire is not None}


def decode_joint_allocation(text: str) -> JointAllocation:
    """The types that are to be allocated together. Raises ValueError."""
    wire = _decode_joint(text) or _JointWire()
    return JointAllocation(tuple(wire.device_types or ()), wire.required_scope == "SamePCIe")


def decode_partition_spec(text: str) -> PartitionSpec:
    """What is asked of a partition of GPUs. Raises ValueError."""
    wire = _decode_spec(text) or _PartitionSpecWire()
    return PartitionSpec(wire.allocate_policy == "Restricted", _bandwidth(wire.ring_bus_bandwidth))


def _info(wire: _DeviceInfoWire) -> DeviceInfo:
    topology = wire.topology
    return DeviceInfo(
        type=wire.type or "",
        minor=wire.minor or 0,
        id=wire.id or "",
        is_healthy=bool(wire.health),
        labels=decode_labels(bytes(wire.labels)),
        resources=_amounts(wire.resources),
        topology=None if topology is None else DeviceTopology(topology.node_id or 0, topology.pcie_id or ""),
        function_groups=tuple(map(_function_group, wire.vf_groups or ())),
    )


def _amounts(block: msgspec.Raw) -> Amounts:
    return {name: ceil_value(nano) for name, nano in decode_quantities(bytes(block)).items()}


def _function_group(wire: _FunctionGroupWire) -> VirtualFunctionGroup:
    return VirtualFunctionGroup(decode_labels(bytes(wire.labels)), tuple(_functions(wire.vfs)))


def _functions(wires: list[_FunctionWire] | None) -> Iterator[VirtualFunction]:
    return (VirtualFunction(wire.bus_id or "", wire.minor or 0) for wire in wires or ())


def _partitions(metadata: MetadataWire) -> PartitionTable | None:
    raw = (metadata.annotations or {}).get(GPU_PARTITIONS_ANNOTATION)
    text = "" if raw is None else decode_text(raw)
    if not text:
        return None
    try:
        return {int(number): tuple(map(_partition, wires or ())) for number, wires in _decode_partitions(text).items()}
    except (ValueError, RecursionError):
        return None


def _partition(wire: _PartitionWire) -> GpuPartition:
    return GpuPartition(tuple(wire.minors or ()), wire.allocation_score or 0, _bandwidth(wire.ring_bus_bandwidth))


def _bandwidth(block: msgspec.Raw) -> int | None:
    return decode_quantity(bytes(block))


def _allocated(wire: _AllocatedWire) -> AllocatedDevice:
    extension = wire.extension or _ExtensionWire()
    return AllocatedDevice(
        minor=wire.minor or 0,
        resources={current_name(name): amount for name, amount in _amounts(wire.resources).items()},
        id=wire.id or "",
        functions=tuple(_functions(extension.vfs)),
        template=extension.gpu_shared_resource_template or "",
    )


def _hint(device_type: str, wire: _HintWire) -> DeviceHint:
    return DeviceHint(
        selector=_selector(device_type, "Selector", wire.selector),
        function_selector=_selector(device_type, "VFSelector", wire.vf_selector),
        allocate_strategy=wire.allocate_strategy or "",
        required_topology_scope=wire.required_topology_scope or "",
        exclusive_policy=wire.exclusive_policy or "",
    )


def _selector(device_type: str, field: str, block: msgspec.Raw) -> LabelSelector | None:
    if bytes(block) == b"null":
        return None
    selector, fault = decode_selector(bytes(block))
    if fault:
        raise LabelError(f"invalid {field} of DeviceHint, deviceType: {device_type}, err: {fault}")
    return selector
