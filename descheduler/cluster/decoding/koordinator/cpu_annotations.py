"""Annotations in which pods ask for CPUs, and in which koord-scheduler notes those that it pinned a pod to."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import msgspec

from descheduler.cluster.decoding.wire import Wire
from descheduler.model.text.cpu_list import parse_cpu_list

__all__ = ["CpuSpec", "decode_cpu_spec", "decode_numa_policy", "decode_pinned_cpus"]

_MOST_TEXTS = 8192


class CpuSpec(NamedTuple):
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
def decode_cpu_spec(text: str) -> CpuSpec:
    """What annotation `scheduling.koordinator.sh/resource-spec` asks for. Raises ValueError."""
    if not text:
        return CpuSpec()
    wire = _decode_spec(text) or _CpuSpecWire()
    return CpuSpec(wire.required or "", wire.preferred or "", wire.exclusive or "")


def decode_numa_policy(text: str) -> str:
    """The policy of annotation `scheduling.koordinator.sh/numa-topology-spec`, "" for none. Raises ValueError."""
    wire = _decode_numa(text) if text else None
    return (wire.policy or "") if wire else ""
