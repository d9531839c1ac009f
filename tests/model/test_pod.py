"""What the phase, the annotations and the owners of a pod mean."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.model.pod import (
    InlineDisk,
    InlineDiskKind,
    PodCondition,
    PodResourceClaim,
    asks_to_stay,
    coming_claims,
)
from tests.builders import make_pod, owner

MIRROR, SOURCE = "kubernetes.io/config.mirror", "kubernetes.io/config.source"
KARPENTER, AUTOSCALER = "karpenter.sh/do-not-disrupt", "cluster-autoscaler.kubernetes.io/safe-to-evict"
DEFERRED = PodCondition("PodResizePending", "True", "Deferred", None)


@pytest.mark.parametrize("phase", ["Pending", "Running", "Succeeded", "Failed", "Unknown"])
def test_pod_has_finished_in_two_phases(phase: str) -> None:
    assert make_pod("p", phase=phase).is_terminal == (phase in ("Succeeded", "Failed"))


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        pytest.param({}, "", id="a pod of a ReplicaSet"),
        pytest.param({"owners": ()}, "", id="a pod without an owner"),
        pytest.param({"deleted": 5}, "is being deleted", id="a pod with a time of deletion"),
        pytest.param({"annotations": {MIRROR: "hash"}}, "is a static pod", id="a mirror pod"),
        pytest.param({"annotations": {SOURCE: "file"}}, "is a static pod", id="a pod of a file of the kubelet"),
        pytest.param({"annotations": {SOURCE: "api"}}, "", id="a pod of the API server"),
        pytest.param(
            {"owners": ("ReplicaSet/web", "DaemonSet/agent")}, "belongs to a DaemonSet", id="one owner is a DaemonSet"
        ),
    ],
)
def test_what_keeps_a_node_in_use(facts: dict[str, Any], why: str) -> None:
    pod = make_pod("p", **facts)

    assert (pod.why_not_in_use, pod.keeps_node_in_use) == (why, not why)


def test_annotations_of_the_kubelet_tell_mirror_pods_from_other_static_ones() -> None:
    mirror, static, plain = (make_pod("p", annotations=each) for each in ({MIRROR: ""}, {SOURCE: "http"}, {}))

    assert [(pod.is_mirror, pod.is_static) for pod in (mirror, static, plain)] == [
        (True, False),
        (False, True),
        (False, False),
    ]


@pytest.mark.parametrize(
    ("annotations", "text"),
    [
        pytest.param({}, "", id="nothing"),
        pytest.param({KARPENTER: "true"}, f'{KARPENTER}: "true"', id="Karpenter must leave it"),
        pytest.param({KARPENTER: "false"}, "", id="Karpenter may take it"),
        pytest.param({AUTOSCALER: "false"}, f'{AUTOSCALER}: "false"', id="cluster-autoscaler must leave it"),
        pytest.param({AUTOSCALER: "true"}, "", id="cluster-autoscaler may take it"),
        pytest.param({AUTOSCALER: "false", KARPENTER: "true"}, f'{KARPENTER}: "true"', id="both"),
    ],
)
def test_which_annotation_asks_that_a_pod_stays(annotations: dict[str, str], text: str) -> None:
    assert asks_to_stay(make_pod("p", annotations=annotations)) == text


@pytest.mark.parametrize("value", ["", "false"])
def test_eviction_is_not_preferred_whatever_the_value_of_the_annotation(value: str) -> None:
    assert make_pod("p", annotations={"descheduler.alpha.kubernetes.io/prefer-no-eviction": value}).prefers_no_eviction
    assert not make_pod("p").prefers_no_eviction


def test_qos_class_is_the_reported_one_before_the_derived_one() -> None:
    pod = make_pod("p", cpu="1")

    assert [replace(pod, reported_qos_class=each).qos_class for each in ("", "Guaranteed")] == [
        "Burstable",
        "Guaranteed",
    ]


def test_controller_is_the_owner_that_is_marked_as_such() -> None:
    owners = [owner("ReplicaSet/other", controller=False), owner("ReplicaSet/web")]

    controller = make_pod("p", owners=owners).controller

    assert controller is not None
    assert controller.name == "web"
    assert make_pod("p", owners=owners[:1]).controller is None


@pytest.mark.parametrize(
    ("condition", "is_deferred"),
    [
        pytest.param(DEFERRED, True, id="the node has no room yet"),
        pytest.param(replace(DEFERRED, reason="Infeasible"), False, id="the node can never have room"),
        pytest.param(replace(DEFERRED, status="False"), False, id="no longer"),
        pytest.param(replace(DEFERRED, type="PodResizeInProgress"), False, id="another condition"),
    ],
)
def test_resize_is_deferred_by_the_condition_of_the_pod(condition: PodCondition, is_deferred: bool) -> None:
    ready = PodCondition("Ready", "True", "", None)

    assert replace(make_pod("p"), conditions=(ready, condition)).is_resize_deferred is is_deferred


def test_no_resize_is_known_of_a_pod_without_its_conditions() -> None:
    assert not replace(make_pod("p"), conditions=None).is_resize_deferred


@pytest.mark.parametrize(
    ("kind", "is_exclusive"),
    [
        ("gcePersistentDisk", True),
        ("awsElasticBlockStore", True),
        ("iscsi", True),
        ("rbd", True),
        ("azureDisk", False),
        ("cinder", False),
        ("portworxVolume", False),
    ],
)
def test_which_disks_not_every_two_pods_of_a_node_may_share(kind: InlineDiskKind, is_exclusive: bool) -> None:
    assert InlineDisk(kind, ("d",)).is_exclusive is is_exclusive


def test_claims_are_made_for_a_new_pod_from_templates_alone() -> None:
    claims = (PodResourceClaim("gpu", template_name="t"), PodResourceClaim("nic", claim_name="shared"))
    spec = replace(make_pod("p").spec, resource_claims=claims)

    assert coming_claims("web-2", spec) == {"gpu": "web-2-gpu+"}
