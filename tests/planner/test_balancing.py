"""MigrationPlanner with BalanceUtilization: which pods leave, and what is said of the goal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import Goal, Level
from tests.builders import Object, make_budget, make_node, make_pod, required_node_affinity
from tests.planner.runs import run_objective
from tests.strategies.runs import evicted, refused, run_plugin

NODES = [make_node(name, cpu="10") for name in "abc"]


def pod(name: str, cpu: str, node: str = "a", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **facts)


def run(pods: Sequence[Pod], *, percent: float = 70, nodes: Sequence[Node] = NODES, **others: Any) -> Decisions:
    args: Object = {
        "objectives": [{"balanceUtilization": {"targetThresholds": {"cpu": percent}}}],
        "timeLimit": "60s",
        "workLimit": 1,
    }
    return run_plugin("MigrationPlanner", nodes, pods, args={**args, **others.pop("args", {})}, **others)


def goal_of(decisions: Decisions) -> Goal:
    (goal,) = decisions.facts["p", "MigrationPlanner"].goals
    return goal


HOT = [pod("large", "3"), pod("huge", "4"), pod("small", "1"), pod("middle", "2")]
"""10 of 10 cores of node a."""


def test_the_fewest_pods_leave_that_bring_a_node_under_its_target() -> None:
    decisions = run(HOT)

    assert evicted(decisions) == ["large"]
    assert decisions.moves[0].reason == "CPU requests at 100% of allocatable (targetThresholds.cpu: 70)"


def test_goal_says_what_was_reached_and_what_is_needed_at_least() -> None:
    goal = goal_of(run([*HOT, *(pod(f"b{n}", "2", "b") for n in range(4))]))

    assert goal.levels == (Level("nodes over target", 2, 0, 0),)
    assert (goal.evictions, goal.bound, goal.status) == (2, 2, "optimal")
    assert goal.sentence == "2 nodes over target → 0 with 2 evictions (at least 2 are needed)"


def test_nothing_leaves_where_no_node_is_over_its_target() -> None:
    decisions = run([pod("large", "7")])

    assert evicted(decisions) == []
    assert goal_of(decisions).sentence == "no node is over its target (cpu 70%)"
    assert decisions.facts["p", "MigrationPlanner"].why_nothing == "no node is over its target (cpu 70%)"


@pytest.mark.long
def test_no_other_node_is_brought_over_its_target() -> None:
    """Only the small pod fits under the targets of b and c, and the node stays over its target."""
    pods = [*HOT, pod("b", "6", "b"), pod("c", "6", "c")]

    decisions = run(pods)

    assert evicted(decisions) in ([], ["small"])
    assert goal_of(decisions).levels[0].after == 1


def test_a_pod_without_disruptions_left_in_its_budget_stays_and_others_leave() -> None:
    pods = [pod("large", "3", labels={"app": "guarded"}), *HOT[1:]]
    budget = make_budget("guard", {"app": "guarded"}, disruptions_allowed=0)

    decisions = run(pods, budgets=(budget,))

    assert evicted(decisions) == ["huge"]


@pytest.mark.parametrize(
    ("others", "name"),
    [
        pytest.param(
            {"policy": {"maxNoOfPodsToEvictPerNamespace": 1}}, "maxNoOfPodsToEvictPerNamespace", id="per namespace"
        ),
        pytest.param({"policy": {"maxNoOfPodsToEvictTotal": 1}}, "maxNoOfPodsToEvictTotal", id="of the run"),
        pytest.param({"args": {"maxEvictions": 1}}, "maxEvictions", id="of the planner"),
    ],
)
def test_limits_bind_the_plan(others: Object, name: str) -> None:
    """One of two nodes is brought under its target, and nothing is asked for that a limit refuses."""
    decisions = run([*HOT, *(pod(f"b{n}", "2", "b") for n in range(4))], **others)

    assert len(evicted(decisions)) == 1
    assert refused(decisions) == {}
    assert goal_of(decisions).sentence == (
        f"2 nodes over target → 1 with 1 eviction; proven best for {name} (1);"
        " the rest needs at least 1 more eviction (1 more run)"
    )


def test_goal_promises_no_further_runs_where_a_node_needs_more_evictions_than_one_run_may_make() -> None:
    """No fewer than 3 pods of 1 cpu bring the node to 7."""
    goal = goal_of(run([pod(f"p{n}", "1") for n in range(10)], policy={"maxNoOfPodsToEvictTotal": 2}))

    assert goal.sentence == (
        "1 node over target → 1 with 0 evictions; proven best for maxNoOfPodsToEvictTotal (2);"
        " the rest needs at least 3 more evictions;"
        " node a needs 3 evictions, more than maxNoOfPodsToEvictTotal (2) allows in a run"
    )


def test_no_pod_leaves_a_node_that_limits_keep_over_its_target() -> None:
    decisions = run([pod(f"p{n}", "1") for n in range(10)], policy={"maxNoOfPodsToEvictPerNode": 2})

    assert evicted(decisions) == []


@pytest.mark.long
def test_no_pod_leaves_a_node_that_refusals_keep_over_its_target() -> None:
    """Ten pods have to leave a, and b takes nine. The tenth fits on c, and the scheduler prefers d whichever it is."""
    nodes = [make_node(name, cpu="10", memory="100Gi") for name in "abcd"]
    used = {"a": ("4", "90Gi"), "b": ("4300m", "0"), "c": ("6600m", "90Gi"), "d": ("7", "0")}
    agents = [
        pod(f"agent-{node}", cpu, node, memory=memory, owners=["DaemonSet/agent"])
        for node, (cpu, memory) in used.items()
    ]

    decisions = run([*agents, *(pod(f"p{number:02}", "300m") for number in range(20))], nodes=nodes)

    assert evicted(decisions) == []
    assert goal_of(decisions).levels[0].after == 1


def test_no_pod_leaves_for_room_that_a_pending_pod_would_take() -> None:
    """Node a would have room for the pending pod then, which brings it over its target again."""
    pods = [pod("a0", "6"), pod("a1", "2"), make_pod("waiting", cpu="4", node="", phase="Pending")]

    decisions = run(pods, nodes=[make_node("a", cpu="10"), make_node("b", cpu="3")])

    assert evicted(decisions) == []
    assert goal_of(decisions).levels[0].after == 1


MAKES_ROOM = [
    pod("stays", "4", owners=["DaemonSet/agent"]),
    pod("hot", "6"),
    pod("maker", "1", "b"),
    pod("apart", "3", "b", owners=[]),
    pod("full", "8", "c"),
]
"""`hot` leaves node a for b, once `maker` has left b for c."""


def run_with_makers(**planner: Any) -> Decisions:
    """A scheduler that prefers full nodes, of which a takes no more pods."""
    nodes = [make_node("a", cpu="10", unschedulable=True), *NODES[1:]]
    args = {"targetThresholds": {"cpu": 90}}
    return run_objective("balanceUtilization", nodes, MAKES_ROOM, args=args, planner=planner)


def test_a_pod_that_only_makes_room_says_so() -> None:
    decisions = run_with_makers()

    assert evicted(decisions) == ["maker", "hot"]
    assert decisions.moves[0].reason == "makes room on node b for pods that leave nodes over their target"


def test_no_pod_makes_room_for_one_that_is_not_worth_its_eviction() -> None:
    decisions = run_with_makers(minGainPerDisruption=1)

    assert evicted(decisions) == []
    assert "minGainPerDisruption: 1" in goal_of(decisions).sentence


def test_pods_of_one_kind_that_must_be_apart_are_not_sent_to_the_same_node() -> None:
    apart = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
            ]
        }
    }
    nodes = [make_node(name, cpu="10") for name in "abcd"]
    pods = [
        *(pod(f"{node}0", "5", node, labels={"app": "x"}, affinity=apart) for node in "ab"),
        *(pod(f"{node}1", "5", node, owners=["DaemonSet/d"]) for node in "ab"),
    ]

    decisions = run(pods, nodes=nodes)

    assert sorted(evicted(decisions)) == ["a0", "b0"]
    assert len({move.to_node for move in decisions.moves}) == 2


def test_equal_input_gives_equal_plans() -> None:
    pods = [pod(f"p{n}", f"{100 + 37 * n % 900}m", "ab"[n % 2]) for n in range(40)]

    first, second = run(pods), run(pods)

    assert evicted(first) == evicted(second) != []


def test_a_second_objective_counts_on_what_the_first_has_moved() -> None:
    """The large pod leaves for the first target; for the second another pod has to."""
    targets = [{"balanceUtilization": {"targetThresholds": {"cpu": percent}}} for percent in (70, 60)]

    decisions = run(HOT, args={"objectives": targets})

    assert sorted(evicted(decisions)) == ["large", "small"]
    assert not any(move.is_repeated for move in decisions.moves)
    first, second = (goal.sentence for goal in decisions.facts["p", "MigrationPlanner"].goals)
    assert first == "1 node over target → 0 with 1 eviction (at least 1 is needed)"
    assert second == f"{first}; planned after 1 eviction for earlier objectives"


def test_a_node_at_its_target_is_not_over_it() -> None:
    """57 of 100 cores are 57%, which floating point has as a little less."""
    decisions = run([pod("p", "56"), pod("q", "1")], percent=57, nodes=[make_node(name, cpu="100") for name in "ab"])

    assert evicted(decisions) == []
    assert goal_of(decisions).status == "nothing"


def test_targets_can_be_distances_above_the_average_of_all_nodes() -> None:
    """10 + 2 + 0 of 30 cores are 40%, and 10 more are 50%."""
    args: Object = {"objectives": [{"balanceUtilization": DEVIATION}]}
    pods = [pod("five", "5"), pod("four", "4"), pod("one", "1"), pod("b", "2", "b")]

    decisions = run(pods, args=args)

    assert evicted(decisions) == ["five"]
    assert decisions.moves[0].reason == (
        "CPU requests at 100% of allocatable (targetThresholds.cpu: 10 above the average of 40%)"
    )
    assert goal_of(decisions).sentence == (
        "1 node over target (cpu 50%, 10 above the average of 40%) → 0 with 1 eviction (at least 1 is needed)"
    )


def test_no_node_is_far_above_the_average() -> None:
    args: Object = {"objectives": [{"balanceUtilization": DEVIATION}]}

    decisions = run([pod("a", "2"), pod("b", "1", "b")], args=args)

    assert goal_of(decisions).sentence == "no node is over its target (cpu 20%, 10 above the average of 10%)"


def test_among_equally_few_evictions_the_cheapest_are_chosen() -> None:
    """Each of the two brings the node under its target; the important one stays."""
    pods = [pod("important", "4", priority=1000), pod("other", "4")]

    decisions = run(pods)

    assert evicted(decisions) == ["other"]
    assert decisions.moves[0].cost == 1020  # it has never restarted, and is the only replica


def test_cost_that_is_stated_counts_as_much_as_the_policy_says() -> None:
    dear = {"scheduling.koordinator.sh/eviction-cost": "100"}
    pods = [pod("dear", "4", annotations=dear), *(pod(f"small{n}", "2") for n in range(3))]

    cheap = run(pods, args={"disruptionCost": {"evictionCost": 0}})
    careful = run(pods, args={"disruptionCost": {"evictionCost": 2}})

    assert evicted(cheap) == ["dear"]
    assert [name[:5] for name in evicted(careful)] == ["small", "small"]


def test_nothing_leaves_a_node_that_takes_more_evictions_than_it_is_worth() -> None:
    pods = [*(pod(f"a{n}", "1") for n in range(10)), *(pod(f"b{n}", "5", "b") for n in range(2))]

    decisions = run(pods, args={"minGainPerDisruption": 0.5})

    assert [name[0] for name in evicted(decisions)] == ["b"]
    assert goal_of(decisions).sentence == (
        "2 nodes over target → 1 with 1 eviction; the best of what is left gains 0.33 for an eviction"
        " (minGainPerDisruption: 0.5)"
    )


def test_a_move_that_needs_the_room_of_another_is_in_a_later_wave() -> None:
    """What leaves a fits on b once the pod there has left for c."""
    nodes = [make_node(name, cpu="10", labels={"name": name}) for name in "abc"]
    pods = [
        pod("p", "7", affinity=required_node_affinity("name", "a", "b")),
        pod("rest", "3", owners=["DaemonSet/d"]),
        pod("q", "3", "b", affinity=required_node_affinity("name", "c")),
        pod("stays", "1", "b", owners=["DaemonSet/d"]),
    ]

    decisions = run(pods, nodes=nodes, percent=80)

    assert [(move.pod.name, move.to_node, move.wave) for move in decisions.moves] == [("q", "c", 1), ("p", "b", 2)]


DEVIATION: Object = {"targetThresholds": {"cpu": 10}, "useDeviationThresholds": True}


def test_a_node_that_no_evictions_can_help_is_named_with_its_cause() -> None:
    """Of 9 cores that node a has in use, pods of a DaemonSet request 8; node b gives one pod away."""
    daemons = [pod(f"agent-{number}", "4", owners=["DaemonSet/agent"]) for number in range(2)]
    pods = [*daemons, pod("free", "1"), *(pod(f"b{number}", "2", "b") for number in range(4))]

    goal = goal_of(run(pods))

    assert goal.levels == (Level("nodes over target", 2, 1, 1),)
    assert goal.sentence.endswith(
        "; node a stays over its target: 2 of 3 pods cannot be evicted"
        " (2 like pod default/agent-0: the pod belongs to a DaemonSet)"
    )


def test_a_node_whose_pods_go_nowhere_is_named_with_the_cause() -> None:
    nodes = [make_node(name, cpu="10", labels={"zone": name}) for name in "ab"]
    pods = [make_pod(name, cpu=cpu, node="a", node_selector={"zone": "a"}) for name, cpu in (("p", "3"), ("q", "6"))]

    goal = goal_of(run_objective("balanceUtilization", nodes, pods, args={"targetThresholds": {"cpu": 70}}))

    assert goal.sentence == (
        "1 node over target → 1 with 0 evictions; no plan does better; node a stays over its target: pod default/q"
        " cannot be evicted: the replacement pod would be scheduled onto a again (onReturnToSource: refuseBalance);"
        " 1/2 nodes are available for the replacement pod: 1 didn't match Pod's node affinity/selector"
    )


@pytest.mark.parametrize("cpu", ["8", "4"], ids=["beside others", "where no node is over its target"])
def test_a_target_of_a_resource_that_no_node_has_is_said(cpu: str) -> None:
    args: Object = {"objectives": [{"balanceUtilization": {"targetThresholds": {"cpu": 70, "example.com/gpu": 50}}}]}

    decisions = run([pod("p", cpu, "a", owners=[])], args=args)

    assert goal_of(decisions).sentence.endswith(
        "; targetThresholds.example.com/gpu (50) has no effect: no node has example.com/gpu"
    )
