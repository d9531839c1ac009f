"""Services, quotas, limits and other small objects as the API states them."""

from __future__ import annotations

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.groups.resource_quota import ResourceQuota
from descheduler.model.objects import AdmittedRange, LimitRange, PriorityClass, RuntimeClass, Service
from descheduler.model.selection.taints import Toleration
from tests.builders import node_object


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
