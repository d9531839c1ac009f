"""What goals have come to: by the plan where it was carried out as it is, else by what was evicted."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import Any, cast

import pytest
from msgspec.structs import replace

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round
from descheduler.cycle.live.reached_goals import announce_goals, reached_goals
from descheduler.cycle.options import RunResult
from descheduler.cycle.plugins import REGISTRY
from descheduler.kube.leases.held_lease import HeldLease
from descheduler.kube.leases.settings import LeaseSettings
from descheduler.model.shard import WHOLE_CLUSTER
from descheduler.plan.decisions import Decisions
from descheduler.plan.facts import PluginFacts
from descheduler.plan.goals import Goal, Level, ReachedGoal
from descheduler.plan.moves import Move
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction
from descheduler.policy.load import load_policy
from descheduler.supervision import RunStopped, Watch
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.cycle.live.runs import crowded
from tests.living.api.server import Call
from tests.living.faults import AnyFault, FaultyWay, Kind
from tests.migration.roads.whole_runs import watch_of
from tests.report.decided_cycles import pod_life_time_policy

PODS = {name: make_pod(name, uid=name) for name in ("one", "two", "three")}
NAME = ("main", "MigrationPlanner")


def goal(before: int, after: int) -> Goal:
    return Goal(
        objective="consolidateNodes",
        levels=(Level("nodes", before, after, 0),),
        evictions=1,
        bound=None,
        cost=1000,
        cost_bound=None,
        status="feasible",
        seconds=0.5,
        work=1,
        sentence="",
    )


def decided(names: str, *goals: Goal, facts: PluginFacts | None = None) -> Decisions:
    """A round that evicts these pods for these goals."""
    snapshot = make_snapshot([make_node("a")], PODS.values())
    empty = decide(load_policy(pod_life_time_policy(), REGISTRY), snapshot, now=NOW)
    moves = tuple(Move(PODS[name], "main", "MigrationPlanner") for name in names.split())
    known = {NAME: facts or PluginFacts("", 3, 2, goals=goals)} if goals or facts else {}
    return replace(empty, moves=moves, facts=known)


def outcomes(names: str, kind: OutcomeKind = OutcomeKind.EVICTED) -> tuple[Outcome, ...]:
    evictions = [PlannedEviction("default", name, name, "a", "main", "q") for name in names.split()]
    return tuple(Outcome(each, kind, OutcomeCode.DONE, "") for each in evictions)


class Measure:
    """Notes what it is asked to measure; its answer has this figure."""

    def __init__(self, answer: Decisions | BaseException) -> None:
        self.asked: list[list[str]] = []
        self._answer = answer

    def __call__(self, this_round: Round) -> Decisions:
        assert this_round.measures
        self.asked.append([move.pod.name for move in this_round.prior_moves])
        if isinstance(self._answer, BaseException):
            raise self._answer
        return self._answer


FIGURE = decided("", facts=PluginFacts("", 0, 0, figures=(7,)))
OF_GOALS = decided("", goal(3, 5))


@pytest.mark.parametrize(
    ("rounds", "done", "answer", "reached", "measured"),
    [
        pytest.param(["one two"], outcomes("one two"), FIGURE, 1, [], id="as planned"),
        pytest.param(["one two"], outcomes("one"), FIGURE, 7, [["one"]], id="one of two"),
        pytest.param(["one two"], outcomes("one"), OF_GOALS, 5, [["one"]], id="a planner that tells goals"),
        pytest.param(["one two"], outcomes("one"), decided(""), None, [["one"]], id="one that tells nothing"),
        pytest.param(["one two"], outcomes("one"), RunStopped("over"), None, [["one"]], id="the time is over"),
        pytest.param(["one two"], outcomes("one"), TimeoutError(), None, [["one"]], id="it takes too long"),
        pytest.param(["one two"], outcomes("one two", OutcomeKind.REFUSED), FIGURE, 7, [[]], id="all were refused"),
        pytest.param(
            ["one", "one two"], outcomes("one two"), FIGURE, 1, [], id="in two rounds, the last of which has both"
        ),
        pytest.param(["one", "two"], outcomes("one two"), FIGURE, 7, [["one", "two"]], id="another one instead"),
        pytest.param(["one"], outcomes("one", OutcomeKind.BACKGROUND), FIGURE, 1, [], id="by another controller"),
    ],
)
def test_goal_is_measured_where_other_pods_left_than_planned(
    rounds: list[str], done: tuple[Outcome, ...], answer: Any, reached: int | None, measured: list[list[str]]
) -> None:
    decisions = [decided(names, goal(3, 2 if number else 1)) for number, names in enumerate(rounds)]
    decisions[-1] = decided(rounds[-1], goal(2 if len(rounds) > 1 else 3, 1))
    measure = Measure(answer)

    (found,) = reached_goals(decisions, RunResult(decisions[-1], done), measure, Watch())

    assert (found.before, found.level.after, found.reached) == (3, 1, reached)
    assert measure.asked == measured


def test_goals_that_begin_later_are_counted_from_there() -> None:
    decisions = [decided("one"), decided("one", goal(2, 1))]

    (found,) = reached_goals(decisions, RunResult(decisions[-1], outcomes("one")), Measure(FIGURE), Watch())

    assert (found.before, found.reached) == (2, 1)


def test_run_without_goals_has_come_to_none() -> None:
    assert reached_goals([decided("one")], RunResult(decided("one"), ()), Measure(FIGURE), Watch()) == ()


def test_objectives_are_told_one_by_one() -> None:
    decisions = decided("one two", goal(3, 1), goal(9, 8))
    measure = Measure(decided("", facts=PluginFacts("", 0, 0, figures=(2,))))

    found = reached_goals([decisions], RunResult(decisions, outcomes("one")), measure, Watch())

    assert [(each.before, each.reached) for each in found] == [(3, 2), (9, None)]


class Lease:
    """Stands for a Lease that is held."""

    settings = LeaseSettings("kube-system", "d")
    uid = "lease-1"


def reached(figure: int | None) -> Sequence[ReachedGoal]:
    return reached_goals(
        [decided("one two", goal(3, 1))],
        RunResult(decided("one two", goal(3, 1)), outcomes("one two" if figure == 1 else "one")),
        Measure(decided("", facts=PluginFacts("", 0, 0, figures=() if figure is None else (figure,)))),
        Watch(),
    )


@pytest.mark.parametrize(
    ("figure", "kind", "reason"),
    [(1, "Normal", "PlanCarriedOut"), (2, "Warning", "PlanNotCarriedOut"), (None, "Warning", "PlanNotCarriedOut")],
)
def test_event_on_the_lease_says_whether_the_goal_was_reached(figure: int | None, kind: str, reason: str) -> None:
    cluster = crowded()

    notes = announce_goals(reached(figure), cluster.client(), cast(HeldLease, Lease()), Watch(), WHOLE_CLUSTER)

    (event,) = [call.request.document() for call in cluster.api.sent("POST", "/events")]
    assert notes == ()
    assert (event["type"], event["reason"], event["regarding"]["name"]) == (kind, reason, "d")


def test_event_that_cannot_be_written_is_told_with_the_cause() -> None:
    cluster = crowded()

    def choose(call: Call) -> AnyFault | None:
        return Kind.NO_CONNECTION if call.request.path.endswith("/events") else None

    client = cluster.client(passage=FaultyWay(cluster.api, choose))
    (note,) = announce_goals(reached(1), client, cast(HeldLease, Lease()), Watch(), WHOLE_CLUSTER)

    assert note.startswith("the Event with the goal was not written: ")
    assert "no connection" in note


def test_stopped_run_measures_no_longer_than_there_is_time_for_its_report() -> None:
    watch = watch_of(crowded())
    watch.request_stop(signal.SIGTERM)
    decisions = decided("one two", goal(3, 1))

    (found,) = reached_goals([decisions], RunResult(decisions, outcomes("one")), Measure(FIGURE), watch)

    assert found.reached == 7
