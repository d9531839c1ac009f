"""The CPUs that a pod is pinned to, as koord-scheduler notes them on it."""

from __future__ import annotations

import msgspec

from descheduler.model.annotations import RESOURCE_STATUS_ANNOTATION
from descheduler.model.cpu_list import parse_cpu_list
from descheduler.model.pod import Pod

__all__ = ["pinned_cpus"]


class _ResourceStatus(msgspec.Struct):
    cpuset: str | None = None


_decode = msgspec.json.Decoder(_ResourceStatus | None).decode


def pinned_cpus(pod: Pod) -> frozenset[int]:
    """The CPUs of annotation `scheduling.koordinator.sh/resource-status`; none where it is absent or invalid."""
    text = pod.annotations.get(RESOURCE_STATUS_ANNOTATION)
    if not text:
        return frozenset()
    try:
        status = _decode(text)
        return parse_cpu_list(status.cpuset or "") if status is not None else frozenset()
    except (ValueError, RecursionError):
        return frozenset()
