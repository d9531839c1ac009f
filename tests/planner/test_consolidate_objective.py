"""ConsolidateNodes by itself: which nodes are in use, which are emptied first, and what would do harm."""

from __future__ import annotations

import math
from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.optimizer.order.waves import Reassignment
from descheduler.plan.moves import identity_of
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.planner.problem.disposable_pods import with_nowhere
from tests.builders import Object, make_budget, make_node, make_pod
from tests.planner.objective_over import Asked, objective_over

NODES = [
    make_node(name, cpu="10", labels={"name": name, "cost": cost}) for name, cost in zip("abcd", "1234", strict=True)
]


def pod(name: str, cpu: str, node: str = "a", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **{"owners": [f"ReplicaSet/{name}"], **facts})


PODS = [
    pod("p", "2"),
    pod("q", "1"),
    pod("r", "6", "b"),
    pod("s", "3", "c"),
    pod("agent", "1", "d", owners=["DaemonSet/agent"]),
]
"""3 of 10 cores of node a are requested, 6 of node b and 3 of node c; node d has a pod of a DaemonSet alone."""


def consolidate(args: Object | None = None, pods: list[Pod] = PODS, **others: Any) -> Asked:
    return objective_over("consolidateNodes", NODES, pods, args=args, packs=True, **others)


COST: Object = {"nodeCost": {"label": "cost"}}


def test_nodes_with_pods_that_keep_them_in_use_are_counted() -> None:
    objective = consolidate().objective

    assert (objective.figure(), objective.nothing_to_do(), objective.counts) == (3, "", "nodes in use")
    assert (objective.text_of(3), objective.amount_of(1200), objective.change(3, 2)) == (
        "3 nodes in use",
        "1,200",
        "3 nodes in use → 2",
    )
    assert not objective.counts_pod(PODS[-1])
    assert objective.counts_pod(PODS[0])


def test_costs_of_nodes_are_counted_where_they_are_known() -> None:
    objective = consolidate(COST).objective

    assert (objective.figure(), objective.counts) == (6000, "cost of nodes in use (thousandths)")
    assert (objective.text_of(6000), objective.amount_of(1500)) == ("cost of nodes in use 6", "1.5")
    assert objective.change(6000, 3000) == "3 nodes in use → 3 (cost 6 → 3)"


@pytest.mark.parametrize(
    ("args", "pods", "text"),
    [
        pytest.param({}, PODS[:2], "1 node in use: at least 2 are required", id="one node"),
        pytest.param({}, [], "0 nodes in use: at least 2 are required", id="no node"),
        pytest.param({}, PODS[:3], "", id="two nodes"),
        pytest.param({"useEmptyNodes": True}, [], "0 nodes in use: at least 1 is required", id="no node to open"),
        pytest.param({"useEmptyNodes": True}, PODS[:2], "", id="one node, and empty ones"),
        pytest.param(
            {"protectedNodes": {"matchExpressions": [{"key": "name", "operator": "In", "values": ["a", "b"]}]}},
            PODS[:3],
            "every node in use is protected (protectedNodes), 2 nodes",
            id="all are protected",
        ),
        pytest.param({"protectedNodes": {"matchLabels": {"name": "a"}}}, PODS[:3], "", id="one is protected"),
    ],
)
def test_it_is_said_where_no_node_can_be_emptied(args: Object, pods: list[Pod], text: str) -> None:
    assert consolidate(args, pods).objective.nothing_to_do() == text


def test_a_selector_of_protected_nodes_that_matches_none_is_named() -> None:
    misspelt = consolidate({"protectedNodes": {"matchLabels": {"name": "x"}}})

    assert misspelt.objective.remarks({}) == ("protectedNodes (name in (x)): 0 of 4 nodes match",)


@pytest.mark.parametrize("labels", [{"name": "b"}, {"pool": "system"}], ids=["matches", "label that no node has"])
def test_nothing_is_said_of_a_selector_that_matches_or_is_of_a_label_that_no_node_has(labels: Object) -> None:
    assert consolidate({"protectedNodes": {"matchLabels": labels}}).objective.remarks({}) == ()


def test_pods_of_nodes_with_few_are_asked_about_first_and_protected_ones_never() -> None:
    objective = consolidate({"protectedNodes": {"matchLabels": {"name": "b"}}}).objective

    assert [objective.asked_later(node) for node in "abcd"] == [2, math.inf, 1, 0]


def test_ceilings_protected_nodes_and_nodes_to_open_are_those_of_the_arguments() -> None:
    asked = consolidate({"maxUtilization": {"cpu": 90}, "protectedNodes": {"matchLabels": {"name": "b"}}})
    opened = consolidate({"useEmptyNodes": True})

    stated = asked.objective.stated_over(asked.cluster)

    assert stated.protected.tolist() == [False, True, False, False]
    assert stated.weight.tolist() == [1, 1, 1, 1]
    assert stated.receives.tolist() == [False] * 4
    assert stated.ceiling[:, 0].tolist() == [9000, 9000, 9000, 8000]
    assert opened.objective.stated_over(opened.cluster).receives.tolist() == [False, False, False, True]


def test_a_node_that_a_replacement_comes_to_is_not_emptied() -> None:
    """It goes to the fullest node, b."""
    asked = consolidate()

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("s")).is_accepted
        assert asked.objective.stated_over(asked.cluster).protected.tolist() == [False, True, False, False]
        assert asked.objective.figure() == 2
        assert asked.objective.shown((2, 5)) == (2, 5)


def test_a_node_that_replacements_alone_use_is_shown_beside_those_that_a_plan_empties() -> None:
    """By its labels the pod of node c goes to node d."""
    asked = consolidate(None, [*PODS[:3], pod("s", "3", "c", node_selector={"name": "d"})])

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("s")).is_accepted
        asked.objective.stated_over(asked.cluster)

        assert asked.objective.shown((2, 5)) == (3, 5)


@pytest.mark.parametrize(
    ("packs", "chooses", "order"),
    [
        pytest.param(False, False, [["r"], ["p", "q"], ["s"]], id="the fullest first"),
        pytest.param(
            True, False, [["p", "q"], ["s"], ["r"]], id="in the order of a plan that counts with the scheduler"
        ),
        pytest.param(False, True, [["p", "q"], ["s"], ["r"]], id="in the order of a plan that chooses the nodes"),
    ],
)
def test_pods_of_a_node_are_asked_for_together(packs: bool, chooses: bool, order: list[list[str]]) -> None:
    """Node a is fuller than node c by one pod more."""
    asked = objective_over("consolidateNodes", NODES, [*PODS, pod("more", "1")], packs=packs)
    if chooses:
        asked.objective.choose_nodes()
    moves = [asked.move("p", "b"), asked.move("s", "b"), asked.move("r", "c"), asked.move("q", "b")]

    assert [asked.names(group) for group in asked.objective.groups(moves)] == order


@pytest.mark.parametrize(
    ("node", "text"),
    [
        pytest.param("a", "which the plan empties", id="emptied"),
        pytest.param("d", "which is not in use", id="not in use"),
        pytest.param("b", "and bring it over cpu 70% (maxUtilization)", id="too full"),
        pytest.param("c", "", id="in use"),
    ],
)
def test_a_replacement_does_harm_on_nodes_that_are_emptied_empty_or_too_full(node: str, text: str) -> None:
    asked = consolidate({"maxUtilization": {"cpu": 70}})
    asked.objective.groups([asked.move("p", "b")])

    verdict = asked.objective.harm(asked.pod("p"), node)

    assert verdict.message == (f"the replacement pod would be scheduled onto {node}, {text}" if text else "")
    assert verdict.is_accepted is not bool(text)


def test_empty_nodes_receive_pods_where_they_may() -> None:
    asked = consolidate({"useEmptyNodes": True})

    assert asked.objective.harm(asked.pod("p"), "d").is_accepted


def test_the_node_that_attracts_most_replacements_is_given_up() -> None:
    asked = consolidate()
    groups = asked.objective.groups([asked.move("p", "b"), asked.move("s", "b"), asked.move("r", "c")])
    of_r = [asked.names(group) for group in groups].index(["r"])
    assert asked.objective.give_up(groups) is None

    for name in ("p", "s"):
        assert asked.objective.harm(asked.pod(name), "b").reason is Reason.OTHER_LANDING
    asked.objective.harm(asked.pod("r"), "a")

    assert asked.objective.give_up(groups) == of_r
    assert asked.objective.harm(asked.pod("p"), "b").is_accepted
    assert asked.objective.give_up(groups) is None


def test_parts_are_nodes_by_what_they_cost() -> None:
    plain, priced = consolidate(), consolidate(COST)
    for asked, gains in ((plain, {"p": 1, "r": 1, "s": 1}), (priced, {"p": 1.0, "r": 2.0, "s": 3.0})):
        moves = [asked.move("p", "b"), asked.move("s", "b"), asked.move("r", "c")]

        parts = list(asked.objective.parts(asked.cluster, moves))

        assert {asked.names(part.moves)[0]: part.gain for part in parts} == gains


def test_what_is_opened_for_a_node_comes_off_its_gain_and_ties_those_that_share_it() -> None:
    """Pods of nodes a and b go to node d, and the one of node c to node b."""
    asked = consolidate({**COST, "useEmptyNodes": True})
    moves = [asked.move("p", "d"), asked.move("q", "d"), asked.move("s", "a"), asked.move("r", "d")]

    parts = list(asked.objective.parts(asked.cluster, moves))

    by_pods = {tuple(sorted(asked.names(part.moves))): part.gain for part in parts}
    assert by_pods == {("p", "q", "r"): 1.0 + 2.0 - 4.0, ("s",): 3.0}


def test_a_node_is_emptied_where_nothing_takes_its_room() -> None:
    """A pending pod of 8 cores goes to node c once that is empty."""
    waits = pod("waits", "8", "", phase="Pending")
    asked, crowded = consolidate(), consolidate(None, [*PODS[:4], pod("d", "5", "d"), waits])

    for each, is_gain in ((asked, True), (crowded, False)):
        gain = each.objective.gain_of([each.move("s", "a")])
        with each.handle.evictor.what_if():
            assert each.handle.evictor.request(each.pod("s")).is_accepted
            verdict = gain()
        assert verdict.is_accepted is is_gain
    assert verdict.message == "pending pods would be scheduled onto c after the evictions"


def test_costs_of_nodes_that_no_plan_empties_are_shown() -> None:
    asked = consolidate(COST)

    asked.objective.stated_over(asked.cluster)

    assert asked.objective.shown((4000, 7)) == (4000, 7)


def test_reasons_say_how_full_the_node_is() -> None:
    asked = consolidate()

    assert asked.objective.reason(asked.pod("r")) == "empties node b (requests: cpu 60%, memory 0% of allocatable)"


def test_it_is_said_what_keeps_the_emptiest_nodes_in_use() -> None:
    """A bare pod is on node a, and a pod without disruptions on node c; others are protected or can be emptied."""
    budget = make_budget("guard", {"app": "s"}, disruptions_allowed=0)
    pods = [pod("bare", "1", owners=[]), pod("r", "6", "b"), pod("s", "3", "c", labels={"app": "s"})]
    asked = consolidate({"protectedNodes": {"matchLabels": {"name": "b"}}}, pods, budgets=(budget,))

    text = asked.objective.obstacles({})

    first, second = text.split("; node c")
    assert first == "node a is not emptied: pod default/bare cannot be evicted: the pod has no owner that recreates it"
    assert second.startswith(" is not emptied: pod default/s cannot be evicted: ")
    assert asked.objective.obstacles({("", "shop", "web"): "no"}) == "pod shop/web: no"


@pytest.mark.parametrize(("most", "text"), [(0, "node c needs 1 eviction"), (1, "node a needs 2 evictions"), (2, "")])
def test_a_node_with_more_pods_than_a_run_may_evict_is_named(most: int, text: str) -> None:
    asked = consolidate({"protectedNodes": {"matchLabels": {"name": "b"}}})

    assert asked.objective.needs_more_than(most) == text


def test_nodes_with_pods_that_cannot_be_evicted_need_no_number_of_them() -> None:
    asked = consolidate(None, [pod("p", "1"), pod("bare", "1", owners=[]), pod("r", "6", "b")])

    assert asked.objective.needs_more_than(1) == ""


@pytest.mark.parametrize(
    ("packs", "args", "share"),
    [
        pytest.param(True, {}, 0.8, id="the scheduler packs"),
        pytest.param(True, {"useEmptyNodes": True}, 0.0, id="onto empty nodes, too"),
        pytest.param(False, {}, 0.0, id="the scheduler spreads"),
        pytest.param(False, {"useEmptyNodes": True}, 0.0, id="the scheduler spreads, and empty nodes may be used"),
    ],
)
def test_a_plan_counts_with_the_choice_of_a_scheduler_that_packs(packs: bool, args: Object, share: float) -> None:
    asked = objective_over("consolidateNodes", NODES, PODS, args=args, packs=packs)

    assert asked.objective.scheduled_share == share
    asked.objective.choose_nodes()
    assert (asked.objective.scheduled_share, asked.objective.hint) == (0.0, "")


def test_no_node_is_one_that_receives_pods_and_costs_nothing() -> None:
    """Pod p may go nowhere."""
    asked = consolidate(COST)
    known = asked.cluster
    leaving = frozenset({identity_of(asked.pod("p"))})
    cluster = with_nowhere(
        ClusterProblem(known.problem, known.pods, known.nodes, known.resources, known.allocatable, frozenset(), leaving)
    )

    stated = asked.objective.stated_over(cluster)

    assert stated.weight.tolist() == [1000, 2000, 3000, 4000, 0]
    assert stated.receives.tolist() == [False, False, False, False, True]
    assert stated.protected.tolist() == [False] * 5
    assert asked.objective.shown((1, 5)) == (1, 5)
    (part,) = asked.objective.parts(cluster, [Reassignment(cluster.number_of(asked.pod("p")), 0, 4)])
    assert part.gain == 1.0


@pytest.mark.parametrize(
    ("leaving", "text"),
    [
        pytest.param("s", "d would be used instead, which costs no less", id="one node for another"),
        pytest.param("rs", "", id="two nodes for one"),
    ],
)
def test_a_node_is_used_for_others_where_that_costs_less(leaving: str, text: str) -> None:
    """By their labels the pods of nodes b and c go to node d."""
    to_d: Object = {"node_selector": {"name": "d"}}
    pods = [pod("p", "2"), pod("r", "6", "b", **to_d), pod("s", "3", "c", **to_d)]
    asked = consolidate({"useEmptyNodes": True}, pods)
    gain = asked.objective.gain_of([asked.move(name, "d") for name in leaving])

    with asked.handle.evictor.what_if():
        for name in leaving:
            assert asked.handle.evictor.request(asked.pod(name)).is_accepted
        verdict = gain()

    assert verdict.message == text


def test_a_node_is_not_emptied_onto_one_that_is_emptied_too() -> None:
    """The one pod of node c goes to node a, of which the other pods leave."""
    asked = consolidate(None, [pod("p", "2"), pod("r", "6", "b"), pod("s", "3", "c", node_selector={"name": "a"})])
    gain = asked.objective.gain_of([asked.move("s", "b"), asked.move("p", "b")])

    with asked.handle.evictor.what_if():
        for name in "sp":
            assert asked.handle.evictor.request(asked.pod(name)).is_accepted
        assert gain().message == "pending pods would be scheduled onto a after the evictions"


def test_nodes_that_are_not_selected_may_become_as_full_as_they_can() -> None:
    asked = objective_over(
        "consolidateNodes",
        NODES,
        PODS,
        args={"maxUtilization": {"cpu": 70}},
        packs=True,
        processed=[NODES[0], NODES[2]],
    )

    assert asked.objective.figure() == 2
    assert asked.objective.harm(asked.pod("p"), "b").is_accepted
    assert asked.objective.why_not(asked.pod("r")) == "node b is not one of the nodes that the policy selects"


@pytest.mark.parametrize(
    ("args", "hints"),
    [({}, "a scheduler that scores with MostAllocated"), ({"useEmptyNodes": True}, "the plan can choose the nodes")],
)
def test_it_is_said_what_helps_where_the_scheduler_prefers_other_nodes(args: Object, hints: str) -> None:
    asked = objective_over("consolidateNodes", NODES, PODS, args=args, packs=False)

    assert asked.objective.hint.startswith(hints)
    assert consolidate().objective.hint == ""


@pytest.mark.parametrize(("resource", "is_known"), [("cpu", True), ("example.com/x", False)])
def test_a_limit_of_what_no_node_has_is_said_to_have_no_effect(resource: str, is_known: bool) -> None:
    text = f"maxUtilization.{resource} (80) has no effect: no node has {resource}"

    assert consolidate({"maxUtilization": {resource: 80}}).objective.remarks({}) == (() if is_known else (text,))
