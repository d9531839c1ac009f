"""The search for one objective: what is proven of plans, what limits leave of it, and what ended it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.model.pod import Pod
from descheduler.optimizer import Limits, Solution, solve
from descheduler.plan.search_watch import SearchWatch
from descheduler.planner.args import MigrationPlannerArgs
from descheduler.planner.search import plan_search
from descheduler.planner.search.plan_search import PlanSearch
from tests.builders import Object, make_node, make_pod
from tests.planner.objective_over import Asked, objective_over
from tests.planner.runs import asked_after
from tests.strategies.runs import evicted

NODES = [make_node(name, cpu="10", labels={"name": name}) for name in "abc"]
BALANCE: Object = {"targetThresholds": {"cpu": 70}}


def pod(name: str, cpu: str, node: str = "a", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **{"owners": [f"ReplicaSet/{name}"], **facts})


PODS = [pod("p", "3"), pod("q", "6"), pod("b", "1", "b")]
"""One eviction of pod p brings node a under its target."""


def search(asked: Asked, watch: SearchWatch | None = None, **args: Any) -> tuple[PlanSearch, list[tuple[int, int]]]:
    """A search that has not run yet, and what it tells of its progress."""
    handle, told = asked.handle, list[tuple[int, int]]()
    profile = handle.policy.profiles[0].args["MigrationPlanner"]
    assert isinstance(profile, MigrationPlannerArgs)
    planned = replace(profile, **{"work_limit": 1, **args})
    watched = handle if watch is None else replace(handle, search=watch)
    nodes = handle.view.snapshot.nodes
    found = PlanSearch(
        asked.objective,
        planned,
        watched,
        nodes,
        poor=lambda trial: {},
        on_progress=lambda figure, number: told.append((figure, number)),
    )
    return found, told


def balance(pods: Sequence[Pod] = PODS) -> Asked:
    return objective_over("balanceUtilization", NODES, pods, args=BALANCE)


@pytest.mark.parametrize(
    ("figure", "more_cost", "evictions", "is_proven"),
    [
        pytest.param(0, 0, 1, True, id="as good as its bound"),
        pytest.param(0, 70, 1, True, id="dearer by no more than tie-breaks"),
        pytest.param(0, 71, 1, False, id="dearer by more than tie-breaks"),
        pytest.param(0, 0, 2, True, id="more evictions that cost no more"),
        pytest.param(0, 1, 2, False, id="more evictions, and dearer"),
        pytest.param(1, -1000, 0, False, id="another figure"),
    ],
)
def test_a_plan_is_proven_that_is_worse_by_no_more_than_tie_breaks(
    figure: int, more_cost: int, evictions: int, is_proven: bool
) -> None:
    found, _ = search(balance())

    assert (found.bound[0], found.least_evictions) == (0, 1)
    assert found.is_proven(figure, found.bound[1] + more_cost, evictions) is is_proven


def test_the_cost_of_as_many_evictions_as_are_needed_is_one_of_their_bounds() -> None:
    """Pods p and q cost the same, and one of them has to leave."""
    asked = balance()
    found, _ = search(asked)

    assert found.bound == (0, min(asked.cluster.cost_of(asked.pod(name)) for name in "pq"))


def limits_of(found: PlanSearch) -> list[tuple[str, int]]:
    """The limits of the planner that moves keep to."""
    rules = found.all_moves.problem.move_limits
    return [(rule.names[0], int(rule.limit[0])) for rule in rules if rule.names[0].startswith("maxEvictions")]


@pytest.mark.parametrize(("most", "left"), [(3, 2), (1, 0)])
def test_evictions_that_are_booked_count_against_the_limit_of_the_planner(most: int, left: int) -> None:
    asked = balance([*PODS, pod("r", "1"), pod("s", "1")])

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("s")).is_accepted
        found, _ = search(asked, max_evictions=most)

    unlimited, _ = search(asked)
    assert limits_of(found) == [(f"maxEvictions ({most})", left)]
    assert limits_of(unlimited) == []


def test_a_search_tells_of_its_best_plan_and_ends_where_that_is_proven() -> None:
    found, told = search(balance())

    found.run({})

    assert (found.best.figure, found.best.num_evictions) == (0, 1)
    assert (found.ended_by, len(found.plans), len(found.trials)) == ("", 1, 1)
    assert told[-1] == (0, 1)
    assert found.most_seconds > 0
    assert found.work >= found.plans[0].work


@pytest.mark.parametrize(
    ("watch", "args", "ending"),
    [
        pytest.param(SearchWatch(is_cancelled=lambda: True), {}, "interrupt", id="interrupted"),
        pytest.param(SearchWatch(share=1e-5), {"time_limit": timedelta(days=1000)}, "workLimit", id="little work"),
        pytest.param(SearchWatch(most_seconds=lambda: 1e-9), {"work_limit": 0}, "timeLimit", id="a deadline"),
    ],
)
def test_it_is_known_what_ended_a_search(watch: SearchWatch, args: Object, ending: str) -> None:
    """Node c has room for a pod of one of the other two nodes."""
    pods = [pod("v", "4"), pod("w", "4"), pod("x", "4", "b"), pod("y", "4", "b"), pod("z", "3", "c")]
    found, _ = search(balance(pods), watch, **args)

    found.run({})

    assert found.ended_by == ending


def test_closed_nodes_are_none_that_plans_or_bounds_count_with() -> None:
    """The only other node with room is to be drained, for another objective."""
    objectives: list[Object] = [{"balanceUtilization": BALANCE}, {"drainNodes": {"nodes": ["c"]}}]
    pods = [pod("p", "3"), pod("bare", "6", owners=[]), pod("b", "6", "b", owners=[]), pod("c", "1", "c", owners=[])]

    decisions, _ = asked_after(*objectives, nodes=NODES, pods=pods, packs=False)

    assert evicted(decisions) == []
    goal, _ = decisions.facts["p", "MigrationPlanner"].goals
    assert (goal.levels[0].bound, goal.status) == (1, "optimal")


def test_all_objectives_together_evict_no_more_than_the_planner_may() -> None:
    objectives: list[Object] = [{"balanceUtilization": BALANCE}, {"consolidateNodes": {}}]

    decisions, _ = asked_after(*objectives, nodes=NODES, pods=PODS, planner={"maxEvictions": 1}, packs=False)

    assert evicted(decisions) == ["p"]
    _, second = decisions.facts["p", "MigrationPlanner"].goals
    assert "maxEvictions (1)" in second.sentence


def test_the_first_plan_leaves_half_of_the_work_for_what_is_refused_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = list[Limits]()

    def solved(*args: Any, **options: Any) -> Solution:
        limits.append(args[2])
        return solve(*args, **options)

    monkeypatch.setattr(plan_search, "solve", solved)
    for share, work in ((1.0, 0.5), (3.0, 1.0)):
        limits.clear()
        found, _ = search(balance(), SearchWatch(share=share), choose_nodes=True)
        found.run({})

        assert limits[0].work == work
