"""DrainNodes by itself: which nodes it is about, in which order, and what is in the way of each."""

from __future__ import annotations

import math
from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.moves import identity_of
from descheduler.planner.objective_args import DrainNodesArgs
from descheduler.planner.objectives.draining.closed_nodes import ClosedNodes
from tests.builders import Object, make_budget, make_node, make_pod
from tests.planner.objective_over import Asked, objective_over

ZONE = "topology.kubernetes.io/zone"
NODES = [
    make_node("a", cpu="10", labels={ZONE: "y"}, unschedulable=True),
    make_node("b", cpu="10", labels={ZONE: "x"}, unschedulable=True),
    make_node("c", cpu="10", labels={ZONE: "x"}),
    make_node("d", cpu="10", labels={ZONE: "y"}),
]


def pod(name: str, node: str = "a", cpu: str = "2", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **{"owners": [f"ReplicaSet/{name}"], **facts})


PODS = [pod("p"), pod("q"), pod("r", "b"), pod("s", "c"), pod("agent", "a", owners=["DaemonSet/agent"])]


def drain(args: Object | None = None, pods: list[Pod] = PODS, **others: Any) -> Asked:
    return objective_over("drainNodes", NODES, pods, args={"nodes": ["a", "b"], **(args or {})}, **others)


def allow(pods: Any) -> tuple[Pod | None, Verdict, bool]:
    """Says nothing against any pods."""
    return None, ACCEPTED, True


def test_nodes_with_pods_that_are_to_be_drained_are_counted() -> None:
    objective = drain().objective

    assert (objective.figure(), objective.nothing_to_do(), objective.counts) == (2, "", "nodes to be drained")
    assert [objective.asked_later(node) for node in "abcd"] == [0.0, 0.0, math.inf, math.inf]
    assert objective.reason(PODS[0]) == "drains node a"
    assert objective.nodes_at_once == 1
    assert drain({"maxUnavailable": 3}).objective.nodes_at_once == 3


@pytest.mark.parametrize(
    ("args", "pods", "text"),
    [
        pytest.param({"nodes": ["a"]}, PODS[2:], "1 node to be drained has no pods but those of DaemonSets", id="one"),
        pytest.param({}, PODS[3:], "2 nodes to be drained have no pods but those of DaemonSets", id="two"),
        pytest.param(
            {"nodes": ["x"]},
            PODS,
            "no node is to be drained; drainNodes.nodes: x not found among the nodes of the cluster",
            id="none",
        ),
    ],
)
def test_it_is_said_where_there_is_nothing_to_drain(args: Object, pods: list[Pod], text: str) -> None:
    assert drain(args, pods).objective.nothing_to_do() == text


def test_only_pods_of_the_nodes_move_and_others_receive() -> None:
    asked = drain()

    problem, stated = asked.objective.problem_over(asked.cluster), asked.objective.stated_over(asked.cluster)

    movable = {each.name for each, may in zip(asked.cluster.pods, problem.evictable.tolist(), strict=True) if may}
    assert movable == {"p", "q", "r"}
    assert (stated.weight.tolist(), stated.receives.tolist()) == ([1, 1, 0, 0], [False, False, True, True])
    assert stated.protected.tolist() == [False, False, True, True]
    assert asked.objective.shown((2, 5)) == (2, 5)


def test_nodes_that_only_others_use_are_shown_beside_those_of_the_problem() -> None:
    """A pod that is none of the problem's any more keeps node b from being drained."""
    asked = drain()
    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("r")).is_accepted
        asked.objective.stated_over(asked.cluster)

        assert asked.objective.shown((2, 5)) == (1, 5)


@pytest.mark.parametrize(("node", "harms"), [("b", True), ("a", True), ("c", False)])
def test_no_replacement_goes_to_a_node_that_is_to_be_drained(node: str, harms: bool) -> None:
    verdict = drain().objective.harm(PODS[0], node)

    assert verdict.is_accepted is not harms
    assert not harms or verdict.message == (
        f"the replacement pod would be scheduled onto {node}, which is to be drained"
    )


@pytest.mark.parametrize(("in_turn", "first"), [(False, ["p", "q"]), (True, ["r"])])
def test_zones_are_drained_one_after_the_other_where_they_are_in_turn(in_turn: bool, first: list[str]) -> None:
    """Node a is fuller, and in zone y; node b in zone x."""
    asked = drain({"zonesInTurn": in_turn})
    moves = [asked.move("p", "c"), asked.move("q", "c"), asked.move("r", "d")]

    groups = [asked.names(group) for group in asked.objective.groups(moves)]

    assert groups[0] == first
    assert [asked.objective.zone_of(node) for node in "abx"] == (["y", "x", ""] if in_turn else [""] * 3)


def causes(asked: Asked, ask: Any = allow, against: Any = None) -> dict[str, str]:
    return {each.node: each.cause for each in asked.objective.blocked_nodes(against or {}, ask)}


def test_what_the_filters_reject_is_in_the_way_before_all_else() -> None:
    asked = drain(None, [*PODS, pod("bare", "a", owners=[])])

    found = causes(asked)

    assert found["a"] == "pod default/bare cannot be evicted: the pod has no owner that recreates it"
    assert found["b"] == "no plan found drains it"
    assert asked.objective.why_not(asked.pod("p")).startswith("node a is not drained: pod default/bare")


def test_what_budgets_keep_is_in_the_way() -> None:
    budget = make_budget("guard", {"app": "q"}, disruptions_allowed=0)
    pods = [pod("p"), pod("q", labels={"app": "q"})]

    found = causes(drain(None, pods, budgets=(budget,)))

    assert found["a"].startswith("pod default/q cannot be evicted: ")


def test_a_pod_that_has_only_nodes_to_be_drained_is_shut_in() -> None:
    """Node b takes it by its labels, and is to be drained, too."""
    nodes = [make_node("a", cpu="10"), make_node("b", cpu="10", labels={"x": "y"}), make_node("c", cpu="10")]
    pods = [pod("p", node_selector={"x": "y"})]
    asked = objective_over("drainNodes", nodes, pods, args={"nodes": ["a", "b"]})

    assert causes(asked)["a"] == (
        "pod default/p cannot be evicted: all other nodes that its replacement pod can be scheduled onto receive no"
        " replacement pods (b is to be drained)"
    )
    free = objective_over("drainNodes", nodes, pods, args={"nodes": ["a"]})
    assert causes(free)["a"] == "no plan found drains it"


def refusing(*names: str, alone: bool, proven: bool = True) -> Any:
    """Refuses the pods of these names together, or `alone` as well."""

    def ask(pods: Any) -> tuple[Pod | None, Verdict, bool]:
        found = [each for each in pods if each.name in names]
        if not found or (len(pods) == 1 and not alone):
            return None, ACCEPTED, True
        return found[0], refuse(Reason.NO_LANDING, "no node has room"), proven

    return ask


@pytest.mark.parametrize(
    ("ask", "cause"),
    [
        pytest.param(refusing("q", alone=True), "pod default/q cannot be evicted: no node has room", id="alone"),
        pytest.param(
            refusing("q", alone=False),
            "pod default/q cannot be evicted together with the other pods of the node: no node has room",
            id="together",
        ),
        pytest.param(
            refusing("q", alone=False, proven=False),
            "pod default/q cannot be evicted after other pods of the node, in any order that was tried: no node has"
            " room",
            id="in some orders",
        ),
    ],
)
def test_what_is_refused_of_all_pods_together_is_in_the_way(ask: Any, cause: str) -> None:
    assert causes(drain(), ask)["a"] == cause


def test_what_was_said_in_plans_is_in_the_way_where_nothing_else_is() -> None:
    """Of two texts the shorter one."""
    against = {("default-p", "default", "p"): "a long story", ("default-q", "default", "q"): "no"}
    asked = drain()
    keys = {each.name: key for each in PODS for key in [(each.uid, each.namespace, each.name)]}
    assert keys["p"] in against

    assert causes(asked, against=against)["a"] == "pod default/q cannot be evicted: no"
    turn = drain({"zonesInTurn": True})
    assert (
        causes(turn)["a"] == "in this run its pods can be scheduled only after nodes of other zones (zonesInTurn: true)"
    )


def test_nodes_are_left_over_whose_pods_can_all_leave_those_with_the_fewest_first() -> None:
    asked = drain()
    bare = drain(None, [*PODS, pod("bare", "b", owners=[])])

    assert [[each.name for each in pods] for pods in asked.objective.left_over()] == [["r"], ["p", "q"]]
    assert [[each.name for each in pods] for pods in bare.objective.left_over()] == [["p", "q"]]
    assert list(drain({"zonesInTurn": True}).objective.left_over()) == []


def test_a_node_that_receives_a_replacement_is_not_left_over() -> None:
    """Nodes c and d are full, so that a replacement goes to node b."""
    nodes = [NODES[0], make_node("b", cpu="10"), *NODES[2:]]
    full = [pod("full-c", "c", "10", owners=[]), pod("full-d", "d", "10", owners=[])]
    asked = objective_over("drainNodes", nodes, [pod("p"), pod("r", "b"), *full], args={"nodes": ["a", "b"]})

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("p")).is_accepted
        left, found = list(asked.objective.left_over()), causes(asked)

    assert left == []
    assert found["b"] == "this run evicts pod default/p, whose replacement pod would be scheduled onto it"


@pytest.mark.parametrize("number", [10, 11, 12])
def test_of_many_nodes_that_are_not_processed_the_first_are_named(number: int) -> None:
    nodes = [make_node(f"n{place:02}", cpu="4", ready=False) for place in range(number)]
    pods = [pod(f"p{place}", f"n{place:02}") for place in range(number)]
    asked = objective_over(
        "drainNodes", [*nodes, NODES[2]], pods, args={"nodes": [node.name for node in nodes]}, processed=[NODES[2]]
    )

    found = asked.objective.remarks({})

    assert len(found) == min(number, 10) + (number > 10)
    assert found[0] == "node n00 cannot be drained: it is not Ready"
    if number > 10:
        number_of = "1 more node to be drained is" if number == 11 else "2 more nodes to be drained are"
        assert found[-1] == f"{number_of} not Ready or not selected"


def test_nodes_without_pods_or_that_are_ready_and_not_selected_are_told_apart() -> None:
    asked = drain(None, [pod("p", "a"), pod("agent", "b", owners=["DaemonSet/d"])], processed=NODES[2:])

    assert asked.objective.remarks({}) == (
        "node a cannot be drained: it is not one of the nodes that the policy selects",
    )


def test_the_goal_hints_at_cordons_where_a_node_is_open() -> None:
    open_nodes = [make_node("a", cpu="10"), NODES[2]]

    assert objective_over("drainNodes", open_nodes, PODS[:1], args={"nodes": ["a"]}).objective.hint.startswith(
        "set cordon"
    )
    asked = drain()
    assert asked.objective.hint == ""
    assert asked.objective.obstacles({("", "shop", "web"): "no"}) == ""


def test_it_is_asked_about_the_pods_that_have_not_left_yet() -> None:
    """Pod p of node a is evicted already; its replacement goes to another node."""
    asked, about = drain(), list[list[str]]()

    def ask(pods: Any) -> tuple[Pod | None, Verdict, bool]:
        about.append([each.name for each in pods])
        return allow(pods)

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("p")).is_accepted
        causes(asked, ask)

    assert sorted(about) == [["q"], ["r"]]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "1 node receives no replacement pods (n0 is to be drained)"),
        (3, "3 nodes receive no replacement pods (n0 is to be drained, n1 is to be drained, n2 is to be drained)"),
        (
            5,
            "5 nodes receive no replacement pods (n0 is to be drained, n1 is to be drained, n2 is to be drained,"
            " 2 more)",
        ),
    ],
)
def test_of_many_nodes_that_receive_no_pods_the_first_are_named(number: int, text: str) -> None:
    nodes = [make_node(f"n{place}") for place in range(number)]
    asked = objective_over("drainNodes", nodes, [], args={"nodes": [node.name for node in nodes]})
    drains = (DrainNodesArgs(tuple(node.name for node in nodes)),)

    closed = ClosedNodes(drains, asked.handle, nodes)

    assert closed.text == text
    assert closed.harm("n0").message == "the replacement pod would be scheduled onto n0, which is to be drained"
    assert ClosedNodes((), asked.handle, nodes).text == ""


def test_nodes_without_pods_that_keep_them_in_use_are_not_said_to_be_left_out() -> None:
    """Neither is processed: node b is to be drained and has a pod, and node c is not."""
    pods = [pod("r", "b"), pod("agent", "a", owners=["DaemonSet/agent"]), pod("s", "c")]
    asked = drain(None, pods, processed=[NODES[3]])

    assert asked.objective.remarks({}) == (
        "node b cannot be drained: it is not one of the nodes that the policy selects",
    )
    assert asked.objective.nothing_to_do() == "; ".join(asked.objective.remarks({}))
    assert asked.objective.why_not(asked.pod("r")) == "node b is not to be drained"


@pytest.mark.parametrize(
    ("facts", "is_left"),
    [
        pytest.param({}, True, id="it can leave"),
        pytest.param({"cpu": "9"}, True, id="no other node has room yet"),
        pytest.param({"owners": []}, False, id="it is bare"),
        pytest.param({"labels": {"app": "guarded"}}, False, id="its budget is used up"),
    ],
)
def test_a_node_is_left_over_where_a_lack_of_room_alone_keeps_its_pods(facts: Any, is_left: bool) -> None:
    guard = make_budget("guard", {"app": "guarded"}, disruptions_allowed=0)
    others = [pod("s", "c", "5"), pod("t", "d", "5")]

    asked = drain(None, [pod("r", "b", **facts), *others], budgets=(guard,))

    assert [[each.name for each in pods] for pods in asked.objective.left_over()] == ([["r"]] if is_left else [])


def test_a_node_is_opened_for_nothing_where_it_is_drained() -> None:
    """The node that receives the pods is empty before, and costs nothing."""
    asked = drain(None, PODS[:2])

    (part,) = asked.objective.parts(asked.cluster, [asked.move("p", "d"), asked.move("q", "d")])

    assert (part.gain, asked.names(part.moves)) == (1, ["p", "q"])


def test_the_shortest_of_what_was_said_is_told_of_pods_that_have_not_left() -> None:
    against = {identity_of(PODS[0]): "x", identity_of(PODS[1]): "a longer text"}
    asked = drain()

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("p")).is_accepted
        assert causes(asked, against=against)["a"] == "pod default/q cannot be evicted: a longer text"


def test_a_node_that_a_replacement_comes_to_is_not_drained() -> None:
    """By its labels the pod of node a goes to node b, where no pod is."""
    nodes = [NODES[0], make_node("b", cpu="10", labels={"x": "y"}), NODES[2]]
    asked = objective_over("drainNodes", nodes, [pod("p", node_selector={"x": "y"})], args={"nodes": ["a", "b"]})

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("p")).is_accepted
        assert asked.objective.stated_over(asked.cluster).protected.tolist() == [False, True, True]
        assert asked.objective.shown((1, 5)) == (1, 5)


def test_a_pod_is_told_what_the_goal_says_of_its_node() -> None:
    """What is in the way of all pods together is known from the goal alone; pod agent does not keep the node in use."""
    asked = drain()
    causes(asked, refusing("q", alone=False))

    assert asked.objective.why_not(asked.pod("p")) == (
        "node a is not drained: pod default/q cannot be evicted together with the other pods of the node: no node has"
        " room"
    )
    assert asked.objective.why_not(asked.pod("agent")) == (
        "the pod does not keep node a in use: it belongs to a DaemonSet"
    )
