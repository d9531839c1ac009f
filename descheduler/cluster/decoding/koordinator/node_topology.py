"""NodeResourceTopology objects, whose annotations hold what the agent of Koordinator reports, and annotations of pods
about CPUs (koordinator 1.8 `apis/extension/numa_aware.go`, `system_qos.go`, `node_reservation.go`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeVar

import msgspec

from descheduler.cluster.decoding.blocks import decode_text
from descheduler.cluster.decoding.wire import Int32, MetadataWire, Wire
from descheduler.model.annotations import (
    CPU_MANAGER_POLICY_ANNOTATION,
    CPU_TOPOLOGY_ANNOTATION,
    POD_CPU_ALLOCS_ANNOTATION,
    SYSTEM_QOS_ANNOTATION,
)
from descheduler.model.koordinator.node_reports import Cpu, NodeTopology
from descheduler.model.node import NODE_RESERVATION_ANNOTATION
from descheduler.model.text.numbers import parse_cpu_list

_MOST_TEXTS = 8192


class _CpuSpec(NamedTuple):
    """How a pod wants its CPUs chosen; each empty where it does not say it."""

    required: str = ""
    preferred: str = ""
    exclusive: str = ""


class _CpuSpecWire(Wire):
    required: str | None = msgspec.field(default=None, name="requiredCPUBindPolicy")
    preferred: str | None = msgspec.field(default=None, name="preferredCPUBindPolicy")
    exclusive: str | None = msgspec.field(default=None, name="preferredCPUExclusivePolicy")


class _NumaSpecWire(Wire):
    policy: str | None = msgspec.field(default=None, name="numaTopologyPolicy")


class _ResourceStatusWire(Wire):
    cpuset: str | None = None


_decode_spec = msgspec.json.Decoder(_CpuSpecWire | None).decode
_decode_numa = msgspec.json.Decoder(_NumaSpecWire | None).decode
_decode_status = msgspec.json.Decoder(_ResourceStatusWire | None).decode


@lru_cache(maxsize=_MOST_TEXTS)
def decode_pinned_cpus(text: str) -> frozenset[int]:
    """The CPUs of annotation `scheduling.koordinator.sh/resource-status`; none where it is invalid."""
    try:
        status = _decode_status(text)
        return parse_cpu_list(status.cpuset or "") if status is not None else frozenset()
    except (ValueError, RecursionError):
        return frozenset()


@lru_cache(maxsize=_MOST_TEXTS)
def decode_cpu_spec(text: str) -> _CpuSpec:
    """What annotation `scheduling.koordinator.sh/resource-spec` asks for. Raises ValueError."""
    if not text:
        return _CpuSpec()
    wire = _decode_spec(text) or _CpuSpecWire()
    return _CpuSpec(wire.required or "", wire.preferred or "", wire.exclusive or "")


def decode_numa_policy(text: str) -> str:
    """The policy of annotation `scheduling.koordinator.sh/numa-topology-spec`, "" for none. Raises ValueError."""
    wire = _decode_numa(text) if text else None
    return (wire.policy or "") if wire else ""


_POLICIES = {"BestEffort": "BestEffort", "Restricted": "Restricted", "SingleNUMANodePodLevel": "SingleNUMANode"}
"""The policies of the kubelet that koord-scheduler heeds, and its names for them."""


class _CpuWire(Wire):
    id: Int32 | None = None
    core: Int32 | None = None
    socket: Int32 | None = None
    node: Int32 | None = None


class _CpuTopologyWire(Wire):
    detail: list[_CpuWire] | None = None


class _PodCpusWire(Wire):
    uid: str | None = None
    cpuset: str | None = None
    managed_by_kubelet: bool | None = None


class _CpuPolicyWire(Wire):
    policy: str | None = None
    options: dict[str, str] | None = None
    reserved_cpus: str | None = msgspec.field(default=None, name="reservedCPUs")


class _ReservationWire(Wire):
    reserved_cpus: str | None = msgspec.field(default=None, name="reservedCPUs")


class _SystemCpusWire(Wire):
    cpuset: str | None = None
    cpuset_exclusive: bool | None = None


class _ObjectWire(Wire):
    metadata: MetadataWire | None = None
    topology_policies: list[str] | None = None


_decode = msgspec.json.Decoder(_ObjectWire).decode
_decode_topology = msgspec.json.Decoder(_CpuTopologyWire).decode
_decode_policy = msgspec.json.Decoder(_CpuPolicyWire).decode
_decode_reservation = msgspec.json.Decoder(_ReservationWire).decode
_decode_system = msgspec.json.Decoder(_SystemCpusWire).decode
_decode_pods = msgspec.json.Decoder(list[_PodCpusWire]).decode

WireT = TypeVar("WireT")


def decode_node_topology(block: bytes) -> NodeTopology:
    """One NodeResourceTopology. An annotation that cannot be read counts as absent, as it does for koord-scheduler."""
    wire = _decode(block)
    metadata = wire.metadata or MetadataWire()
    raw = metadata.annotations or {}
    policy = _read(raw, CPU_MANAGER_POLICY_ANNOTATION, _decode_policy) or _CpuPolicyWire()
    system = _read(raw, SYSTEM_QOS_ANNOTATION, _decode_system) or _SystemCpusWire()
    topology = _read(raw, CPU_TOPOLOGY_ANNOTATION, _decode_topology) or _CpuTopologyWire()
    reservation = _read(raw, NODE_RESERVATION_ANNOTATION, _decode_reservation) or _ReservationWire()
    return NodeTopology(
        name=metadata.name or "",
        cpus=tuple(
            Cpu(each.id or 0, each.core or 0, each.socket or 0, each.node or 0) for each in topology.detail or ()
        ),
        reserved_cpus=_cpus(reservation.reserved_cpus),
        kubelet_reserved_cpus=_cpus(policy.reserved_cpus),
        system_cpus=frozenset() if system.cpuset_exclusive is False else _cpus(system.cpuset),
        kubelet_pods=_kubelet_pods(raw),
        numa_policy=next((_POLICIES[each] for each in wire.topology_policies or () if each in _POLICIES), ""),
        needs_full_cores=policy.policy == "static" and (policy.options or {}).get("full-pcpus-only") == "true",
    )


def _kubelet_pods(raw: Mapping[str, msgspec.Raw]) -> dict[str, frozenset[int]]:
    allocs = _read(raw, POD_CPU_ALLOCS_ANNOTATION, _decode_pods) or []
    found = {each.uid: _cpus(each.cpuset) for each in allocs if each.managed_by_kubelet and each.uid}
    return {uid: cpus for uid, cpus in found.items() if cpus}


def _read(raw: Mapping[str, msgspec.Raw], key: str, decode: Callable[[str], WireT]) -> WireT | None:
    if key not in raw:
        return None
    try:
        return decode(decode_text(raw[key]))
    except (ValueError, RecursionError):
        return None


def _cpus(text: str | None) -> frozenset[int]:
    try:
        return parse_cpu_list(text or "")
    except ValueError:
        return frozenset()
