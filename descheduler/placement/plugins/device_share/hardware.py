"""What a node has of devices, which no move changes: how much each has, how they are plugged in, how GPUs are cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import msgspec

from descheduler.model.koordinator.devices import GPU, Amounts, Device, DeviceInfo, GpuPartition, PartitionTable
from descheduler.model.node import Node

_LABEL_DOMAIN = "node.koordinator.sh"
ISOLATION_LABEL = "koordinator.sh/gpu-isolation-provider"

_MASK_BITS = 64
NODE_SCOPE, NUMA_SCOPE, PCIE_SCOPE = 1, 2, 3
SCOPE_LEVELS = {"Device": 4, "PCIe": PCIE_SCOPE, "NUMANode": NUMA_SCOPE, "Node": NODE_SCOPE}
"""Levels of the scopes that a hint may require; only the lower three have scopes of their own."""

_HOPPER_MODELS = frozenset({"H100", "H800", "H20"})
_HOPPER: PartitionTable = {
    number: tuple(GpuPartition(tuple(range(first, first + number)), 1) for first in range(0, 8, number))
    for number in (1, 2, 4, 8)
}
"""The table of nodes of these models that state none of their own."""

PartitionGroups = Mapping[int, tuple[tuple[GpuPartition, ...], ...]]
"""Number of GPUs → partitions of so many, in groups of ascending allocation score."""


class NodeTraits(msgspec.Struct, frozen=True):
    """What the labels of a node say of its GPUs, each empty without a label."""

    vendor: str = ""
    model: str = ""
    isolation_provider: str = ""
    partition_policy: str = ""


@dataclass(frozen=True, slots=True)
class TopologyScope:
    """GPUs that are plugged in near to each other: all of the node, of a NUMA node, or of a PCIe switch.

    `level` is that of the scope; `mask` has a bit a minor. Children are in the order of their ids.
    """

    level: int
    minors: tuple[int, ...]
    children: tuple[TopologyScope, ...] = ()
    mask: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "mask", mask_of(self.minors))


class Hardware(msgspec.Struct, frozen=True, eq=False):
    """The devices of a node by type, and what its labels say. Nodes that are alike share one.

    `total` has what each healthy device has, nothing for others and for those that only pods name. `partitions` are by
    number of GPUs in groups of ascending allocation score; None without a table. `is_listed` says that the scheduler
    knows devices of the node: there is a Device, or a pod that names some.
    """

    traits: NodeTraits
    infos: Mapping[str, tuple[DeviceInfo, ...]]
    total: Mapping[str, Mapping[int, Amounts]]
    is_listed: bool
    scope: TopologyScope | None = None
    partitions: PartitionGroups | None = None
    honors_partitions: bool = False
    has_planned_secondaries: bool = False

    def pcie_of(self, device_type: str, minor: int) -> str | None:
        """The PCIe switch of a device; None where that is not told."""
        for info in self.infos.get(device_type, ()):
            if info.minor == minor and info.topology is not None:
                return info.topology.pcie
        return None


def traits_of(node: Node) -> NodeTraits:
    """What the labels of `node` say."""
    labels = node.labels
    return NodeTraits(
        vendor=labels.get(f"{_LABEL_DOMAIN}/gpu-vendor", ""),
        model=labels.get(f"{_LABEL_DOMAIN}/gpu-model", ""),
        isolation_provider=labels.get(ISOLATION_LABEL, ""),
        partition_policy=labels.get(f"{_LABEL_DOMAIN}/gpu-partition-policy", ""),
    )


def hardware_key(traits: NodeTraits, device: Device | None, named: Mapping[str, frozenset[int]]) -> bytes:
    """The same for nodes whose hardware is the same; `named` are the minors that pods name, by type."""
    content = None
    if device is not None:
        infos = [msgspec.structs.replace(info, id="") for info in device.devices]
        content = infos, device.partitions, device.honors_partitions, device.has_planned_secondaries
    return msgspec.json.encode((traits, content, {name: sorted(minors) for name, minors in sorted(named.items())}))


def make_hardware(traits: NodeTraits, device: Device | None, named: Mapping[str, frozenset[int]]) -> Hardware:
    """The hardware of a node; see `hardware_key`."""
    devices = () if device is None else device.devices
    infos: dict[str, tuple[DeviceInfo, ...]] = {}
    total: dict[str, dict[int, Amounts]] = {name: {minor: {} for minor in minors} for name, minors in named.items()}
    for info in devices:
        infos[info.type] = (*infos.get(info.type, ()), info)
        total.setdefault(info.type, {})[info.minor] = info.resources if info.is_healthy else {}
    table, honors = (None, False) if device is None else (device.partitions, device.honors_partitions)
    if table is None:
        table = _HOPPER if traits.model in _HOPPER_MODELS else None
        honors = traits.partition_policy == "Honor"
    return Hardware(
        traits,
        infos,
        total,
        is_listed=device is not None or bool(named),
        scope=_scope(infos.get(GPU, ())),
        partitions=None if table is None else {number: _groups(each) for number, each in table.items()},
        honors_partitions=honors,
        has_planned_secondaries=device is not None and device.has_planned_secondaries,
    )


def mask_of(minors: Iterable[int]) -> int:
    """A bit a minor; none from 64 on, as Go shifts it out of an int (`hashMinors` of `allocator_gpu.go`).

    Pods state minors in annotations: a bit for the highest of them would take 256 MB.
    """
    mask = 0
    for minor in minors:
        if minor < _MASK_BITS:
            mask |= 1 << max(minor, 0)
    return mask


def _groups(partitions: Iterable[GpuPartition]) -> tuple[tuple[GpuPartition, ...], ...]:
    groups: dict[int, list[GpuPartition]] = {}
    for partition in partitions:
        groups.setdefault(partition.allocation_score, []).append(partition)
    return tuple(tuple(groups[score]) for score in sorted(groups))


def _scope(infos: tuple[DeviceInfo, ...]) -> TopologyScope | None:
    """The tree of GPUs; None unless it is told of all of them where they are."""
    if not infos or any(info.topology is None for info in infos):
        return None
    places = [(info.topology.numa_node, info.topology.pcie, info.minor) for info in infos if info.topology is not None]
    return TopologyScope(NODE_SCOPE, _sorted(minor for *_, minor in places), tuple(_numa_scopes(places)))


def _numa_scopes(places: list[tuple[int, str, int]]) -> Iterator[TopologyScope]:
    for numa in sorted({numa for numa, _, _ in places}):
        own = [(pcie, minor) for at, pcie, minor in places if at == numa]
        switches = sorted({pcie for pcie, _ in own})
        children = [TopologyScope(PCIE_SCOPE, _sorted(minor for at, minor in own if at == pcie)) for pcie in switches]
        yield TopologyScope(NUMA_SCOPE, _sorted(minor for _, minor in own), tuple(children))


def _sorted(minors: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(minors)))
