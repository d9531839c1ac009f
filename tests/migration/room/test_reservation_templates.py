"""What a Reservation asks for: what its job states stands, and the rest is that of the pod that leaves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.kube.objects import ObjectCalls
from descheduler.migration.room.koordinator.live_reservations import name_of
from descheduler.migration.room.koordinator.pending_rooms import pending_reservations, room_names
from descheduler.migration.room.koordinator.template import reservation_for_pending, reservation_of
from descheduler.migration.room.provider import CannotHold, CannotHoldNow
from descheduler.model.koordinator.eviction_annotations import ROOMS_ANNOTATION, TARGET_NODE_ANNOTATION
from descheduler.model.koordinator.migration_job import MigrationJob
from tests.builders import NOW, owner
from tests.migration.room.still import OLD, UID, Object, job, pod, still

MINUTES = timedelta(minutes=5)
ASKING = job(reservation_name="", ttl=MINUTES)
FIELD = "metadata.name"


def made(of: MigrationJob = ASKING, old: Object = OLD) -> Object:
    return reservation_of(of, old, "test", NOW)


def spec_of(stated: Object | None = None, old: Object = OLD, **facts: Any) -> Object:
    """The spec of the Reservation for a job whose template states this spec."""
    spec: Object = made(replace(ASKING, template={"spec": stated or {}}, **facts), old)["spec"]
    return spec


def nodes(spec: Object) -> list[tuple[str, list[str]]]:
    """The node names that a pod template demands or excludes."""
    required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (term,) = required["nodeSelectorTerms"]
    return [(each["operator"], each["values"]) for each in term["matchFields"] if each["key"] == FIELD]


def test_room_is_for_the_controller_of_the_pod_on_another_node() -> None:
    spec = spec_of()

    assert spec["owners"] == [{"controller": {**owner("ReplicaSet/web"), "namespace": "shop"}}]
    assert (spec["ttl"], spec["allocateOnce"]) == ("5m0s", True)
    assert nodes(spec["template"]["spec"]) == [("NotIn", ["n1"])]
    assert "nodeName" not in spec["template"]["spec"]


@pytest.mark.parametrize(
    ("stated", "ttl", "expected"),
    [
        pytest.param({}, MINUTES, {"ttl": "5m0s"}, id="the job's"),
        pytest.param({}, None, {}, id="none"),
        pytest.param({"ttl": "1h"}, MINUTES, {"ttl": "1h"}, id="the template's"),
        pytest.param({"expires": "2026-07-01T00:00:00Z"}, MINUTES, {"expires": "2026-07-01T00:00:00Z"}, id="an end"),
        pytest.param({"ttl": "1h"}, None, {"ttl": "1h"}, id="the template's alone"),
    ],
)
def test_time_that_the_template_states_stands(stated: Object, ttl: timedelta | None, expected: Object) -> None:
    spec = spec_of(stated, ttl=ttl)

    assert {key: spec[key] for key in ("ttl", "expires") if key in spec} == expected


def test_what_the_template_states_stands() -> None:
    owners = [{"labelSelector": {"matchLabels": {"a": "b"}}}]
    template = {"spec": {"containers": [{"name": "mine"}], "priority": 7}}
    stated = {"metadata": {"name": "mine", "labels": {"a": "b"}}, "spec": {"owners": owners, "template": template}}

    found = made(replace(ASKING, template=stated))

    spec = found["spec"]
    assert (found["metadata"]["name"], found["metadata"]["labels"]["a"]) == ("mine", "b")
    assert spec["owners"] == owners
    assert spec["template"]["spec"].items() >= template["spec"].items()
    assert nodes(spec["template"]["spec"]) == [("NotIn", ["n1"])]
    assert stated["spec"] == {"owners": owners, "template": template}  # the job stays as it is


@pytest.mark.parametrize("stated", [{}, {"priority": 0}, {"priority": 7, "priorityClassName": "high"}])
def test_room_on_a_chosen_node_goes_before_pods_of_the_same_priority(stated: Object) -> None:
    old = OLD | {"spec": {**OLD["spec"], **stated}}
    template = spec_of(old=old, annotations={TARGET_NODE_ANNOTATION: "n3"})["template"]["spec"]
    anywhere = spec_of(old=old)["template"]["spec"]

    assert template["priority"] == stated.get("priority", 0) + 1
    assert (template["preemptionPolicy"], "priorityClassName" in template) == ("Never", False)
    assert nodes(template) == [("NotIn", ["n1"]), ("In", ["n3"])]
    assert {key: anywhere[key] for key in ("priority", "priorityClassName") if key in anywhere} == stated


def test_volume_of_a_service_account_and_what_schedulers_have_written_is_left_out() -> None:
    volumes = [{"name": "kube-api-access-x2v"}, {"name": "data"}]
    annotations = {"scheduling.koordinator.sh/exact-match-reservation": "{}", "made-by": "a scheduler"}
    old = pod("web-0", "n1", annotations=annotations, labels={"app": "web"}, spec={"volumes": volumes})

    template = spec_of(old=old)["template"]

    assert template["spec"]["volumes"] == [{"name": "data"}]
    assert template["metadata"] == {
        "namespace": "shop",
        "labels": {"app": "web"},
        "annotations": {"scheduling.koordinator.sh/exact-match-reservation": "{}"},
    }
    assert "annotations" not in spec_of()["template"]["metadata"]


@pytest.mark.parametrize(
    ("template", "name"),
    [
        pytest.param({}, UID, id="no template"),
        pytest.param({"metadata": {"name": "mine"}}, "mine", id="a name"),
        pytest.param({"metadata": {"name": ""}}, UID, id="an empty name"),
        pytest.param({"metadata": {"name": 5}}, UID, id="a number"),
        pytest.param({"metadata": "mine"}, UID, id="no metadata"),
    ],
)
def test_reservation_is_named_as_its_template_says_or_else_after_its_job(template: Object, name: str) -> None:
    assert name_of(replace(ASKING, template=template)) == name


UNPLACED: Object = {"type": "PodScheduled", "status": "False"}
THAT_VERY = [{"object": {"kind": "Pod", "uid": "web-0", "name": "web-0", "namespace": "shop"}}]
OF_CONTROLLER = [{"controller": {**owner("ReplicaSet/web"), "namespace": "shop"}}]


@pytest.mark.parametrize(
    ("status", "owners"),
    [
        pytest.param({"phase": "Pending", "conditions": [UNPLACED]}, THAT_VERY, id="it waits for a node"),
        pytest.param({"phase": "Pending", "conditions": [{**UNPLACED, "status": "True"}]}, OF_CONTROLLER, id="bound"),
        pytest.param(
            {"phase": "Pending", "conditions": [{**UNPLACED, "type": "Ready"}]}, OF_CONTROLLER, id="not ready"
        ),
        pytest.param({"phase": "Running", "conditions": [UNPLACED]}, OF_CONTROLLER, id="it runs"),
        pytest.param({"phase": "Pending"}, OF_CONTROLLER, id="nobody has looked at it"),
        pytest.param({"phase": "Pending", "conditions": None}, OF_CONTROLLER, id="its conditions are null"),
        pytest.param(None, OF_CONTROLLER, id="its status is null"),
    ],
)
def test_room_is_for_the_pod_itself_while_that_waits_for_a_node(status: Object | None, owners: list[Object]) -> None:
    assert spec_of(old=OLD | {"status": status})["owners"] == owners


@pytest.mark.parametrize("owners", [None, [], [owner("ReplicaSet/web", controller=False)]])
def test_no_room_is_held_for_a_pod_that_nothing_replaces(owners: list[Object] | None) -> None:
    old = OLD | {"metadata": {**OLD["metadata"], "ownerReferences": owners}}

    with pytest.raises(CannotHoldNow, match="use mode EvictDirectly"):
        made(old=old)


def test_controller_is_told_from_other_owners() -> None:
    owners = [owner("Shop/s", controller=False), owner("ReplicaSet/web")]
    old = OLD | {"metadata": {**OLD["metadata"], "ownerReferences": owners}}

    assert spec_of(old=old)["owners"] == OF_CONTROLLER


def test_pod_without_a_node_excludes_none() -> None:
    old = OLD | {"spec": {key: value for key, value in OLD["spec"].items() if key != "nodeName"}}

    assert "affinity" not in spec_of(old=old)["template"]["spec"]


@pytest.mark.parametrize("name", ["../n1", "N1", "a b"])
def test_room_is_held_on_nothing_that_no_node_is_called(name: str) -> None:
    with pytest.raises(CannotHold, match="is not the name of a node"):
        spec_of(annotations={TARGET_NODE_ANNOTATION: name})
    with pytest.raises(CannotHold, match="is not the name of a node"):
        reservation_for_pending(pod("p"), name, UID, "r", "test", MINUTES, NOW)


def planned(*names: str, node: str = "n1") -> str:
    """The annotation of a job that makes room for these pods."""
    parts = [f'{{"namespace": "shop", "name": "{name}", "uid": "{name}", "node": "{node}"}}' for name in names]
    return f"[{', '.join(parts)}]"


def pending(text: str, *pods: Object, ttl: timedelta | None = MINUTES) -> list[Object]:
    """The Reservations that a job with this annotation wants where these pods are there."""
    making = job(ttl=ttl, annotations={ROOMS_ANNOTATION: text})
    return pending_reservations(making, ObjectCalls(still(*pods).client()), "test", NOW)


P, Q = pod("p", phase="Pending"), pod("q", phase="Pending")


def test_each_pod_that_still_waits_gets_room_of_its_own_number() -> None:
    found = pending(planned("gone", "p", "q"), P, Q)

    assert [each["metadata"]["name"] for each in found] == [f"{UID}-room-1", f"{UID}-room-2"]
    assert [each["spec"]["owners"][0]["object"]["name"] for each in found] == ["p", "q"]
    assert nodes(found[0]["spec"]["template"]["spec"]) == [("In", ["n1"])]
    assert pending("") == []


@pytest.mark.parametrize(("ttl", "expected"), [(MINUTES, "11m0s"), (None, "11m0s"), (timedelta(hours=1), "1h6m0s")])
def test_room_outlasts_the_time_in_which_the_scheduler_does_not_try_its_pod(ttl: timedelta, expected: str) -> None:
    (found,) = pending(planned("p"), P, ttl=ttl)

    assert found["spec"]["ttl"] == expected


@pytest.mark.parametrize(
    ("waiting", "why"),
    [
        pytest.param(None, "is gone", id="it is gone"),
        pytest.param(P | {"metadata": {**P["metadata"], "uid": "new"}}, "is gone", id="another one has its name"),
        pytest.param(pod("p", deleted=1, phase="Pending"), "is gone", id="it is being deleted"),
        pytest.param(pod("p", "n2"), "is scheduled already", id="it has a node"),
    ],
)
def test_nothing_leaves_for_pods_that_do_not_wait_any_more(waiting: Object | None, why: str) -> None:
    present = [] if waiting is None else [waiting]

    with pytest.raises(CannotHold, match=f"pod shop/p, for which it makes room, {why}"):
        pending(planned("p"), *present)
    assert len(pending(planned("p", "q"), *present, Q)) == 1


@pytest.mark.parametrize(("number", "more"), [(1, ""), (3, ""), (4, " (and 1 more)"), (5, " (and 2 more)")])
def test_reason_names_the_first_few_pods(number: int, more: str) -> None:
    with pytest.raises(CannotHold) as caught:
        pending(planned(*(f"p{index}" for index in range(number))))

    told = str(caught.value)
    assert told.count("for which it makes room") == min(number, 3)
    assert told.endswith(f"is gone{more}")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("{}", "is not a list of pods", id="no list"),
        pytest.param("[" * 5000, "is not a list of pods", id="nested too deeply"),
        pytest.param(planned("../x"), "does not name a pod", id="a path for a name"),
        pytest.param(planned("p").replace("shop", "a/b"), "does not name a pod", id="a path for a namespace"),
        pytest.param(planned("p").replace('"uid": "p"', '"uid": ""'), "does not name a pod", id="no UID"),
        pytest.param(planned("p", node="N 1"), "does not name a node", id="no node"),
        pytest.param(planned(*["p"] * 257), "names more than 256 pods", id="too many"),
    ],
)
def test_annotation_that_makes_no_sense_is_refused_and_names_no_reservations(text: str, why: str) -> None:
    with pytest.raises(CannotHold, match=why):
        pending(text, P)
    assert room_names(job(annotations={ROOMS_ANNOTATION: text})) == []


def test_as_many_pods_get_room_as_a_node_can_have() -> None:
    assert len(room_names(job(annotations={ROOMS_ANNOTATION: planned(*["p"] * 256)}))) == 256
