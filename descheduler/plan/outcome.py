"""What became of one planned eviction: how it ended and why."""

from __future__ import annotations

from enum import Enum

import msgspec

from descheduler.plan.planned import PlannedEviction


class OutcomeKind(Enum):
    """How one eviction ended."""

    UNSET = "unset"
    """Never used; in a report it is a defect of this program."""
    EVICTED = "evicted"
    """The API server accepted the eviction; or its answer was not clear, and the pod is gone or was not seen again."""
    GONE = "gone"
    """The pod did not exist any more; nothing was evicted."""
    REFUSED = "refused"
    """The API server refused the eviction."""
    BACKGROUND = "background"
    """Another controller has taken over the eviction and will finish it."""
    FAILED = "failed"
    """An error: nothing was sent, or the pod still existed when the call could no longer take effect."""
    NOT_ATTEMPTED = "not-attempted"
    """Planned, and no call was made; `code` and `message` say why. It is in the outcome's `notAttempted` as well."""

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
    """Evicted; the API server confirmed it."""
    LEFT_WITHOUT_ANSWER = "left-without-answer"
    """Evicted: no clear answer came, and the pod was found terminating, gone or replaced."""
    NOT_REPLACED = "not-replaced"
    """Evicted, and the replacement was not seen ready in the time of the job or the run; `message` says why."""
    MISSED_ROOM = "missed-room"
    """Evicted, and the replacement is ready on another node than its Reservation or placeholder; `message`
    says on which."""
    ROOM_TAKEN = "room-taken"
    """Evicted, and another pod of the workload used the Reservation; the replacement is ready without it."""
    RESERVATION_UNUSED = "reservation-unused"
    """Evicted, and the replacement is ready on the node of its Reservation without using it: the scheduler's profile
    does not enable the plugin Reservation under `reserve`. The Reservation was deleted."""
    NO_ROOM = "no-room"
    """No room could be held for the replacement in time, or it was lost; nothing was evicted."""
    NOT_SURGED = "not-surged"
    """The pod is the only replica of its workload, and no second one could serve before it leaves
    (`singleReplicas: Surge`); `message` says why. Nothing was evicted, and the workload has 1 replica again, unless
    another client has scaled it."""
    CHANGED = "changed"
    """The cluster has changed since the plan, and the move no longer holds; `message` says what. Nothing was evicted,
    and the next run decides again."""
    REPLACEMENT_PENDING = "replacement-pending"
    """A pod that was evicted before, in an earlier wave or of the same workload, has a replacement that no node was
    found for in 2 minutes; `message` names the pod. Nothing was evicted, and the next run decides again."""
    JOB_DELETED = "job-deleted"
    """Another client deleted the PodMigrationJob, or the ConfigMap of the job; nothing was evicted."""
    JOB_WAITS = "job-waits"
    """The job of the pod is paused, does not change, or has to wait for others (`check` and `message` say why); nothing
    was evicted yet, and a later run goes on with it."""
    PROTECTED = "protected"
    """MigrationController does not let the pod of a user's PodMigrationJob be evicted; `check` and `message` say why.
    The job has failed, and nothing was evicted."""
    TIMED_OUT = "timed-out"
    """The time limit (`ttl`) of the PodMigrationJob passed before any room was held; nothing was evicted."""
    POD_GONE = "pod-gone"
    """No pod with this name and UID exists."""
    BUDGET = "budget"
    """A PodDisruptionBudget allows 0 disruptions now."""
    THROTTLED = "throttled"
    """The API server asked to retry this pod later or more often than the run can."""
    OVERLOADED = "overloaded"
    """The API server rejected all calls for longer than the run can wait."""
    FORBIDDEN = "forbidden"
    """The run is not allowed to evict the pod (RBAC or admission), or a PodDisruptionBudget is in a state that forbids
    every eviction."""
    NAMESPACE_TERMINATING = "namespace-terminating"
    """The namespace of the pod is being deleted, and its pods with it; the API server refuses evictions there."""
    SEVERAL_BUDGETS = "several-budgets"
    """More than one PodDisruptionBudget selects the pod; the API server refuses the eviction of such pods."""
    CONFLICT = "conflict"
    """Another client changed the pod at the same time."""
    HANDED_OVER = "handed-over"
    """Another controller evacuates the pod, or another program was asked to evict it (`evictionPolicy: SoftEviction`)
    and has not done so yet."""
    NO_ANSWER = "no-answer"
    """No answer came, and the pod still exists."""
    NO_CONNECTION = "no-connection"
    """No trusted connection to the API server; nothing was sent."""
    OUTCOME_UNKNOWN = "outcome-unknown"
    """No clear answer came, and the pod was not seen again in time: it counts as evicted, everywhere. Check the pod:
    kubectl get pod."""
    SERVER_ERROR = "server-error"
    """Any other answer."""
    DRY_RUN = "dry-run"
    """The profile is a dry run (MigrationController dryRun: true), while other profiles of the policy are not."""
    REPEATED = "repeated"
    """Requested before in this run."""
    NO_UID = "no-uid"
    """The pod has no UID; a later pod of the same name could be evicted instead."""
    BUNDLE = "bundle"
    """A pod with which it has to leave together, such as one of its gang, was not evicted."""
    DEADLINE = "deadline"
    """--deadline was exceeded (exit code 4)."""
    STOPPED = "stopped"
    """The run was interrupted by SIGINT (exit code 130) or SIGTERM (exit code 143)."""
    LEASE_LOST = "lease-lost"
    """The Lease was lost; another run may be active (exit code 4)."""
    GUARD = "guard"
    """A guard of MigrationController stopped the run (exit code 4); the report says which."""
    WINDOW_CLOSED = "window-closed"
    """The windows of the profile closed during the run, or a blackout began; `message` says from when on later runs
    decide again. The exit code stays 0."""
    LIMIT = "limit"
    """A limit on evictions was reached; `message` names its key in the policy."""

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
        return self in {OutcomeCode.DEADLINE, OutcomeCode.OVERLOADED, OutcomeCode.LEASE_LOST, OutcomeCode.GUARD}

    @property
    def ends_run(self) -> bool:
        """Whether no other pod is worth a try: a guard or a signal ended the run, or nothing reaches the API server."""
        return self.is_guard or self.is_unserved or self is OutcomeCode.STOPPED

    @property
    def is_never_meant(self) -> bool:
        """Whether the eviction of the plan was not to be attempted in the first place."""
        return self in {OutcomeCode.DRY_RUN, OutcomeCode.REPEATED}


class Outcome(msgspec.Struct, frozen=True):
    """The end of one planned eviction; `status_code` is 0 when no answer came, `num_attempts` counts calls made.

    `landed_on` is the node on which the replacement was seen ready, "" while it was not seen. `check` is the
    code of the reason for which a user's job is blocked, and `subject` the object at fault; both are "" otherwise.
    """

    eviction: PlannedEviction
    kind: OutcomeKind
    code: OutcomeCode
    message: str
    status_code: int = 0
    num_attempts: int = 0
    landed_on: str = ""
    check: str = ""
    subject: str = ""

    @property
    def is_unconfirmed(self) -> bool:
        """Whether it counts as evicted although that is unknown."""
        return self.code is OutcomeCode.OUTCOME_UNKNOWN

    @property
    def is_settled(self) -> bool:
        """Whether more time would have changed nothing: evicted for certain, or not to be asked for in this run."""
        if self.kind.uses_limits:
            return not self.is_unconfirmed
        return self.code.is_never_meant or self.code in _SETTLED


_SETTLED = frozenset(
    {
        OutcomeCode.NO_UID,
        OutcomeCode.LIMIT,
        OutcomeCode.BUNDLE,
        OutcomeCode.WINDOW_CLOSED,
        OutcomeCode.PROTECTED,
        OutcomeCode.TIMED_OUT,
    }
)
