"""Placement classes: which pods are alike to all plugins, and what of a pod its form leaves out."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from descheduler.model.annotations import AnnotationKeys
from descheduler.model.koordinator.reservation import Reservation, ReservationOwner
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod, coming_claims
from descheduler.model.selection.labels import selector_from_object
from descheduler.placement.shadow.placement_class import PlacementForms, class_key, honoured_tolerations
from tests.builders import Object, make_pod, make_snapshot, pod_object, required_anti_affinity
from tests.placement.workloads import cluster_of, workload_object

INDEX = "apps.kubernetes.io/pod-index"
MEMBER = make_pod("db-0", labels={"app": "db", INDEX: "0"})


@pytest.mark.parametrize(("is_on", "operators"), [(True, ["Gt", "Exists", "Lt"]), (False, ["Exists"])])
def test_tolerations_that_compare_are_honoured_where_their_gate_is_on(is_on: bool, operators: list[str]) -> None:
    stated = [{"key": "age", "operator": operator, "value": "5"} for operator in ("Gt", "Exists", "Lt")]
    tolerations = make_pod("pod", tolerations=stated).spec.tolerations
    version = KubeVersion().with_gates({"TaintTolerationComparisonOperators": is_on})

    assert [each.operator for each in honoured_tolerations(tolerations, version)] == operators


def reading(kind: str) -> list[Object]:
    """An object that selects pods by their index."""
    selector = {"matchLabels": {INDEX: "0"}}
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "one", "namespace": "default"}}
    template = pod_object("t", affinity=required_anti_affinity({INDEX: "0"}))
    return {
        "a Service": [service | {"spec": {"selector": {INDEX: "0"}}}],
        "a workload": [workload_object("ReplicaSet/web", selector=selector)],
        "the template of a workload": [workload_object("ReplicaSet/web", template=template)],
        "nothing": [workload_object("ReplicaSet/web", selector={"matchLabels": {"app": "db"}})],
    }[kind]


@pytest.mark.parametrize(
    ("kind", "is_read"),
    [("a Service", True), ("a workload", True), ("the template of a workload", True), ("nothing", False)],
)
def test_index_of_a_pod_stays_in_its_form_where_something_selects_by_it(kind: str, is_read: bool) -> None:
    forms = PlacementForms(cluster_of(*reading(kind)))

    assert forms.form_of(MEMBER).labels == ({"app": "db", INDEX: "0"} if is_read else {"app": "db"})


@pytest.mark.parametrize(("label", "is_read"), [(INDEX, True), ("app", False), (None, False)])
def test_owners_of_a_reservation_select_by_labels_too(label: str | None, is_read: bool) -> None:
    selector = None if label is None else selector_from_object({"matchLabels": {label: "0"}})
    held = Reservation("held", "held", {}, {}, None, owners=(ReservationOwner(selector=selector),))

    forms = PlacementForms(make_snapshot(reservations=(held,)))

    assert (INDEX in forms.form_of(MEMBER).labels) is is_read


CLAIMS: Any = {"spec": {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]}}


@pytest.mark.parametrize(
    ("facts", "has_claims"),
    [
        pytest.param({"node": "", **CLAIMS}, True, id="a pod without a node"),
        pytest.param({"node": "a", **CLAIMS}, False, id="a pod that runs"),
        pytest.param({"node": ""}, False, id="a pod that asks for none"),
    ],
)
def test_form_of_a_pod_to_be_placed_has_the_claims_that_are_made_for_it(facts: Any, has_claims: bool) -> None:
    pod = make_pod("train", **facts)

    form = PlacementForms(make_snapshot([], [pod])).form_of(pod)

    assert form.generated_claims == (coming_claims("train", pod.spec) if has_claims else {})
    assert (form is pod) is not has_claims


def test_claim_that_was_made_for_a_pod_is_in_its_form_and_none_is_to_come() -> None:
    pod = msgspec.structs.replace(make_pod("train", node="", **CLAIMS), generated_claims={"gpu": "train-gpu-x7k2"})

    assert PlacementForms(make_snapshot([], [pod])).form_of(pod) is pod


def twin(**facts: Any) -> Pod:
    """A pod that shares its spec and labels with the other ones."""
    return msgspec.structs.replace(ONE, **facts)


ONE = msgspec.structs.replace(make_pod("one", owners=["ReplicaSet/web"]), annotations={"read": "1", "other": "1"})
SCRATCH = make_pod("scratch", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}])


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        pytest.param(ONE, twin(name="two", uid="2"), True, id="another name"),
        pytest.param(ONE, twin(annotations={"read": "1"}), True, id="an annotation that no plugin reads"),
        pytest.param(ONE, twin(annotations={"read": "2", "other": "1"}), False, id="one that a plugin reads"),
        pytest.param(ONE, twin(annotations={}), False, id="without that one"),
        pytest.param(ONE, twin(namespace="team"), False, id="another namespace"),
        pytest.param(ONE, twin(owners=()), False, id="without a controller"),
        pytest.param(ONE, twin(owners=make_pod("p", owners=["Job/web"]).owners), False, id="another controller"),
        pytest.param(ONE, twin(claim_names=("data",)), False, id="a claim"),
        pytest.param(SCRATCH, msgspec.structs.replace(SCRATCH, name="two"), False, id="volumes named after the pod"),
    ],
)
def test_pods_are_of_one_class_where_all_that_plugins_read_is_the_same(one: Pod, other: Pod, is_same: bool) -> None:
    keys = AnnotationKeys(["read"])

    assert (class_key(one, keys) == class_key(other, keys)) is is_same


def test_pods_that_a_rule_tells_apart_are_of_two_classes() -> None:
    keys = AnnotationKeys()

    assert class_key(ONE, keys, [lambda pod: pod.name]) != class_key(twin(name="two"), keys, [lambda pod: pod.name])
    assert class_key(ONE, keys, [lambda _: "x"]) == class_key(twin(name="two"), keys, [lambda _: "x"])
