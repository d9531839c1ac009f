"""Services, quotas, limits and other small objects as the API states them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from descheduler.cluster.decoding import small_objects
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.groups.resource_quota import QuotaScope, ResourceQuota
from descheduler.model.objects import (
    AdmittedRange,
    LimitRange,
    Namespace,
    NodeUsage,
    PodUsage,
    PriorityClass,
    RuntimeClass,
    Service,
)
from descheduler.model.selection.labels import NOTHING, LabelSelector, Requirement
from descheduler.model.selection.taints import Toleration
from tests.builders import Object, node_object


def snapshot_of(kind: str, version: str = "v1", **fields: object) -> Snapshot:
    metadata = {"name": "x", "namespace": "shop"}
    return snapshot_from_objects([{"kind": kind, "apiVersion": version, "metadata": metadata, **fields}])


def test_service_selects_by_labels() -> None:
    assert snapshot_of("Service", spec={"selector": {"app": "x"}}).services == (Service("shop", "x", {"app": "x"}),)
    assert snapshot_of("Service", spec={}).services == (Service("shop", "x"),)


def test_quota_is_what_its_controller_enforces() -> None:
    spec, used = {"hard": {"pods": "5"}}, {"requests.cpu": "1"}

    seen = snapshot_of("ResourceQuota", spec=spec, status={"hard": {"pods": "4"}, "used": used})
    new = snapshot_of("ResourceQuota", spec=spec)

    assert seen.quotas == (ResourceQuota("shop", "x", {"pods": 4 * 10**9}, {"requests.cpu": 10**9}),)
    assert new.quotas == (ResourceQuota("shop", "x", {"pods": 5 * 10**9}),)


def test_limit_range_keeps_what_containers_get_by_default() -> None:
    limits = [
        {"type": "Pod", "max": {"cpu": "9"}, "default": {"cpu": "8"}},
        {"type": "Container", "default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}},
    ]

    snapshot = snapshot_of("LimitRange", spec={"limits": limits})

    of_pods = AdmittedRange(most={"cpu": 9 * 10**9})
    defaults = LimitRange("shop", "x", {"cpu": 10**9}, {"cpu": 2 * 10**9}, of_pods=of_pods)
    assert snapshot.limit_ranges == (defaults,)


def test_runtime_class_says_what_it_costs_and_where_it_runs() -> None:
    snapshot = snapshot_of(
        "RuntimeClass",
        "node.k8s.io/v1",
        overhead={"podFixed": {"cpu": "1"}},
        scheduling={"nodeSelector": {"sandbox": "yes"}, "tolerations": [{"operator": "Exists"}]},
    )

    tolerations = (Toleration(operator="Exists"),)
    assert snapshot.runtime_classes == {"x": RuntimeClass("x", {"cpu": 10**9}, {"sandbox": "yes"}, tolerations)}
    assert snapshot_of("RuntimeClass", "node.k8s.io/v1").runtime_classes == {"x": RuntimeClass("x")}


def test_priority_class_may_count_for_pods_that_name_none() -> None:
    snapshot = snapshot_of("PriorityClass", "scheduling.k8s.io/v1", value=5, preemptionPolicy="Never")

    assert snapshot.priority_classes == {"x": PriorityClass("x", 5, preemption_policy="Never")}


def test_node_names_its_images_and_features() -> None:
    first, second = node_object("a"), node_object("b")
    for node in (first, second):
        node["status"] |= {
            "images": [{"names": ["app@sha256:1", "app:1"], "sizeBytes": 7}, {"names": None}],
            "declaredFeatures": ["New"],
        }

    nodes = snapshot_from_objects([first, second]).nodes

    assert nodes[0].images == {"app@sha256:1": 7, "app:1": 7}
    assert nodes[0].images is nodes[1].images
    assert nodes[0].declared_features == {"New"}


def decoded(kind: str, *, metadata: Object | None = None, **fields: object) -> Any:
    """What `decode_<kind>` makes of an object of this kind."""
    return getattr(small_objects, f"decode_{kind}")(
        json.dumps({"metadata": {"name": "x"} | (metadata or {}), **fields}).encode()
    )


@pytest.mark.parametrize(
    ("metadata", "status", "is_terminating"),
    [
        ({}, None, False),
        ({}, {"phase": "Active"}, False),
        ({}, {"phase": "Terminating"}, True),
        ({"deletionTimestamp": "2026-01-02T00:00:00Z"}, None, True),
    ],
)
def test_namespace_is_going_once_it_is_deleted(
    metadata: Object, status: Object | None, *, is_terminating: bool
) -> None:
    found = decoded("namespace", metadata=metadata | {"labels": {"a": "b"}}, status=status)

    assert found == Namespace("x", {"a": "b"}, is_terminating)


BUDGET = {
    "disruptionsAllowed": 1,
    "currentHealthy": 2,
    "desiredHealthy": 3,
    "expectedPods": 4,
    "disruptedPods": {"p": "2026-01-02T00:00:00Z"},
}


def test_budget_is_read_with_the_figures_of_its_controller() -> None:
    spec = {
        "selector": {"matchLabels": {"a": "b"}},
        "minAvailable": "50%",
        "maxUnavailable": 1,
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }

    found = decoded("budget", metadata={"namespace": "n"}, spec=spec, status={**BUDGET, "observedGeneration": 0})

    assert found == DisruptionBudget(
        "n",
        "x",
        LabelSelector((Requirement("a", "In", frozenset({"b"})),)),
        disruptions_allowed=1,
        current_healthy=2,
        desired_healthy=3,
        expected_pods=4,
        unhealthy_policy="AlwaysAllow",
        min_available="50%",
        max_unavailable=1,
        has_status=True,
        num_disrupted=1,
        stated_allowed=1,
    )


def test_budget_that_says_nothing_selects_no_pod() -> None:
    found = decoded("budget")

    assert (found.namespace, found.selector, found.selector_error) == ("", NOTHING, "")
    assert (found.disruptions_allowed, found.has_status, found.sync_failure) == (None, False, "")
    assert (found.current_healthy, found.desired_healthy, found.num_disrupted, found.stated_allowed) == (0, 0, 0, 0)
    assert (found.expected_pods, found.min_available, found.max_unavailable) == (None, None, None)


@pytest.mark.parametrize(
    ("generation", "observed", "allowed"), [(2, 2, 1), (2, 3, 1), (2, 1, None), (2, None, None), (None, 0, 1)]
)
def test_budget_allows_what_its_controller_says_of_this_generation(
    generation: int | None, observed: int | None, allowed: int | None
) -> None:
    status = {**BUDGET, "observedGeneration": observed}

    assert decoded("budget", metadata={"generation": generation}, status=status).disruptions_allowed == allowed


@pytest.mark.parametrize(
    ("condition", "failure"),
    [
        ({"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": "m"}, "m"),
        (
            {"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed"},
            "the disruption controller gives no cause",
        ),
        ({"type": "DisruptionAllowed", "status": "False", "reason": "InsufficientPods", "message": "m"}, ""),
        ({"type": "DisruptionAllowed", "status": "True", "reason": "SyncFailed", "message": "m"}, ""),
        ({"type": "Other", "status": "False", "reason": "SyncFailed", "message": "m"}, ""),
    ],
)
def test_budget_says_why_its_pods_cannot_be_counted(condition: Object, failure: str) -> None:
    assert decoded("budget", status={"conditions": [{}, condition]}).sync_failure == failure


def test_scopes_of_a_quota_are_those_of_both_fields() -> None:
    scoped = [{"scopeName": "PriorityClass", "operator": "In", "values": ["a"]}, {}]

    found = decoded("quota", spec={"scopes": ["BestEffort"], "scopeSelector": {"matchExpressions": scoped}})

    assert found.scopes == (
        QuotaScope("BestEffort"),
        QuotaScope("PriorityClass", "In", frozenset({"a"})),
        QuotaScope("", "", frozenset()),
    )
    assert decoded("quota") == ResourceQuota("", "x", {})


def test_limit_range_bounds_pods_and_containers() -> None:
    bounds = {"min": {"cpu": 1}, "max": {"cpu": 2}, "maxLimitRequestRatio": {"cpu": 3}}
    limits = [{"type": "Container", **bounds}, {"type": "Container", "max": {"memory": 4}}, {"type": "Pod", **bounds}]

    found = decoded("limit_range", spec={"limits": [*limits, {"type": "PersistentVolumeClaim", "max": {"cpu": 9}}]})

    core = 10**9
    assert found.of_pods == AdmittedRange({"cpu": core}, {"cpu": 2 * core}, {"cpu": 3 * core})
    assert found.of_containers.most == {"cpu": 2 * core, "memory": 4 * core}
    assert decoded("limit_range") == LimitRange("", "x")


def test_usage_is_that_of_a_node_or_of_each_container() -> None:
    usage = {"usage": {"cpu": "1"}}

    assert decoded("node_usage", **usage) == NodeUsage("x", {"cpu": 10**9})
    assert decoded("node_usage") == NodeUsage("x", {})
    assert decoded("pod_usage", metadata={"namespace": "n"}, containers=[usage, {}]) == PodUsage(
        "n", "x", ({"cpu": 10**9}, {})
    )
    assert decoded("pod_usage") == PodUsage("", "x", ())


@pytest.mark.parametrize(
    ("fields", "value"),
    [
        ({}, PriorityClass("x", 0)),
        ({"value": 5, "preemptionPolicy": "Never", "globalDefault": True}, PriorityClass("x", 5, "Never", True)),
    ],
)
def test_priority_class_is_read(fields: Object, value: PriorityClass) -> None:
    assert decoded("priority_class", **fields) == value


@pytest.mark.parametrize(
    "kind",
    [
        "namespace",
        "priority_class",
        "budget",
        "service",
        "quota",
        "limit_range",
        "runtime_class",
        "node_usage",
        "pod_usage",
    ],
)
def test_object_without_a_name_has_an_empty_one(kind: str) -> None:
    assert getattr(small_objects, f"decode_{kind}")(b'{"metadata": null}').name == ""
