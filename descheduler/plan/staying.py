"""The pods that some plugin selected and that stay, each once, with everything that blocks their eviction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from descheduler.model.pod import Pod
from descheduler.model.text.counted import most_first
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import PodIdentity, Refusal, identity_of

_Kind = Literal["run", "beyond", "cut off"]
_Refusals = dict[_Kind, list[Refusal]]


class Staying(msgspec.Struct, frozen=True, gc=False):
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
    limit refused, whose fate beyond it is not known, then candidates that were not asked for.
    """
    leaving = {identity_of(move.pod) for move in (*decisions.moves, *decisions.background)}
    # Most pods are refused once, and there may be as many of them as the cluster has.
    found: dict[PodIdentity, Refusal | _Refusals] = {}
    for kind, refusals in _by_kind(decisions).items():
        for refusal in refusals:
            identity = identity_of(refusal.pod)
            of_pod = found.get(identity)
            if of_pod is None:
                if identity not in leaving:
                    found[identity] = refusal if kind == "run" else {kind: [refusal]}
                continue
            if isinstance(of_pod, Refusal):
                of_pod = found[identity] = {"run": [of_pod]}
            of_pod.setdefault(kind, []).append(refusal)
    return tuple([_alone(each) if isinstance(each, Refusal) else _staying(each) for each in found.values()])


def staying_pod(decisions: Decisions, pod: Pod) -> Staying | None:
    """The one of `staying_pods` that is `pod`; None when it leaves or no plugin selected it."""
    if any(move.pod is pod for move in (*decisions.moves, *decisions.background)):
        return None
    found = {kind: [each for each in refusals if each.pod is pod] for kind, refusals in _by_kind(decisions).items()}
    return _staying(found) if any(found.values()) else None


def refused_by_plugin(staying: Iterable[Staying]) -> dict[tuple[str, str], dict[str, int]]:
    """(profile, plugin) → code → pods that the plugin selected and that stay, the most frequent code first."""
    counts = Counter(said for each in staying for said in _said(each))
    refused: dict[tuple[str, str], dict[str, int]] = {}
    for (profile, plugin, code), num_pods in most_first(counts):
        refused.setdefault((profile, plugin), {})[code] = num_pods
    return refused


def _said(staying: Staying) -> Iterable[tuple[str, str, str]]:
    """Profile, plugin and code of all that is against the eviction of a pod, each once."""
    refusals = (staying.first, *staying.others)
    said = [(refusal.profile, refusal.plugin, refusal.verdict.code) for refusal in refusals]
    return set(said) if staying.others else said


def _by_kind(decisions: Decisions) -> dict[_Kind, tuple[Refusal, ...]]:
    beyond = decisions.beyond
    return {"run": decisions.refusals, "beyond": beyond.refusals, "cut off": beyond.cut_off}


def _alone(refusal: Refusal) -> Staying:
    """Of a pod that the run alone has refused, and once."""
    return Staying(refusal, (), is_attempt=refusal.is_attempt)


def _staying(refusals: _Refusals) -> Staying:
    by_run, beyond = refusals.get("run", []), refusals.get("beyond", [])
    if len(refusals) == len(by_run) == 1:
        return _alone(by_run[0])
    blocked = [refusal for refusal in (*by_run, *beyond) if refusal.is_attempt and refusal.verdict.reached is None]
    limited = [refusal for refusal in (*beyond, *by_run) if refusal.is_attempt and refusal.verdict.reached is not None]
    unasked = [refusal for refusal in (*by_run, *beyond) if not refusal.is_attempt]
    first, *others = _distinct([*refusals.get("cut off", []), *blocked, *limited, *unasked])
    return Staying(first, tuple(others), is_attempt=any(refusal.is_attempt for refusal in by_run))


def _distinct(refusals: Iterable[Refusal]) -> Iterator[Refusal]:
    """The refusals without those that say the same of the same plugin again."""
    seen: set[tuple[str, str, object]] = set()
    for refusal in refusals:
        verdict = refusal.verdict
        said = refusal.profile, refusal.plugin, verdict.reached or (verdict.code, verdict.message)
        if said not in seen:
            seen.add(said)
            yield refusal
