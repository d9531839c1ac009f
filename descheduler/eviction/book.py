"""The book of a run: what was granted and refused, in whose name, and what the plugins were answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping

import msgspec

from descheduler.eviction.undo import Undo
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason, Verdict
from descheduler.plan.decisions import BACKGROUND, SUCCESS
from descheduler.plan.moves import Move, PodIdentity, Refusal, identity_of


class Notes(msgspec.Struct, frozen=True):
    """What was noted beside grants, at some moment."""

    num_attempts: int
    kept: Mapping[PodIdentity, Refusal]
    results: Mapping[tuple[str, str, str], int]


class Book:
    """Entries in the order in which they were made."""

    def __init__(self) -> None:
        self.moves: list[Move] = []
        self.background: list[Move] = []
        self.results: Counter[tuple[str, str, str]] = Counter()
        """(profile, plugin, answer) → how often."""
        self._attempts: list[Refusal] = []
        self._kept: dict[PodIdentity, Refusal] = {}
        self._moved: set[str] = set()

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """Refused requests in order, then the candidates that no plugin requested and that are not evicted."""
        kept = (refusal for refusal in self._kept.values() if not self.has(refusal.pod))
        return (*self._attempts, *kept)

    @property
    def last_wave(self) -> int:
        """The wave of the last move, 0 where there is none."""
        return self.moves[-1].wave if self.moves else 0

    def has(self, pod: Pod) -> bool:
        """Whether some move of the book takes `pod`."""
        return pod.uid in self._moved

    def num_granted(self, profile: str, plugin: str) -> int:
        """How many moves were granted in the name of this plugin."""
        return self.results[profile, plugin, SUCCESS]

    def enter(self, move: Move) -> Undo:
        """Notes a grant, of a pod that may be in the book already."""
        uid, is_new = move.pod.uid, not self.has(move.pod)
        self.moves.append(move)
        self._moved.add(uid)
        self._count(move, SUCCESS, 1)

        def undo() -> None:
            self._count(move, SUCCESS, -1)
            self.moves.pop()
            if is_new:
                self._moved.discard(uid)

        return undo

    def hand_over(self, move: Move) -> Undo:
        """Notes a grant that another controller carries out; that of a finished pod is none."""
        number = 0 if move.pod.is_terminal else 1
        self.background.append(move)
        self._count(move, BACKGROUND, number)

        def undo() -> None:
            self._count(move, BACKGROUND, -number)
            self.background.pop()

        return undo

    def refuse(self, pod: Pod, profile: str, plugin: str, verdict: Verdict, reason: str = "") -> Undo:
        """Notes a request, made for `reason`, that was turned down."""
        refusal = Refusal(pod, profile, plugin, verdict, is_attempt=True, reason=reason)
        self._attempts.append(refusal)
        self._count(refusal, verdict.code, 1)
        return lambda: self._withdraw(lambda each: each is refusal)

    def withdraw(self, pods: Iterable[Pod], reasons: Container[Reason | None]) -> None:
        """Forgets that `pods` were refused for one of these reasons: they were granted after all."""
        uids = {pod.uid for pod in pods}
        self._withdraw(lambda each: each.verdict.reason in reasons and each.pod.uid in uids)

    def _withdraw(self, is_void: Callable[[Refusal], bool]) -> None:
        for refusal in filter(is_void, self._attempts):
            self._count(refusal, refusal.verdict.code, -1)
        self._attempts = [refusal for refusal in self._attempts if not is_void(refusal)]

    def keep(self, pod: Pod, profile: str, plugin: str, verdict: Verdict, reason: str = "") -> None:
        """Notes why a candidate, selected for `reason`, is not asked for; the first verdict on a pod is kept."""
        self.results[profile, plugin, verdict.code] += 1
        identity = identity_of(pod)
        if identity not in self._kept:
            self._kept[identity] = Refusal(pod, profile, plugin, verdict, is_attempt=False, reason=reason)

    def notes(self) -> Notes:
        """The refusals and answers so far, for `restore`."""
        return Notes(len(self._attempts), dict(self._kept), Counter(self.results))

    def restore(self, notes: Notes) -> None:
        """Forgets the refusals and answers since; grants have been taken back before."""
        del self._attempts[notes.num_attempts :]
        self._kept, self.results = dict(notes.kept), Counter(notes.results)

    def _count(self, entry: Move | Refusal, answer: str, number: int) -> None:
        """Counts an answer; one that was never given is not in the book."""
        if number:
            key = entry.profile, entry.plugin, answer
            self.results[key] += number
            if not self.results[key]:
                del self.results[key]
