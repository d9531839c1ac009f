"""BalanceUtilization by itself: what is over its target, what does harm, and what may leave instead."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.order.waves import Reassignment
from tests.builders import Object, make_budget, make_node, make_pod
from tests.planner.objective_over import Asked, objective_over

NODES = [make_node(name, cpu="10") for name in "abc"]
TARGET: Object = {"targetThresholds": {"cpu": 70}}


def pod(name: str, cpu: str, node: str = "a", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **{"owners": [f"ReplicaSet/{name}"], **facts})


PODS = [pod("p", "3"), pod("q", "4"), pod("r", "2"), pod("s", "5", "b"), pod("t", "1", "c")]
"""9 of 10 cores of node a are requested, 5 of node b, and 1 of node c."""


def balance(pods: list[Pod] = PODS, args: Object = TARGET, **others: Any) -> Asked:
    return objective_over("balanceUtilization", NODES, pods, args=args, **others)


def test_nodes_over_their_target_are_counted_and_asked_about_first() -> None:
    objective = balance().objective

    assert (objective.figure(), objective.nothing_to_do(), objective.counts) == (1, "", "nodes over target")
    assert objective.text_of(2) == "2 nodes over target"
    assert objective.targets() == {"cpu": 70}
    assert sorted("abc", key=objective.asked_later)[0] == "a"


@pytest.mark.parametrize(
    ("cpu", "text"),
    [
        (70, "no node is over its target (cpu 70%)"),
        (95, "no node is over its target (cpu 95%)"),
    ],
)
def test_it_is_said_where_no_node_is_over_its_target(cpu: int, text: str) -> None:
    pods = PODS[1:] if cpu == 70 else PODS

    assert balance(pods, {"targetThresholds": {"cpu": cpu}}).objective.nothing_to_do() == text


def test_targets_of_what_no_node_has_are_said_to_have_no_effect() -> None:
    asked = balance(PODS[1:], {"targetThresholds": {"cpu": 70, "example.com/x": 50, "memory": 90}})

    assert asked.objective.nothing_to_do() == (
        "no node is over its target (cpu 70%, example.com/x 50%, memory 90%);"
        " targetThresholds.example.com/x (50) has no effect: no node has example.com/x"
    )
    assert asked.objective.remarks({}) == (
        "targetThresholds.example.com/x (50) has no effect: no node has example.com/x",
    )


def test_usage_that_was_not_measured_is_said() -> None:
    measured = {**TARGET, "metricsUtilization": {"source": "KubernetesMetrics"}}

    assert balance(PODS, measured).objective.nothing_to_do() == (
        "no node is over its target (cpu 70%, measured usage): no node was measured"
    )


def test_a_pod_leaves_for_its_node_or_for_others() -> None:
    asked = balance()

    assert asked.objective.reason(asked.pod("p")) == "CPU requests at 90% of allocatable (targetThresholds.cpu: 70)"
    assert asked.objective.reason(asked.pod("s")) == (
        "makes room on node b for pods that leave nodes over their target"
    )
    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("q")).is_accepted
        assert asked.objective.reason(asked.pod("p")) == ("node a is over its target: more of its pods have to leave")


@pytest.mark.parametrize(
    ("name", "node", "harms"),
    [
        pytest.param("r", "b", False, id="up to its target"),
        pytest.param("p", "b", True, id="over its target"),
        pytest.param("t", "a", True, id="a node that is over it"),
        pytest.param("p", "elsewhere", False, id="a node that is not selected"),
    ],
)
def test_a_replacement_must_not_bring_a_node_over_its_target(name: str, node: str, harms: bool) -> None:
    asked = balance()

    verdict = asked.objective.harm(asked.pod(name), node)

    assert verdict.is_accepted is not harms
    if harms:
        assert verdict.reason is Reason.OTHER_LANDING
        assert verdict.message == (
            f"the replacement pod would be scheduled onto {node}, and bring it over its target of cpu 70%"
        )


def test_a_pod_leaves_in_vain_as_long_as_its_node_is_over_its_target() -> None:
    asked = balance()

    assert asked.objective.in_vain([asked.pod("p")])
    assert not asked.objective.in_vain([asked.pod("s")])
    with asked.handle.evictor.what_if():
        asked.handle.evictor.request(asked.pod("q"))
        assert not asked.objective.in_vain([asked.pod("p")])
        assert asked.objective.figure() == 0


def test_room_ends_at_the_target_but_for_nodes_that_are_over_it() -> None:
    asked = balance()

    problem, stated = asked.objective.problem_over(asked.cluster), asked.objective.stated_over(asked.cluster)

    assert problem.capacity[:, 0].tolist() == [10_000, 7_000, 7_000]
    assert stated.ceiling[:, 0].tolist() == [7_000, 7_000, 7_000]
    relaxed, whole = asked.objective.relaxed_over(asked.cluster)
    assert relaxed.capacity[:, 0].tolist() == [10_000, 15_000, 15_000]
    assert whole.ceiling[:, 0].tolist() == [7_000, 15_000, 15_000]


def test_moves_that_make_room_come_before_those_that_take_it() -> None:
    asked = balance()
    asked.objective.stated_over(asked.cluster)
    takes, makes, alone = asked.move("p", "b"), asked.move("s", "c"), asked.move("r", "c")

    groups = asked.objective.groups([takes, makes, alone])

    assert [asked.names(group) for group in groups] == [["s", "p"], ["r"]]


def test_parts_of_a_plan_are_the_nodes_that_were_over_their_target() -> None:
    asked = balance()
    asked.objective.stated_over(asked.cluster)

    (part,) = asked.objective.parts(asked.cluster, [asked.move("p", "b"), asked.move("s", "c")])

    assert (part.gain, asked.names(part.moves)) == (1, ["p"])
    assert [each.name for each in part.pods] == ["p", "q", "r"]


@pytest.mark.parametrize(
    ("refused", "stays", "instead"),
    [
        pytest.param("q", "q", [["r"]], id="the smallest that suffices"),
        pytest.param("q", "qr", [["p"]], id="the next one"),
        pytest.param("q", "pqr", [], id="none may leave"),
        pytest.param("s", "", [], id="of a move that only makes room"),
    ],
)
def test_other_pods_leave_in_place_of_refused_ones(refused: str, stays: str, instead: list[list[str]]) -> None:
    asked = balance()
    asked.objective.stated_over(asked.cluster)
    kept = {asked.cluster.number_of(asked.pod(name)) for name in stays}

    found = asked.objective.substitutes([asked.move(refused, "c")], lambda number: number not in kept)

    assert [asked.names(moves) for moves in found] == instead
    for moves in found:
        for move in moves:
            assert move == Reassignment(move.pod, 0, PENDING)


def test_a_node_that_needs_more_evictions_than_a_run_may_make_is_named() -> None:
    several = balance([pod(f"p{number}", "1") for number in range(9)])

    assert several.objective.needs_more_than(1) == "node a needs 2 evictions"
    assert several.objective.needs_more_than(2) == ""
    assert balance().objective.needs_more_than(0) == "node a needs 1 eviction"
    assert balance([pod("bare", "9", owners=[])]).objective.needs_more_than(0) == ""


def test_a_node_that_pods_keep_over_its_target_that_cannot_be_evicted_is_named() -> None:
    stuck = balance([pod("bare", "6", owners=[]), pod("other", "2", owners=[]), pod("small", "1")])
    enough = balance([pod("bare", "6", owners=[]), pod("other", "1", owners=[]), pod("small", "2")])

    assert stuck.objective.remarks({}) == (
        "node a stays over its target: 2 of 3 pods cannot be evicted (2 like pod default/bare: the pod has no owner"
        " that recreates it)",
    )
    assert enough.objective.remarks({}) == ()


def test_explain_says_of_a_pod_that_its_node_stays_over_its_target_without_it() -> None:
    stuck = balance([pod("bare", "8", owners=[]), pod("small", "1")])

    assert stuck.objective.why_not(stuck.pod("small")) == (
        "node a stays over its target: 1 of 2 pods cannot be evicted (pod default/bare: the pod has no owner that"
        " recreates it)"
    )


def test_it_is_said_what_keeps_the_largest_pod_where_no_plan_moves_any() -> None:
    budget = make_budget("guard", {"app": "q"}, disruptions_allowed=0)
    guarded = balance([pod("p", "3"), pod("q", "6", labels={"app": "q"})], budgets=(budget,))

    text = guarded.objective.obstacles({})

    assert text.startswith("node a stays over its target: pod default/q cannot be evicted: ")
    assert balance().objective.obstacles({}) == ""
    stuck = balance([pod("bare", "9", owners=[])])
    assert stuck.objective.obstacles({}) == ""
    assert guarded.objective.obstacles({("", "shop", "web"): "no"}) == "pod shop/web: no"


def test_a_node_at_its_target_has_no_room_and_one_above_it_keeps_its_own() -> None:
    """Node b is at its target."""
    asked = balance([*PODS[:3], pod("s", "7", "b")])

    relaxed, whole = asked.objective.relaxed_over(asked.cluster)

    assert asked.objective.problem_over(asked.cluster).capacity[:, 0].tolist() == [10_000, 7_000, 7_000]
    assert relaxed.capacity[:, 0].tolist() == [10_000, 16_000, 16_000]
    assert whole.ceiling[:, 0].tolist() == [7_000, 16_000, 16_000]


@pytest.mark.parametrize(
    ("cpu", "text"),
    [
        pytest.param("2", "pod default/q cannot be evicted: PodDisruptionBudget", id="as much as the node is over"),
        pytest.param("1", "2 of 3 pods cannot be evicted (2 like pod default/bare: ", id="less than that"),
    ],
)
def test_it_is_said_what_keeps_a_node_of_which_all_other_pods_have_to_leave(cpu: str, text: str) -> None:
    """All but one of its pods are bare, and that one is under a budget which is used up."""
    budget = make_budget("guard", {"app": "q"}, disruptions_allowed=0)
    bare = [pod("bare", "6", owners=[]), pod("too", str(3 - int(cpu)), owners=[])]
    asked = balance([*bare, pod("q", cpu, labels={"app": "q"})], budgets=(budget,))

    found = "; ".join((*asked.objective.remarks({}), asked.objective.obstacles({})))

    assert found.startswith(f"node a stays over its target: {text}")


def test_a_node_is_kept_over_its_target_by_a_replacement_that_comes_to_it() -> None:
    """By its labels it goes to node c, beside a small pod that could leave."""
    asked = balance([pod("s", "8", "b", node_selector={"kubernetes.io/hostname": "c"}), pod("t", "500m", "c")])

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("s")).is_accepted
        remarks, obstacles = asked.objective.remarks({}), asked.objective.obstacles({})

    assert [text for text in remarks if "node c" in text] == []
    assert obstacles == "node c stays over its target even if all of its pods leave"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p", "node a stays over its target (cpu 70%): no plan found within the limits moves enough of its pods"),
        ("s", "node b is not over its target (cpu 70%)"),
        ("far", "node far is not one of the nodes that the policy selects"),
    ],
)
def test_it_is_said_what_became_of_the_node_of_a_pod(name: str, text: str) -> None:
    nodes = [*NODES, make_node("far", cpu="10")]
    asked = objective_over("balanceUtilization", nodes, [*PODS, pod("far", "9", "far")], args=TARGET, processed=NODES)

    assert asked.objective.why_not(asked.pod(name)) == text
    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("q")).is_accepted
        assert asked.objective.why_not(asked.pod("r")) == "other pods of node a bring it under its target"


def test_targets_above_the_average_are_said_with_the_figure() -> None:
    """Nodes are at 90, 50 and 10 %."""
    asked = balance(PODS, {"targetThresholds": {"cpu": 30}, "useDeviationThresholds": True})

    assert asked.objective.targets() == {"cpu": 80}
    assert asked.objective.text_of(1) == "1 node over target (cpu 80%, 30 above the average of 50%)"


def test_of_many_nodes_over_their_target_the_first_three_are_named() -> None:
    nodes = [make_node(f"n{number}", cpu="10") for number in range(4)]
    pods = [pod(f"bare-{number}", "9", f"n{number}", owners=[]) for number in range(4)]
    guard = make_budget("guard", {"app": "x"}, disruptions_allowed=0)
    guarded = [pod(f"x{number}", "9", f"n{number}", labels={"app": "x"}) for number in range(4)]

    bare = objective_over("balanceUtilization", nodes, pods, args=TARGET)
    kept = objective_over("balanceUtilization", nodes, guarded, args=TARGET, budgets=(guard,))

    assert [text.split()[1] for text in bare.objective.remarks({})] == ["n0", "n1", "n2"]
    assert [text.split()[1] for text in kept.objective.obstacles({}).split("; node")] == ["n0", "stays", "stays"]


def test_no_other_pods_leave_a_node_that_is_under_its_target_as_things_are_booked() -> None:
    asked = balance()
    asked.objective.stated_over(asked.cluster)

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("q")).is_accepted
        assert asked.objective.substitutes([asked.move("p", "c")], lambda number: True) == []


@pytest.mark.parametrize(
    ("against", "text"),
    [
        pytest.param({}, "", id="nothing"),
        pytest.param({"b": "no"}, "pod shop/b: no", id="one"),
        pytest.param({"b": "no", "a": "no"}, "pod shop/a and 1 more pod: no", id="two"),
        pytest.param(
            {"a": "yes", "d": "no", "c": "no", "b": "no"}, "pod shop/b and 2 more pods: no", id="most of them"
        ),
        pytest.param({"a": "x", "b": "no"}, "pod shop/b: no", id="of equally many the first text"),
    ],
)
def test_what_is_said_against_most_pods_is_in_the_way(against: dict[str, str], text: str) -> None:
    asked = balance(PODS[1:])

    assert asked.objective.obstacles({("", "shop", name): said for name, said in against.items()}) == text
    assert (asked.objective.lets_go_nowhere, asked.objective.places_nowhere) == (False, False)


def test_resources_of_which_a_node_is_at_its_target_do_not_matter_to_what_has_to_leave() -> None:
    """Node a is 2 cores over its target, and at the one of its memory."""
    nodes = [make_node("a", cpu="10", memory="10Gi"), make_node("b", cpu="10", memory="10Gi")]
    guard = make_budget("guard", {"app": "x"}, disruptions_allowed=0)
    x: Object = {"labels": {"app": "x"}}
    pods = [pod("m", "1", memory="7Gi", **x), pod("c", "5", **x), pod("s", "3", **x)]
    args = {"targetThresholds": {"cpu": 70, "memory": 70}}
    asked = objective_over("balanceUtilization", nodes, pods, args=args, budgets=(guard,))

    assert asked.objective.needs_more_than(0) == "node a needs 1 eviction"
    assert asked.objective.obstacles({}).startswith("node a stays over its target: pod default/c cannot be evicted")
