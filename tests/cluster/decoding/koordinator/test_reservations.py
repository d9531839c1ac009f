"""Reservations of Koordinator as the API gives them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import asdict

from descheduler.cluster.decoding.decode import Decoding, PodDecoder
from descheduler.cluster.decoding.koordinator.reservations import (
    allocated_reservation,
    decode_owners,
    reservation_decoder,
)
from descheduler.model.annotations import RESTRICTED_OPTIONS_ANNOTATION
from descheduler.model.koordinator.reservation import (
    PRIORITY_LABEL,
    RESERVATION_NAME_ANNOTATION,
    RESERVATION_NODE_ANNOTATION,
    RESERVE_POD_ANNOTATION,
    ObjectReference,
    Reservation,
    ReservationOwner,
)
from descheduler.model.pod import Owner, Pod
from descheduler.model.selection.labels import NOTHING, LabelSelector, Requirement
from descheduler.model.selection.taints import Taint
from tests.builders import Object

CORE = 10**9
MOMENT = datetime(2026, 1, 2, tzinfo=UTC)
TIME = "2026-01-02T00:00:00Z"
decode = reservation_decoder(Decoding(PodDecoder()))


def reservation(*, metadata: Object | None = None, **parts: object) -> Reservation:
    return decode(json.dumps({"metadata": {"name": "r"} | (metadata or {}), **parts}).encode())


def reserve_pod(*, metadata: Object | None = None, **template: object) -> Pod:
    pod = reservation(metadata=metadata, spec={"template": template}).pod
    assert pod is not None
    return pod


def test_reservation_that_says_nothing_has_the_defaults_of_the_crd() -> None:
    assert asdict(reservation()) == asdict(Reservation("r", "", {}, {}, None, ttl=timedelta(hours=24)))


def test_all_that_a_reservation_says_is_read() -> None:
    found = reservation(
        metadata={"uid": "u", "creationTimestamp": TIME, "deletionTimestamp": TIME, "labels": {"a": "b"}},
        spec={
            "allocateOnce": False,
            "allocatePolicy": "Restricted",
            "preAllocation": True,
            "unschedulable": True,
            "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}, {}],
            "ttl": "1h",
            "expires": TIME,
            "owners": [{"object": {"name": "p"}}],
        },
        status={
            "phase": "Available",
            "nodeName": "n",
            "allocatable": {"cpu": 2},
            "allocated": {"cpu": 1},
            "currentOwners": [{"namespace": "a", "name": "b", "uid": "c", "apiVersion": "d"}, {}],
        },
    )

    assert asdict(found) == asdict(
        Reservation(
            "r",
            "u",
            {"a": "b"},
            {},
            None,
            (ReservationOwner(ObjectReference(name="p")),),
            allocate_once=False,
            allocate_policy="Restricted",
            pre_allocation=True,
            unschedulable=True,
            taints=(Taint("k", "v", "NoSchedule"), Taint("", "", "")),
            ttl=timedelta(hours=1),
            expires_at=MOMENT,
            created_at=MOMENT,
            is_terminating=True,
            phase="Available",
            node_name="n",
            allocatable={"cpu": 2 * CORE},
            allocated={"cpu": CORE},
            current_owners=(ObjectReference("a", "b", "c", "d"), ObjectReference()),
        )
    )


def test_reservation_without_a_name_is_refused_unless_another_fault_comes_first() -> None:
    with pytest.raises(ValueError, match=r"metadata\.name is missing"):
        reservation(metadata={"name": None})
    with pytest.raises(ValueError, match="soon"):
        reservation(metadata={"name": None}, spec={"ttl": "soon"})


@pytest.mark.parametrize(
    ("wire", "owner", "fault"),
    [
        pytest.param({}, ReservationOwner(), "", id="nothing"),
        pytest.param({"labelSelector": None}, ReservationOwner(), "", id="null"),
        pytest.param({"labelSelector": {}}, ReservationOwner(selector=LabelSelector(())), "", id="all labels"),
        pytest.param(
            {"labelSelector": {"matchLabels": {"a": "b"}}},
            ReservationOwner(selector=LabelSelector((Requirement("a", "In", frozenset({"b"})),))),
            "",
            id="labels",
        ),
        pytest.param(
            {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Odd"}]}},
            ReservationOwner(selector=NOTHING),
            "Odd",
            id="an invalid selector",
        ),
        pytest.param({"object": {}}, ReservationOwner(ObjectReference()), "", id="an object"),
        pytest.param(
            {"controller": {"kind": "Job", "name": "j", "uid": "u", "apiVersion": "batch/v1", "controller": True}},
            ReservationOwner(controller=Owner("Job", "j", "u", "batch/v1", True)),
            "",
            id="a controller",
        ),
        pytest.param(
            {"controller": {"namespace": "n"}},
            ReservationOwner(controller=Owner("", "", "", "", False), controller_namespace="n"),
            "",
            id="a controller of a namespace",
        ),
    ],
)
def test_owners_may_be_an_object_a_controller_or_pods_with_labels(
    wire: Object, owner: ReservationOwner, fault: str
) -> None:
    owners, said = decode_owners(json.dumps([wire]))

    assert owners == (owner,)
    assert (fault in said) if fault else not said
    assert reservation(spec={"owners": [wire]}).fault == said


def test_faults_of_all_owners_are_told() -> None:
    bad = {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Odd"}]}}

    assert decode_owners(json.dumps([bad, {}, bad]))[1].count("; ") == 1
    assert decode_owners("null") == ((), "")


@pytest.mark.parametrize(
    ("text", "restricted_to"),
    [("", ()), ("null", ()), ("{}", ()), ('{"resources": ["cpu", "memory"]}', ("cpu", "memory"))],
)
def test_resources_that_a_reservation_is_restricted_to_are_read(text: str, restricted_to: tuple[str, ...]) -> None:
    found = reservation(metadata={"annotations": {RESTRICTED_OPTIONS_ANNOTATION: text}})

    assert (found.restricted_to, found.fault) == (restricted_to, "")


def test_restriction_that_cannot_be_read_is_a_fault_behind_that_of_owners() -> None:
    annotations = {RESTRICTED_OPTIONS_ANNOTATION: "{"}
    bad = {"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Odd"}]}}

    assert reservation(metadata={"annotations": annotations}).fault.startswith(
        f"annotation {RESTRICTED_OPTIONS_ANNOTATION}: "
    )
    assert "Odd" in reservation(metadata={"annotations": annotations}, spec={"owners": [bad]}).fault


def test_reserve_pod_is_made_of_the_template_and_marked() -> None:
    pod = reserve_pod(
        metadata={"uid": "u", "labels": {"a": "own"}, "creationTimestamp": TIME},
        spec={"nodeName": "n", "priority": 7},
    )

    assert (pod.namespace, pod.name, pod.uid, pod.node_name, pod.created_at) == ("default", "r", "u", "", MOMENT)
    assert pod.priority == 7
    assert pod.labels == {"a": "own"}
    assert {key: pod.annotations.get(key) for key in _MARKS} == dict(zip(_MARKS, ("true", "r", "n"), strict=True))


_MARKS = (RESERVE_POD_ANNOTATION, RESERVATION_NAME_ANNOTATION, RESERVATION_NODE_ANNOTATION)


def test_labels_of_the_reservation_count_before_those_of_its_template() -> None:
    wire = {
        "metadata": {"name": "r", "labels": {"a": "own"}},
        "spec": {"template": {"metadata": {"namespace": "n", "labels": {"a": "x", "b": "y"}}}},
    }

    pod = decode(json.dumps(wire).encode()).pod

    assert pod is not None
    assert (pod.namespace, pod.labels) == ("n", {"a": "own", "b": "y"})
    assert RESERVATION_NODE_ANNOTATION not in pod.annotations


def test_annotations_are_kept_that_some_rule_reads() -> None:
    """Those of the Reservation are its own, and those of its template are of the pod."""
    annotations = {"controller.kubernetes.io/pod-deletion-cost": "5", "odd": "x"}

    found = reservation(
        metadata={"annotations": annotations}, spec={"template": {"metadata": {"annotations": annotations}}}
    )

    assert found.annotations == {"controller.kubernetes.io/pod-deletion-cost": "5"}
    assert found.pod is not None
    assert "odd" not in found.pod.annotations
    assert found.pod.annotations["controller.kubernetes.io/pod-deletion-cost"] == "5"


def test_template_that_says_nothing_makes_a_pod_too() -> None:
    assert reserve_pod().labels == {}
    assert reserve_pod(spec=None, metadata=None).namespace == "default"


@pytest.mark.parametrize(
    ("text", "priority"), [(None, 2**31 - 1), ("", 2**31 - 1), ("5", 5), ("0", 0), ("x", 2**31 - 1)]
)
def test_reserve_pod_has_the_priority_of_the_label_or_the_highest(text: str | None, priority: int) -> None:
    labels = {} if text is None else {PRIORITY_LABEL: text}

    assert reserve_pod(metadata={"labels": labels}, spec={}).priority == priority


@pytest.mark.parametrize(
    ("text", "uid"), [("", ""), ("null", ""), ("{", ""), ("{}", ""), ('{"uid": "u", "name": "r"}', "u")]
)
def test_reservation_that_a_pod_names_is_read(text: str, uid: str) -> None:
    assert allocated_reservation(text) == uid
