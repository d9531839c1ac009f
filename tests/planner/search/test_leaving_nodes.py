"""How the pods of one node leave together: in which order, onto which nodes, and what is in the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.planner.objective_args import DrainNodesArgs
from descheduler.planner.objectives.draining.closed_nodes import ClosedNodes
from descheduler.planner.search.asking import Asking
from descheduler.planner.search.leaving_nodes import LeavingNodes, LeavingTogether
from tests.builders import make_budget, make_node, make_pod
from tests.planner.objective_over import objective_over
from tests.planner.runs import verified


def pod(name: str, cpu: str, node: str = "a", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **{"owners": [f"ReplicaSet/{name}"], **facts})


def leaving(
    pods: Sequence[Pod],
    *,
    sizes: Sequence[int] = (6, 4),
    chooses: bool = False,
    names: str = "pq",
    most: int | None = None,
    closed_nodes: Sequence[str] = (),
    is_cordoned: bool = True,
    processed: str = "abcd",
    **others: Any,
) -> LeavingTogether:
    """What comes of pods leaving node a, which is to be drained, for other nodes with so many cores.

    The policy selects those that are `processed`.
    """
    nodes = [make_node("a", cpu="10", unschedulable=is_cordoned)]
    nodes += [make_node(name, cpu=str(size)) for name, size in zip("bcd", sizes, strict=False)]
    selected = [node for node in nodes if node.name in processed]
    asked = objective_over("drainNodes", nodes, pods, args={"nodes": ["a"]}, processed=selected, **others)
    asked.objective.stated_over(asked.cluster)
    closed = ClosedNodes((DrainNodesArgs(tuple(closed_nodes)),), asked.handle, selected)
    asking = Asking(asked.objective, asked.handle.evictor, asked.cluster, most, lambda each: False, closed)
    found = LeavingNodes(asking, asked.handle.evictor, asked.cluster, closed, chooses_nodes=chooses)
    return found.of([asked.pod(name) for name in names])


def order(found: LeavingTogether) -> list[str]:
    """The pods in the order in which they leave."""
    assert found.group is not None
    assert {each.name for each in found.group.pods} == {each.pod.name for each in found.group.leaving}
    return [each.pod.name for each in found.group.leaving]


def test_pods_leave_in_the_given_order_where_that_is_granted() -> None:
    found = leaving([pod("p", "2"), pod("q", "3")])

    assert (order(found), found.is_proven) == (["p", "q"], True)
    assert [move.source for move in found.group.moves] == [0, 0]  # type: ignore[union-attr]


def test_the_largest_leave_first_where_the_small_ones_would_take_their_room() -> None:
    """The scheduler prefers the emptier node, on which the pod of 1 leaves too little for the one of 4.

    What others might do to their replacements is no matter here.
    """
    policy = verified({"objectives": [{"drainNodes": {"nodes": ["a"]}}]}, packs=False)
    policy["profiles"][0]["pluginConfig"][2]["args"] = {"onConditional": "allow"}

    found = leaving([pod("p", "1"), pod("q", "2"), pod("r", "4")], sizes=[4, 3], names="pqr", policy=policy)

    assert order(found) == ["r", "q", "p"]


def test_pods_stay_that_find_no_room_in_any_order() -> None:
    found = leaving([pod("p", "5"), pod("q", "5")])

    assert (found.group, found.verdict.reason, found.is_proven) == (None, Reason.NO_LANDING, True)
    assert found.pod is not None
    assert found.pod.name == "q"


@pytest.mark.parametrize(("number", "is_proven"), [(4, True), (5, False)])
def test_of_few_pods_all_orders_are_tried(number: int, is_proven: bool) -> None:
    """They need one core more than there is."""
    pods = [pod(f"p{each}", "2") for each in range(number - 1)] + [pod("large", str(11 - 2 * (number - 1)))]

    found = leaving(pods, sizes=[10], names=[each.name for each in pods])  # type: ignore[arg-type]

    assert (found.group, found.is_proven) == (None, is_proven)


def test_what_a_budget_says_is_proven_without_another_order() -> None:
    budget = make_budget("guard", {"app": "x"}, disruptions_allowed=1)
    pods = [pod(f"p{each}", "1", labels={"app": "x"}) for each in range(6)]

    found = leaving(pods, names=[each.name for each in pods], budgets=(budget,))  # type: ignore[arg-type]

    assert (found.group, found.is_proven) == (None, True)
    assert "PodDisruptionBudget" in found.verdict.message


@pytest.mark.parametrize(("most", "leave"), [(1, False), (2, True)])
def test_no_more_pods_leave_than_the_planner_may_evict(most: int, leave: bool) -> None:
    found = leaving([pod("p", "2"), pod("q", "3")], most=most)

    assert (found.group is not None) is leave
    assert leave or found.verdict.message == "maxEvictions (1) reached"


def test_chosen_nodes_have_room_one_after_the_other() -> None:
    """The pod of 5 has room on node b alone, the one of 4 on either."""
    found = leaving([pod("p", "4"), pod("q", "5")], chooses=True)

    assert order(found) == ["q", "p"]
    assert found.group is not None
    assert [each.held.on for each in found.group.leaving] == ["b", "c"]
    assert [move.target for move in found.group.moves] == [1, 2]


def test_another_node_is_chosen_where_the_first_leaves_no_room_for_the_next() -> None:
    """Equally large pods: the one may be on node b alone."""
    nodes_of: dict[str, Any] = {"node_selector": {"kubernetes.io/hostname": "b"}}

    found = leaving([pod("p", "4"), pod("q", "4", **nodes_of)], sizes=[4, 4], chooses=True)

    assert found.group is not None
    assert {each.pod.name: each.held.on for each in found.group.leaving} == {"p": "c", "q": "b"}


def test_the_pod_that_lacks_a_node_when_most_others_have_one_is_in_the_way() -> None:
    found = leaving([pod("p", "4"), pod("q", "5")], sizes=[6, 3], chooses=True)

    assert (found.group, found.is_proven) == (None, True)
    assert found.pod is not None
    assert found.pod.name == "p"
    assert found.verdict.message.startswith(
        "on no other node can room be held for its replacement pod while the pod runs"
    )


@pytest.mark.parametrize(
    ("processed", "why"),
    [
        pytest.param("abcd", "is to be drained", id="closed"),
        pytest.param("ab", "is not selected by the policy", id="not selected"),
    ],
)
def test_nodes_that_the_plan_closes_are_not_counted_as_available(processed: str, why: str) -> None:
    """Node a has room for a second pod like p, and node d has room for none."""
    found = leaving(
        [pod("p", "4")],
        sizes=[4, 4, 2],
        chooses=True,
        names="p",
        closed_nodes=["b", "c"],
        is_cordoned=False,
        processed=processed,
    )

    assert found.group is None
    assert found.verdict.message == (
        "on no other node can room be held for its replacement pod while the pod runs: 1 insufficient cpu,"
        f" 1 is the node of the pod itself (a), 2 receive no replacement pods (b is to be drained, c {why})"
    )


def test_a_search_through_too_many_choices_proves_nothing() -> None:
    """Seven pods of 2 on three nodes with room for two each: all choices are more than are asked about."""
    pods = [pod(f"p{each}", "1") for each in range(10)]

    found = leaving(pods, sizes=[3, 3, 3], chooses=True, names=[each.name for each in pods])  # type: ignore[arg-type]

    assert (found.group, found.is_proven) == (None, False)


def test_some_of_the_pods_of_a_node_gain_nothing_by_themselves() -> None:
    """Their moves are those of no whole node, so that nothing is asked of what they gain."""
    found = leaving([pod("p", "2"), pod("q", "3")], names="p")

    assert found.group is not None
    assert list(found.group.moves) == []
    assert order(found) == ["p"]


@pytest.mark.parametrize(("closed", "node"), [("", "b"), ("b", "c"), ("c", "b")])
def test_no_room_is_held_on_nodes_that_are_closed(closed: str, node: str) -> None:
    found = leaving([pod("p", "4")], chooses=True, names="p", closed_nodes=closed)

    assert found.group is not None
    assert [each.held.on for each in found.group.leaving] == [node]


def test_of_pods_that_lack_a_node_the_first_that_is_asked_for_is_in_the_way() -> None:
    found = leaving([pod("p", "5"), pod("q", "6")], sizes=[4], chooses=True)

    assert found.pod is not None
    assert (found.group, found.pod.name) == (None, "q")
