"""Recorded answers of the Eviction API, as the ledger of budgets predicts them.

What the API looks at before any budget is said here, as this program asks for nothing of that kind: a name that does
not match, a pod that is not there, a namespace that is terminating. So are preconditions, which it looks at last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.eviction.checks.budgets import BudgetLedger
from descheduler.model.pod import Pod
from descheduler.model.verdict import BudgetRefusal

Case = Mapping[str, Any]
Object = Mapping[str, Any]

_REASONS = {400: "BadRequest", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 429: "TooManyRequests"}
_NAME_MISMATCH = "name in URL does not match name in Eviction object"


class _Answer(NamedTuple):
    """What is compared of an answer; `text` is its cause, or what stands in the place of one."""

    code: int
    reason: str = ""
    text: str = ""
    retry_after: str | None = None


_EVICTED = _Answer(201)


def check(case: Case) -> str | None:
    """What differs, or None."""
    answers = list(_answers(case))
    differences = (
        f"{eviction['pod']}: {answer} instead of {expected}"
        for eviction, answer in zip(case["evictions"], answers, strict=True)
        if answer != (expected := _recorded(eviction["answer"]))
    )
    return "; ".join(differences) or None


def _recorded(answer: Object) -> _Answer:
    code = answer["code"]
    causes = [cause["message"] for cause in answer.get("causes", ())]
    # Of conflicts the message has resource versions and uids in it.
    text = "" if code in (201, 409) else "; ".join(causes) or answer["message"]
    return _Answer(code, answer.get("reason", ""), text, answer.get("retryAfterHeader"))


def _answers(case: Case) -> Iterator[_Answer]:
    items = case["dump"]["items"]
    snapshot = snapshot_from_objects(items)
    pods = {pod.name: pod for pod in snapshot.pods}
    later = {each["name"] for each in case["expect"]["created"]}
    ledger = BudgetLedger(snapshot)
    evicted: set[str] = set()
    for eviction in case["evictions"]:
        pod = pods.get(eviction["pod"])
        early = _before_budgets(case, eviction, pod, later)
        # A pod that is terminating since its first eviction is evicted without a look at budgets.
        if early is not None or pod is None or pod.name in evicted:
            yield early or _EVICTED
            continue
        refusal = ledger.refusal(pod, is_counted_again=not case["unseen"])
        if refusal is not None:
            yield _refused(refusal)
            continue
        is_dry = "dryRun" in str(eviction.get("query")) or "dryRun" in (eviction.get("deleteOptions") or {})
        if not is_dry:
            ledger.charge(pod)
        if _fails_precondition(eviction, _item(items, "Pod", pod.name)):
            yield _Answer(409, _REASONS[409])
            continue
        evicted |= set() if is_dry else {pod.name}
        yield _EVICTED


def _before_budgets(case: Case, eviction: Object, pod: Pod | None, later: set[str]) -> _Answer | None:
    """What the API answers without a look at budgets."""
    items = case["dump"]["items"]
    namespace = next((item for item in items if item["kind"] == "Namespace"), None)
    if namespace is not None and "deletionTimestamp" in namespace["metadata"]:
        name = namespace["metadata"]["name"]
        return _Answer(403, _REASONS[403], f"namespace {name} is being terminated")
    if eviction["answer"].get("message") == _NAME_MISMATCH:
        # Nothing else of a case says which name the body had.
        return _Answer(400, _REASONS[400], _NAME_MISMATCH)
    if pod is None and eviction["pod"] not in later:
        return _Answer(404, _REASONS[404], f'pods "{eviction["pod"]}" not found')
    return None


def _refused(refusal: BudgetRefusal) -> _Answer:
    wait = refusal.retry_after_seconds
    return _Answer(refusal.code, _REASONS.get(refusal.code, ""), refusal.cause, None if wait is None else str(wait))


def _fails_precondition(eviction: Object, pod: Object) -> bool:
    wanted = (eviction.get("deleteOptions") or {}).get("preconditions", {})
    return any(pod["metadata"][key] != value for key, value in wanted.items())


def _item(items: list[Object], kind: str, name: str) -> Object:
    return next(item for item in items if item["kind"] == kind and item["metadata"]["name"] == name)
