"""Controllers, and the pods that they will make next."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import SnapshotError
from descheduler.model.groups.workloads import StatefulSetFacts, Workload
from descheduler.model.pod import HostPort, Pod
from descheduler.model.selection.labels import NOTHING, LabelSelector, Requirement
from descheduler.model.volume_sources import ClaimTemplate
from tests.builders import Object, owner, pod_object

MIB = 2**20 * 10**9
APP_X = LabelSelector((Requirement("app", "In", frozenset(("x",))),))
GROUPS = {"ReplicationController": "v1", "Job": "batch/v1", "CloneSet": "apps.kruise.io/v1alpha1"}


def controller(kind: str = "ReplicaSet", *, metadata: Object | None = None, **spec: object) -> Object:
    own = {"name": "x", "namespace": "shop", "uid": "u", **(metadata or {})}
    return {"kind": kind, "apiVersion": GROUPS.get(kind, "apps/v1"), "metadata": own, "spec": spec}


def decoded(obj: Object, *others: Object, keep_templates: bool = False) -> Workload:
    return snapshot_from_objects([obj, *others], SnapshotRequest(keep_templates=keep_templates)).workloads["u"]


def template(labels: Object | None = None, **spec: object) -> Object:
    return {"metadata": {"labels": labels or {}}, "spec": spec}


def made_from(**spec: Any) -> Pod:
    pod = decoded(controller(template=template(**spec)), keep_templates=True).template
    assert pod is not None
    return pod


def test_deployment_says_which_revision_it_is_at() -> None:
    metadata = {"annotations": {"deployment.kubernetes.io/revision": "12"}, "ownerReferences": [owner("Rollout/r")]}

    workload = decoded(controller("Deployment", metadata=metadata, replicas=3, selector={"matchLabels": {"app": "x"}}))

    assert (workload.replicas, workload.revision, workload.selector) == (3, 12, APP_X)
    assert [each.name for each in workload.owners] == ["r"]


@pytest.mark.parametrize("text", ["", "x", "²", "-1"])
def test_revision_that_is_no_number_is_unknown(text: str) -> None:
    metadata = {"annotations": {"deployment.kubernetes.io/revision": text}}

    assert decoded(controller("Deployment", metadata=metadata)).revision == 0


def test_plain_labels_of_a_replication_controller_become_a_selector() -> None:
    assert decoded(controller("ReplicationController", selector={"app": "x"})).selector == APP_X
    assert decoded(controller("ReplicationController", selector={})).selector == NOTHING
    assert decoded(controller("ReplicaSet")).selector == NOTHING


def test_stateful_set_brings_the_claims_of_its_pods() -> None:
    claim = {"metadata": {"name": "data"}, "spec": {"storageClassName": "", "accessModes": ["ReadWriteOnce"]}}

    workload = decoded(controller("StatefulSet", podManagementPolicy="Parallel", volumeClaimTemplates=[claim]))

    assert workload.pod_management_policy == "Parallel"
    assert workload.claim_templates == (
        ClaimTemplate("data", storage_class="", access_modes=frozenset(("ReadWriteOnce",))),
    )


def test_job_runs_as_many_pods_as_its_parallelism() -> None:
    metadata = {"deletionTimestamp": "2026-01-02T03:04:05Z"}

    workload = decoded(controller("Job", metadata=metadata, parallelism=4, podReplacementPolicy="Failed"))

    assert (workload.replicas, workload.pod_replacement_policy, workload.is_deleting) == (4, "Failed", True)
    assert decoded(controller("Job")).replicas == 1


def test_workloads_without_uid_are_told_apart_by_name() -> None:
    objects = [controller(metadata={"uid": "", "name": name}) for name in ("a", "b")]

    snapshot = snapshot_from_objects(objects)

    assert set(snapshot.workloads_by_name) == {("ReplicaSet", "shop", "a"), ("ReplicaSet", "shop", "b")}


def test_template_is_decoded_only_where_it_is_asked_for() -> None:
    assert decoded(controller(template=template())).template is None
    assert decoded(controller(), keep_templates=True).template is None


def test_template_is_a_pod_without_name_and_place_that_shares_its_replicas_spec() -> None:
    replica = pod_object("x-1", labels={"app": "x"})
    spec = {name: value for name, value in replica["spec"].items() if name != "nodeName"}
    workload = controller(template=template({"app": "x"}, **spec))

    snapshot = snapshot_from_objects([replica, workload], SnapshotRequest(keep_templates=True))

    pod = snapshot.workloads["u"].template
    assert pod is not None
    assert (pod.name, pod.namespace, pod.node_name, pod.labels) == ("", "shop", "", {"app": "x"})
    assert pod.spec is snapshot.pods[0].spec


def test_classes_that_a_template_names_are_kept() -> None:
    workload = decoded(
        controller(template=template(priorityClassName="high", runtimeClassName="sandbox")), keep_templates=True
    )

    assert (workload.priority_class, workload.runtime_class) == ("high", "sandbox")


def test_container_asks_for_what_it_is_limited_to() -> None:
    limits = {"limits": {"cpu": "2", "memory": "1Mi"}, "requests": {"cpu": "1"}}

    spec = made_from(
        containers=[{"name": "c", "resources": limits}], initContainers=[{"name": "i", "resources": limits}]
    ).spec

    assert spec.requests == {"cpu": 10**9, "memory": MIB}
    assert spec.init_containers[0].requests == {"cpu": 10**9, "memory": MIB}


def test_defaulted_template_shares_the_spec_of_its_stored_pods() -> None:
    stored = {"limits": {"cpu": "2", "memory": "1Mi"}, "requests": {"cpu": "1", "memory": "1Mi"}}
    replica = pod_object("x-1", spec={"containers": [{"name": "c", "image": "i", "resources": stored}]})
    asked = {"limits": stored["limits"], "requests": {"cpu": "1"}}
    container = {"name": "c", "image": "i", "resources": asked}
    asked_for = template(schedulerName="default-scheduler", containers=[container])

    snapshot = snapshot_from_objects([replica, controller(template=asked_for)], SnapshotRequest(keep_templates=True))

    pod = snapshot.workloads["u"].template
    assert pod is not None
    assert pod.spec is snapshot.pods[0].spec


@pytest.mark.parametrize(
    ("limits", "container", "expected"),
    [
        pytest.param({"cpu": "4"}, {}, {"cpu": 4 * 10**9}, id="from the limit where containers ask for nothing"),
        pytest.param({"cpu": "4"}, {"cpu": "1"}, {"cpu": 10**9}, id="from what containers ask for"),
        pytest.param(
            {"cpu": "4"}, {"memory": "1Mi"}, {"cpu": 4 * 10**9, "memory": MIB}, id="for each resource by itself"
        ),
        pytest.param(
            {"hugepages-2Mi": "4Mi"},
            {"hugepages-2Mi": "2Mi"},
            {"hugepages-2Mi": 4 * MIB},
            id="huge pages from the limit alone",
        ),
    ],
)
def test_requests_of_a_pod_as_a_whole_follow_once_it_is_limited(
    limits: Object, container: Object, expected: Object
) -> None:
    pod = made_from(resources={"limits": limits}, containers=[{"name": "c", "resources": {"requests": container}}])

    assert pod.spec.pod_level_requests == expected


def test_ports_are_the_hosts_on_its_network() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 81, "protocol": "UDP"}]

    apart = made_from(containers=[{"name": "c", "ports": ports}]).spec
    shared = made_from(hostNetwork=True, containers=[{"name": "c", "ports": ports}]).spec

    assert apart.host_ports == ()
    assert shared.host_ports == (HostPort("TCP", "0.0.0.0", 80), HostPort("UDP", "0.0.0.0", 81))


def test_broken_template_names_its_workload() -> None:
    broken = controller(template=template(containers=[{"resources": {"limits": {"cpu": "?"}}}]))

    with pytest.raises(SnapshotError, match="ReplicaSet shop/x is invalid"):
        snapshot_from_objects([broken], SnapshotRequest(keep_templates=True))


@pytest.mark.parametrize(
    ("strategy", "surges"),
    [
        pytest.param({"rollingUpdate": {"maxSurge": 1}}, True, id="one pod"),
        pytest.param({"rollingUpdate": {"maxSurge": "25%"}}, True, id="a share"),
        pytest.param({"rollingUpdate": {"maxSurge": "0%"}}, False, id="no share"),
        pytest.param({"rollingUpdate": {}}, False, id="not stated"),
        pytest.param({"type": "OnDelete", "rollingUpdate": {"maxSurge": 1}}, False, id="on deletion alone"),
    ],
)
def test_daemon_set_surges_where_its_updates_may(strategy: Object, surges: bool) -> None:
    assert decoded(controller("DaemonSet", updateStrategy=strategy)).surges is surges


@pytest.mark.parametrize(
    ("generation", "observed", "is_unseen"), [(2, 1, True), (2, 2, False), (None, 1, False), (2, None, False)]
)
def test_status_of_an_earlier_spec_tells_nothing_of_this_one(
    generation: int | None, observed: int | None, is_unseen: bool
) -> None:
    obj = controller("Deployment", metadata={"generation": generation})

    assert decoded(obj | {"status": {"observedGeneration": observed}}).is_unseen is is_unseen


@pytest.mark.parametrize(("kind", "field"), [("Job", "parallelism"), ("ReplicaSet", "replicas")])
def test_workload_has_one_pod_unless_it_says_otherwise(kind: str, field: str) -> None:
    specs: list[dict[str, Any]] = [{field: number} for number in (None, 0, 2)]

    assert [decoded(controller(kind, **spec)).replicas for spec in specs] == [1, 0, 2]


@pytest.mark.parametrize(
    ("spec", "status", "facts"),
    [
        ({}, {}, StatefulSetFacts()),
        (
            {"ordinals": {"start": 3}, "updateStrategy": {"rollingUpdate": {"partition": 2}}},
            {"currentRevision": "a", "updateRevision": "b"},
            StatefulSetFacts(3, 2, "a", "b"),
        ),
        ({"ordinals": {}, "updateStrategy": {"type": "RollingUpdate"}}, {}, StatefulSetFacts(partition=0)),
        ({"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 2}}}, {}, StatefulSetFacts(0, None)),
    ],
)
def test_stateful_set_says_which_revision_pods_have(spec: Object, status: Object, facts: StatefulSetFacts) -> None:
    assert decoded(controller("StatefulSet", **spec) | {"status": status}).stateful_set == facts


def test_stateful_set_that_says_nothing_has_no_claims_and_no_wait() -> None:
    bare, full = decoded(controller("StatefulSet")), decoded(controller("StatefulSet", minReadySeconds=5))

    assert (bare.claim_templates, bare.min_ready_seconds, full.min_ready_seconds) == ((), 0, 5)
    assert (bare.pod_management_policy, bare.job, bare.is_deleting) == ("", None, False)
    assert (decoded(controller("ReplicaSet")).stateful_set, decoded(controller("DaemonSet")).replicas) == (None, 0)


@pytest.mark.parametrize("keep_templates", [False, True])
def test_revision_keeps_the_template_that_pods_are_still_made_from(keep_templates: bool) -> None:
    made = template({"a": "b"}, priorityClassName="high", runtimeClassName="sandbox")
    metadata = {"name": "r", "namespace": "shop", "ownerReferences": [owner("Pod/x", controller=False), owner("X/y")]}
    held: list[Object | None] = [{"spec": {"template": made}}, {"spec": {}}, {}, None]
    revisions = [
        {"kind": "ControllerRevision", "apiVersion": "apps/v1", "metadata": metadata, "revision": 3, "data": data}
        for data in held
    ]

    full, *others = [
        snapshot_from_objects([each], SnapshotRequest(keep_templates=keep_templates)).objects[
            "ControllerRevision.apps"
        ][0]
        for each in revisions
    ]

    assert (full.namespace, full.name, full.number, full.owner_uid) == ("shop", "r", 3, "x-y")
    assert (full.template is not None, full.priority_class, full.runtime_class) == (
        (True, "high", "sandbox") if keep_templates else (False, "", "")
    )
    assert [(each.template, each.priority_class, each.number) for each in others] == [(None, "", 3)] * 3
