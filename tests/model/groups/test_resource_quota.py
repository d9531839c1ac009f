"""Which pods a ResourceQuota counts, what it charges them with, and when it has no room for them."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.groups.resource_quota import QuotaScope, ResourceQuota, charge_of, charge_of_pod
from tests.builders import Object, make_pod, required_anti_affinity

NANO = 10**9
FULL = {"cpu": "1", "memory": "1Gi"}


def covers(scope: QuotaScope, *, priority_class: str = "", **facts: Any) -> bool:
    return ResourceQuota("default", "q", scopes=(scope,)).covers(make_pod("p", **facts), priority_class)


@pytest.mark.parametrize(
    ("facts", "is_best_effort"),
    [
        pytest.param({}, True, id="no requests"),
        pytest.param({"cpu": "1"}, False, id="requests"),
        pytest.param({"requests": FULL, "limits": FULL}, False, id="requests and limits"),
    ],
)
def test_scopes_of_quality_of_service_count_opposite_pods(facts: dict[str, Any], is_best_effort: bool) -> None:
    assert covers(QuotaScope("BestEffort"), **facts) is is_best_effort
    assert covers(QuotaScope("NotBestEffort"), **facts) is not is_best_effort


def test_scopes_of_deadlines_take_all_pods_for_such_without_one() -> None:
    assert not covers(QuotaScope("Terminating"))
    assert covers(QuotaScope("NotTerminating"))


def _preferred(**term: Any) -> Object:
    (required,) = required_anti_affinity({"app": "web"}, **term)["podAntiAffinity"].values()
    weighted = [{"weight": 1, "podAffinityTerm": term} for term in required]
    return {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}


@pytest.mark.parametrize(
    ("affinity", "is_covered"),
    [
        pytest.param(None, False, id="no affinity"),
        pytest.param(required_anti_affinity({"app": "web"}), False, id="affinity in its own namespace"),
        pytest.param(required_anti_affinity({"app": "web"}, namespaces=["other"]), True, id="namespaces by name"),
        pytest.param(required_anti_affinity({"app": "web"}, namespaceSelector={}), True, id="namespaces by labels"),
        pytest.param(_preferred(namespaces=["other"]), True, id="a preferred term"),
        pytest.param(_preferred(), False, id="a preferred term in its own namespace"),
    ],
)
def test_scope_of_affinity_counts_pods_that_name_namespaces(affinity: Object | None, is_covered: bool) -> None:
    assert covers(QuotaScope("CrossNamespacePodAffinity"), affinity=affinity) is is_covered


@pytest.mark.parametrize(
    ("operator", "covered"),
    [
        pytest.param("In", ["gold"], id="one of the values"),
        pytest.param("NotIn", ["iron", ""], id="none of the values"),
        pytest.param("DoesNotExist", [""], id="no class"),
        pytest.param("Exists", ["gold", "iron"], id="any class"),
    ],
)
def test_scope_of_priority_classes(operator: str, covered: list[str]) -> None:
    scope = QuotaScope("PriorityClass", operator, frozenset({"gold"}))

    assert [name for name in ("gold", "iron", "") if covers(scope, priority_class=name)] == covered


def test_pod_has_to_be_of_all_scopes() -> None:
    scopes = (QuotaScope("BestEffort"), QuotaScope("PriorityClass"))
    quota = ResourceQuota("default", "q", scopes=scopes)

    assert [quota.covers(make_pod("p"), each) for each in ("gold", "")] == [True, False]
    assert ResourceQuota("default", "q").covers(make_pod("p"), "")


def test_pod_is_charged_by_the_names_of_quotas() -> None:
    requests = {"cpu": NANO, "hugepages-2Mi": 2 * NANO, "example.com/gpu": 3 * NANO}

    assert charge_of(requests, {"memory": 4 * NANO}) == {
        "pods": NANO,
        "count/pods": NANO,
        "requests.cpu": NANO,
        "cpu": NANO,
        "requests.hugepages-2Mi": 2 * NANO,
        "hugepages-2Mi": 2 * NANO,
        "requests.example.com/gpu": 3 * NANO,
        "limits.memory": 4 * NANO,
    }


def test_pod_is_charged_with_the_limits_of_its_containers() -> None:
    charge = charge_of_pod(make_pod("p", cpu="1", limits={"cpu": "2"}))

    assert (charge["requests.cpu"], charge["limits.cpu"]) == (NANO, 2 * NANO)


@pytest.mark.parametrize(
    ("used", "facts", "short"),
    [
        pytest.param(6, {}, [], id="all of it is used then"),
        pytest.param(7, {}, ["requests.cpu"], id="one too much"),
        pytest.param(2, {"num_pods": 2}, [], id="room for two"),
        pytest.param(3, {"num_pods": 2}, ["requests.cpu"], id="room for one of two"),
        pytest.param(10, {"released": {"requests.cpu": 4}}, [], id="a pod of that size leaves"),
        pytest.param(10, {"released": {"requests.cpu": 3}}, ["requests.cpu"], id="a smaller pod leaves"),
        pytest.param(10, {"released": {"limits.cpu": 4}}, ["requests.cpu"], id="something else is given back"),
    ],
)
def test_quota_has_room_up_to_its_hard_limit(used: int, facts: dict[str, Any], short: list[str]) -> None:
    quota = ResourceQuota("default", "q", {"requests.cpu": 10, "pods": 0}, {"requests.cpu": used})

    assert list(quota.short_of({"requests.cpu": 4, "limits.cpu": 40}, **facts)) == short


def test_quota_is_not_short_of_what_a_pod_does_not_ask_for() -> None:
    quota = ResourceQuota("default", "q", {"requests.cpu": 10}, {"requests.cpu": 20})

    assert list(quota.short_of({"requests.cpu": 0})) == []
