"""ReduceCost, ReduceFragmentation and MakeRoom for deferred resizes by themselves."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.planner.utilization.targets import NO_CEILING
from tests.builders import Object, make_node, make_pod
from tests.planner.objective_over import Asked, objective_over

NODES = [make_node(name, cpu="10", memory="10Gi", labels={"cost": cost}) for name, cost in (("a", "4"), ("b", "2"))]
FREE = make_node("c", cpu="10", memory="10Gi", labels={"cost": "1"})


def pod(name: str, cpu: str, node: str = "a", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **{"owners": [f"ReplicaSet/{name}"], **facts})


def cost(pods: list[Pod], nodes: Any = (*NODES, FREE), args: Object | None = None, **others: Any) -> Asked:
    stated = {"nodeCost": {"label": "cost"}, **(args or {})}
    return objective_over("reduceCost", nodes, pods, args=stated, **others)


def test_requests_cost_half_of_their_shares_of_cpu_and_memory() -> None:
    """Pod p has half of the CPU of node a, and q a fifth of both of node b."""
    asked = cost([pod("p", "5"), pod("q", "2", "b", memory="2Gi")])
    objective = asked.objective

    assert objective.figure() == round(1000 * (4 * 0.25 + 2 * 0.2))
    assert (objective.text_of(12_400), objective.counts) == ("cost of requests 12.4", "cost of requests")
    assert (objective.nothing_to_do(), objective.reason(asked.pod("p"))) == (
        "",
        "other nodes have cheaper room (node a costs 4)",
    )
    assert sorted("abc", key=objective.asked_later) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("nodes", "pods", "text"),
    [
        pytest.param(
            [make_node("a", labels={"cost": "2"}), make_node("b", labels={"cost": "2"})],
            [pod("p", "1")],
            "requests cost the same on every node (nodeCost)",
            id="equal prices",
        ),
        pytest.param(
            NODES, [make_pod("p")], "no pod on the nodes of the policy requests CPU or memory", id="no requests"
        ),
        pytest.param(
            [NODES[0], make_node("b", cpu="10", labels={"cost": "0"})],
            [pod("p", "1", "b")],
            "requests cost nothing on the nodes that have pods (nodeCost)",
            id="free nodes alone have pods",
        ),
        pytest.param(
            NODES, [pod("p", "1m", "b")], "requests cost less than 0.001 in all (nodeCost)", id="next to nothing"
        ),
        pytest.param(
            [make_node("a"), make_node("b")],
            [pod("p", "1")],
            "requests cost the same on every node (nodeCost); nodeCost.label: no node has the label cost (default: 1)",
            id="no prices",
        ),
    ],
)
def test_it_is_said_where_nothing_can_be_saved(nodes: Any, pods: list[Pod], text: str) -> None:
    assert cost(pods, nodes).objective.nothing_to_do() == text


def test_moves_that_save_nothing_by_themselves_are_closed() -> None:
    """A tiny pod saves less than a thousandth; pods of node b save on node c alone."""
    asked = cost([pod("p", "5"), pod("q", "2", "b"), pod("tiny", "1m")])

    problem = asked.objective.problem_over(asked.cluster)

    opened = {
        each.name: problem.allowed[problem.pod_class[number]].tolist() for number, each in enumerate(asked.cluster.pods)
    }
    assert opened["p"] == [False, True, True]
    assert opened["q"] == [False, False, True]
    assert opened["tiny"] == [False, False, False]


def test_a_move_that_saves_a_thousandth_is_worth_it() -> None:
    """A thousandth of the cores of node a costs 0.002, and 0.001 on node b."""
    asked = cost([pod("least", "10m"), pod("less", "9m")], NODES)

    problem = asked.objective.problem_over(asked.cluster)

    allowed = problem.allowed[problem.pod_class]
    assert allowed[[asked.cluster.number_of(asked.pod(name)) for name in ("least", "less")], 1].tolist() == [
        True,
        False,
    ]
    assert asked.objective.harm(asked.pod("least"), "b").is_accepted
    assert asked.objective.harm(asked.pod("less"), "b").message == (
        "the replacement pod would be scheduled onto b, where its requests cost less by under 0.001"
    )


@pytest.mark.parametrize(
    ("name", "node", "text"),
    [
        pytest.param("p", "b", "", id="it is cheaper there"),
        pytest.param("q", "a", "where its requests cost no less", id="it is dearer there"),
        pytest.param("q", "b", "where its requests cost no less", id="it costs the same there"),
        pytest.param("p", "x", "which is not one of the nodes that the policy selects", id="another node"),
    ],
)
def test_a_replacement_must_cost_less(name: str, node: str, text: str) -> None:
    nodes = [*NODES, FREE, make_node("x", cpu="10")]
    asked = cost([pod("p", "5"), pod("q", "2", "b")], nodes, processed=nodes[:3])

    verdict = asked.objective.harm(asked.pod(name), node)

    assert verdict.message == (f"the replacement pod would be scheduled onto {node}, {text}" if text else "")


def test_parts_are_moves_by_what_they_save_and_others_are_shown_beside() -> None:
    """The pod of a DaemonSet counts in the figure, too."""
    asked = cost([pod("p", "5"), pod("agent", "1", "b", owners=["DaemonSet/d"])])
    stated = asked.objective.stated_over(asked.cluster)

    (part,) = asked.objective.parts(asked.cluster, [asked.move("p", "c")])

    assert part.gain == pytest.approx(1.0 - 0.25)
    assert asked.objective.shown(stated.prepare(asked.cluster.problem).value(asked.cluster.problem.assignment)) == (
        asked.objective.figure(),
        0,
    )


GPU = "nvidia.com/gpu"


def gpus(name: str, number: int, node: str = "a", **facts: Any) -> Pod:
    return pod(name, "1", node, requests={GPU: str(number)}, limits={GPU: str(number)}, **facts)


def fragments(pods: list[Pod], nodes: str = "ab") -> Asked:
    found = [make_node(name, cpu="64", allocatable={GPU: "8"}) for name in nodes]
    return objective_over("reduceFragmentation", found, pods, args={"resource": GPU})


def test_what_no_size_can_use_is_stranded() -> None:
    """The pending pod of 4 goes to node a. What is left there is 2, and 6 on node b: both strand 2 for such pods."""
    asked = fragments([gpus("p", 2), gpus("q", 2, "b"), gpus("four", 4, "")])
    objective = asked.objective

    assert (objective.figure(), objective.scale, objective.nothing_to_do()) == (4, 3, "")
    assert (objective.text_of(4), objective.amount_of(4)) == (f"1.33 unusable units of free {GPU}", "1.33")
    assert objective.change(4, 0) == f"1.33 unusable units of free {GPU} → 0"
    assert objective.reason(asked.pod("q")) == f"node b has 6 free {GPU}, of which pods that request 4 cannot use all"


@pytest.mark.parametrize(
    ("pods", "text"),
    [
        pytest.param([pod("web", "1")], f"no pod requests {GPU}", id="no requests"),
        pytest.param(
            [gpus("p", 2), gpus("q", 2, "b")],
            f"pods that request 2 can use all free {GPU}",
            id="all can be used",
        ),
    ],
)
def test_it_is_said_where_nothing_is_stranded(pods: list[Pod], text: str) -> None:
    assert fragments(pods).objective.nothing_to_do() == text


def test_moves_that_gain_by_themselves_are_groups_and_others_are_together() -> None:
    """Pods of 4 strand 2 of each node; one move of a pod of 2 makes the slots of both whole."""
    asked = fragments([gpus("p", 2), gpus("q", 2, "b"), gpus("four", 4, "")])
    asked.objective.stated_over(asked.cluster)

    (group,) = asked.objective.groups([asked.move("p", "b")])
    both = asked.objective.groups([asked.move("p", "b"), asked.move("q", "a")])

    assert asked.names(group) == ["p"]
    assert [asked.names(each) for each in both] == [["p"], ["q"]]
    (part,) = asked.objective.parts(asked.cluster, [asked.move("p", "b")])
    assert part.gain == pytest.approx(4 / 3)
    assert list(asked.objective.parts(asked.cluster, [])) == []
    assert asked.objective.split([asked.move("p", "b")]) == ()
    assert len(asked.objective.split([asked.move("p", "b"), asked.move("q", "a")])) == 2


def test_a_replacement_gains_where_less_is_stranded_then() -> None:
    asked = fragments([gpus("p", 2), gpus("q", 2, "b"), gpus("four", 4, "")])
    gain = asked.objective.gain_of([asked.move("p", "b")])

    assert gain().reason is Reason.NO_GAIN
    assert asked.objective.harm(asked.pod("p"), "b").is_accepted


def test_fragmentation_of_equal_change_is_said_in_words() -> None:
    asked = fragments([gpus("p", 2), gpus("q", 2, "b"), gpus("four", 4, "")])
    asked.objective.scale = 1000

    assert asked.objective.change(1001, 1000) == f"1 unusable unit of free {GPU} → slightly fewer"
    assert asked.objective.change(1000, 1001) == f"1 unusable unit of free {GPU} → slightly more"
    assert asked.objective.change(1000, 1000) == f"1 unusable unit of free {GPU} → 1"


def resizing(*pods: Pod, args: Object | None = None) -> Asked:
    nodes = [make_node(name, cpu="10") for name in "ab"]
    return objective_over("makeRoom", nodes, list(pods), args={"for": "deferredResizes", **(args or {})})


def deferred(name: str, cpu: str, node: str = "a", **facts: Any) -> Pod:
    condition = {"type": "PodResizePending", "status": "True", "reason": "Deferred"}
    return pod(name, cpu, node, conditions=[condition], **facts)


def test_nodes_without_room_for_a_deferred_resize_are_counted() -> None:
    asked = resizing(deferred("grows", "7"), pod("p", "4"), pod("q", "9", "b"), pod("r", "2", "b"))
    objective = asked.objective

    assert (objective.figure(), objective.targets(), objective.nothing_to_do()) == (1, {}, "")
    assert objective.text_of(1) == "1 node without room for a deferred resize"
    assert objective.reason(asked.pod("grows")) == "its in-place resize is deferred: node a has no room for it"
    assert objective.reason(asked.pod("p")) == (
        "makes room on node a for the deferred in-place resize of pod default/grows"
    )
    assert objective.reason(asked.pod("q")) == (
        "makes room on node b for pods that leave nodes without room for a deferred resize"
    )
    ceiling = objective.stated_over(asked.cluster).ceiling[:, 0]
    assert ceiling.tolist() == [10_000, NO_CEILING]
    assert objective.why_not(asked.pod("q")) == "node b has no pod with a deferred in-place resize"
    assert objective.why_not(asked.pod("p")) == (
        "node a has no room for a deferred resize: no plan found within the limits moves enough of its pods"
    )


@pytest.mark.parametrize(
    ("pods", "args", "text"),
    [
        pytest.param(
            [pod("p", "9")],
            {},
            "no pod with a deferred in-place resize is selected (makeRoom.for: deferredResizes)",
            id="none",
        ),
        pytest.param(
            [deferred("grows", "7")],
            {},
            "1 pod with a deferred in-place resize: their nodes have room for it",
            id="room",
        ),
        pytest.param([deferred("grows", "11")], {}, "", id="no room"),
        pytest.param(
            [deferred("grows", "11")],
            {"namespaces": {"exclude": ["default"]}},
            "no pod with a deferred in-place resize is selected (makeRoom.for: deferredResizes)",
            id="excluded",
        ),
        pytest.param([deferred("grows", "11")], {"namespaces": {"include": ["default"]}}, "", id="included"),
        pytest.param(
            [deferred("grows", "11")],
            {"namespaces": {"include": ["shop"]}},
            "no pod with a deferred in-place resize is selected (makeRoom.for: deferredResizes)",
            id="not included",
        ),
        pytest.param(
            [deferred("grows", "11")],
            {"labelSelector": {"matchLabels": {"x": "y"}}},
            "no pod with a deferred in-place resize is selected (makeRoom.for: deferredResizes)",
            id="other labels",
        ),
    ],
)
def test_it_is_said_where_no_resize_waits_for_room(pods: list[Pod], args: Object, text: str) -> None:
    assert resizing(*pods, args=args).objective.nothing_to_do() == text


def test_others_that_wait_on_the_node_are_counted() -> None:
    asked = resizing(deferred("one", "6"), deferred("two", "5"), deferred("three", "1"), pod("p", "1"))

    assert asked.objective.reason(asked.pod("p")) == (
        "makes room on node a for the deferred in-place resize of pod default/one and 2 others"
    )
    assert asked.objective.why_not(asked.pod("p")).startswith("node a has no room")


@pytest.mark.parametrize(("size", "harms"), [("4", True), ("3", False)])
def test_a_replacement_must_leave_the_room_for_a_resize(size: str, harms: bool) -> None:
    """Node b has 3 of 10 cores left beside its pod; node c waits for nothing."""
    nodes = [make_node(name, cpu="10") for name in "abc"]
    pods = [deferred("grows", "11"), deferred("fits", "7", "b"), pod("p", size, "c")]
    asked = objective_over("makeRoom", nodes, pods, args={"for": "deferredResizes"})

    verdict = asked.objective.harm(asked.pod("p"), "b")

    assert verdict.is_accepted is not harms
    assert not harms or verdict.message == (
        "the replacement pod would be scheduled onto b, which has no room for a deferred resize then"
    )
    assert asked.objective.harm(asked.pod("p"), "c").is_accepted


def test_moves_that_gain_nothing_by_themselves_are_with_those_that_may_need_their_room() -> None:
    """Nodes have 1 GPU free each, and a pod waits for 2. Pods web and log request none."""
    pods = [gpus("p", 1), gpus("a2", 1), gpus("q", 1, "b"), gpus("b2", 1, "b"), gpus("c1", 1, "c"), gpus("two", 2, "")]
    pods += [pod("web", "1", "b"), pod("log", "1", "c")]
    nodes = [make_node(name, cpu="64", allocatable={GPU: str(has)}) for name, has in (("a", 3), ("b", 3), ("c", 2))]
    asked = objective_over("reduceFragmentation", nodes, pods, args={"resource": GPU})
    asked.objective.stated_over(asked.cluster)
    gains, web, log = asked.move("p", "b"), asked.move("web", "c"), asked.move("log", "a")

    def groups(*moves: Any) -> list[list[str]]:
        return [asked.names(group) for group in asked.objective.groups(moves)]

    assert groups(web, gains) == [["web", "p"]]
    assert groups(gains, web) == [["p"], ["web"]]
    assert groups(log, gains) == [["p"], ["log"]]
    (part,) = asked.objective.parts(asked.cluster, [gains])
    assert part.gain == pytest.approx((3 - 1) / 6)


def test_a_node_that_strands_nothing_has_a_larger_slot_after_an_eviction() -> None:
    """Node b has 4 GPUs free, which pods of 2 and of 4 use."""
    asked = fragments([gpus("p", 2), gpus("q", 4, "b"), gpus("four", 4, "")])

    assert asked.objective.reason(asked.pod("q")) == f"leaves a larger slot of {GPU} free on node b"
    assert asked.objective.reason(asked.pod("p")).startswith(f"node a has 2 free {GPU}, of which pods that request 4")


@pytest.mark.parametrize(("number", "pods"), [(1, "replacement pod"), (2, "replacement pods")])
def test_it_is_said_where_replacements_would_strand_as_much(number: int, pods: str) -> None:
    asked = fragments([gpus("p", 2), gpus("q", 2, "b"), gpus("four", 4, "")])
    asked.objective.hint = "another scheduler"
    moves = [asked.move("p", "b"), asked.move("q", "a")][:number]

    verdict = asked.objective.gain_of(moves)()

    assert verdict.message == (
        f"no larger slots of {GPU} are left where the {pods} would be scheduled; another scheduler"
    )


def test_costs_are_shown_with_those_of_pods_that_are_not_planned() -> None:
    """The evicted pod is none of the problem's any more; its replacement is on node c."""
    asked = cost([pod("p", "5"), pod("q", "2", "b", memory="2Gi")])

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("q")).is_accepted
        number = asked.objective.figure()
        later = asked.cluster.where_stay(set())
        stated = asked.objective.stated_over(later)
        planned = stated.prepare(later.problem).value(later.problem.assignment)

        assert asked.objective.shown(planned) == (number, 0)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p", "no plan found within the limits has cheaper room for it"),
        ("cheap", "no node is cheaper than node c (nodeCost)"),
        ("far", "node x is not one of the nodes that the policy selects"),
    ],
)
def test_it_is_said_why_pods_stay_where_they_are_dear(name: str, text: str) -> None:
    nodes = [*NODES, FREE, make_node("x", cpu="10")]
    asked = cost([pod("p", "5"), pod("cheap", "1", "c"), pod("far", "1", "x")], nodes, processed=nodes[:3])

    assert asked.objective.why_not(asked.pod(name)) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("grows", "node a has no room for a deferred resize: no plan found within the limits moves enough of its pods"),
        ("fits", "node b has room for the deferred in-place resizes of its pods"),
        ("p", "node c has no pod with a deferred in-place resize"),
        ("far", "node x is not one of the nodes that the policy selects"),
    ],
)
def test_it_is_said_what_became_of_the_nodes_of_resizes(name: str, text: str) -> None:
    nodes = [make_node(each, cpu="10") for each in "abcx"]
    pods = [deferred("grows", "11"), deferred("fits", "7", "b"), pod("p", "1", "c"), deferred("far", "11", "x")]
    args = {"for": "deferredResizes"}
    asked = objective_over("makeRoom", nodes, pods, args=args, processed=nodes[:3])

    assert asked.objective.why_not(asked.pod(name)) == text


def test_one_other_pod_that_waits_on_the_node_is_counted_and_running_pods_are_not() -> None:
    asked = resizing(deferred("one", "6"), deferred("two", "5"), pod("p", "1"))
    alone = resizing(deferred("one", "11"), pod("p", "1"))
    start = "makes room on node a for the deferred in-place resize of pod default/one"

    assert asked.objective.reason(asked.pod("p")) == f"{start} and 1 other"
    assert alone.objective.reason(alone.pod("p")) == start
