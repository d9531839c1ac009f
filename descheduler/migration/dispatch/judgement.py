"""How an answer of the eviction API is read: what it says, and whether the call may have taken effect all the same."""

from __future__ import annotations

import msgspec

from descheduler.kube.evict import EvictionResponse
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction
from descheduler.transport.errors import ExchangeError

POD_GONE = "the pod does not exist any more"
"""The cause of a pod that left before it was evicted."""

_EVACUATION = "Eviction triggered evacuation"
_SEVERAL_BUDGETS = "more than one PodDisruptionBudget"
_CODES_OF_CAUSES = {
    "DisruptionBudget": OutcomeCode.BUDGET,
    "NamespaceTerminating": OutcomeCode.NAMESPACE_TERMINATING,
}


class Judgement(msgspec.Struct, frozen=True):
    """What one answer means; `message` is the cause, "" where all is well. `retry_after_seconds` is None when another
    call in this run is of no use.

    `is_open` says that the call may have evicted the pod or may do so yet, whatever the answer says.
    """

    kind: OutcomeKind
    code: OutcomeCode
    message: str
    retry_after_seconds: float | None = None
    is_open: bool = False

    @property
    def wants_look(self) -> bool:
        """Whether a look at the pod tells more: another pod may have its name, or it is about to go."""
        return self.kind is OutcomeKind.GONE or self.code is OutcomeCode.CONFLICT


def judge(
    eviction: PlannedEviction,
    response: EvictionResponse,
    *,
    evictions_in_background: bool,
    fault_wait_seconds: float = 1.0,
) -> Judgement:
    """What `response` says about `eviction`, from the documented answers of the eviction API.

    Only a `Status` of the API server refuses for certain. Every other answer can come from a proxy or a balancer whose
    backend has carried the call out, or from a server that gave up while the call was under way in etcd.
    `evictions_in_background` is the feature gate of that name. After a fault the call may be made again after
    `fault_wait_seconds`: the uid precondition keeps a successor from being hit.
    """
    match response.status_code:
        case code if 200 <= code < 300 and response.is_told:
            return Judgement(OutcomeKind.EVICTED, OutcomeCode.DONE, "")
        case 0:
            return _judge_unanswered(response, fault_wait_seconds)
        case 404 if response.is_told:
            return Judgement(OutcomeKind.GONE, OutcomeCode.POD_GONE, POD_GONE)
        case 409 if response.is_told:
            return _refused(OutcomeCode.CONFLICT, response)
        case 403 if response.is_told:
            return _refused(_code_by_cause(response, OutcomeCode.FORBIDDEN), response)
        case 429 if evictions_in_background and eviction.request_evict_only and _EVACUATION in response.message:
            return Judgement(OutcomeKind.BACKGROUND, OutcomeCode.HANDED_OVER, "another controller evacuates the pod")
        case 429:
            return _judge_throttled(response)
        case 500 if response.is_told and _SEVERAL_BUDGETS in response.message:
            return _refused(OutcomeCode.SEVERAL_BUDGETS, response)
        case _:
            return _judge_fault(response, fault_wait_seconds)


def shown(error: Exception) -> str:
    """What may be said of an error.

    Its text is not repeated unless it is made for people: it may quote a header field with a credential.
    """
    return str(error) if isinstance(error, ExchangeError) else f"internal error ({type(error).__name__})"


def _refused(
    code: OutcomeCode,
    response: EvictionResponse,
    wait_seconds: float | None = None,
    *,
    is_open: bool = False,
) -> Judgement:
    causes = [cause.message for cause in response.causes if cause.message]
    text = "; ".join([response.message.rstrip("."), *causes])
    message = f"{text} ({response.status_code})"
    return Judgement(OutcomeKind.REFUSED, code, message, wait_seconds, is_open)


def _code_by_cause(response: EvictionResponse, otherwise: OutcomeCode) -> OutcomeCode:
    """What the causes in the details of a refusal say; of budgets in disorder (403) the API tells one from 1.37 on."""
    found = (_CODES_OF_CAUSES.get(cause.reason) for cause in response.causes)
    return next((code for code in found if code is not None), otherwise)


def _judge_throttled(response: EvictionResponse) -> Judgement:
    wait_seconds = response.retry_after_seconds
    if response.is_told:
        return _refused(_code_by_cause(response, OutcomeCode.THROTTLED), response, wait_seconds)
    # The API server and proxies before it turn calls away in plain text, without a Status: that is not about the pod.
    code = OutcomeCode.THROTTLED if wait_seconds is None else OutcomeCode.OVERLOADED
    return _refused(code, response, wait_seconds, is_open=not response.is_unread)


def _judge_unanswered(response: EvictionResponse, wait_seconds: float) -> Judgement:
    if not response.was_sent:
        return Judgement(OutcomeKind.FAILED, OutcomeCode.NO_CONNECTION, response.message, wait_seconds)
    return Judgement(OutcomeKind.FAILED, OutcomeCode.NO_ANSWER, response.message, wait_seconds, is_open=True)


def _judge_fault(response: EvictionResponse, wait_seconds: float) -> Judgement:
    """An answer that is not documented for an eviction, or one that does not come from the API server."""
    code = response.status_code
    text = f"{response.message or 'not an answer of the Kubernetes API'} ({code})"
    if code == 401:
        text = f"{text}; renew the credentials"
    if code == 422 and response.is_told:
        return Judgement(OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, text)
    # After 401 the credentials are renewed, so that a token which was rotated in mid-run costs one call.
    may_pass = code >= 500 or code in {401, 408}
    asked = response.retry_after_seconds
    again = (wait_seconds if asked is None else asked) if may_pass else None
    return Judgement(OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, text, again, is_open=True)
