"""`explain podmigrationjob`: which pod moves, how far that has come, and what is in its way."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.explanation.subjects.migration_job import MigrationJobExplanation
from tests.builders import Object, ago, pod_object
from tests.explanation.subjects.tables import explained, table
from tests.placement.plugins.reservation.worlds import nodes, reservation_object

REFERENCE = {"namespace": "default", "name": "web-0"}
ROOM: dict[str, Any] = {"reservationOptions": {"reservationRef": {"name": "room"}}}


def job(
    name: str = "move", *, phase: str = "", pod: str = "web-0", status: Object | None = None, **spec: Any
) -> Object:
    """A PodMigrationJob of a pod in namespace `default`, made 10 minutes ago."""
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "PodMigrationJob",
        "metadata": {"name": name, "uid": name, "creationTimestamp": ago(600)},
        "spec": {"podRef": {"namespace": "default", "name": pod}, **spec},
        "status": {"phase": phase, **(status or {})},
    }


def notes(*objects: Object) -> tuple[str, ...]:
    """What is said of the job `move`."""
    found = explained(MigrationJobExplanation, "podmigrationjob", "move", *nodes(a="8"), *objects)
    return found.notes


def test_table_names_the_pod_and_how_far_it_has_come() -> None:
    condition = {"type": "ReservationScheduled", "status": "True", "lastTransitionTime": ago(60)}
    status = {"status": "ReservationScheduled", "conditions": [condition]}
    reference = {"reservationRef": {"name": "room"}}
    objects = [
        *nodes(a="8", b="8"),
        pod_object("web-0", node="a"),
        reservation_object("room", node="b"),
        job(phase="Running", status=status, mode="ReservationFirst", ttl="30m", reservationOptions=reference),
    ]

    assert table("podmigrationjob", "move", *objects) == (
        "PodMigrationJob move\n"
        "NAMESPACE   POD     NODE   MODE               TIME LIMIT\n"
        "default     web-0   a      ReservationFirst   2026-06-30T12:20:00Z\n"
        "\n"
        "PHASE     STATUS                 REASON\n"
        "Running   ReservationScheduled   -\n"
        "\n"
        "Reservation:   room\n"
        "\n"
        "CONDITION              TRUE   REASON   SINCE\n"
        "ReservationScheduled   True   -        2026-06-30T11:59:00Z\n"
        "\n"
        "Reservation room is Available on node b\n"
    )


_WAITS = "it waits for arbitration: limits on migrations, or filters of MigrationController, hold it back"


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param([pod_object("web-0", node="a"), job()], (_WAITS,), id="a job that waits"),
        pytest.param([job(phase="Running")], ("the pod default/web-0 does not exist (any more)",), id="no pod"),
        pytest.param(
            [pod_object("web-0", node="a"), job(paused=True)],
            ("it is paused (spec.paused): nothing happens, and its time limit does not count",),
            id="paused",
        ),
        pytest.param(
            [pod_object("web-0", node="a"), job(ttl="5m", phase="Running")],
            ("its time limit is over (spec.ttl): the controller ends it as Failed",),
            id="over time",
        ),
        pytest.param(
            [pod_object("web-0", node="a"), job(phase="Odd")], ("its phase Odd is not known",), id="unknown phase"
        ),
        pytest.param([job(phase="Failed")], (), id="ended"),
        pytest.param(
            [pod_object("web-0", node="a"), job(phase="Running"), job("more")],
            ("other PodMigrationJobs name the same pod: more",),
            id="another job",
        ),
    ],
)
def test_note_says_what_is_in_its_way(objects: list[Object], expected: tuple[str, ...]) -> None:
    assert notes(*objects) == expected


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param(
            [pod_object("web-0", node="a", phase="Failed"), job(phase="Running")],
            ("the pod default/web-0 has finished",),
            id="a pod that has finished",
        ),
        pytest.param(
            [pod_object("web-0", node="a", deleted=1), job(phase="Running")],
            ("the pod default/web-0 is being deleted",),
            id="a pod that is being deleted",
        ),
        pytest.param(
            [pod_object("web-0", node="a", uid="new"), job(phase="Running", podRef=REFERENCE | {"uid": "old"})],
            ("the pod default/web-0 has another uid: it was created again",),
            id="another pod of its name",
        ),
        pytest.param(
            [pod_object("web-0", node="a", uid="old"), job(phase="Running", podRef=REFERENCE | {"uid": "old"})],
            (),
            id="the pod of its uid",
        ),
        pytest.param(
            [pod_object("web-0", node="a"), job(ttl="5m", paused=True)],
            ("it is paused (spec.paused): nothing happens, and its time limit does not count",),
            id="over time and paused",
        ),
        pytest.param([pod_object("web-0", node="a"), job(ttl="15m", phase="Running")], (), id="in time"),
        pytest.param(
            [pod_object("web-0", node="a"), job(phase="Running"), job("more", phase="Succeeded")],
            (),
            id="a job that has ended",
        ),
        pytest.param(
            [pod_object("web-0", node="a"), job(phase="Running"), job("more", pod="web-1")],
            (),
            id="a job of another pod",
        ),
        pytest.param(
            [pod_object("web-0", node="a"), job(phase="Running"), *(job(f"more-{number}") for number in range(4))],
            ("other PodMigrationJobs name the same pod: more-0, more-1, more-2",),
            id="many other jobs",
        ),
        pytest.param(
            [pod_object("web-0", node="a"), job(phase="Running", **ROOM)],
            ("Reservation room does not exist",),
            id="no Reservation",
        ),
        pytest.param(
            [pod_object("web-0", node="a"), job(phase="Running", **ROOM), reservation_object("room", cpu="1")],
            ("Reservation room is Pending",),
            id="a Reservation without a node",
        ),
        pytest.param(
            [pod_object("web-0", node="a"), job(phase="Running", mode="EvictDirectly", **ROOM)],
            ("Reservation room has no effect with mode EvictDirectly",),
            id="a Reservation in vain",
        ),
    ],
)
def test_note_says_what_the_job_waits_for(objects: list[Object], expected: tuple[str, ...]) -> None:
    assert notes(*objects) == expected


def test_pod_of_another_uid_is_not_that_of_the_job() -> None:
    def node(uid: str) -> str | None:
        objects = [*nodes(a="8"), pod_object("web-0", node="a", uid=uid), job(podRef=REFERENCE | {"uid": "old"})]
        return explained(MigrationJobExplanation, "podmigrationjob", "move", *objects).node

    assert (node("old"), node("new")) == ("a", None)


def test_table_says_what_is_not_stated() -> None:
    text = table("podmigrationjob", "move", *nodes(a="8"), pod_object("web-0", node="a"), job(paused=True))

    assert "default     web-0   a      default   2026-06-30T11:55:00Z\n" in text or "never" in text
    assert "Pending, paused" in text
    assert "Reservation:" not in text
