"""A run that ends by itself leaves nothing behind, whatever was answered to what it wrote."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from descheduler.plan.outcome import OutcomeCode
from descheduler.supervision import Watch
from tests.faults.faults import Act, Delivery, Fault, Form
from tests.living.api.server import Call
from tests.living.cluster import LivingCluster
from tests.living.faults import AnyFault, FaultyWay
from tests.migration.roads.unclear_writes import ALL_WAYS, EFFECTS, at_call, is_write, left_after, writes
from tests.migration.roads.whole_runs import WAYS, watch_of
from tests.series import Part, parts

HOLDING = ("reservations", "placeholders")
CREATIONS = {
    "reservations": ("/podmigrationjobs", "/reservations"),
    "placeholders": ("/configmaps", "/namespaces/shop/pods"),
    "directly": ("/podmigrationjobs", "/podmigrationjobs"),
}
"""Where each way creates jobs and rooms."""
JOBS = "podmigrationjobs.scheduling.koordinator.sh"
UNANSWERED: dict[str, AnyFault] = {
    "504": Fault(Act.AT_ONCE, 504),
    "500": Fault(Act.AT_ONCE, 500),
    "504 of a proxy": Fault(Act.AT_ONCE, 504, Form.TEXT),
    "reset": Fault(Act.AT_ONCE, delivery=Delivery.RESET),
    "504, then the effect": Fault(Act.LATE, 504, late_seconds=20.0),
}
EVERY = pytest.mark.parametrize("effect", UNANSWERED)


@pytest.mark.long
@pytest.mark.parametrize("name", ALL_WAYS)
@pytest.mark.parametrize("part", parts(27))
def test_nothing_is_left_of_a_write_without_a_clear_answer(part: Part, name: str) -> None:
    """Every few of the writes meet each effect, at other writes for each."""
    cases = [
        (number, effect) for offset, effect in enumerate(EFFECTS) for number, _ in part.of(writes(name), shift=offset)
    ]

    broken = {(number, effect): left_after(name, at_call(number, EFFECTS[effect]))[0] for number, effect in cases}

    assert not any(broken.values()), broken


def posts_to(ending: str, fault: AnyFault, *, most: int | None = None) -> Callable[[FaultyWay, Call], AnyFault | None]:
    """Has the first so many creations there meet `fault`, by default all."""
    left = [most]

    def choose(way: FaultyWay, call: Call) -> AnyFault | None:
        if call.request.method != "POST" or not call.request.path.endswith(ending) or left[0] == 0:
            return None
        left[0] = None if left[0] is None else left[0] - 1
        return fault

    return choose


@EVERY
@pytest.mark.parametrize("name", HOLDING)
def test_room_whose_every_creation_has_no_clear_answer_is_given_back(name: str, effect: str) -> None:
    broken, _ = left_after(name, posts_to(CREATIONS[name][1], UNANSWERED[effect]))

    assert broken == []


@EVERY
@pytest.mark.parametrize("name", WAYS)
def test_jobs_whose_every_creation_has_no_clear_answer_are_undone(name: str, effect: str) -> None:
    broken, _ = left_after(name, posts_to(CREATIONS[name][0], UNANSWERED[effect]))

    assert broken == []


@pytest.mark.parametrize("effect", ["504", "500", "504 of a proxy", "reset"])
@pytest.mark.parametrize("name", ALL_WAYS)
def test_nothing_is_left_where_no_write_of_a_job_is_answered_clearly(name: str, effect: str) -> None:
    def choose(way: FaultyWay, call: Call) -> AnyFault | None:
        is_of_lease = call.request.path.endswith("-status") or "leases" in call.request.path
        return UNANSWERED[effect] if is_write(call) and not is_of_lease else None

    broken, _ = left_after(name, choose)

    assert broken == []


def gone(cluster: LivingCluster) -> Callable[[], None]:
    """Somebody deletes the pods that are to move."""

    def delete() -> None:
        for found in cluster.pods(node="n1"):
            path = f"/api/v1/namespaces/shop/pods/{found['metadata']['name']}"
            cluster.client(agent="admin").send("DELETE", path, body=b'{"gracePeriodSeconds": 0}')

    return delete


@EVERY
@pytest.mark.parametrize("name", HOLDING)
def test_room_without_a_clear_answer_is_given_back_when_the_pod_is_gone_meanwhile(name: str, effect: str) -> None:
    ending = CREATIONS[name][1]

    def prepare(cluster: LivingCluster, way: FaultyWay, watch: Watch) -> None:
        way.before("POST", ending, gone(cluster), nth=2)

    broken, _ = left_after(name, posts_to(ending, UNANSWERED[effect]), prepare, watch_of=limited)

    assert broken == []


def limited(cluster: LivingCluster) -> Watch:
    return watch_of(cluster, 600.0)


@pytest.mark.parametrize("which", [0, 1], ids=["job", "room"])
@pytest.mark.parametrize("effect", ["504", "500", "504 of a proxy", "reset"])
@pytest.mark.parametrize("name", HOLDING)
def test_nothing_is_left_when_the_run_is_stopped_meanwhile(name: str, effect: str, which: int) -> None:
    ending = CREATIONS[name][which]

    def prepare(cluster: LivingCluster, way: FaultyWay, watch: Watch) -> None:
        way.before("POST", ending, lambda: watch.request_stop(signal.SIGTERM))

    broken, _ = left_after(name, posts_to(ending, UNANSWERED[effect]), prepare, watch_of=limited)

    assert broken == []


@pytest.mark.parametrize("which", [0, 1], ids=["job", "room"])
@pytest.mark.parametrize("name", HOLDING)
def test_a_stopped_run_tells_what_may_come_to_be_after_its_end(name: str, which: int) -> None:
    ending = CREATIONS[name][which]

    def prepare(cluster: LivingCluster, way: FaultyWay, watch: Watch) -> None:
        way.before("POST", ending, lambda: watch.request_stop(signal.SIGTERM))

    _, result = left_after(name, posts_to(ending, UNANSWERED["504, then the effect"]), prepare, watch_of=limited)

    assert result is not None
    assert any("may be left in the cluster; the next run removes them" in note for note in result.decisions.notes)


def test_a_run_that_gets_clear_answers_tells_nothing_of_the_kind() -> None:
    for name in ALL_WAYS:
        _, result = left_after(name, lambda way, call: None)

        assert result is not None
        assert not [note for note in result.decisions.notes if "may be left" in note]


def deleted(cluster: LivingCluster) -> Callable[[], None]:
    """Somebody deletes all jobs."""

    def delete() -> None:
        for found in cluster.all(JOBS):
            path = f"/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs/{found['metadata']['name']}"
            cluster.client(agent="admin").send("DELETE", path)
        for found in cluster.all("configmaps"):
            if found["metadata"]["name"].startswith("descheduler-job-"):
                path = f"/api/v1/namespaces/kube-system/configmaps/{found['metadata']['name']}"
                cluster.client(agent="admin").send("DELETE", path)

    return delete


@pytest.mark.long
@pytest.mark.parametrize("name", ALL_WAYS)
@pytest.mark.parametrize("part", parts(4))
def test_no_room_is_left_of_jobs_that_somebody_deletes_before_a_write(part: Part, name: str) -> None:
    broken = {number: left_after_deletions(name, number) for number, _ in part.of(writes(name)[1:])}

    assert not any(broken.values()), broken


def left_after_deletions(name: str, number: int) -> list[str]:
    """What is left of room once all jobs were deleted before the call of this number, a sentence each."""
    found: list[LivingCluster] = []

    def choose(way: FaultyWay, call: Call) -> None:
        if way.num_calls == number:
            deleted(found[0])()

    broken, _ = left_after(name, choose, lambda cluster, way, watch: found.append(cluster), watch_of=limited)
    return [text for text in broken if "room" in text or "left over" in text]


@pytest.mark.parametrize("name", HOLDING)
def test_a_job_that_is_created_without_a_clear_answer_goes_on(name: str) -> None:
    broken, result = left_after(name, posts_to(CREATIONS[name][0], UNANSWERED["504"], most=2))

    assert broken == []
    assert result is not None
    moved = {OutcomeCode.DONE, OutcomeCode.MISSED_ROOM}
    assert {outcome.code for outcome in result.outcomes} <= moved
