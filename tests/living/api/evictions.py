"""The eviction subresource, as in `pkg/registry/core/pod/storage/eviction.go` of Kubernetes 1.36."""

from __future__ import annotations

from tests.living.api.refusal import Refused, conflict
from tests.living.api.request import Target
from tests.living.api.writes import delete_pod, existing
from tests.living.resources import by_plural
from tests.living.selectors import matches
from tests.living.store import Object, Store

_BUDGETS = "poddisruptionbudgets.policy"
_REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
_UNOBSERVED_WAIT_SECONDS = 10


def evict(store: Store, target: Target, body: Object) -> Object:
    """The Status of success. Raises Refused: 400, 404, 409, 429 for a budget, 500 for several of them."""
    if (body.get("apiVersion"), body.get("kind")) != ("policy/v1", "Eviction"):
        raise Refused(400, "BadRequest", f"{body.get('kind')} in version {body.get('apiVersion')!r} is no Eviction")
    if (body.get("metadata") or {}).get("name") != target.name:
        raise Refused(400, "BadRequest", "name in URL does not match name in Eviction object")
    pod = existing(store, target)
    options = body.get("deleteOptions") or {}
    uid, found = (options.get("preconditions") or {}).get("uid"), pod["metadata"]["uid"]
    if uid not in (None, found):
        text = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {found}"
        raise conflict(target.resource, target.name, text)
    if not _needs_no_budget(pod):
        _take_from_budget(store, pod, is_dry=bool(options.get("dryRun")))
    if not options.get("dryRun"):
        delete_pod(store, _marked(store, pod), options.get("gracePeriodSeconds"))
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def budgets_of(store: Store, pod: Object) -> list[Object]:
    """The budgets that select `pod`."""
    metadata = pod["metadata"]
    return [
        found
        for found in store.all(_BUDGETS)
        if found["metadata"]["namespace"] == metadata["namespace"]
        and matches(found["spec"].get("selector"), metadata.get("labels"))
    ]


def is_ready(pod: Object) -> bool:
    """Whether the pod's condition Ready is True."""
    conditions = pod.get("status", {}).get("conditions", ())
    return any(found["type"] == "Ready" and found["status"] == "True" for found in conditions)


def _marked(store: Store, pod: Object) -> Object:
    """The pod with the condition that says why it ends."""
    if "deletionTimestamp" in pod["metadata"]:
        return pod
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
    known = [found for found in pod["status"].get("conditions", ()) if found["type"] != condition["type"]]
    conditions = [*known, {**condition, "lastTransitionTime": store.clock.text()}]
    return store.replace(by_plural("pods"), {**pod, "status": {**pod["status"], "conditions": conditions}})


def _needs_no_budget(pod: Object) -> bool:
    return "deletionTimestamp" in pod["metadata"] or pod["status"].get("phase") in ("Pending", "Succeeded", "Failed")


def _take_from_budget(store: Store, pod: Object, *, is_dry: bool) -> None:
    budgets = budgets_of(store, pod)
    if len(budgets) > 1:
        text = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        raise Refused(500, "InternalError", text)
    if not budgets or _is_unhealthy_beside(budgets[0], pod):
        return
    budget = budgets[0]
    metadata, status = budget["metadata"], budget.get("status") or {}
    name = metadata["name"]
    if status.get("observedGeneration", 0) < metadata.get("generation", 1):
        cause = f"The disruption budget {name} is still being processed by the server."
        raise Refused(429, "TooManyRequests", _REFUSED, wait_seconds=_UNOBSERVED_WAIT_SECONDS, cause=cause)
    if status.get("disruptionsAllowed", 0) <= 0:
        needed, found = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        cause = f"The disruption budget {name} needs {needed} healthy pods and has {found} currently"
        raise Refused(429, "TooManyRequests", _REFUSED, cause=cause)
    if not is_dry:
        disrupted = {**(status.get("disruptedPods") or {}), pod["metadata"]["name"]: store.clock.text()}
        left = {"disruptionsAllowed": status["disruptionsAllowed"] - 1, "disruptedPods": disrupted}
        with store.acting("api server", store.call):
            store.edit(_BUDGETS, name, metadata["namespace"], lambda found: found["status"].update(left))


def _is_unhealthy_beside(budget: Object, pod: Object) -> bool:
    """Whether the budget lets a pod go that is not ready, by its unhealthyPodEvictionPolicy."""
    if is_ready(pod):
        return False
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    return bool(status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) > 0)
