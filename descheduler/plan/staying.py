"""The pods that some plugin selected and that stay, each once, with everything that stands against their eviction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Refusal

__all__ = ["Staying", "staying_pods"]

_Identity = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Staying:
    """A pod that stays. `first` says what blocks its eviction, `others` are further refusals of the same pod.

    `is_attempt` tells whether some plugin asked for the eviction in the run.
    """

    first: Refusal
    others: tuple[Refusal, ...]
    is_attempt: bool

    @property
    def pod(self) -> Pod:
        """The pod."""
        return self.first.pod


def staying_pods(decisions: Decisions) -> tuple[Staying, ...]:
    """The pods in the order in which they were refused, then those that no plugin came to within the limits.

    The refusal nearest to an eviction comes first: a limit alone, then what else met a request, then requests that a
    limit refused, whose fate beyond it is not known, then candidates that nobody asked for.
    """
    leaving = {_identity(move.pod) for move in (*decisions.moves, *decisions.background)}
    refusals: dict[_Identity, list[Refusal]] = {}
    for refusal in (*decisions.refusals, *decisions.beyond.refusals, *decisions.beyond.cut_off):
        identity = _identity(refusal.pod)
        if identity not in leaving:
            refusals.setdefault(identity, []).append(refusal)
    attempts = {_identity(refusal.pod) for refusal in decisions.refusals if refusal.is_attempt}
    cut_off = {_identity(refusal.pod): refusal for refusal in decisions.beyond.cut_off}
    return tuple(
        _staying(each, cut_off.get(identity), is_attempt=identity in attempts) for identity, each in refusals.items()
    )


def _staying(refusals: list[Refusal], cut_off: Refusal | None, *, is_attempt: bool) -> Staying:
    first, *others = _distinct([*([] if cut_off is None else [cut_off]), *sorted(refusals, key=_distance)])
    return Staying(replace(first, is_attempt=is_attempt), tuple(others), is_attempt)


def _distinct(refusals: list[Refusal]) -> Iterator[Refusal]:
    """The refusals without those that say the same of the same plugin again."""
    seen: set[tuple[str, str, str, str]] = set()
    for refusal in refusals:
        said = refusal.profile, refusal.plugin, refusal.verdict.code, refusal.verdict.message
        if said not in seen:
            seen.add(said)
            yield refusal


def _distance(refusal: Refusal) -> tuple[bool, bool]:
    return not refusal.is_attempt, refusal.verdict.reason is Reason.LIMIT_REACHED


def _identity(pod: Pod) -> _Identity:
    return pod.uid, pod.namespace, pod.name
