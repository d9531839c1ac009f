"""Why MigrationPlanner leaves pods of a node that is over its target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.builders import Object, node_object, pod_object
from tests.explanation.unselected_pods import Question
from tests.planner.runs import verified
from tests.strategies.decided_worlds import PLANNED


def why_not(others: Sequence[Object], cpu: str) -> str:
    """Of a pod on node a, beside `others`, with nodes of 4 cores."""
    nodes = [node_object(name) for name in "ab"]
    (miss,) = Question("MigrationPlanner", pod_object("p", cpu=cpu), PLANNED, nodes, others).miss()
    return miss.message


def repaired(pod: Object, *nodes: Object) -> str:
    """Why the repair of what RemovePodsViolatingNodeTaints selects leaves a pod."""
    taints = "RemovePodsViolatingNodeTaints"
    planner = {"objectives": [{"repairViolations": {"strategies": [taints]}}], "timeLimit": "1s"}
    profile = {
        "name": "main",
        "pluginConfig": [{"name": "MigrationPlanner", "args": planner}, {"name": taints}],
        "plugins": {"balance": {"enabled": ["MigrationPlanner"]}},
    }
    (miss,) = Question("MigrationPlanner", pod, nodes=nodes, policy={"profiles": [profile]}).miss()
    return miss.message


def daemon(name: str, node: str) -> Object:
    return pod_object(name, node=node, cpu="2", owners=["DaemonSet/d"])


def test_other_pods_of_its_node_are_enough() -> None:
    others = [pod_object(name, cpu="1500m") for name in "qr"]

    assert why_not(others, "100m") == "other pods of node a bring it under its target"


def test_its_replacement_would_be_scheduled_onto_its_node_again() -> None:
    assert why_not([daemon("q", "a"), daemon("b", "b")], "1") == "the replacement pod would be scheduled onto a again"


def test_its_eviction_alone_would_not_bring_its_node_under_the_target() -> None:
    assert why_not([daemon("q", "a"), daemon("r", "a")], "100m") == (
        "node a stays over its target: 2 of 3 pods cannot be evicted (2 like pod default/q: the pod belongs to a"
        " DaemonSet)"
    )


def objective_miss(key: str, *others: Object, args: Object | None = None, **facts: Any) -> str:
    """Why MigrationPlanner with one objective leaves a pod on node a, beside `others`, with nodes of 4 cores."""
    nodes = [node_object(name, labels={"kept": str(name == "a").lower()}) for name in "ab"]
    planned: Object = {"objectives": [{key: args or {}}], "timeLimit": "1s"}
    (miss,) = Question("MigrationPlanner", pod_object("p", cpu="1", **facts), planned, nodes, others).miss()
    return miss.message


def test_each_of_several_objectives_says_why_it_leaves_a_pod() -> None:
    objectives = [{"balanceUtilization": {"targetThresholds": {"cpu": 70}}}, {"makeRoom": {}}]
    planned: Object = {"objectives": objectives, "timeLimit": "1s"}

    (miss,) = Question("MigrationPlanner", pod_object("p", cpu="1"), planned).miss()

    assert miss.message == "balanceUtilization: node a is not over its target (cpu 70%); makeRoom: no pod is pending"


IN_USE = pod_object("b0", cpu="3", node="b")


def test_a_node_with_a_pod_that_cannot_be_evicted_is_not_emptied() -> None:
    message = objective_miss("consolidateNodes", IN_USE, pod_object("bare", owners=[]))

    assert message == (
        "node a is not emptied: pod default/bare cannot be evicted: the pod has no owner that recreates it"
    )


def test_a_node_that_receives_the_pods_of_another_one_is_not_emptied() -> None:
    nodes = [node_object(name) for name in "ab"]
    others = [pod_object("second", cpu="1", node="a"), pod_object("alone", cpu="1", node="b")]
    policy = verified({"objectives": [{"consolidateNodes": {}}], "timeLimit": "1s"})

    (miss,) = Question("MigrationPlanner", pod_object("p", cpu="1"), nodes=nodes, others=others, policy=policy).miss()

    assert miss.message == "node a is not emptied: the plan has pods of other nodes scheduled onto it"


def test_a_protected_node_is_not_emptied() -> None:
    protected = {"protectedNodes": {"matchLabels": {"kept": "true"}}}

    assert objective_miss("consolidateNodes", IN_USE, args=protected) == "node a is protected (protectedNodes)"


def test_a_replacement_that_the_scheduler_places_there_again_keeps_its_node_in_use() -> None:
    assert objective_miss("consolidateNodes", IN_USE).startswith("the replacement pod would be scheduled onto a again")


def test_a_pod_stays_where_the_limit_of_the_planner_is_reached() -> None:
    """Explaining looks on at an evictor that counts."""
    planned: Object = {"objectives": [{"makeRoom": {}}], "timeLimit": "1s", "maxEvictions": 0}
    others = [pod_object("large", cpu="3500m", node="", phase="Pending"), daemon("d", "b")]

    (miss,) = Question("MigrationPlanner", pod_object("p", cpu="1"), planned, others=others).miss()

    assert miss.message == "no plan found within the limits makes room for a pending pod by its eviction"


def test_no_room_is_made_where_nothing_is_pending() -> None:
    assert objective_miss("makeRoom") == "no pod is pending"


def test_the_eviction_of_a_pod_makes_no_room_for_one_that_is_too_large() -> None:
    message = objective_miss("makeRoom", pod_object("large", cpu="5", node="", phase="Pending"))

    assert message == "no plan found within the limits makes room for a pending pod by its eviction"


def test_another_pending_pod_would_take_the_room_of_a_pod_first() -> None:
    """What was said against a plan counts, although the best plan is a later one that moves nothing."""
    fixed = [pod_object(f"{node}-fixed", cpu=cpu, node=node, owners=[]) for node, cpu in (("a", "2"), ("b", "3"))]
    waiting = [
        pod_object(name, cpu="2", node="", phase="Pending", priority=priority)
        for name, priority in (("large", 0), ("first", 10))
    ]

    message = objective_miss("makeRoom", *fixed, *waiting, args={"for": ["default/large"]})

    assert message == "pod default/large would still be pending after the evictions"


def pending_miss(*others: Object, args: Object | None = None, **facts: Any) -> str:
    """What MigrationPlanner with makeRoom says of a pending pod, beside `others`, with nodes of 4 cores."""
    return objective_miss("makeRoom", *others, args=args, node="", phase="Pending", **facts)


@pytest.mark.parametrize(
    ("args", "facts", "message"),
    [
        pytest.param({}, {}, "can be scheduled without evictions onto a", id="room"),
        pytest.param({}, {"scheduler": "other"}, "unknown: scheduler other is not modelled", id="unknown"),
        pytest.param({}, {"spec": {"schedulingGates": [{"name": "q"}]}}, "the pod has scheduling gates", id="gated"),
        pytest.param({"for": ["default/q"]}, {}, "the pod is not listed in makeRoom.for", id="not listed"),
    ],
)
def test_no_room_is_made_for_a_pending_pod(args: Object, facts: Object, message: str) -> None:
    assert pending_miss(pod_object("bare", cpu="1", owners=[]), IN_USE, args=args, **facts) == message


def test_a_pending_pod_stays_for_what_the_goal_says() -> None:
    full = [pod_object(name, cpu="3500m", node=name, owners=[]) for name in "ab"]
    web = pod_object("web", cpu="100m", node="a")

    assert pending_miss(*full, web) == (
        "makes no room for the pod (1 pod pending → 1; no plan does better; 500m CPU short on node b, where pod"
        " default/b cannot be evicted: the pod has no owner that recreates it;"
        " other nodes: 1 with pods that cannot be evicted (BarePod))"
    )
    assert pending_miss(*full) == (
        "makes no room for the pod (1 pod pending → 1; 0 of 2 pods can be evicted (2 like pod default/a: the pod has"
        " no owner that recreates it))"
    )


def test_other_evictions_make_the_room_for_which_a_profile_has_found_none() -> None:
    """Profile main may not evict the pod whose room it takes, profile other may."""
    nodes = [node_object(name, cpu="10") for name in "abc"]
    bare = [pod_object(f"{name}-bare", cpu="7", node=name, owners=[]) for name in "bc"]
    others = [*bare, pod_object("a-bare", cpu="5", node="a", owners=[])]
    others += [pod_object("q", cpu="3", node="a"), pod_object("waits", cpu="5", node="", phase="Pending")]
    first, second = (verified({**PLANNED, "objectives": [{"makeRoom": {}}]})["profiles"][0] for _ in range(2))
    first["pluginConfig"][0]["args"] = {"labelSelector": {"matchLabels": {"may": "leave"}}}
    policy = {"profiles": [{**first, "name": "main"}, {**second, "name": "other"}]}
    pod = pod_object("p", cpu="100m", node="b", labels={"may": "leave"})

    misses = Question("MigrationPlanner", pod, nodes=nodes, others=others, policy=policy).miss()

    assert {miss.profile: miss.message for miss in misses} == {
        "main": "other pods make room for the pending pods",
        "other": "other pods make room for the pending pods",
    }


@pytest.mark.parametrize("names", [["p", "q"], ["q", "p"]])
def test_the_objective_that_selects_a_pending_pod_answers_for_it(names: Sequence[str]) -> None:
    objectives = [{"makeRoom": {"for": [f"default/{name}"]}} for name in names]
    policy = verified({"objectives": objectives, "timeLimit": "1s"})
    pod = pod_object("p", cpu="1", node="", phase="Pending")

    (miss,) = Question("MigrationPlanner", pod, policy=policy).miss()

    assert miss.message == "can be scheduled without evictions onto a"


def test_other_objectives_do_not_look_at_pending_pods() -> None:
    message = objective_miss("consolidateNodes", IN_USE, node="", phase="Pending")

    assert message == "the pod is not scheduled onto a node"


def test_no_strategy_selects_it() -> None:
    assert repaired(pod_object("p"), node_object("a"), node_object("b")) == (
        "not selected by RemovePodsViolatingNodeTaints"
    )


def test_no_other_node_is_open_to_its_replacement() -> None:
    tainted = [node_object(name, taints=["maintenance:NoSchedule"]) for name in "ab"]

    assert repaired(pod_object("p"), *tainted) == (
        "selected (RemovePodsViolatingNodeTaints: does not tolerate taint maintenance:NoSchedule of node a), but cannot"
        " be evicted: no other node is open to its replacement"
    )


def test_no_device_is_freed_by_its_eviction() -> None:
    nodes = [node_object(name, allocatable={"nvidia.com/gpu": "8"}) for name in "ab"]
    args = {"objectives": [{"reduceFragmentation": {"resource": "nvidia.com/gpu"}}], "timeLimit": "1s"}
    pods = [pod_object(name, node=name, requests={"nvidia.com/gpu": "5"}) for name in "ab"]

    (miss,) = Question("MigrationPlanner", pod_object("p"), args, nodes, pods).miss()

    assert miss.message == ("no plan found within the limits gets larger slots of nvidia.com/gpu by its eviction")
