"""The annotation in which koord-scheduler notes the CPUs that it pinned a pod to."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from descheduler.cluster.decoding.wire import Wire
from descheduler.model.cpu_list import parse_cpu_list

__all__ = ["decode_pinned_cpus"]

_MOST_TEXTS = 8192


class _ResourceStatusWire(Wire):
    cpuset: str | None = None


_decode_status = msgspec.json.Decoder(_ResourceStatusWire | None).decode


@lru_cache(maxsize=_MOST_TEXTS)
def decode_pinned_cpus(text: str) -> frozenset[int]:
    """The CPUs of annotation `scheduling.koordinator.sh/resource-status`; none where it is invalid."""
    try:
        status = _decode_status(text)
        return parse_cpu_list(status.cpuset or "") if status is not None else frozenset()
    except (ValueError, RecursionError):
        return frozenset()
