"""The disruption controller: what each PodDisruptionBudget allows now, as `pkg/controller/disruption` computes it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta

from tests.living.acting.actor import Actor
from tests.living.acting.workloads import controller_of
from tests.living.api.evictions import is_ready
from tests.living.clock import to_time
from tests.living.selectors import matches
from tests.living.store import Change, Key, Object, Store

_KINDS = {
    "ReplicaSet": "replicasets.apps",
    "StatefulSet": "statefulsets.apps",
    "Deployment": "deployments.apps",
    "ReplicationController": "replicationcontrollers",
}
_BUDGETS = "poddisruptionbudgets.policy"
_DISRUPTED_SECONDS = 120


class DisruptionController(Actor):
    """Keeps the status of the budgets."""

    name = "disruption-controller"
    kinds = frozenset({"Pod", "PodDisruptionBudget", "ReplicaSet", "StatefulSet", "Deployment"})

    def __init__(self, store: Store) -> None:
        self._changed = {_key(found) for found in store.all(_BUDGETS)}
        super().__init__(store)

    def concerns(self, change: Change) -> bool:
        """A budget, one of its pods, or a workload, which says how many pods are expected."""
        found = change.present
        if change.resource.kind not in ("Pod", "PodDisruptionBudget") and _keeps_spec(change):
            return False
        budgets = [item for item in self.store.all(_BUDGETS) if _is_beside(item, found)]
        if change.resource.kind == "PodDisruptionBudget":
            budgets = [found]
        elif change.resource.kind == "Pod":
            budgets = [item for item in budgets if _selects(item, found) or _selects(item, change.before or found)]
        self._changed |= {_key(item) for item in budgets}
        return bool(budgets)

    def act(self) -> None:
        changed, self._changed = self._changed, set()
        for budget in self.store.all(_BUDGETS):
            metadata = budget["metadata"]
            if _key(budget) not in changed:
                continue
            status = self._status(budget)
            self.store.edit(
                _BUDGETS,
                metadata["name"],
                metadata["namespace"],
                lambda found, status=status: found.update(status=status),  # type: ignore[misc]
            )

    def _status(self, budget: Object) -> Object:
        pods = pods_of_budget(self.store, budget)
        disrupted = self._disrupted(budget, pods)
        healthy = sum(1 for pod in pods if _is_healthy(pod) and pod["metadata"]["name"] not in disrupted)
        desired = desired_healthy(self.store, budget, pods)
        allowed = max(0, healthy - desired) if pods else 0
        status = {
            "observedGeneration": budget["metadata"].get("generation", 1),
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": len(pods),
            "disruptionsAllowed": allowed,
        }
        return status | ({"disruptedPods": disrupted} if disrupted else {})

    def _disrupted(self, budget: Object, pods: Sequence[Object]) -> Object:
        """Pods that were evicted, but are not seen terminating yet; forgotten after two minutes."""
        staying = {pod["metadata"]["name"] for pod in pods if "deletionTimestamp" not in pod["metadata"]}
        oldest = self.store.clock.now() - timedelta(seconds=_DISRUPTED_SECONDS)
        noted = (budget.get("status") or {}).get("disruptedPods") or {}
        return {name: at for name, at in noted.items() if name in staying and to_time(at) > oldest}


def pods_of_budget(store: Store, budget: Object) -> list[Object]:
    """The pods that a budget selects."""
    pods = store.grouped("pods", _namespace).get(budget["metadata"]["namespace"], ())
    return [pod for pod in pods if _selects(budget, pod)]


def desired_healthy(store: Store, budget: Object, pods: Sequence[Object]) -> int:
    """How many of `pods` have to stay healthy."""
    spec = budget["spec"]
    if "maxUnavailable" in spec:
        expected = _expected(store, pods)
        return max(0, expected - _scaled(spec["maxUnavailable"], expected))
    least = spec.get("minAvailable", 1)
    return _scaled(least, _expected(store, pods)) if isinstance(least, str) else int(least)


def _namespace(found: Object) -> str:
    return str(found["metadata"]["namespace"])


def _keeps_spec(change: Change) -> bool:
    before, after = change.before, change.after
    return before is not None and after is not None and before["spec"] == after["spec"]


def _key(budget: Object) -> Key:
    return _namespace(budget), str(budget["metadata"]["name"])


def _is_beside(budget: Object, found: Object) -> bool:
    return _namespace(budget) == _namespace(found)


def _selects(budget: Object, pod: Object) -> bool:
    return matches(budget["spec"].get("selector"), pod["metadata"].get("labels"))


def _scaled(value: int | str, whole: int) -> int:
    """A number, or a percentage of `whole` rounded up."""
    return math.ceil(int(value.removesuffix("%")) * whole / 100) if isinstance(value, str) else value


def _expected(store: Store, pods: Sequence[Object]) -> int:
    """The replicas that the controllers of `pods` want."""
    replicas = {}
    for pod in pods:
        owner = controller_of(pod)
        kind = _KINDS.get(owner["kind"]) if owner else None
        found = store.get(kind, owner["name"], pod["metadata"]["namespace"]) if owner and kind else None
        if found is not None:
            replicas[found["metadata"]["uid"]] = found["spec"].get("replicas", 1)
    return sum(replicas.values())


def _is_healthy(pod: Object) -> bool:
    return is_ready(pod) and "deletionTimestamp" not in pod["metadata"]
