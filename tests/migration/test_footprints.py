"""What of a move is looked at again right before it begins, and which change of it objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.migration.recheck import MOST_LOOKED_AT, Footprints, Rechecked
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.prover import LandingProver
from descheduler.plan.planned import DueMove
from tests.builders import make_node, make_pod, make_snapshot
from tests.migration.stand_ins import make_eviction
from tests.migration.test_recheck import LiveCluster

SOURCE = make_node("source", cpu="32", unschedulable=True)
TARGET = make_node("target", cpu="2")
Nodes = Sequence[Node]


def pod(name: str, node: str = "source", *, cpu: str = "1", **facts: Any) -> Pod:
    return make_pod(name, node=node, cpu=cpu, **facts)


def move(of: Pod, target: str = "", **facts: Any) -> DueMove:
    """The move of a pod as it is now; `target` is where the plan has its replacement."""
    eviction = replace(make_eviction(of.name, namespace=of.namespace, uid=of.uid, node="source"), wave=1)
    if target:
        landing = LandingProver(make_snapshot([SOURCE, TARGET], [of])).consider(of)
        eviction = replace(eviction, landing=replace(landing, node=target, ties=(target,)))
    return DueMove(eviction, of, **facts)


WEB = pod("web")


def footprints(
    now: Sequence[Pod] = (WEB,),
    *,
    nodes: Nodes = (SOURCE, TARGET),
    planned: Nodes = (SOURCE, TARGET),
    pods: Sequence[Pod] = (WEB,),
    leaving_make_room: bool = False,
) -> Footprints:
    """For a plan over `planned` with these `pods`, where the cluster has `nodes` with the pods `now`."""
    return Footprints(LiveCluster(nodes, now), make_snapshot(planned, pods), leaving_make_room=leaving_make_room)


def objection(found: Rechecked) -> str:
    assert len(found.objections) <= 1
    return next(iter(found.objections.values()), "")


@pytest.mark.parametrize(
    ("now", "why"),
    [
        pytest.param(WEB, "", id="nothing"),
        pytest.param(replace(WEB, labels={"a": "b"}), "the labels of pod default/web have changed", id="its labels"),
        pytest.param(
            pod("web", owners=["ReplicaSet/other"]), "pod default/web has another owner since the plan", id="its owner"
        ),
        pytest.param(pod("web", owners=[]), "has another owner", id="it has no owner any more"),
        pytest.param(pod("web", uid="new"), "", id="a pod that the plan does not know"),
    ],
)
def test_change_of_the_pod_objects(now: Pod, why: str) -> None:
    assert why in (told := objection(footprints().recheck([move(now, "target")], ())))
    assert bool(told) is bool(why)


TAINTED = make_node("source", cpu="32", taints=["gone=soon:NoSchedule", "node.kubernetes.io/not-ready:NoSchedule"])
LEFT = "which the pod was to leave"


@pytest.mark.parametrize(
    ("planned", "now", "why"),
    [
        pytest.param(SOURCE, SOURCE, "", id="nothing"),
        pytest.param(SOURCE, None, f"node source, {LEFT}, does not exist any more", id="it is gone"),
        pytest.param(SOURCE, make_node("source"), f"node source, {LEFT}, is not cordoned any more", id="its cordon"),
        pytest.param(make_node("source"), SOURCE, "", id="it is cordoned now"),
        pytest.param(TAINTED, make_node("source"), f"node source, {LEFT}, has lost the taint gone", id="a taint"),
        pytest.param(
            TAINTED, make_node("source", taints=["gone=soon:NoSchedule"]), "", id="a taint of the node controller"
        ),
        pytest.param(TAINTED, make_node("source", taints=["gone=soon:NoExecute"]), "has lost", id="the effect of one"),
        pytest.param(make_node("source"), TAINTED, "", id="a new taint"),
        pytest.param(None, None, "", id="the plan does not know the node"),
    ],
)
def test_node_that_the_pod_was_to_leave_objects_where_the_reason_is_over(
    planned: Node | None, now: Node | None, why: str
) -> None:
    nodes = [TARGET, *([now] if now else [])]
    made = footprints(nodes=nodes, planned=[TARGET, *([planned] if planned else [])])

    told = objection(made.recheck([move(WEB, "target")], ()))

    assert why in told
    assert bool(told) is bool(why)


@pytest.mark.parametrize(
    ("target", "others", "why"),
    [
        pytest.param(TARGET, [], "", id="there is room"),
        pytest.param(TARGET, [pod("a", "target")], "", id="there is just enough"),
        pytest.param(TARGET, [pod("a", "target", cpu="1100m")], "insufficient cpu", id="there is too little"),
        pytest.param(None, [], "node does not exist any more", id="it is gone"),
        pytest.param(make_node("target", ready=False), [], "node is not ready", id="it is not ready"),
        pytest.param(make_node("target", taints=["a=b:NoSchedule"]), [], "taint", id="it is tainted"),
    ],
)
def test_target_objects_where_the_replacement_does_not_fit(target: Node | None, others: list[Pod], why: str) -> None:
    nodes = [SOURCE, *([target] if target else [])]

    told = objection(footprints([WEB, *others], nodes=nodes).recheck([move(WEB, "target")], ()))

    assert why in told
    assert bool(told) is bool(why)
    assert not why or "no node that fitted the pod in the plan fits it now; node target: " in told


def placeholder(uid: str, *, namespace: str = "default") -> Pod:
    return pod(f"placeholder-{uid}", "target", cpu="2", namespace=namespace)


@pytest.mark.parametrize(
    ("others", "why"),
    [
        pytest.param([], "", id="the room is free"),
        pytest.param([placeholder("job")], "", id="its placeholder makes way"),
        pytest.param([placeholder("other")], "insufficient cpu", id="that of another job does not"),
        pytest.param([placeholder("job", namespace="a")], "insufficient cpu", id="nor one of another namespace"),
    ],
)
def test_room_that_is_held_is_that_of_the_job(others: list[Pod], why: str) -> None:
    asked = move(WEB, room_node="target", job_uid="job")

    told = objection(footprints([WEB, *others]).recheck([asked], ()))

    assert told == (f"node target, where room is held: {why}" if why else "")


def test_replacement_that_has_landed_needs_no_room() -> None:
    full = [WEB, pod("a", "target", cpu="2")]
    made = footprints(full)

    assert objection(made.recheck([move(WEB, room_node="target", job_uid="j", has_landed=True)], ())) == ""
    assert objection(made.recheck([move(WEB, room_node="target", job_uid="j")], ())) != ""


def test_each_replacement_of_a_wave_takes_room_from_the_next() -> None:
    pods = [pod("a", cpu="1500m"), pod("b", cpu="1500m")]

    found = footprints(pods, pods=pods).recheck([move(each, "target") for each in pods], ())

    assert list(found.objections) == [pods[1].uid]


PAIR = [pod("a", cpu="1500m", owners=["ReplicaSet/a"]), pod("b", cpu="1500m", owners=["ReplicaSet/b"])]
ARRIVED = pod("a-2", "target", cpu="1500m", owners=["ReplicaSet/a"])


@pytest.mark.parametrize(
    ("under_way", "now", "is_taken"),
    [
        pytest.param([PAIR[0].uid], [], True, id="its replacement is not listed yet"),
        pytest.param([], [], False, id="it does not leave after all"),
        pytest.param([PAIR[0].uid], [ARRIVED], True, id="its replacement is listed, and counts once"),
        pytest.param([PAIR[0].uid], [pod("x", "target", cpu="500m")], True, id="another pod has come beside it"),
    ],
)
def test_replacement_that_is_on_its_way_takes_room(under_way: list[str], now: list[Pod], *, is_taken: bool) -> None:
    made = footprints([*PAIR, *now], pods=PAIR)
    made.recheck([move(PAIR[0], "target")], ())

    assert bool(made.recheck([move(PAIR[1], "target")], under_way).objections) is is_taken


def test_replacement_that_has_come_leaves_the_rest_of_the_room_to_others() -> None:
    """It would not fit twice."""
    small = [replace(PAIR[0], spec=pod("a", cpu="1").spec), pod("b", cpu="1", owners=["ReplicaSet/b"])]
    came = pod("a-2", "target", cpu="1", owners=["ReplicaSet/a"])
    made = footprints([*small, came], pods=small)
    made.recheck([move(small[0], "target")], ())

    assert made.recheck([move(small[1], "target")], [small[0].uid]).objections == {}


LEAVES = pod("leaves", "target", cpu="2")


def test_pod_that_leaves_for_certain_takes_no_room() -> None:
    made = footprints([WEB, LEAVES], pods=[WEB, LEAVES])

    assert made.recheck([move(WEB, "target")], [], [LEAVES.uid]).objections == {}
    assert made.recheck([move(WEB, "target")], [LEAVES.uid]).objections != {}


@pytest.mark.parametrize(
    ("leaving_make_room", "granted", "is_waiting", "is_objected"),
    [
        pytest.param(True, [], True, False, id="it waits for the pod that may leave"),
        pytest.param(True, [LEAVES.uid], False, False, id="the pod leaves for certain"),
        pytest.param(False, [], False, True, id="the plan does not count on its room"),
    ],
)
def test_move_waits_for_the_room_of_a_pod_that_may_leave(
    granted: list[str], *, leaving_make_room: bool, is_waiting: bool, is_objected: bool
) -> None:
    made = footprints([WEB, LEAVES], pods=[WEB, LEAVES], leaving_make_room=leaving_make_room)

    found = made.recheck([move(WEB, "target")], [LEAVES.uid], granted)

    assert (WEB.uid in found.waiting, bool(found.objections)) == (is_waiting, is_objected)


def test_pod_of_a_wave_may_count_on_the_room_of_those_before_it_alone() -> None:
    web, first = replace(WEB, spec=pod("web", cpu="2").spec), pod("first", "target", cpu="2")
    nodes = [SOURCE, TARGET, make_node("third", cpu="2", taints=["a=b:NoSchedule"])]
    leaves = DueMove(replace(make_eviction("first", namespace="default", uid=first.uid), node="target"), first)

    def recheck(*wave: DueMove) -> Rechecked:
        made = footprints([web, first], nodes=nodes, planned=nodes, pods=[web, first], leaving_make_room=True)
        return made.recheck(wave, ())

    assert recheck(leaves, move(web, "target")).waiting == {web.uid}
    assert list(recheck(move(web, "target"), leaves).objections) == [web.uid]


FULL = [make_node(f"full-{index}", cpu="2") for index in range(10)]
FULL_NOW = [pod(f"full-{index}", f"full-{index}", cpu="2") for index in range(10)]


@pytest.mark.parametrize("target", ["full-3", ""], ids=["a target", "no target"])
def test_so_many_nodes_are_looked_at_and_no_more(target: str) -> None:
    nodes = [SOURCE, *FULL]
    live = LiveCluster(nodes, [WEB, *FULL_NOW])
    made = Footprints(live, make_snapshot(nodes, [WEB]))
    asked = move(WEB, "target")
    landing = asked.eviction.landing
    asked = DueMove(replace(asked.eviction, landing=landing and replace(landing, node=target or None)), WEB)

    assert WEB.uid in made.recheck([asked], ()).objections
    assert len(live.looked_at) == MOST_LOOKED_AT
    assert live.looked_at[0] == (target or "source")


def test_node_that_a_pod_leaves_is_not_where_its_replacement_goes_although_others_come_there() -> None:
    source, third = make_node("source", cpu="32"), make_node("third", cpu="2")
    comes = pod("comes", "third")
    nodes, full = [source, TARGET, third], [pod("a", "target", cpu="2"), pod("b", "third", cpu="1")]
    made = footprints([WEB, comes, *full], nodes=nodes, planned=nodes, pods=[WEB, comes])
    eviction = replace(move(comes, "source").eviction, node="third")
    assert made.recheck([DueMove(eviction, comes)], ()).objections == {}

    assert WEB.uid in made.recheck([move(WEB, "target")], ()).objections
