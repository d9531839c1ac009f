"""Owners of all kinds: those that are not modelled, not read, or cannot create anything."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.replacements.answer import Returns
from descheduler.placement.replacements.owners import Owners
from tests.builders import Object, node_object, owner, pod_object
from tests.placement.replacements.controllers.answers import answer
from tests.placement.workloads import cluster_of, pod_named, workload_object


@pytest.mark.parametrize(
    ("reference", "kind"),
    [
        pytest.param(owner("Workflow/etl", group="argoproj.io/v1alpha1"), "Workflow (argoproj.io)", id="Workflow"),
        pytest.param(owner("Pod/driver", group="v1"), "Pod", id="driver of Spark"),
        pytest.param(
            owner("StatefulSet/nb", group="apps.kruise.io/v1beta1"),
            "StatefulSet (apps.kruise.io)",
            id="StatefulSet of another group",
        ),
        pytest.param(
            owner("DaemonSet/agent", group="apps.kruise.io/v1alpha1"),
            "DaemonSet (apps.kruise.io)",
            id="DaemonSet of Kruise",
        ),
        pytest.param(
            owner("BroadcastJob/pull", group="apps.kruise.io/v1alpha1"),
            "BroadcastJob (apps.kruise.io)",
            id="BroadcastJob of Kruise",
        ),
        pytest.param(
            owner("Job/train", group="batch.volcano.sh/v1alpha1"), "Job (batch.volcano.sh)", id="Job of Volcano"
        ),
    ],
)
def test_owner_of_an_unknown_kind_leaves_a_doubt(reference: Object, kind: str) -> None:
    made = answer(pod_object("victim", owners=[reference]))

    assert made.doubt == f"it is unknown whether an owner of kind {kind} creates an evicted pod again"


def test_nothing_is_created_in_a_namespace_that_is_being_deleted() -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}

    made = answer(
        pod_object("victim"), workload_object("ReplicaSet/web"), namespace | {"status": {"phase": "Terminating"}}
    )

    assert made.cause == "namespace default is being deleted, so that no pod can be created in it"


def test_owner_that_does_not_exist_creates_nothing_where_its_kind_was_read() -> None:
    made = answer(pod_object("victim"), workload_object("ReplicaSet/other"))

    assert made.cause == "ReplicaSet web does not exist, so that its pods are deleted"


def test_owner_of_a_kind_that_was_not_read_is_taken_to_replace_the_pod() -> None:
    assert answer(pod_object("victim")).returns is Returns.AT_ONCE


def test_pod_that_no_owner_controls_is_not_created_again() -> None:
    reference = owner("ReplicaSet/web", controller=False)

    made = answer(pod_object("victim", owners=[reference]), workload_object("ReplicaSet/web"))

    assert made.returns is Returns.NOT_CREATED


LOST = node_object("a", taints=["node.kubernetes.io/unreachable:NoExecute"], ready=False)


@pytest.mark.parametrize(
    ("workload", "facts", "conditions"),
    [
        pytest.param(
            "StatefulSet/db",
            {"podManagementPolicy": "Parallel"},
            ("StatefulSet db waits until pod db-0 is gone: node a is unreachable",),
            id="StatefulSet",
        ),
        pytest.param(
            "DaemonSet/db",
            {},
            ("DaemonSet db waits until pod db-0 is gone: node a is unreachable",),
            id="DaemonSet",
        ),
        pytest.param("ReplicaSet/db", {}, (), id="ReplicaSet"),
        pytest.param("Job/db", {}, (), id="Job"),
    ],
)
def test_pod_of_an_unreachable_node_is_not_gone_for_those_who_wait_for_that(
    workload: str, facts: Object, conditions: tuple[str, ...]
) -> None:
    victim = pod_object("db-0", owners=[owner(workload)], tolerations=[{"operator": "Exists"}])

    made = answer(victim, workload_object(workload, template=victim, **facts), LOST, of="db-0")

    assert (made.is_created, made.conditions) == (True, conditions)


def test_job_that_counts_finished_pods_alone_creates_none_for_a_pod_of_an_unreachable_node() -> None:
    victim = pod_object("sum", owners=[owner("Job/sum")])

    made = answer(victim, workload_object("Job/sum", podReplacementPolicy="Failed"), LOST, of="sum")

    assert made.cause == "Job sum waits until the pod has stopped (podReplacementPolicy: Failed)"


@pytest.mark.parametrize(
    ("owners", "may_end"),
    [(["Job/sum"], True), (["ReplicaSet/web"], False), (["Workflow/x"], False), ([], False)],
)
def test_eviction_may_end_a_job_and_no_other_owner(owners: list[str], may_end: bool) -> None:
    snapshot = cluster_of(pod_object("victim", owners=owners))

    assert Owners(snapshot).may_end(pod_named(snapshot, "victim")) is may_end


STATIC = "the kubelet of its node runs the static pod, whatever becomes of its mirror pod"


@pytest.mark.parametrize(
    ("facts", "cause"),
    [
        pytest.param({"owners": ["Node/a"]}, STATIC, id="owned by its node"),
        pytest.param({"annotations": {"kubernetes.io/config.mirror": "x"}}, STATIC, id="a mirror pod"),
        pytest.param({"annotations": {"kubernetes.io/config.source": "file"}}, STATIC, id="a static pod"),
        pytest.param({"deleted": 5.0}, "the pod is already being deleted", id="being deleted"),
    ],
)
def test_nothing_comes_for_a_pod_that_is_not_its_owners_to_replace(facts: dict[str, Any], cause: str) -> None:
    made = answer(pod_object("victim", **facts), workload_object("ReplicaSet/web"))

    assert (made.returns, made.cause) == (Returns.NOT_CREATED, cause)


@pytest.mark.parametrize(
    ("name", "facts", "returns"),
    [
        pytest.param("db-1", {}, Returns.LATER, id="the name of a pod that it lacks"),
        pytest.param("db-2", {}, Returns.NOT_CREATED, id="beyond its replicas"),
        pytest.param("db-x", {}, Returns.NOT_CREATED, id="no ordinal"),
        pytest.param("web-1", {}, Returns.NOT_CREATED, id="another name"),
        pytest.param("db-1", {"deletionTimestamp": "2026-06-01T00:00:00Z"}, Returns.NOT_CREATED, id="being deleted"),
    ],
)
def test_stateful_set_creates_its_own_pod_in_the_place_of_an_orphan(name: str, facts: Object, returns: Returns) -> None:
    db = workload_object("StatefulSet/db", replicas=2)
    db["metadata"] |= facts

    assert answer(pod_object(name, owners=[]), db, of=name).returns is returns
