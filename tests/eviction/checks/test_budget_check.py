"""Each pod is charged to its budget once, by whoever evicts it."""

from __future__ import annotations

from typing import Any

from descheduler.eviction.background import BACKGROUND_TEXT, BackgroundEvictions, EvictionAnswer
from descheduler.eviction.checks.budgets import BudgetCheck
from descheduler.model.pod import REQUEST_EVICT_ONLY_ANNOTATION, Pod
from descheduler.plan.moves import Move
from tests.builders import make_budget, make_pod, make_snapshot
from tests.eviction.runs import bundle_of

APP = {"app": "web"}
ELSEWHERE = EvictionAnswer(429, BACKGROUND_TEXT)


def covered(name: str, **facts: Any) -> Pod:
    """A pod that the budget covers."""
    return make_pod(name, labels=APP, **facts)


def check_of(*pods: Pod, answers: dict[str, EvictionAnswer] | None = None) -> BudgetCheck:
    """The check over a cluster whose budget allows two disruptions."""
    snapshot = make_snapshot(pods=pods, budgets=(make_budget("b", APP, disruptions_allowed=2),))
    return BudgetCheck(snapshot, BackgroundEvictions(snapshot, answers, is_enabled=True))


def left(check: BudgetCheck, pod: Pod) -> int:
    """How many disruptions are left of the budget of `pod`."""
    (allowance,) = check.allowances(0)
    key = allowance.key_of(pod)
    assert key is not None
    return allowance.left(key)


def test_pod_is_charged_once_however_often_it_is_granted() -> None:
    pod = covered("p")
    check = check_of(pod)
    check.adopt([Move(pod, "p", "PodLifeTime")])

    check.charge(bundle_of(pod))

    assert left(check, pod) == 1


def test_pod_that_is_charged_needs_no_other_disruption() -> None:
    first, second, third = (covered(name) for name in ("first", "second", "third"))
    check = check_of(first, second, third)
    check.charge(bundle_of(first, second))

    verdicts = [check.verdict(bundle_of(pod)).is_accepted for pod in (first, second, third)]

    assert verdicts == [True, True, False]


def test_pod_that_another_controller_evicts_is_not_charged() -> None:
    vm, pod = covered("vm", annotations={REQUEST_EVICT_ONLY_ANNOTATION: ""}), covered("p")
    check = check_of(vm, pod, answers={vm.key: ELSEWHERE})

    check.charge(bundle_of(vm))

    assert left(check, pod) == 2


def test_charge_that_is_taken_back_is_charged_again() -> None:
    pod = covered("p")
    check = check_of(pod)

    check.charge(bundle_of(pod))()
    check.charge(bundle_of(pod))

    assert left(check, pod) == 1
