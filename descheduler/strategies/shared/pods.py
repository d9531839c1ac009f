"""What strategies go by in pods: the state of their containers, their age, and the order in which some must go.

Ages are in whole seconds, as Go's clock arithmetic gives them. Earlier states of containers (`lastState`) never count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from descheduler.model.pod import ContainerStatus, Pod
from descheduler.model.requests import BEST_EFFORT, BURSTABLE, GUARANTEED

FINISHED = "the pod has finished"
"""Why a strategy that looks at active pods does not select one."""


def container_statuses(pod: Pod, *, init: bool, ephemeral: bool = False) -> Iterator[ContainerStatus]:
    """The statuses of the containers, then of init and ephemeral containers where asked for."""
    yield from pod.container_statuses
    if init:
        yield from pod.init_container_statuses
    if ephemeral:
        yield from pod.ephemeral_container_statuses


def waiting_reasons(pod: Pod, *, init: bool) -> Iterator[str]:
    """Why containers wait."""
    for status in container_statuses(pod, init=init):
        if status.waiting_reason is not None:
            yield status.waiting_reason


def reasons(pod: Pod, *, init: bool, ephemeral: bool = False) -> Iterator[str]:
    """The reason of the pod's status, then why its containers wait or have terminated; empty reasons are left out."""
    if pod.status_reason:
        yield pod.status_reason
    for status in container_statuses(pod, init=init, ephemeral=ephemeral):
        if status.waiting_reason:
            yield status.waiting_reason
        if status.terminated_reason:
            yield status.terminated_reason


def exit_codes(pod: Pod, *, init: bool) -> Iterator[int]:
    """Exit codes of the containers that have terminated."""
    for status in container_statuses(pod, init=init):
        if status.exit_code is not None:
            yield status.exit_code


LONGEST_AGE_SECONDS = (2**63 - 1) // 10**9
"""What Go's longest duration comes to; the age of a pod whose creation time is not set."""
_STEPS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def age_seconds(pod: Pod, now: datetime) -> int:
    """Seconds since the creation of `pod`, truncated towards zero; negative when that lies ahead of `now`."""
    if pod.created_at is None:
        return LONGEST_AGE_SECONDS
    return int((now - pod.created_at).total_seconds())


def age_words(seconds: int) -> str:
    """Such as `3 h old` or `1 d 2 h old`: the two largest units."""
    if seconds == LONGEST_AGE_SECONDS:
        return "without a creation time"
    parts, rest = [], max(0, seconds)
    for step, unit in _STEPS:
        number, rest = divmod(rest, step)
        if number:
            parts.append(f"{number} {unit}")
    return f"{' '.join(parts[:2]) or '0 s'} old"


_QOS_RANK = {BEST_EFFORT: 0, BURSTABLE: 1, GUARANTEED: 2}


def sort_low_to_high(pods: Iterable[Pod]) -> list[Pod]:
    """`pods` from the lowest to the highest priority; among equals by QoS class, then those that prefer to stay last.

    A pod without a priority comes before every number. Full ties keep the given order, which is one of the orders that
    kubernetes-sigs/descheduler 0.36 `pkg/descheduler/pod/pods.go` may produce: it leaves them to an unstable sort.
    """
    return sorted(pods, key=_importance)


def sort_oldest_first(pods: Iterable[Pod]) -> list[Pod]:
    """`pods` by creation time, ascending; the zero time is the oldest. Ties keep the given order."""
    return sorted(pods, key=_creation)


def _importance(pod: Pod) -> tuple[bool, int, int, bool]:
    priority = pod.spec.priority
    return priority is not None, priority or 0, _QOS_RANK.get(pod.qos_class, 0), pod.prefers_no_eviction


def _creation(pod: Pod) -> tuple[bool, float]:
    created_at = pod.created_at
    return created_at is not None, created_at.timestamp() if created_at is not None else 0.0
