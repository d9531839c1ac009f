"""Workloads and namespaces: their pods, found by owner, and what a run decides about each."""

from __future__ import annotations

import pytest

from descheduler.explanation.finding import UnknownSubjectError, find_group
from descheduler.explanation.landings import LandingCount
from descheduler.explanation.subjects.group import GroupExplanation
from descheduler.report.plan.document import LandingCause
from tests.builders import Object, make_node, make_pod, make_snapshot, node_object, pod_object
from tests.explanation.questions import cluster_of, explained, policy_of
from tests.placement.workloads import workload_object

NODES = [node_object("a"), node_object("b")]


def group_explanation(subject: str, name: str, objects: list[Object], *, runs: bool = True) -> GroupExplanation:
    """What is said about a workload or a namespace, with or without a policy."""
    return explained(GroupExplanation, subject, name, objects, policy_of() if runs else None)


def test_pods_of_a_deployment_are_found_through_its_replica_sets() -> None:
    snapshot = cluster_of(
        *NODES,
        pod_object("old", owners=["ReplicaSet/web-1"]),
        pod_object("new", owners=["ReplicaSet/web-2"]),
        pod_object("other", owners=["ReplicaSet/api-1"]),
        *(workload_object(f"ReplicaSet/{name}", deployment=name[:3]) for name in ("web-1", "web-2", "api-1")),
    )

    assert [pod.name for pod in find_group(snapshot, "Deployment", "default/web").pods] == ["new", "old"]


@pytest.mark.parametrize(
    ("kind", "name", "owner"),
    [
        ("Deployment", "shop/web", "ReplicaSet/web-6c9f"),
        ("CronJob", "shop/backup", "Job/backup-28000"),
        ("ReplicaSet", "shop/web-6c9f", "ReplicaSet/web-6c9f"),
        ("StatefulSet", "db", "StatefulSet/db"),
        ("Namespace", "shop", "ReplicaSet/web-6c9f"),
    ],
)
def test_owners_that_were_not_read_are_known_by_their_names(kind: str, name: str, owner: str) -> None:
    pods = [make_pod("p", namespace="shop", owners=[owner]), make_pod("bare", owners=())]
    snapshot = make_snapshot([make_node("a")], pods)

    assert [pod.name for pod in find_group(snapshot, kind, name).pods] == ["p"]


def test_a_workload_that_is_not_there_is_named_with_the_nearest() -> None:
    pods = [make_pod("p", namespace="shop", owners=["ReplicaSet/web-1"])]
    snapshot = make_snapshot([make_node("a")], pods, source="dump.json")

    with pytest.raises(UnknownSubjectError, match=r"^no pods of Deployment 'default/web' in .*; there is 'shop/web'$"):
        find_group(snapshot, "Deployment", "default/web")


def test_each_pod_has_the_decision_of_the_run() -> None:
    pods = [pod_object("old"), pod_object("young", age=5)]

    group = group_explanation("replicaset", "default/web", [*NODES, *pods])

    found = [(pod.pod.name, pod.outcome, pod.plugin, pod.landing) for pod in group.pods]
    assert found == [("old", "evicted", "PodLifeTime", "lands"), ("young", "unwanted", "", None)]
    assert group.landing_counts == (LandingCount(verdict="lands", num_pods=1),)


def test_without_a_policy_each_pod_has_its_landing_and_causes_are_counted() -> None:
    pods = [pod_object(name, scheduler="volcano") for name in ("one", "two")]

    group = group_explanation("namespace", "default", [*NODES, *pods], runs=False)

    assert [pod.landing for pod in group.pods] == ["likely", "likely"]
    assert group.causes == (LandingCause(verdict="likely", cause="scheduler volcano is not modelled", num_pods=2),)
