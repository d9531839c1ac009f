"""Who uses a Reservation, who may, and what its scheduler makes of it."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.explanation.explaining import explain
from descheduler.explanation.subjects.reservation import ReservationExplanation
from descheduler.placement.configuration.kube_scheduler.configuration import (
    SchedulerConfiguration,
    load_scheduler_configuration,
)
from descheduler.placement.plugins.table import PLUGINS
from tests.builders import NOW, Object
from tests.explanation.subjects.tables import explained
from tests.placement.plugins.reservation.worlds import (
    KOORD,
    configuration,
    koord_pod,
    nodes,
    reservation_object,
    snapshot_of,
)


def room(**facts: Any) -> Object:
    return reservation_object("room", **{"node": "a", "allocateOnce": False, **facts})


def explanation(*objects: Object, scheduler: SchedulerConfiguration | None = None) -> ReservationExplanation:
    """Of the Reservation `room`, beside nodes a and b."""
    if scheduler is None:
        return explained(ReservationExplanation, "reservation", "room", *nodes(a="8", b="8"), *objects)
    snapshot = snapshot_of(*nodes(a="8", b="8"), *objects)
    settings = SchedulingSettings(configuration=scheduler)
    found = explain("reservation", "room", snapshot, policy=None, settings=settings, now=NOW).answer
    assert isinstance(found, ReservationExplanation)
    return found


USES = "scheduling.koordinator.sh/reservation-allocated"


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({"uses": "room", "node": "a"}, True, id="on its node"),
        pytest.param({"uses": "room", "node": "b"}, False, id="on another node"),
        pytest.param({"uses": "room"}, False, id="without a node"),
        pytest.param({"uses": "other", "node": "a"}, False, id="of another Reservation"),
        pytest.param({"uses": "room", "node": "a", "phase": "Failed"}, False, id="that has finished"),
        pytest.param({"node": "a"}, False, id="without the annotation"),
        pytest.param({"node": "a", "annotations": {USES: "{"}}, False, id="with an annotation that cannot be read"),
    ],
)
def test_pod_uses_it_that_says_so_on_its_node(facts: dict[str, Any], expected: bool) -> None:
    found = explanation(room(), koord_pod("web-0", cpu="1", **facts))

    assert [user.pod.name for user in found.users] == (["web-0"] if expected else [])


def test_pending_reservation_is_used_by_no_pending_pod() -> None:
    assert explanation(room(node=""), koord_pod("web-0", uses="room")).users == ()


def test_owners_that_are_listed_are_told_once() -> None:
    found = room()
    owners = [("web-0", "default-web-0"), ("web-1", "default-web-1"), ("gone", "x")]
    found["status"]["currentOwners"] = [{"namespace": "default", "name": name, "uid": uid} for name, uid in owners]
    pods = [koord_pod("web-0", uses="room", node="a", cpu="1"), koord_pod("web-1", node="b", cpu="2")]

    users = explanation(found, *pods).users

    assert [(user.pod.name, user.node, user.is_listed) for user in users] == [
        ("web-0", "a", False),
        ("web-1", "b", True),
        ("gone", None, True),
    ]
    assert users[1].requests["cpu"] == 2000


def test_pods_that_its_owners_match_are_counted_unless_they_have_finished() -> None:
    pods = [
        koord_pod("web-0", node="b"),
        koord_pod("web-1"),
        koord_pod("web-2", node="b", phase="Succeeded"),
        koord_pod("db", app="db"),
    ]

    assert explanation(room(), *pods).facts.num_owned_pods == 2


def test_pods_that_could_use_it_or_name_it_wait_for_it() -> None:
    named = {"scheduling.koordinator.sh/reservation-affinity": '{"name": "room"}'}
    pods = [
        koord_pod("web"),
        koord_pod("named", app="db", annotations=named),
        koord_pod("other", app="db"),
        koord_pod("runs", node="b"),
    ]

    assert [each.pod.name for each in explanation(room(), *pods).waiting] == ["named", "web"]


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        pytest.param({}, "can use the Reservation; 2/2 nodes are available", id="available"),
        pytest.param({"node": ""}, "2/2 nodes are available", id="pending"),
        pytest.param({"node": "gone"}, "2/2 nodes are available", id="on a node that does not exist"),
        pytest.param({"phase": "Succeeded"}, "2/2 nodes are available", id="ended"),
    ],
)
def test_pod_that_waits_is_told_whether_it_can_use_it(facts: dict[str, Any], said: str) -> None:
    (waiting,) = explanation(room(**facts), koord_pod("web", cpu="1")).waiting

    assert waiting.message == said


@pytest.mark.parametrize(("node", "placed"), [("", True), ("a", False)], ids=["without a node", "with a node"])
def test_pending_reservation_alone_is_placed(node: str, placed: bool) -> None:
    assert (explanation(room(node=node)).placement is not None) is placed


def plain(**plugins: Any) -> SchedulerConfiguration:
    """A scheduler of the name of Koordinator's, with these plugins besides the usual ones."""
    enabled = {point: {"enabled": [{"name": name} for name in names]} for point, names in plugins.items()}
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": KOORD, "plugins": enabled}],
    }
    return load_scheduler_configuration(document, plugins=PLUGINS)


NOT_RUN = f"{KOORD} does not run the plugin Reservation: it treats the Reservation as nothing"
NOT_MARKED = (
    f"the configuration of {KOORD} does not enable Reservation under reserve: pods get its room, and it is never marked"
    " as used"
)


@pytest.mark.parametrize(
    ("scheduler", "notes"),
    [
        pytest.param(configuration(reserves=True), (), id="as it should be"),
        pytest.param(configuration(reserves=False), (NOT_MARKED,), id="without reserve"),
        pytest.param(plain(), (NOT_RUN,), id="without the plugin"),
        pytest.param(plain(reserve=["Reservation"]), (), id="with reserve alone"),
    ],
)
def test_note_says_what_the_scheduler_leaves_out(scheduler: SchedulerConfiguration, notes: tuple[str, ...]) -> None:
    assert explanation(room(), scheduler=scheduler).notes == notes


@pytest.mark.parametrize(
    ("facts", "resources"),
    [
        pytest.param({}, [("cpu", 4000, 1000, 3000)], id="held"),
        pytest.param({"phase": "Succeeded"}, [("cpu", 4000, 1000, None)], id="ended"),
        pytest.param({"node": "", "phase": "Pending"}, [("cpu", 4000, 0, None)], id="pending"),
    ],
)
def test_amounts_are_told_and_what_is_free_of_them(
    facts: dict[str, Any], resources: list[tuple[str, int, int, int | None]]
) -> None:
    found = explanation(room(**facts), koord_pod("web-0", uses="room", node="a", cpu="1"))

    assert [(each.resource, each.reserved, each.used, each.free) for each in found.resources] == resources


def test_reservation_that_is_being_deleted_is_said_to_be() -> None:
    found = room()
    found["metadata"]["deletionTimestamp"] = "2026-06-30T11:00:00Z"

    assert explanation(found, scheduler=configuration(reserves=True)).notes == (
        "it is being deleted; until it is gone, only pods that name it in reservation-affinity use it",
    )
