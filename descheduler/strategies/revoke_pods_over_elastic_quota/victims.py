"""The pods that are revoked from a quota that uses more than it may (koordinator 1.8 `quota_overuse_revoke.go`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from descheduler.model.koordinator.elastic_quota import PREEMPTIBLE_LABEL
from descheduler.model.pod import Pod

Charges = Mapping[str, int]
"""Resource → amount in the units of quotas."""
ChargedPod = tuple[Pod, Charges]


def fits(used: Charges, limit: Charges) -> bool:
    """Whether nothing that both name is exceeded."""
    return all(used[name] <= most for name, most in limit.items() if name in used)


def is_preemptible(pod: Pod) -> bool:
    """Whether a quota may take `pod` back."""
    return pod.labels.get(PREEMPTIBLE_LABEL) != "false"


def least_important_first(pods: Iterable[ChargedPod]) -> list[ChargedPod]:
    """By priority, those that started later first; equal ones by namespace and name."""
    return sorted(pods, key=lambda charged: _importance(charged[0]))


def victims(pods: Sequence[ChargedPod], used: Charges, limit: Charges) -> list[Pod]:
    """The `pods` (least important first) that leave so that `used` comes within `limit`; in the same order.

    Pods are collected until what is left fits. If it never does, all of them leave; else they are put back, the most
    important first, and those leave that do not fit any more. As measured, what the collected pod does not request is
    out of account from then on, so that a quota may stay over in another resource until the next run.
    """
    left = dict(used)
    collected: list[ChargedPod] = []
    for pod, charges in pods:
        if fits(left, limit):
            break
        if is_preemptible(pod):
            left = _without(left, charges)
            collected.append((pod, charges))
    if not fits(left, limit):
        return [pod for pod, _ in collected]
    leaving: list[Pod] = []
    for pod, charges in reversed(collected):
        back = {name: left.get(name, 0) + charges.get(name, 0) for name in {*left, *charges}}
        if fits(back, limit):
            left = back
        else:
            leaving.append(pod)
    return leaving[::-1]


def _without(used: Charges, charges: Charges) -> dict[str, int]:
    return {name: used.get(name, 0) - amount for name, amount in charges.items()}


def _importance(pod: Pod) -> tuple[int, float, str]:
    started = -pod.started_at.timestamp() if pod.started_at is not None else float("-inf")
    return pod.priority or 0, started, pod.key
