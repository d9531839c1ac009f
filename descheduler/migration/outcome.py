"""What became of one planned eviction, and how an API answer is read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from descheduler.kube.evict import EvictionResponse, PodState
from descheduler.migration.planned import PlannedEviction

__all__ = ["Judgement", "Outcome", "OutcomeCode", "OutcomeKind", "judge", "judge_conclusively"]

_EVACUATION = "Eviction triggered evacuation"
_SEVERAL_BUDGETS = "more than one PodDisruptionBudget"
_BUDGET_CAUSE = "DisruptionBudget"


class OutcomeKind(Enum):
    """How one eviction ended."""

    UNSET = "unset"
    """Never seen; a run that reports it is at fault."""
    EVICTED = "evicted"
    """The API server took the eviction, or the pod left after a call without an answer."""
    GONE = "gone"
    """The pod was not there any more; nothing was evicted."""
    REFUSED = "refused"
    """The API server said no."""
    BACKGROUND = "background"
    """Another controller has taken the eviction over and will finish it."""
    FAILED = "failed"
    """A fault, or an answer that leaves the outcome open."""
    NOT_ATTEMPTED = "not-attempted"
    """No call was made."""


class OutcomeCode(Enum):
    """Why it ended so."""

    UNSET = "unset"
    """Never seen."""
    DONE = "done"
    """Evicted, with an answer that says so."""
    LEFT_WITHOUT_ANSWER = "left-without-answer"
    """Evicted: no answer came, and the pod was found terminating, gone or replaced."""
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
    """No answer came, and the pod could not be read again: it may or may not leave."""
    SERVER_ERROR = "server-error"
    """Any other answer."""
    REPEATED = "repeated"
    """Requested before in this run."""
    NO_UID = "no-uid"
    """The pod has no uid, so a successor with its name could be hit."""
    DEADLINE = "deadline"
    """The run's time was over."""
    STOPPED = "stopped"
    """The run was told to stop."""
    LIMIT = "limit"
    """A limit of evictions was reached."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one planned eviction; `status_code` is 0 when no answer came, `num_attempts` counts calls made."""

    eviction: PlannedEviction
    kind: OutcomeKind
    code: OutcomeCode
    message: str
    status_code: int = 0
    num_attempts: int = 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one answer means. `retry_after_seconds` is None when asking again is of no use in this run."""

    kind: OutcomeKind
    code: OutcomeCode
    message: str
    retry_after_seconds: float | None = None


def judge(
    eviction: PlannedEviction,
    response: EvictionResponse,
    *,
    evictions_in_background: bool,
    fault_wait_seconds: float = 1.0,
) -> Judgement:
    """What `response` says about `eviction`, from the documented answers of the eviction API.

    `evictions_in_background` is the feature gate of that name. After a fault that left the pod in place the call may
    be made again after `fault_wait_seconds`: the uid precondition keeps a successor from being hit.
    """
    pod = f"pod {eviction.namespace}/{eviction.name}"
    match response.status_code:
        case code if 200 <= code < 300:
            return Judgement(OutcomeKind.EVICTED, OutcomeCode.DONE, f"{pod} evicted")
        case 404:
            return Judgement(OutcomeKind.GONE, OutcomeCode.POD_GONE, f"{pod} was gone before it was evicted")
        case 409:
            return _judge_conflict(pod, response)
        case 0 | 504:
            return _judge_unanswered(pod, response, fault_wait_seconds)
        case 403:
            return _refused(OutcomeCode.FORBIDDEN, pod, response)
        case 429 if evictions_in_background and eviction.request_evict_only and _EVACUATION in response.message:
            return Judgement(OutcomeKind.BACKGROUND, OutcomeCode.HANDED_OVER, f"{pod} is evacuated in the background")
        case 429:
            return _judge_throttled(pod, response)
        case 500 if _SEVERAL_BUDGETS in response.message:
            return _refused(OutcomeCode.SEVERAL_BUDGETS, pod, response)
        case code:
            wait_seconds = response.retry_after_seconds if code >= 500 else None
            text = f"{pod} not evicted: {response.message} ({code})"
            return Judgement(OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, text, wait_seconds)


def judge_conclusively(eviction: PlannedEviction, judgement: Judgement, *, earlier_unanswered: bool) -> Judgement:
    """The judgement in the light of earlier calls for the same pod.

    A pod that is found gone after a call whose answer was lost counts as evicted: that call may well have been the
    cause, and limits must not be exceeded on a guess.
    """
    if earlier_unanswered and judgement.kind is OutcomeKind.GONE:
        return _left(f"pod {eviction.namespace}/{eviction.name}")
    return judgement


def _refused(code: OutcomeCode, pod: str, response: EvictionResponse, wait_seconds: float | None = None) -> Judgement:
    causes = [cause.message for cause in response.causes if cause.message]
    text = "; ".join([response.message.rstrip("."), *causes])
    return Judgement(OutcomeKind.REFUSED, code, f"{pod} not evicted: {text} ({response.status_code})", wait_seconds)


def _left(pod: str) -> Judgement:
    text = f"{pod} evicted: the answer was lost, and the pod left"
    return Judgement(OutcomeKind.EVICTED, OutcomeCode.LEFT_WITHOUT_ANSWER, text)


def _judge_throttled(pod: str, response: EvictionResponse) -> Judgement:
    by_budget = any(cause.reason == _BUDGET_CAUSE for cause in response.causes)
    code = OutcomeCode.BUDGET if by_budget else OutcomeCode.THROTTLED
    # The API server and proxies before it turn calls away in plain text, without a Status: that is not about the pod.
    if not response.reason and not by_budget and response.retry_after_seconds is not None:
        code = OutcomeCode.OVERLOADED
    return _refused(code, pod, response, response.retry_after_seconds)


def _judge_conflict(pod: str, response: EvictionResponse) -> Judgement:
    if response.pod_state.is_leaving:
        return Judgement(OutcomeKind.GONE, OutcomeCode.POD_GONE, f"{pod} was gone before it was evicted")
    return _refused(OutcomeCode.CONFLICT, pod, response)


def _judge_unanswered(pod: str, response: EvictionResponse, wait_seconds: float) -> Judgement:
    if response.pod_state.is_leaving:
        return _left(pod)
    if response.pod_state is PodState.UNTOUCHED:
        text = f"{pod} not evicted: {response.message}"
        return Judgement(OutcomeKind.FAILED, OutcomeCode.NO_CONNECTION, text, wait_seconds)
    if response.pod_state is PodState.PRESENT:
        text = f"{pod} not evicted: {response.message}; the pod is still there"
        return Judgement(OutcomeKind.FAILED, OutcomeCode.NO_ANSWER, text, wait_seconds)
    text = f"{pod} may or may not be evicted: {response.message}; it could not be read again"
    return Judgement(OutcomeKind.FAILED, OutcomeCode.OUTCOME_UNKNOWN, text)
