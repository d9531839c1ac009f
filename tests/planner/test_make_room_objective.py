"""MakeRoom by itself: for which pods room is made, which moves belong together, and what keeps room away."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.order.waves import Reassignment
from tests.builders import Object, make_budget, make_node, make_pod, preferred_node_affinity
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
            "0 of 1 pending pod matches makeRoom.namespaces",
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


@pytest.mark.parametrize("prefers", [True, False])
def test_pods_are_left_out_whose_own_node_the_scheduler_prefers_to_others_with_room(prefers: bool) -> None:
    """Pod only may be on its own node alone: no other one has room that the scheduler could prefer."""
    own: Object = {"affinity": preferred_node_affinity(("name", "a", 100))} if prefers else {}
    pods = [pod("p", "2", **own), pod("only", "5", node_selector={"name": "a"}), pod("s", "5", "b"), pod("t", "6", "c")]
    asked = room([waiting("large", "6")], pods)

    found = asked.objective.promising(asked.cluster, asked.cluster.problem)

    before = dict(
        zip((each.name for each in asked.cluster.pods), asked.cluster.problem.evictable.tolist(), strict=True)
    )
    after = dict(zip((each.name for each in asked.cluster.pods), found.evictable.tolist(), strict=True))
    assert {name for name in before if before[name] and not after[name]} == ({"p"} if prefers else set())
    assert asked.objective.leaves_out_returning is prefers
    if prefers:
        assert asked.objective.why_not(asked.pod("p")).startswith(
            "the replacement pod would be scheduled onto a again; a scheduler that scores with MostAllocated"
        )


GANG: Object = {
    "annotations": {"gang.scheduling.koordinator.sh/name": "g", "gang.scheduling.koordinator.sh/min-available": "2"}
}
KOORD: Object = {"scheduler": "koord-scheduler"}


def gang_room() -> Asked:
    """Two pods of a gang and one of none are pending; pod q is of that gang, too, and runs."""
    pods = [PODS[0], pod("q", "4", **GANG, **KOORD), pod("r", "8", "b", **KOORD), PODS[3]]
    pending = [waiting("g0", "6", **GANG, **KOORD), waiting("g1", "6", **GANG, **KOORD), waiting("alone", "6", **KOORD)]
    return room(pending, pods)


def test_pending_pods_of_a_gang_are_placed_together_and_running_ones_are_none_of_it() -> None:
    asked = gang_room()

    gang = asked.objective.stated_over(asked.cluster).gang

    by_name = dict(zip((each.name for each in asked.cluster.pods), gang.tolist(), strict=True))
    assert by_name == {"p": -1, "q": -1, "r": -1, "s": -1, "g0": 0, "g1": 0, "alone": -1}
    moves = [asked.move("q", "c"), asked.move("g0", "a"), asked.move("r", "c"), asked.move("g1", "b")]
    assert groups(asked, moves) == [["q", "g0", "r", "g1"]]
    assert asked.objective.reason(asked.pod("q")) == "makes room for pending pod default/g0 and 1 other"


@pytest.mark.parametrize(("name", "is_held"), [("g0", False), ("alone", True), ("q", True)])
def test_room_is_held_for_pods_of_a_gang_unless_they_are_pending(name: str, is_held: bool) -> None:
    """Pod r leaves node b, and the other one comes."""
    asked = gang_room()
    asked.objective.stated_over(asked.cluster)

    rooms = asked.objective.rooms([asked.move("r", "c"), asked.move(name, "b")])

    assert [held.pod.name for found in rooms.values() for held in found] == ([name] if is_held else [])


def test_evictions_gain_where_the_scheduler_places_other_pods_than_planned() -> None:
    """Pod first goes before the one that the plan has, which is of a lower priority."""
    asked = room([waiting("large", "6"), waiting("first", "6", priority=200)])
    asked.objective.stated_over(asked.cluster)
    moves = [asked.move("q", "c"), asked.move("large", "a")]
    gain = asked.objective.gain_of(moves)

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("p")).is_accepted
        assert gain().is_accepted

    assert [each.name for each in asked.objective.served_by(asked.pod("q"))] == ["first"]


def test_those_are_named_that_would_still_be_pending() -> None:
    """One pod more has room, where two were planned."""
    asked = room([waiting("large", "6"), waiting("more", "6")])
    asked.objective.stated_over(asked.cluster)
    gain = asked.objective.gain_of([asked.move("q", "c"), asked.move("large", "a"), asked.move("more", "b")])
    nothing = asked.objective.gain_of([asked.move("q", "c")])

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("p")).is_accepted
        text = gain().message
        assert nothing().is_accepted

    assert text == "pod default/more would still be pending after the evictions"
    assert nothing().message == "pods would still be pending after the evictions"


def test_only_what_a_pod_requests_is_short_for_it() -> None:
    """Node b has too little memory for its own pod, which is of no matter to a pod that requests none."""
    nodes = [make_node("a", cpu="10", memory="4Gi"), make_node("b", cpu="10", memory="1Gi")]
    pods = [pod("a", "8", owners=[]), pod("b", "7", "b", memory="2Gi", owners=[]), waiting("large", "4")]

    asked = objective_over("makeRoom", nodes, pods)

    assert asked.objective.obstacle_of(asked.pod("large")).startswith(
        "1 CPU short on node b, where pod default/b cannot be evicted"
    )


def test_a_pod_that_came_by_an_eviction_is_not_said_to_stay() -> None:
    """Pod p is replaced on node b, where the bare pod is: what keeps room away there is the bare one."""
    nodes = [make_node("a", cpu="10", labels={"name": "a"}), make_node("b", cpu="10", labels={"name": "b"})]
    pods = [
        pod("p", "5", node_selector={"name": "b"}),
        pod("bare", "3", "b", owners=[]),
        waiting("large", "8", node_selector={"name": "b"}),
    ]
    asked = objective_over("makeRoom", nodes, pods)

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("p")).is_accepted
        text = asked.objective.obstacle_of(asked.pod("large"))

    assert text.startswith("6 CPU short on node b, where pod default/bare cannot be evicted: the pod has no owner")


def test_a_node_with_just_enough_room_is_not_short_of_any() -> None:
    """Node c would have room for the pod, which is closed to it for a taint; node a is 3 cores short."""
    nodes = [*NODES[:2], make_node("c", cpu="10", labels={"name": "c"}, taints=["x:NoSchedule"])]
    pods = [pod("p", "7", owners=[]), pod("r", "10", "b", owners=[]), pod("s", "4", "c", owners=[])]

    asked = objective_over("makeRoom", nodes, [*pods, waiting("large", "6")])

    assert asked.objective.obstacle_of(asked.pod("large")) == (
        "3 CPU short on node a, where pod default/p cannot be evicted: the pod has no owner that recreates it; other"
        " nodes: 1 with pods that cannot be evicted (BarePod), 1 closed to the pod"
    )


@pytest.mark.parametrize(
    ("number", "text"),
    [
        pytest.param(3, "3 pods pending → 0 (default/f0 onto c, default/f1 onto c, default/f2 onto c)", id="few"),
        pytest.param(4, "4 pods pending → 0", id="many"),
    ],
)
def test_nodes_of_few_pods_are_named(number: int, text: str) -> None:
    """The pods have room once the one of node c has left."""
    asked = room(
        [waiting(f"f{each}", "2", node_selector={"name": "c"}) for each in range(number)],
        [pod("s", "10", "c", node_selector={"name": "a"})],
    )
    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("s")).is_accepted

        assert asked.objective.change(number, 0) == text
