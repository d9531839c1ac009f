"""One planned eviction on its way: what was called, what was said, what is still open."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from descheduler.kube.evict import PodState
from descheduler.migration.dispatch.judgement import POD_GONE, Judgement
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction

_LEAST_BLIND_LOOKS = 3
"""Looks in a row that say nothing, before the fate of a pod is given up as unknown."""

_LONGEST_BLINDNESS_SECONDS = 8.0
"""The longest wait between two such looks."""


@dataclass(eq=False, slots=True)
class DispatchTask:
    """One eviction, known by its identity, whose next step is due at `due`. Times are in seconds of the run's clock.

    `judgement` is what was said to the last call, and `is_called` while one has no answer. A call whose answer does not
    say for certain that it did nothing may have taken effect, or may still: until `settles_at`. Such a task `is_open`,
    and ends without an eviction only once the pod was seen alive after that time. Limits count it from when it
    `is_booked` until it `is_settled`. The replacement was seen ready on the node `landed_on`, "" for none.
    """

    eviction: PlannedEviction
    position: int = 0
    due: float = 0.0
    num_calls: int = 0
    num_faults: int = 0
    status_code: int = 0
    judgement: Judgement | None = None
    is_called: bool = False
    is_open: bool = False
    settles_at: float = 0.0
    seen_alive_at: float | None = None
    is_booked: bool = False
    is_settled: bool = False
    landed_on: str = ""

    @property
    def is_adopted(self) -> bool:
        """Whether an earlier run or a user has begun it, so that it has no place in the plan."""
        return False

    @property
    def waves_ahead(self) -> int:
        """How many waves before its own it begins, to hold room."""
        return 0

    @property
    def is_unsettled(self) -> bool:
        """Whether a call may have taken effect or may yet, for all that was seen of the pod since."""
        return self.is_open and (self.seen_alive_at is None or self.seen_alive_at < self.settles_at)

    @property
    def why(self) -> str:
        """What the last answer has against the eviction, "" before the first."""
        return "" if self.judgement is None else self.judgement.message

    def answer(self, judgement: Judgement, *, now: float, effect_seconds: float) -> None:
        """Notes what was said to a call.

        A call of open effect may take it for `effect_seconds` from now on: the server may have got it
        just now, after the wait for a connection or for new credentials.
        """
        self.judgement = judgement
        self.is_called = False
        self.num_faults += judgement.code.is_fault
        if judgement.is_open:
            self.leave_open(now + effect_seconds)

    def leave_open(self, settles_at: float) -> None:
        """A call may take effect until then."""
        self.is_open = True
        self.settles_at = max(self.settles_at, settles_at)

    def see_alive(self, looked_at: float) -> None:
        """A look that began then has found the pod, which is not about to leave."""
        self.seen_alive_at = looked_at


@dataclass(eq=False, slots=True)
class EvictionTask(DispatchTask):
    """A plain eviction. A pod that `outlives_effect`, for a controller that was handed its eviction, proves nothing by
    being alive.
    """

    outlives_effect: bool = False
    wants_look: bool = False
    num_unread: int = 0
    num_blind_looks: int = 0
    answered_at: float = 0.0
    had_last_look: bool = False

    @property
    def num_waits(self) -> int:
        """Calls after which the server asked to wait with this very pod."""
        return self.num_calls - self.num_faults - self.num_unread

    @property
    def needs_look(self) -> bool:
        """Whether the pod has to be seen before the last judgement can stand."""
        if self.is_open:
            return self.is_unsettled
        return self.judgement is not None and self.judgement.code is OutcomeCode.CONFLICT and self.seen_alive_at is None

    @property
    def is_looked_at(self) -> bool:
        """Whether its step under way is a look, not a call."""
        return self.wants_look or self.had_last_look

    @property
    def is_decided(self) -> bool:
        """Whether the last answer is the end of it, whatever calls before it left open."""
        judgement = self.judgement
        return judgement is not None and (judgement.kind.uses_limits or judgement.kind is OutcomeKind.GONE)

    @property
    def is_unseen(self) -> bool:
        """Whether the run has not looked at the pod since an answer that leaves open what the call did."""
        judgement, seen_at = self.judgement, self.seen_alive_at
        if judgement is None or not (judgement.is_open or judgement.code is OutcomeCode.CONFLICT):
            return False
        return seen_at is None or seen_at < self.answered_at

    def answer(self, judgement: Judgement, *, now: float, effect_seconds: float) -> None:
        """As any task, and when that was."""
        # A dataclass with slots is another class than the one that `super()` without arguments would look for.
        DispatchTask.answer(self, judgement, now=now, effect_seconds=effect_seconds)
        self.answered_at = now
        self.num_unread += judgement.code.is_unserved

    def see(self, state: PodState, *, looked_at: float) -> None:
        """Notes what a look that began at `looked_at` found of a pod that has not left."""
        if state is PodState.PRESENT:
            self.see_alive(looked_at)
            self.num_blind_looks = 0
        else:
            self.num_blind_looks += 1

    def is_given_up(self, now: float) -> bool:
        """Whether looks that say nothing have gone on for long enough."""
        return self.num_blind_looks >= _LEAST_BLIND_LOOKS and now >= self.settles_at

    def blind_wait_seconds(self, first_seconds: float) -> float:
        """How long to wait after a look that said nothing, ever longer."""
        return float(min(first_seconds * 2 ** (self.num_blind_looks - 1), _LONGEST_BLINDNESS_SECONDS))

    @property
    def ending(self) -> Judgement:
        """How the task ends when nothing more is called or looked at: what is in doubt counts as evicted."""
        if self.judgement is None:
            raise ValueError(f"pod {self.eviction.name} was never called, so it has no ending")
        if self.is_open and self.judgement.kind is OutcomeKind.GONE:
            return self.departure
        if not self.is_open or self.is_decided:
            return self.judgement
        if self.needs_look or self.outlives_effect:
            return self.unknown(self.why)
        return msgspec.structs.replace(self.judgement, message=f"{self.judgement.message}; the pod still exists")

    @property
    def departure(self) -> Judgement:
        """How the task ends when the pod is found to be leaving, gone or replaced.

        After a call that may have been the cause it counts as evicted: limits must not be exceeded on a guess.
        """
        if self.is_open:
            text = "no clear answer, and the pod no longer exists or is terminating"
            return Judgement(OutcomeKind.EVICTED, OutcomeCode.LEFT_WITHOUT_ANSWER, text)
        return Judgement(OutcomeKind.GONE, OutcomeCode.POD_GONE, POD_GONE)

    def unknown(self, why: str) -> Judgement:
        """The judgement of a pod that may or may not leave."""
        return Judgement(OutcomeKind.EVICTED, OutcomeCode.OUTCOME_UNKNOWN, f"not confirmed: {why}")
