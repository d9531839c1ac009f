"""What a run does not know of the pods that it evicts, in words for operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable

from descheduler.eviction.placement_verification.placement_verification import verification_args
from descheduler.model.gangs import pod_group_kind_of
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.plan.moves import Move
from descheduler.policy.types import Policy

__all__ = ["gang_notes", "open_choice_notes"]

_OF_KUBERNETES = "PodGroup.scheduling.k8s.io"
"""What `spec.schedulingGroup` and `spec.workloadRef` of a pod stand for; no snapshot holds it."""
_NEVER_READ = "PodGroups and Workloads of scheduling.k8s.io are not read"
_UNREAD = "no such objects were read"


def gang_notes(policy: Policy, moves: Iterable[Move], kinds: Container[str]) -> tuple[str, ...]:
    """A sentence for each kind of groups that evicted pods name and that was not read; `kinds` are those that were.

    Only of profiles that keep gangs together.
    """
    verifying = {profile.name for profile in policy.profiles if verification_args(profile) is not None}
    named = (_group_of(move.pod) for move in moves if move.profile in verifying)
    unread = Counter(kind for kind in named if kind and kind not in kinds)
    return tuple(
        f"{counted(number, 'evicted pod')} {'names' if number == 1 else 'name'} a {kind.replace('.', ' (', 1)}), and"
        f" {_NEVER_READ if kind == _OF_KUBERNETES else _UNREAD}: how many pods the gang needs is unknown"
        for kind, number in sorted(unread.items())
    )


def _group_of(pod: Pod) -> str:
    """The kind of the group that a pod names, as far as Koordinator's is not meant."""
    return pod_group_kind_of(pod) or (_OF_KUBERNETES if pod.spec.has_scheduling_group else "")


def open_choice_notes(moves: Iterable[Move]) -> tuple[str, ...]:
    """A sentence for each cause for which it is unknown which of several nodes replacements get."""
    causes = Counter(move.landing.open_cause for move in moves if move.landing is not None and move.landing.open_cause)
    return tuple(
        f"{counted(number, 'replacement pod')}: which of the nodes that fit is chosen is unknown ({cause})"
        for cause, number in sorted(causes.items())
    )
