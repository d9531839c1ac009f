"""MakeRoom by itself: for which pods room is made, which moves belong together, and what keeps room away."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.order.waves import Reassignment
from tests.builders import Object, make_budget, make_node, make_pod
from tests.planner.objective_over import Asked, objective_over

NODES = [make_node(name, cpu="10", labels={"name": name}) for name in "abc"]


def pod(name: str, cpu: str, node: str = "a", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **{"owners": [f"ReplicaSet/{name}"], "priority": 0, **facts})


def waiting(name: str, cpu: str, **facts: Any) -> Pod:
    return pod(name, cpu, "", **{"phase": "Pending", "priority": 100, **facts})


PODS = [pod("p", "3"), pod("q", "4"), pod("r", "8", "b"), pod("s", "6", "c")]
"""7 of 10 cores of node a are requested, 8 of node b and 6 of node c."""


def room(pending: list[Pod], pods: list[Pod] = PODS, args: Object | None = None, **others: Any) -> Asked:
    return objective_over("makeRoom", NODES, [*pods, *pending], args=args, **others)


def test_pods_that_no_node_takes_are_counted() -> None:
    asked = room([waiting("fits", "3"), waiting("large", "6")])
    objective = asked.objective

    assert [each.name for each in objective.pending()] == ["large"]
    assert (objective.figure(), objective.nothing_to_do(), objective.hopeless()) == (1, "", "")
    assert objective.change(1, 0) == "1 pod pending → 0"
    assert objective.remarks({}) == ("1 more pod can be scheduled without evictions (default/fits onto c)",)
    assert objective.why_no_room(asked.pod("fits")) == "can be scheduled without evictions onto c"
    assert objective.why_no_room(asked.pod("large")) == ""


@pytest.mark.parametrize(
    ("pending", "args", "text"),
    [
        pytest.param([], {}, "no pod is pending", id="none"),
        pytest.param(
            [waiting("fits", "3")],
            {},
            "1 pod pending: 1 can be scheduled without evictions (default/fits onto c)",
            id="one that fits",
        ),
        pytest.param(
            [], {"for": ["default/x"]}, "no pending pod is selected (makeRoom.for: default/x does not exist)", id="x"
        ),
        pytest.param(
            [waiting("large", "6")],
            {"namespaces": {"include": ["shop"]}},
            "no pending pod is selected (makeRoom)",
            id="of another namespace",
        ),
        pytest.param(
            [waiting("fits", "3")],
            {"for": ["default/fits", "default/x"]},
            "1 pod pending: 1 can be scheduled without evictions (default/fits onto c);"
            " makeRoom.for: default/x does not exist",
            id="one of two",
        ),
    ],
)
def test_it_is_said_where_no_room_is_missing(pending: list[Pod], args: Object, text: str) -> None:
    assert room(pending, args=args).objective.nothing_to_do() == text


@pytest.mark.parametrize(
    ("pending", "text"),
    [
        pytest.param(
            [waiting("huge", "11")], "no room: pod default/huge requests 11 CPU, the largest node has 10", id="CPU"
        ),
        pytest.param([waiting("whole", "10")], "", id="as large as a node"),
        pytest.param([waiting("huge", "11"), waiting("large", "6")], "", id="one of two"),
    ],
)
def test_it_is_said_where_pods_are_larger_than_any_node(pending: list[Pod], text: str) -> None:
    assert room(pending).objective.hopeless() == text


def groups(asked: Asked, moves: list[Reassignment]) -> list[list[str]]:
    asked.objective.stated_over(asked.cluster)
    return [asked.names(group) for group in asked.objective.groups(moves)]


def test_chains_are_told_whom_they_serve() -> None:
    asked = room([waiting("large", "6"), waiting("small", "5")])
    place_large, place_small = asked.move("large", "a"), asked.move("small", "b")
    assert place_large.source == PENDING

    found = groups(asked, [asked.move("q", "c"), place_large, asked.move("r", "c"), place_small])

    assert sorted(found) == [["q", "large"], ["r", "small"]]
    assert asked.objective.reason(asked.pod("q")) == "makes room for pending pod default/large"
    assert [each.name for each in asked.objective.served_by(asked.pod("r"))] == ["small"]
    assert asked.objective.reason(asked.pod("s")) == "makes room for pending pods"
    assert asked.objective.split([asked.move("q", "c"), place_large]) == ()
    parts = asked.objective.split([asked.move("q", "c"), place_large, asked.move("r", "c"), place_small])
    assert sorted(asked.names(part) for part in parts) == [["q", "large"], ["r", "small"]]


def test_chains_that_share_a_node_are_together_where_the_plan_chooses_nodes() -> None:
    """Both pods that wait take what is left on node a; a move that serves neither is left out."""
    asked = room([waiting("one", "5"), waiting("two", "5")])
    moves = [asked.move(name, node) for name, node in (("p", "c"), ("one", "a"), ("q", "b"), ("two", "a"), ("s", "b"))]
    assert len(groups(asked, moves)) == 2

    asked.objective.choose_nodes()

    assert [sorted(group) for group in groups(asked, moves)] == [["one", "p", "q", "two"]]


@pytest.mark.parametrize(("number", "are"), [(1, "1 pod is"), (2, "2 pods are")])
def test_pods_that_their_scheduler_refuses_are_counted_by_what_it_says(number: int, are: str) -> None:
    claims = [{"name": "data", "persistentVolumeClaim": {"claimName": "lost"}}]
    objective = room([waiting(f"x{each}", "1", volumes=claims) for each in range(number)]).objective

    assert objective.remarks({}) == (f'{are} not scheduled onto any node: persistentvolumeclaim "lost" not found',)


def test_each_group_gains_the_pods_that_it_places() -> None:
    asked = room([waiting("large", "6"), waiting("small", "5")])
    asked.objective.stated_over(asked.cluster)

    parts = list(asked.objective.parts(asked.cluster, [asked.move("q", "c"), asked.move("large", "a")]))

    (part,) = parts
    assert (part.gain, asked.names(part.moves), [each.name for each in part.pods]) == (1, ["q"], ["q"])


def test_evictions_gain_where_as_many_pods_fewer_are_pending() -> None:
    asked = room([waiting("large", "6")])
    asked.objective.stated_over(asked.cluster)
    moves = [asked.move("q", "c"), asked.move("large", "a")]
    for leaving, is_gain in ((["p"], True), ([], False)):
        gain = asked.objective.gain_of(moves)
        with asked.handle.evictor.what_if():
            for name in leaving:
                assert asked.handle.evictor.request(asked.pod(name)).is_accepted
            verdict = gain()

        assert verdict.is_accepted is is_gain
    assert verdict.reason is Reason.NO_GAIN
    assert verdict.message == "pod default/large would still be pending after the evictions"
    assert asked.objective.harm(asked.pod("p"), "b").is_accepted


def test_room_is_held_for_pods_that_take_what_others_leave() -> None:
    asked = room([waiting("large", "6")])
    asked.objective.stated_over(asked.cluster)
    leaves, comes = asked.move("q", "c"), asked.move("large", "a")

    rooms = asked.objective.rooms([leaves, comes])

    assert {move: [(each.pod.name, each.node) for each in held] for move, held in rooms.items()} == {
        leaves: [("large", "a")]
    }


@pytest.mark.parametrize(("name", "is_held"), [("large", False), ("r", True)])
def test_room_is_held_for_pods_of_another_scheduler_unless_they_are_pending(name: str, is_held: bool) -> None:
    """Pod q, which is of another scheduler, leaves node a, and the other one comes."""
    asked = room([waiting("large", "6")], [PODS[0], pod("q", "4", scheduler="mine"), pod("r", "6", "b"), PODS[3]])
    asked.objective.stated_over(asked.cluster)

    rooms = asked.objective.rooms([asked.move("q", "c"), asked.move(name, "a")])

    assert [held.pod.name for found in rooms.values() for held in found] == ([name] if is_held else [])


def on_a_alone(**facts: Any) -> Asked:
    """A pod of 6 may be on node a alone, which is 3 cores short of it."""
    pods = [pod("p", "2"), pod("q", "5", labels={"app": "q"})]
    return room([waiting("large", "6", node_selector={"name": "a"})], pods, **facts)


def test_it_is_said_what_keeps_the_nearest_node_from_having_room() -> None:
    """The larger pod is under a budget that is used up, and the other one is too small."""
    asked = on_a_alone(budgets=(make_budget("guard", {"app": "q"}, disruptions_allowed=0),))

    text = asked.objective.obstacle_of(asked.pod("large"))

    assert text.startswith("3 CPU short on node a, where pod default/q cannot be evicted: PodDisruptionBudget ")
    assert text.endswith("; other nodes: 2 closed to the pod")
    assert asked.objective.obstacles({}) == f"pod default/large: {text}"
    assert asked.objective.why_not(asked.pod("q")).startswith("the pod cannot be evicted: PodDisruptionBudget ")


def test_other_nodes_are_counted_by_what_keeps_them() -> None:
    """Nodes b and c have bare pods, node d is too small, e is closed and f is not selected."""
    nodes = [
        *NODES,
        make_node("d", cpu="5"),
        make_node("e", cpu="10", taints=["x:NoSchedule"]),
        make_node("f", cpu="10"),
    ]
    pods = [
        pod("a", "7", owners=[]),
        pod("b", "8", "b", owners=[]),
        pod("c", "9", "c", owners=[]),
        pod("f", "10", "f", owners=[]),
        waiting("large", "6"),
    ]
    asked = objective_over("makeRoom", nodes, pods, processed=nodes[:-1])

    text = asked.objective.obstacle_of(asked.pod("large"))

    assert text.endswith(
        "; other nodes: 2 with pods that cannot be evicted (BarePod), 1 too small, 1 closed to the pod,"
        " 1 not selected by the policy"
    )


def test_nothing_keeps_room_away_where_a_pod_could_leave() -> None:
    asked = on_a_alone()

    assert asked.objective.obstacle_of(asked.pod("large")) == ""
    assert asked.objective.obstacles({}) == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p", "no plan found within the limits makes room for a pending pod by its eviction"),
        ("far", "node x is not one of the nodes that the policy selects"),
    ],
)
def test_it_is_said_why_pods_stay(name: str, text: str) -> None:
    nodes = [*NODES, make_node("x", cpu="1")]
    asked = objective_over("makeRoom", nodes, [*PODS, pod("far", "1", "x"), waiting("large", "6")], processed=NODES)

    assert asked.objective.why_not(asked.pod(name)) == text


def test_pods_are_left_out_that_the_scheduler_places_on_their_node_again() -> None:
    """Node b may take no other pod: the pod there returns."""
    nodes = [NODES[0], make_node("b", cpu="10", labels={"name": "b", "only": "b"})]
    pods = [pod("p", "7"), pod("r", "8", "b", affinity=None), waiting("large", "6")]
    asked = objective_over("makeRoom", nodes, pods)

    found = asked.objective.promising(asked.cluster, asked.cluster.problem)

    by_name = {each.name: bool(may) for each, may in zip(asked.cluster.pods, found.evictable.tolist(), strict=True)}
    assert by_name["large"]
    assert asked.objective.leaves_out_returning is (not (by_name["p"] and by_name["r"]))
