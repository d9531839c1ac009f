"""The pod that comes back for a victim is what its owner and admission make, not the victim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY
from descheduler.model.selection.labels import Requirement
from descheduler.placement.replacements.answer import Returns
from descheduler.placement.replacements.replacement import Replacement, ReplacementMaker
from tests.builders import Object, ago, pod_object
from tests.placement.workloads import cluster_of, pod_named, workload_object

MILLI = 10**6


def replacement(*objects: Object, of: str = "victim", nodes: Sequence[str] = ("a", "b")) -> Replacement:
    """What comes back for the pod named `of` in a cluster of `objects`."""
    snapshot = cluster_of(*objects, nodes=nodes)
    return ReplacementMaker(snapshot).replacement_of(pod_named(snapshot, of))


def pod_of(made: Replacement) -> Pod:
    """The pod of a replacement that there is."""
    assert made.pod is not None
    return made.pod


def test_replacement_has_the_requests_of_the_template_and_not_of_the_resized_pod() -> None:
    template = pod_object("t", cpu="500m")

    made = replacement(pod_object("victim", cpu="100m"), workload_object("ReplicaSet/web", template=template))

    assert made.source == "template"
    assert pod_of(made).spec.requests[CPU] == 500 * MILLI
    assert made.notes == ("the owner's pod template requests other resources than the running pod",)


def test_replacement_is_unbound_and_has_no_identity_yet() -> None:
    made = replacement(pod_object("victim"), workload_object("ReplicaSet/web"))

    pod = pod_of(made)
    assert (pod.node_name, pod.uid, pod.phase, pod.name) == ("", "", "Pending", "victim+")


def test_request_of_a_template_follows_from_its_limit() -> None:
    template = pod_object("t", limits={"cpu": "300m"})

    made = replacement(pod_object("victim"), workload_object("ReplicaSet/web", template=template))

    assert pod_of(made).spec.requests[CPU] == 300 * MILLI


def test_requests_that_only_the_live_pod_has_are_taken_to_be_set_again() -> None:
    template = pod_object("t", cpu="300m")

    made = replacement(
        pod_object("victim", cpu="300m", memory="1Gi"), workload_object("ReplicaSet/web", template=template)
    )

    assert pod_of(made).spec.requests[MEMORY] == 2**30 * 10**9


def test_limit_range_comes_before_what_the_live_pod_was_given() -> None:
    limit_range = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "small", "namespace": "default"},
        "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "50m"}}]},
    }

    made = replacement(pod_object("victim", cpu="300m"), workload_object("ReplicaSet/web"), limit_range)

    assert pod_of(made).spec.requests[CPU] == 50 * MILLI


def test_sidecar_that_the_template_lacks_is_taken_to_be_injected_again() -> None:
    live = pod_object("victim", spec={"containers": [container("app", "100m"), container("mesh", "200m")]})
    template = pod_object("t", spec={"containers": [container("app", "100m")]})

    made = replacement(live, workload_object("ReplicaSet/web", template=template))

    assert pod_of(made).spec.images == ("app", "mesh")
    assert pod_of(made).spec.requests[CPU] == 300 * MILLI
    assert made.notes[0] == "1 container beyond the owner's pod template; assumed to be injected again"


def test_new_image_of_a_template_is_no_injected_container() -> None:
    live = pod_object("victim", spec={"containers": [container("app:1", "100m"), container("mesh", "200m")]})
    template = pod_object("t", spec={"containers": [container("app:2", "400m")]})

    made = replacement(live, workload_object("ReplicaSet/web", template=template))

    assert pod_of(made).spec.images == ("app:2", "mesh")


def test_tolerations_and_selectors_that_the_template_lacks_are_taken_to_be_added_again() -> None:
    tolerations = [{"key": "spot", "operator": "Exists"}]
    live = pod_object("victim", tolerations=tolerations, node_selector={"pool": "spot"})
    template = pod_object("t", node_selector={"disk": "ssd"})

    spec = pod_of(replacement(live, workload_object("ReplicaSet/web", template=template))).spec

    assert [toleration.key for toleration in spec.tolerations] == ["spot"]
    assert spec.node_selector == {"disk": "ssd", "pool": "spot"}


def test_scheduler_that_a_webhook_set_is_set_again() -> None:
    made = replacement(pod_object("victim", scheduler="koord-scheduler"), workload_object("ReplicaSet/web"))

    assert pod_of(made).spec.scheduler_name == "koord-scheduler"


def test_priority_is_that_of_the_class_that_the_template_names() -> None:
    template = pod_object("t", spec={"priorityClassName": "high"})
    priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}}

    made = replacement(
        pod_object("victim", priority=5),
        workload_object("ReplicaSet/web", template=template),
        priority | {"value": 1000},
    )

    assert pod_of(made).spec.priority == 1000


def test_priority_of_the_live_pod_stands_where_the_template_names_no_class() -> None:
    made = replacement(pod_object("victim", priority=5), workload_object("ReplicaSet/web"))

    assert pod_of(made).spec.priority == 5


def test_runtime_class_brings_overhead_nodes_and_tolerations() -> None:
    template = pod_object("t", cpu="100m", spec={"runtimeClassName": "kata"})
    runtime_class = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "overhead": {"podFixed": {"cpu": "20m"}},
        "scheduling": {"nodeSelector": {"kata": "yes"}, "tolerations": [{"key": "kata", "operator": "Exists"}]},
    }

    made = replacement(
        pod_object("victim", cpu="100m"), workload_object("ReplicaSet/web", template=template), runtime_class
    )

    spec = pod_of(made).spec
    assert spec.requests[CPU] == 120 * MILLI
    assert spec.node_selector == {"kata": "yes"}
    assert [toleration.key for toleration in spec.tolerations] == ["kata"]


def test_match_label_keys_are_resolved_with_the_labels_of_the_new_pod() -> None:
    term = {
        "labelSelector": {"matchLabels": {"app": "web"}},
        "topologyKey": "kubernetes.io/hostname",
        "matchLabelKeys": ["pod-template-hash"],
        "mismatchLabelKeys": ["tenant", "absent"],
    }
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    template = pod_object("t", labels={"app": "web", "pod-template-hash": "new", "tenant": "x"}, affinity=affinity)
    live = pod_object("victim", labels={"app": "web", "pod-template-hash": "old"})

    affinity_made = pod_of(replacement(live, workload_object("ReplicaSet/web", template=template))).spec.affinity

    assert affinity_made is not None
    assert set(affinity_made.anti_required[0].selector.requirements) == {
        Requirement("app", "In", frozenset({"web"})),
        Requirement("pod-template-hash", "In", frozenset({"new"})),
        Requirement("tenant", "NotIn", frozenset({"x"})),
    }


def test_stateful_set_pod_keeps_its_name_its_labels_and_its_claims() -> None:
    identity = {"statefulset.kubernetes.io/pod-name": "db-1", "apps.kubernetes.io/pod-index": "1"}
    live = pod_object("db-1", owners=["StatefulSet/db"], labels={"app": "old", **identity}, claims=["data-db-1"])
    template = pod_object("t", labels={"app": "db"}, claims=["shared"])
    claims = [{"metadata": {"name": "data"}}]
    stateful_set = workload_object(
        "StatefulSet/db",
        replicas=2,
        template=template,
        volumeClaimTemplates=claims,
        podManagementPolicy="Parallel",
    )

    made = replacement(live, stateful_set, of="db-1")

    pod = pod_of(made)
    assert (pod.name, pod.claim_names) == ("db-1", ("shared", "data-db-1"))
    assert pod.labels == {"app": "db", **identity}
    assert made.answer.returns is Returns.WHEN_GONE


def test_indexed_job_pod_keeps_its_completion_index() -> None:
    live = pod_object(
        "victim", owners=["Job/sum"], labels={"job": "sum", "batch.kubernetes.io/job-completion-index": "3"}
    )

    made = replacement(live, workload_object("Job/sum", template=pod_object("t", labels={"job": "sum"})))

    assert pod_of(made).labels == {"job": "sum", "batch.kubernetes.io/job-completion-index": "3"}


@pytest.mark.parametrize(
    ("spec", "failures"),
    [
        pytest.param({}, "2", id="counted"),
        pytest.param(
            {"podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}},
            "1",
            id="ignored",
        ),
    ],
)
def test_pod_of_an_index_is_told_how_often_the_index_has_failed(spec: Object, failures: str) -> None:
    index, count = "batch.kubernetes.io/job-completion-index", "batch.kubernetes.io/job-index-failure-count"
    live = pod_object("victim", owners=["Job/sum"], labels={index: "3"}, annotations={index: "3", count: "1"})
    limits: dict[str, Any] = {"completions": 4, "completionMode": "Indexed", "backoffLimitPerIndex": 2, **spec}

    made = replacement(live, workload_object("Job/sum", **limits))

    assert pod_of(made).annotations == {index: "3", count: failures}


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        pytest.param(
            {"annotations": {"kubernetes.io/config.mirror": "x"}},
            "it is a static pod, which the kubelet of its node runs",
            id="mirror of a static pod",
        ),
        pytest.param({"deleted": 5}, "it is already being deleted", id="terminating"),
        pytest.param({"node": ""}, "it is not scheduled yet", id="pending"),
    ],
)
def test_pod_that_eviction_does_not_move_is_unmovable(facts: Object, reason: str) -> None:
    made = replacement(pod_object("victim", **facts), workload_object("ReplicaSet/web"))

    assert (made.pod, made.unmovable) == (None, reason)


@pytest.mark.parametrize(
    ("facts", "workloads", "note"),
    [
        pytest.param({"owners": []}, [], "no controller recreates the pod", id="bare pod"),
        pytest.param({"phase": "Failed"}, [], "the pod has finished; no replacement pod is created", id="finished pod"),
        pytest.param(
            {},
            [workload_object("ReplicaSet/web", replicas=0)],
            "ReplicaSet web is scaled to 0 (replicas: 0)",
            id="workload that is scaled to zero",
        ),
    ],
)
def test_nothing_comes_back(facts: Object, workloads: list[Object], note: str) -> None:
    made = replacement(pod_object("victim", **facts), *workloads)

    assert (made.pod, made.source, made.notes) == (None, "none", (note,))


def test_workload_that_is_being_deleted_replaces_nothing() -> None:
    workload = workload_object("ReplicaSet/web")
    workload["metadata"]["deletionTimestamp"] = ago(1)

    made = replacement(pod_object("victim"), workload)

    assert made.pod is None


def test_stateful_set_that_scales_down_gives_up_its_highest_ordinals() -> None:
    objects = [pod_object(f"db-{ordinal}", owners=["StatefulSet/db"]) for ordinal in range(3)]
    workload = workload_object("StatefulSet/db", replicas=2)

    made = {name: replacement(*objects, workload, of=name).pod is not None for name in ("db-0", "db-1", "db-2")}

    assert made == {"db-0": True, "db-1": True, "db-2": False}


def test_template_that_was_not_read_leaves_a_copy_of_the_live_pod() -> None:
    made = replacement(pod_object("victim", cpu="100m", owners=["CloneSet/web"]))

    assert made.source == "live"
    assert pod_of(made).spec.requests[CPU] == 100 * MILLI
    assert made.notes == ("CloneSet web was not read; the replacement is assumed to equal this pod",)


@pytest.mark.parametrize(("kind", "name"), [("CloneSet", "db-0+"), ("StatefulSet", "db-0")])
def test_copy_of_a_live_pod_has_its_name_where_its_owner_names_pods(kind: str, name: str) -> None:
    """A name with a plus sign is one that is not known yet."""
    made = replacement(pod_object("db-0", owners=[f"{kind}/db"]), of="db-0")

    assert (made.source, pod_of(made).name) == ("live", name)


def test_copy_of_a_live_pod_drops_the_label_that_is_its_alone() -> None:
    labels = {"app": "web", "apps.kruise.io/cloneset-instance-id": "x7k2"}

    made = replacement(pod_object("victim", labels=labels, owners=["CloneSet/web"]))

    assert pod_of(made).labels == {"app": "web"}


def test_pod_of_an_old_revision_comes_back_old_while_its_deployment_rolls_out() -> None:
    old = workload_object("ReplicaSet/web", deployment="shop", revision=1, template=pod_object("t", cpu="100m"))
    new = workload_object("ReplicaSet/next", deployment="shop", revision=2, template=pod_object("t", cpu="900m"))

    made = replacement(pod_object("victim"), old, new)

    assert pod_of(made).spec.requests[CPU] == 100 * MILLI
    assert made.alternative is None


def test_size_that_vertical_pod_autoscaler_set_may_come_again() -> None:
    annotations = {"vpaUpdates": "Pod resources updated by web: container 0: cpu request"}
    template = pod_object("t", cpu="100m")

    made = replacement(
        pod_object("victim", cpu="900m", annotations=annotations), workload_object("ReplicaSet/web", template=template)
    )

    assert made.alternative is not None
    assert made.alternative.spec.requests[CPU] == 900 * MILLI
    assert pod_of(made).spec.requests[CPU] == 100 * MILLI


def test_full_quota_is_noted() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": "default"},
        "status": {"hard": {"requests.cpu": "1"}, "used": {"requests.cpu": "900m"}},
    }

    made = replacement(pod_object("victim", cpu="200m", owners=["CloneSet/web"]), quota)

    assert made.notes[-1] == "ResourceQuota team has no room for the replacement pod until this pod is gone"


@pytest.mark.parametrize(
    ("kind", "of_requests", "of_objects"),
    [
        ("ReplicaSet", Returns.WHEN_GONE, Returns.LATER),
        ("DaemonSet", Returns.OWN_NODE, Returns.LATER),
        ("Job", Returns.LATER, Returns.LATER),
    ],
)
def test_full_quota_delays_a_pod_that_would_come_beside_its_predecessor(
    kind: str, of_requests: Returns, of_objects: Returns
) -> None:
    """By rule 23: requests are charged until the pod has finished, objects until it is gone, which is noticed later."""
    pod = pod_object("victim", cpu="200m", owners=[f"{kind}/web"])
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team", "namespace": "default"}}

    requests, objects = ["requests.cpu"], ["count/pods"]
    cases = (requests, of_requests), (objects, of_objects), (requests + objects, of_objects)
    for counted, returns in cases:
        amounts = dict.fromkeys(counted, "1")
        full = quota | {"status": {"hard": amounts, "used": amounts}}

        made = replacement(pod, workload_object(f"{kind}/web", template=pod, completions=1), full)

        assert (made.answer.returns, made.answer.is_early) == (returns, False)


def test_replicas_share_one_spec_and_one_set_of_labels() -> None:
    snapshot = cluster_of(
        pod_object("one", cpu="1", labels={"app": "web"}),
        pod_object("two", cpu="1", labels={"app": "web"}),
        workload_object("ReplicaSet/web", replicas=2, template=pod_object("t", cpu="2", labels={"app": "web"})),
    )
    maker = ReplacementMaker(snapshot)

    one, two = (pod_of(maker.replacement_of(pod)) for pod in snapshot.pods)

    assert one.spec is two.spec
    assert one.labels is two.labels


def container(image: str, cpu: str) -> Object:
    """A container named after its image."""
    return {"name": image.partition(":")[0], "image": image, "resources": {"requests": {"cpu": cpu}}}
