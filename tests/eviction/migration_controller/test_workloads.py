"""How many pods of a workload may be away at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.eviction.migration_controller.workloads import WorkloadIds, Workloads, allowed_at_once, can_look_up
from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Owner, Pod
from descheduler.plan.recent_moves import WorkloadId
from tests.builders import make_pod, make_snapshot
from tests.eviction.migration_controller.koordinator_clusters import make_workload


@pytest.mark.parametrize(
    ("replicas", "share", "expected"),
    [
        pytest.param(0, None, 0, id="none of an unknown workload"),
        pytest.param(3, None, 1, id="one of up to three"),
        pytest.param(4, None, 2, id="two from four"),
        pytest.param(10, None, 2, id="two up to ten"),
        pytest.param(11, None, 1, id="a tenth above ten, so fewer at first"),
        pytest.param(20, None, 2, id="a tenth of twenty"),
        pytest.param(7, "50%", 3, id="percentages are rounded down"),
        pytest.param(7, "1%", 1, id="at least one"),
        pytest.param(7, 0, 1, id="at least one of a number, too"),
        pytest.param(2, 5, 2, id="never more than there are"),
    ],
)
def test_allowance(replicas: int, share: int | str | None, expected: int) -> None:
    assert allowed_at_once(replicas, share) == expected


@given(st.integers(1, 10_000), st.one_of(st.none(), st.integers(0, 200), st.integers(0, 300).map("{}%".format)))
def test_allowance_is_at_least_one_and_at_most_all(replicas: int, share: int | str | None) -> None:
    assert 1 <= allowed_at_once(replicas, share) <= replicas


def pod_of(owner: str, **facts: Any) -> Pod:
    return make_pod("p", owners=[owner], **facts)


def workloads_of(*found: Workload, pods: Sequence[Pod] = ()) -> Workloads:
    return Workloads(make_snapshot(pods=pods, workloads={each.uid: each for each in found}))


DEPLOYMENT = make_workload(3, kind="Deployment", name="shop")
CURRENT, OLD = make_workload(40, deployment="shop"), make_workload(0, name="old", deployment="shop")


@pytest.mark.parametrize(
    ("pod", "found", "name"),
    [
        pytest.param(pod_of("ReplicaSet/web"), (make_workload(5),), "ReplicaSet web 5", id="its ReplicaSet"),
        pytest.param(pod_of("ReplicaSet/web"), (CURRENT, DEPLOYMENT), "Deployment shop 3", id="the Deployment behind"),
        pytest.param(pod_of("ReplicaSet/web"), (CURRENT,), "", id="a Deployment that is gone"),
        pytest.param(pod_of("ReplicaSet/web"), (), "", id="a ReplicaSet that is gone"),
        pytest.param(
            pod_of("StatefulSet/db"), (make_workload(2, kind="StatefulSet", name="db"),), "StatefulSet db 2", id="a set"
        ),
        pytest.param(pod_of("Job/etl"), (make_workload(2, kind="Job", name="etl"),), "", id="a batch Job"),
        pytest.param(make_pod("p", owners=()), (make_workload(5),), "", id="no controller"),
    ],
)
def test_workload_is_what_decides_the_replicas(pod: Pod, found: tuple[Workload, ...], name: str) -> None:
    workloads = workloads_of(*found)

    workload = workloads.of(pod)

    assert ("" if workload is None else f"{workload.kind} {workload.name} {workload.replicas}") == name
    assert workloads.of(pod) is workload
    assert workloads.replicas_of(pod) == (0 if workload is None else workload.replicas)


@pytest.mark.parametrize(
    "owner",
    [
        pytest.param(Owner("Rollout", "shop", "rollout-shop", controller=True), id="what is no Deployment"),
        pytest.param(Owner("Deployment", "shop", DEPLOYMENT.uid, controller=False), id="a Deployment without control"),
    ],
)
def test_replica_set_of_other_owners_decides_itself(owner: Owner) -> None:
    current = Workload("ReplicaSet", "default", "web", "replicaset-web", 40, (owner,))
    pod = pod_of("ReplicaSet/web")

    assert workloads_of(current, DEPLOYMENT, pods=[pod]).of(pod) is current


@pytest.mark.parametrize(
    ("facts", "is_away"),
    [
        ({}, False),
        ({"ready": False}, True),
        ({"deleted": 1}, True),
        ({"phase": "Failed"}, True),
        ({"phase": "Succeeded"}, True),
    ],
)
@pytest.mark.parametrize(
    ("owner", "counts"), [("ReplicaSet/web", True), ("ReplicaSet/old", True), ("ReplicaSet/x", False)]
)
def test_pods_that_are_away_are_those_of_all_replica_sets_of_a_deployment(
    facts: dict[str, Any], is_away: bool, owner: str, counts: bool
) -> None:
    workloads = workloads_of(DEPLOYMENT, CURRENT, OLD, pods=[pod_of(owner, **facts)])

    away = workloads.unavailable(DEPLOYMENT)

    assert away == (frozenset({("default", "p")}) if is_away and counts else frozenset())
    assert workloads.unavailable(DEPLOYMENT) is away


@pytest.mark.parametrize(
    ("pod", "workload"),
    [
        pytest.param(
            pod_of("ReplicaSet/web"), WorkloadId("Deployment", "default", "shop", "deployment-shop"), id="a Deployment"
        ),
        pytest.param(pod_of("Job/etl"), WorkloadId("Job", "default", "etl", "job-etl"), id="a batch Job"),
        pytest.param(make_pod("p", owners=()), WorkloadId("Pod", "default", "p"), id="the pod itself"),
    ],
)
def test_history_knows_a_pod_by_what_creates_its_replacement(pod: Pod, workload: WorkloadId) -> None:
    snapshot = make_snapshot(workloads={each.uid: each for each in (DEPLOYMENT, CURRENT)})

    assert WorkloadIds(snapshot).of(pod) == workload


@pytest.mark.parametrize(
    ("kind", "group", "is_known"),
    [
        ("ReplicaSet", "apps/v1", True),
        ("StatefulSet", "apps.kruise.io/v1beta1", True),
        ("StatefulSet", "apps/v1", True),
        ("CloneSet", "apps/v1", False),
        ("CloneSet", "apps.kruise.io/v1alpha1", True),
        ("ReplicationController", "v1", True),
        ("ReplicaSet", "v1", False),
        ("Job", "batch/v1", False),
        ("Job", "batch.volcano.sh/v1alpha1", True),
    ],
)
def test_replicas_are_known_of_some_kinds_of_some_groups(kind: str, group: str, is_known: bool) -> None:
    assert can_look_up(Owner(kind, "x", "x", api_version=group, controller=True)) is is_known
