"""What a goal says of a plan, whatever the objective: what was reached and is possible, and what is not worth it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.groups.workloads import Workload
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.plugins.elastic_quota.quota_usage import ELASTIC_QUOTA_KIND
from descheduler.plan.goals import Goal
from descheduler.plan.search_watch import SearchState, SearchWatch
from tests.builders import Object, make_budget, make_node, make_pod, owner
from tests.placement.plugins.elastic_quota.quotas import make_quota, quota_pod
from tests.planner import swap
from tests.planner.runs import asked_after, goal_of, run_objective
from tests.strategies.runs import evicted

NODES = [make_node(name, cpu="10", labels={"name": name}) for name in "abc"]
TARGET: Object = {"targetThresholds": {"cpu": 70}}
NO_SCALES: Object = dict.fromkeys(("priority", "evictionCost", "age", "restarts", "replicas", "gang", "job"), 0)
"""Every eviction costs the same."""


def pod(name: str, cpu: str, node: str = "a", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **{"owners": [f"ReplicaSet/{name}"], **facts})


ONE = [pod("p", "3"), pod("q", "6"), pod("b", "1", "b")]
"""One eviction of pod p brings node a under its target."""
TWO = [pod("p", "2"), pod("q", "2"), pod("bare", "5500m", owners=[])]
"""Two evictions do."""
NONE = [pod("x", "4"), pod("y", "4"), pod("b", "5", "b"), pod("c", "5", "c")]
"""No node has room for a pod of node a."""


def nodes_of(pods: Sequence[Pod]) -> Sequence[Node]:
    """Those of the world with a swap for its pods."""
    return swap.NODES if pods is swap.PODS else NODES


def planned(pods: Sequence[Pod], costs: Object = NO_SCALES, **planner: Any) -> tuple[list[str], Goal]:
    """The pods that leave, and the goal."""
    decisions = run_objective(
        "balanceUtilization",
        nodes_of(pods),
        pods,
        args=TARGET,
        planner={"disruptionCost": {**NO_SCALES, **costs}, "workLimit": 1, **planner},
        packs=False,
    )
    return evicted(decisions), goal_of(decisions)


@pytest.mark.parametrize(
    ("pods", "least", "leaving", "sentence"),
    [
        pytest.param(
            ONE, 1, ["p"], "1 node over target → 0 with 1 eviction (at least 1 is needed)", id="as much as one gains"
        ),
        pytest.param(
            ONE,
            1.01,
            [],
            "1 node over target → 1 with 0 evictions; the best of what is left gains 1 for an eviction"
            " (minGainPerDisruption: 1.01)",
            id="more than one gains",
        ),
        pytest.param(
            TWO,
            0.5,
            ["p", "q"],
            "1 node over target → 0 with 2 evictions (at least 2 are needed)",
            id="as two gain each",
        ),
        pytest.param(
            TWO,
            0.51,
            [],
            "1 node over target → 1 with 0 evictions; the best of what is left gains 0.5 for an eviction"
            " (minGainPerDisruption: 0.51)",
            id="more than two gain each",
        ),
    ],
)
def test_what_gains_too_little_for_an_eviction_stays(
    pods: Sequence[Pod], least: float, leaving: list[str], sentence: str
) -> None:
    found, goal = planned(pods, minGainPerDisruption=least)

    assert (found, goal.sentence) == (leaving, sentence)
    assert goal.status == ("optimal" if leaving else "feasible")
    assert (goal.bound, goal.cost_bound) == ((len(leaving), 1000 * len(leaving)) if leaving else (None, None))


def test_too_little_gain_comes_before_a_limit_that_would_stop_the_plan_as_well() -> None:
    """No number of runs with the limit reaches what is not worth its evictions."""
    found, goal = planned(swap.PODS, minGainPerDisruption=2, maxEvictions=1)

    assert (found, goal.sentence) == (
        [],
        "2 nodes over target → 2 with 0 evictions (best possible: 1); the best of what is left gains 1 for an eviction"
        " (minGainPerDisruption: 2); also stopped by maxEvictions (1)",
    )


def test_a_limit_that_is_the_reason_is_not_said_again_of_each_node() -> None:
    decisions = run_objective(
        "balanceUtilization", swap.NODES, swap.PODS, args=TARGET, policy={"maxNoOfPodsToEvictTotal": 0}, packs=False
    )

    assert goal_of(decisions).sentence == (
        "2 nodes over target → 2 with 0 evictions; proven best for maxNoOfPodsToEvictTotal (0); the rest needs at least"
        " 3 more evictions"
    )


@pytest.mark.parametrize(
    ("pods", "costs", "each"),
    [
        pytest.param(ONE, {}, "1 for 1 eviction", id="one"),
        pytest.param(TWO, {}, "0.5 for each of 2 evictions", id="two"),
        pytest.param(
            [pod("p", "3", priority=10), pod("q", "6", priority=10), pod("b", "1", "b", priority=0)],
            {"priority": 0.5},
            "0.67 for each of 1.5 evictions",
            id="a dear one",
        ),
    ],
)
def test_a_pod_is_told_what_its_eviction_would_gain(pods: list[Pod], costs: Object, each: str) -> None:
    planner = {"minGainPerDisruption": 2, "disruptionCost": {**NO_SCALES, **costs}}

    _, asked = asked_after({"balanceUtilization": TARGET}, nodes=NODES, pods=pods, planner=planner, packs=False)

    assert asked.why_not(pods[0]) == f"its part of the plan gains {each} (minGainPerDisruption: 2)"


@pytest.mark.parametrize(
    ("pods", "planner", "leaving", "sentence", "facts"),
    [
        pytest.param(
            swap.PODS,
            {},
            1,
            "2 nodes over target → 1 with 1 eviction; no better plan was found within the limits",
            ("feasible", 0, None, None),
            id="a part",
        ),
        pytest.param(
            NONE,
            {},
            0,
            "1 node over target → 1 with 0 evictions; no plan does better; pod default/x and 1 more pod: the"
            " replacement pod would be scheduled onto a again",
            ("optimal", 1, 0, 0),
            id="nothing",
        ),
        pytest.param(
            swap.PODS,
            {"maxEvictions": 1},
            1,
            "2 nodes over target → 1 with 1 eviction; proven best for maxEvictions (1); the rest needs at least 2 more"
            " evictions (2 more runs)",
            ("optimal", 1, 1, 1000),
            id="as much as the limit allows",
        ),
        pytest.param(
            swap.PODS,
            {"maxEvictions": 0},
            0,
            "2 nodes over target → 2 with 0 evictions; proven best for maxEvictions (0); the rest needs at least 3 more"
            " evictions",
            ("optimal", 2, 0, 0),
            id="nothing for a limit",
        ),
    ],
)
def test_a_goal_says_what_is_left_and_why(
    pods: list[Pod], planner: Object, leaving: int, sentence: str, facts: tuple[Any, ...]
) -> None:
    found, goal = planned(pods, **planner)

    assert (len(found), goal.sentence) == (leaving, sentence)
    assert (goal.status, goal.levels[0].bound, goal.bound, goal.cost_bound) == facts


def watched(pods: Sequence[Pod], **watch: Any) -> tuple[list[SearchState | None], Goal]:
    """What is told to whoever looks on, and the goal."""
    states: list[SearchState | None] = []
    decisions = run_objective(
        "balanceUtilization",
        nodes_of(pods),
        pods,
        args=TARGET,
        planner={"workLimit": 1},
        packs=False,
        search=SearchWatch(note=states.append, **watch),
    )
    return states, goal_of(decisions)


@pytest.mark.parametrize(
    ("pods", "last", "history"),
    [
        pytest.param(
            ONE,
            SearchState("Best plan so far: 1 node over target → 0 with 1 eviction (at least 1)", has_plan=True),
            [(0, 0, 1)],
            id="all",
        ),
        pytest.param(
            swap.PODS,
            SearchState("Best plan so far: 2 nodes over target → 1 with 1 eviction (best possible: 0)", has_plan=True),
            [(0, 0, 2), (1, 0, 1)],
            id="a part",
        ),
        pytest.param(NONE, SearchState("no plan yet that is better than none"), [(0, 1, 1), (1, 1, 0)], id="nothing"),
    ],
)
def test_a_search_is_watched_from_its_start_to_its_end(
    pods: list[Pod], last: SearchState, history: list[tuple[int, int, int]]
) -> None:
    """Its history has each figure that was new."""
    states, goal = watched(pods)

    first, *_, best, end = states
    assert (first, end) == (SearchState("BalanceUtilization: searching, no plan yet"), None)
    assert best is not None
    assert (best.text, best.has_plan) == (last.text, last.has_plan)
    assert [(point.figure, point.bound, point.evictions) for point in goal.history] == history


def test_a_search_that_is_interrupted_ends_with_the_best_plan_so_far_and_says_so() -> None:
    _, part = watched(swap.PODS, is_cancelled=lambda: True)
    _, done = watched(ONE, is_cancelled=lambda: True)

    assert part.sentence == (
        "2 nodes over target → 1 with 1 eviction; no better plan was found before the search was interrupted"
    )
    assert (part.search_ended_by, part.status) == ("interrupt", "feasible")
    assert done.sentence == "1 node over target → 0 with 1 eviction (at least 1 is needed)"


@pytest.mark.parametrize(("number", "more"), [(10, ""), (11, "1 more node"), (12, "2 more nodes")])
def test_of_many_nodes_that_are_not_drained_the_others_are_counted(number: int, more: str) -> None:
    nodes = [make_node(f"n{place:02}", cpu="10", unschedulable=True) for place in range(number)]
    pods = [pod(f"bare{place}", "1", f"n{place:02}", owners=[]) for place in range(number)]

    goal = goal_of(run_objective("drainNodes", [*nodes, NODES[0]], pods, args={"nodes": [node.name for node in nodes]}))

    assert goal.sentence.count(" cannot be drained: pod default/bare") == 10
    assert goal.sentence.endswith(f"; {more} cannot be drained" if more else "the pod has no owner that recreates it")


@pytest.mark.parametrize(
    ("facts", "planner", "why"),
    [
        pytest.param({}, {"maxEvictions": 0}, "stopped by maxEvictions (0)", id="a limit"),
        pytest.param(
            {"owners": []},
            {},
            "0 of 1 pod can be evicted (pod default/p: the pod has no owner that recreates it)",
            id="no pod can leave",
        ),
        pytest.param(
            {"labels": {"app": "g"}},
            {},
            "no better plan was found within the limits; 3 CPU short on node a, where pod default/p cannot be evicted:"
            " PodDisruptionBudget default/g allows 0 disruptions (0 healthy, 0 required); other nodes: 2 closed to the"
            " pod",
            id="what blocks the room where no reason says it",
        ),
    ],
)
def test_a_pending_pod_is_told_why_there_is_no_room_for_it(facts: Object, planner: Object, why: str) -> None:
    """It may run on node a alone, which is 3 cores short."""
    waits = pod("waits", "6", "", phase="Pending", node_selector={"name": "a"})
    pods = [pod("p", "7", **facts), waits]
    budgets = (make_budget("g", {"app": "g"}, disruptions_allowed=0),)

    _, asked = asked_after({"makeRoom": {}}, nodes=NODES, pods=pods, packs=False, budgets=budgets, planner=planner)

    assert asked.about_pending(waits) == f"makes no room for the pod (1 pod pending → 1; {why})"


BUDGET = make_budget("g", {"app": "g"}, disruptions_allowed=2)
GUARDED: Object = {"labels": {"app": "g"}}


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        pytest.param(9, "0 with 2 evictions (at least 2 are needed)", id="as many as may leave"),
        pytest.param(
            10,
            "1 with 0 evictions; proven best for PodDisruptionBudget default/g (2 disruptions now); the rest needs at"
            " least 3 more evictions",
            id="more than may leave",
        ),
    ],
)
def test_no_node_is_named_for_a_budget_where_pods_leave_it_one_by_one(number: int, sentence: str) -> None:
    pods = [pod(f"p{place}", "1", **GUARDED) for place in range(number)]

    goal = goal_of(run_objective("balanceUtilization", NODES, pods, args=TARGET, packs=False, budgets=(BUDGET,)))

    assert goal.sentence == f"1 node over target → {sentence}"


def test_a_drain_says_of_each_node_by_itself_what_a_budget_keeps() -> None:
    """All three pods of node a would have to leave at once."""
    nodes = [make_node("a", cpu="10", unschedulable=True), *NODES[1:]]
    pods = [pod(f"p{place}", "1", **GUARDED) for place in range(3)]

    goal = goal_of(run_objective("drainNodes", nodes, pods, args={"nodes": ["a"]}, packs=False, budgets=(BUDGET,)))

    assert "counts together" not in goal.sentence
    assert "node a cannot be drained: pod default/p2 cannot be evicted together with the other pods" in goal.sentence


@pytest.mark.parametrize(
    ("packs", "rest"),
    [
        pytest.param(True, "1 with 1 eviction; no plan does better", id="the scheduler packs"),
        pytest.param(
            False,
            "2 with 0 evictions (best possible: 1); no better plan was found within the limits; a scheduler that scores"
            " with MostAllocated prefers fuller nodes (schedulerConfigFile)",
            id="it spreads",
        ),
    ],
)
def test_it_is_said_what_helps_where_replacements_come_to_the_wrong_nodes(packs: bool, rest: str) -> None:
    goal = goal_of(run_objective("consolidateNodes", NODES, [pod("p", "2"), pod("r", "6", "b")], packs=packs))

    assert goal.sentence == f"2 nodes in use → {rest}"


def test_what_others_leave_room_for_is_asked_for_where_it_gains_just_enough() -> None:
    """The quota has room for the replacement of pod q once the idle pod has left, for which none is created."""
    nodes = [*(make_node(name, cpu="10", unschedulable=True) for name in "ab"), NODES[2]]
    idle = quota_pod("idle", "team", cpu="4", node="b", owners=[owner("ReplicaSet/idle", uid="idle")])
    pods = [idle, quota_pod("q", "team", cpu="4", node="a")]

    decisions = run_objective(
        "drainNodes",
        nodes,
        pods,
        args={"nodes": ["a", "b"]},
        planner={"disruptionCost": NO_SCALES, "minGainPerDisruption": 1, "workLimit": 1},
        packs=False,
        objects={ELASTIC_QUOTA_KIND: (make_quota("team", most={"cpu": "4"}),)},
        workloads={"idle": Workload("ReplicaSet", "default", "idle", "idle", 0)},
    )

    assert evicted(decisions) == ["idle", "q"]
