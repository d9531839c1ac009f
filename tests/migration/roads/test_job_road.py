"""How jobs of a run go on: what begins when, what ends how, and what is given back."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.eviction.checks.limits import RunLimits
from descheduler.kube.evict import EvictionResponse
from descheduler.migration.job.conditions import failed
from descheduler.migration.job.steps import End
from descheduler.migration.roads.adoption import adopted_task
from descheduler.migration.roads.keeper import Progress
from descheduler.model.koordinator.migration_job import JobReason, MigrationJob
from descheduler.plan.outcome import Outcome, OutcomeCode
from descheduler.transport.errors import TransportError
from tests.builders import make_pod
from tests.migration.roads.scripted import (
    EVICTION,
    SETTINGS,
    World,
    ended,
    fails,
    leaves,
    may_leave,
    move,
    waits,
)
from tests.migration.stand_ins import no_answer, no_disruption, not_sent, turned_away, wait_told

DONE, BUDGET = OutcomeCode.DONE, OutcomeCode.BUDGET
LOST = fails(TransportError("lost"))


def told(outcome: Outcome) -> tuple[OutcomeCode, str]:
    return outcome.code, outcome.message


def test_pod_leaves_and_lands() -> None:
    world = World()

    outcome = world.run(move("a"))["a"]

    assert (told(outcome), outcome.landed_on, outcome.num_attempts) == ((DONE, ""), "n2", 1)
    assert world.undone == []


@pytest.mark.parametrize(("most", "at_once"), [(1, ["a"]), (2, ["a", "b"]), (9, ["a", "b", "c"])])
def test_no_more_jobs_are_under_way_than_the_settings_allow(most: int, at_once: list[str]) -> None:
    looks = {name: [waits, leaves] for name in "abc"}
    world = World(looks, settings=replace(SETTINGS, most_active=most))

    world.run(*map(move, "abc"))

    assert [name for name, created_at in world.created if created_at == 0.0] == at_once


def test_pods_of_one_workload_leave_one_after_the_other() -> None:
    world = World({"a": [waits, leaves]})

    world.run(move("a", workload="w"), move("b", workload="w"), move("c"))

    assert [name for name, created_at in world.created if created_at == 0.0] == ["a", "c"]
    assert len(world.created) == 3


def test_next_wave_begins_when_the_last_has_ended() -> None:
    world = World({"a": [waits, leaves]})

    world.run(move("b", wave=2), move("a"))

    assert [name for name, _ in world.created] == ["a", "b"]
    assert world.created[1][1] > 0.0


class TestLandings:
    """A job that held no room ends when its pod is gone; then its replacement is looked for."""

    def test_replacement_that_is_ready_in_time_is_seen(self) -> None:
        world = World({"a": [may_leave, ended]})
        world.clock.on_sleep = lambda: setattr(world, "replacement", make_pod("a-new", node="n3", ready=True))

        outcome = world.run(move("a"))["a"]

        assert (told(outcome), outcome.landed_on) == ((DONE, ""), "n3")

    @pytest.mark.parametrize(
        ("found", "is_unscheduled"),
        [
            pytest.param(None, True, id="none has come"),
            pytest.param(make_pod("a-new", node="", ready=False), True, id="it has no node"),
            pytest.param(make_pod("a-new", node="n3", ready=False), False, id="it is not ready"),
        ],
    )
    def test_replacement_is_given_up_after_a_while_and_later_waves_stay_without_a_node(
        self, found: Any, *, is_unscheduled: bool
    ) -> None:
        world = World({"a": [may_leave, ended]})
        world.replacement = found

        outcomes = world.run(move("a"), move("b", wave=2))

        assert told(outcomes["a"]) == (OutcomeCode.NOT_REPLACED, "its replacement is not ready yet")
        assert 30.0 <= world.clock.now() < 35.0
        expected = OutcomeCode.REPLACEMENT_PENDING if is_unscheduled else DONE
        assert outcomes["b"].code is expected

    def test_replacement_has_its_time_and_no_more(self) -> None:
        world = World({"a": [may_leave, ended]}, settings=replace(SETTINGS, landing_seconds=6.0))

        world.run(move("a"))

        assert world.looks_at("landing of a") == [1.5, 3.5, 6.5]  # the pod was seen to be gone at 0.5

    @pytest.mark.parametrize("is_adopted", [True, False])
    def test_nothing_is_awaited_for_an_earlier_run_or_where_nothing_comes(self, *, is_adopted: bool) -> None:
        world = World({"a": [may_leave, ended]})
        alone = replace(move("a"), controller=None)
        job = MigrationJob("j", "Running", "shop", "a", "uid-a", uid="u", reservation_name="r")

        outcomes = world.run(adopted_task(job) if is_adopted else alone)

        assert outcomes["a"].code is DONE
        assert world.looks_at("landing of a") == []


class TestRefusals:
    """The API server does not evict a pod now."""

    def test_budget_is_asked_again_for_a_while(self) -> None:
        world = World(api={"a": [no_disruption()] * 99})

        outcome = world.run(move("a"))["a"]

        assert outcome.code is BUDGET
        assert [at for _, at in world.api.calls] == [0.0, 5.0, 10.0, 15.0, 20.0]
        assert [phase for _, phase, _ in world.undone] == ["Failed"]

    def test_budget_that_has_room_again_lets_the_pod_go(self) -> None:
        world = World(api={"a": [no_disruption()] * 2})

        assert world.run(move("a"))["a"].code is DONE
        assert world.undone == []

    @pytest.mark.parametrize(
        ("answer", "calls"),
        [
            pytest.param(wait_told(7.0), [0.0, 7.0], id="for so long"),
            pytest.param(wait_told(60.0), [0.0, 60.0], id="for as long as may be"),
            pytest.param(wait_told(61.0), [0.0], id="for longer"),
            pytest.param(turned_away(7.0), [0.0, 7.0], id="for any pod"),
            pytest.param(EvictionResponse(403), [0.0], id="never"),
        ],
    )
    def test_pod_is_asked_for_again_when_the_server_says(self, answer: EvictionResponse, calls: list[float]) -> None:
        world = World(api={"a": [answer]})

        world.run(move("a"))

        assert [at for _, at in world.api.calls] == calls
        assert bool(world.undone) is (len(calls) == 1)

    def test_pod_that_is_gone_when_it_is_asked_for_is_looked_at_at_once(self) -> None:
        def gone(job: MigrationJob) -> Progress:
            return Progress(failed(job, JobReason.MISSING_POD, "gone"), End())

        world = World({"a": [may_leave, gone]}, api={"a": [EvictionResponse(404)]})

        assert world.run(move("a"))["a"].code is OutcomeCode.POD_GONE
        assert world.looks_at("a") == [0.0, 0.0]

    def test_conflict_with_the_pod_still_there_is_refused_for_good(self) -> None:
        world = World(api={"a": [EvictionResponse(409, "Conflict")] * 9})

        assert world.run(move("a"))["a"].code is OutcomeCode.CONFLICT
        assert (len(world.api.calls), [phase for _, phase, _ in world.undone]) == (1, ["Failed"])

    def test_faults_are_tried_again_twice(self) -> None:
        world = World(api={"a": [EvictionResponse(500)] * 9})

        outcome = world.run(move("a"))["a"]

        assert (outcome.code, len(world.api.calls)) == (OutcomeCode.SERVER_ERROR, 3)

    def test_server_without_a_connection_is_tried_as_often(self) -> None:
        world = World(api={"a": [not_sent()] * 9})

        assert (world.run(move("a"))["a"].code, len(world.api.calls)) == (OutcomeCode.NO_CONNECTION, 3)

    def test_pod_in_doubt_is_not_given_up_before_the_doubt_is_over(self) -> None:
        """It may have been evicted by the first call."""
        world = World(api={"a": [no_answer(), *[EvictionResponse(403)] * 9]})

        outcome = world.run(move("a"))["a"]

        assert (outcome.code, [at for _, at in world.api.calls]) == (OutcomeCode.FORBIDDEN, [0.0, 1.0, 40.0])
        assert [phase for _, phase, _ in world.undone] == ["Failed"]


class TestLimits:
    """Limits of the run."""

    def test_jobs_beyond_a_limit_are_undone(self) -> None:
        settings = replace(SETTINGS, eviction=replace(EVICTION, limits=RunLimits(total=1)))
        world = World(settings=settings)

        outcomes = world.run(move("a"), move("b"))

        limit = "maxNoOfPodsToEvictTotal (1) reached"
        assert [told(outcomes[name]) for name in "ab"] == [(DONE, ""), (OutcomeCode.LIMIT, limit)]
        assert world.undone == [("b", "Aborted", limit)]

    def test_pod_that_stays_frees_the_limit(self) -> None:
        settings = replace(SETTINGS, eviction=replace(EVICTION, limits=RunLimits(total=1)))
        world = World(settings=settings, api={"a": [EvictionResponse(403)]})

        outcomes = world.run(move("a"), move("b"))

        assert [outcomes[name].code for name in "ab"] == [OutcomeCode.FORBIDDEN, DONE]

    def test_job_that_waits_for_an_answer_that_decides_its_limit_is_not_undone_before(self) -> None:
        settings = replace(SETTINGS, eviction=replace(EVICTION, limits=RunLimits(total=1)))
        world = World(settings=settings, api={"a": [no_disruption(), EvictionResponse(403)]})

        outcomes = world.run(move("a"), move("b"))

        assert [outcomes[name].code for name in "ab"] == [OutcomeCode.FORBIDDEN, DONE]
        assert [(name, round(at)) for name, at in world.api.calls] == [("a", 0), ("a", 5), ("b", 5)]


class TestBundles:
    """Pods that leave together."""

    def test_all_leave(self) -> None:
        outcomes = World().run(move("a", bundle=1), move("b", bundle=1))

        assert [outcome.code for outcome in outcomes.values()] == [DONE, DONE]

    def test_others_stay_with_the_one_that_cannot_leave(self) -> None:
        def no_room(job: MigrationJob) -> Progress:
            return Progress(failed(job, JobReason.FAILED_CREATE_RESERVATION, "no room"), End())

        world = World({"a": [waits, waits, no_room], "b": [may_leave]})

        outcomes = world.run(move("a", bundle=1), move("b", bundle=1), move("c"))

        why = "pod shop/a, with which it has to leave together, was not evicted"
        assert told(outcomes["b"]) == (OutcomeCode.BUNDLE, why)
        assert (outcomes["a"].code, outcomes["c"].code) == (OutcomeCode.NO_ROOM, DONE)
        assert world.api.names == ["c"]

    def test_none_leaves_before_all_have_room(self) -> None:
        world = World({"b": [waits, waits, leaves]})

        world.run(move("a", bundle=1), move("b", bundle=1))

        assert [name for name, _ in world.api.calls] == ["a", "b"]
        assert world.api.calls[0][1] > 0.0


def test_no_job_asks_a_busy_server_before_the_time_that_it_told() -> None:
    world = World(api={name: [turned_away(5.0)] for name in "ab"})

    outcomes = world.run(move("a"), move("b"))

    assert [outcome.code for outcome in outcomes.values()] == [DONE, DONE]
    assert [round(at) for _, at in world.api.calls] == [0, 5, 10, 10]


def test_pace_of_the_policy_holds_for_jobs() -> None:
    settings = replace(SETTINGS, eviction=replace(EVICTION, qps=0.5, burst=1))
    world = World(settings=settings)

    world.run(move("a"), move("b"), move("c"))

    assert [round(at) for _, at in world.api.calls] == [0, 2, 4]
