"""What became of one planned eviction: how it ended and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from descheduler.plan.planned import PlannedEviction

__all__ = ["Outcome", "OutcomeCode", "OutcomeKind"]


class OutcomeKind(Enum):
    """How one eviction ended."""

    UNSET = "unset"
    """Never seen; a run that reports it is at fault."""
    EVICTED = "evicted"
    """The API server took the eviction, the pod left after a call without a clear answer, or its fate is unknown."""
    GONE = "gone"
    """The pod was not there any more; nothing was evicted."""
    REFUSED = "refused"
    """The API server said no."""
    BACKGROUND = "background"
    """Another controller has taken the eviction over and will finish it."""
    FAILED = "failed"
    """A fault: nothing was sent, or the pod was seen alive when the call could no longer take effect."""
    NOT_ATTEMPTED = "not-attempted"
    """No call was made."""

    @property
    def uses_limits(self) -> bool:
        """Whether the pod left, may have left or is about to, which limits have to bear."""
        return self in {OutcomeKind.EVICTED, OutcomeKind.BACKGROUND}

    @property
    def frees_limits(self) -> bool:
        """Whether a call was made and nothing was evicted, so that limits are free for another pod."""
        return self in {OutcomeKind.REFUSED, OutcomeKind.FAILED, OutcomeKind.GONE}


class OutcomeCode(Enum):
    """Why it ended so."""

    UNSET = "unset"
    """Never seen."""
    DONE = "done"
    """Evicted, with an answer that says so."""
    LEFT_WITHOUT_ANSWER = "left-without-answer"
    """Evicted: no clear answer came, and the pod was found terminating, gone or replaced."""
    POD_GONE = "pod-gone"
    """No pod of this name and uid."""
    BUDGET = "budget"
    """A disruption budget allows no disruption now."""
    THROTTLED = "throttled"
    """The server asked to wait with this pod longer or more often than the run can."""
    OVERLOADED = "overloaded"
    """The server turned calls of any kind away for longer than the run can wait; the pod was not even looked at."""
    FORBIDDEN = "forbidden"
    """The right to evict is missing, or a budget is in a state that forbids every eviction."""
    SEVERAL_BUDGETS = "several-budgets"
    """More than one disruption budget selects the pod, which the API refuses whatever they allow."""
    CONFLICT = "conflict"
    """Somebody else changed the pod at the same time."""
    HANDED_OVER = "handed-over"
    """An external controller evacuates the pod."""
    NO_ANSWER = "no-answer"
    """No answer came, and the pod is still there."""
    NO_CONNECTION = "no-connection"
    """No trusted connection could be made, nothing was sent."""
    OUTCOME_UNKNOWN = "outcome-unknown"
    """No clear answer came, and it was not seen in time that the pod stays: it counts as evicted, everywhere. Check the
    pod: kubectl get pod."""
    SERVER_ERROR = "server-error"
    """Any other answer."""
    DRY_RUN = "dry-run"
    """Its profile is dry, while others of the policy are not."""
    REPEATED = "repeated"
    """Requested before in this run."""
    NO_UID = "no-uid"
    """The pod has no uid, so a successor with its name could be hit."""
    DEADLINE = "deadline"
    """The run's time was over."""
    STOPPED = "stopped"
    """The run was told to stop."""
    LEASE_LOST = "lease-lost"
    """The Lease was lost, another run may be under way."""
    LIMIT = "limit"
    """A limit of evictions was reached."""

    @property
    def is_fault(self) -> bool:
        """Whether a call was sent and answered by nothing that says what became of it."""
        return self in {OutcomeCode.NO_ANSWER, OutcomeCode.SERVER_ERROR}

    @property
    def is_unserved(self) -> bool:
        """Whether the API server was not reached or turned the call away unread, which says nothing about the pod."""
        return self in {OutcomeCode.NO_CONNECTION, OutcomeCode.OVERLOADED}

    @property
    def is_guard(self) -> bool:
        """Whether a guard ended the run with pods left over: no time, an API server that has none, another's Lease."""
        return self in {OutcomeCode.DEADLINE, OutcomeCode.OVERLOADED, OutcomeCode.LEASE_LOST}

    @property
    def ends_run(self) -> bool:
        """Whether no other pod is worth a try: a guard or a signal ended the run, or nothing reaches the API server."""
        return self.is_guard or self.is_unserved or self is OutcomeCode.STOPPED

    @property
    def is_never_meant(self) -> bool:
        """Whether the eviction of the plan was not to be attempted in the first place."""
        return self in {OutcomeCode.DRY_RUN, OutcomeCode.REPEATED}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one planned eviction; `status_code` is 0 when no answer came, `num_attempts` counts calls made."""

    eviction: PlannedEviction
    kind: OutcomeKind
    code: OutcomeCode
    message: str
    status_code: int = 0
    num_attempts: int = 0

    @property
    def is_unconfirmed(self) -> bool:
        """Whether it counts as evicted although nobody knows."""
        return self.code is OutcomeCode.OUTCOME_UNKNOWN

    @property
    def is_settled(self) -> bool:
        """Whether more time would have changed nothing: evicted for certain, or not to be asked for in this run."""
        if self.kind.uses_limits:
            return not self.is_unconfirmed
        return self.code.is_never_meant or self.code in {OutcomeCode.NO_UID, OutcomeCode.LIMIT}
