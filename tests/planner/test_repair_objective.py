"""RepairViolations by itself: what is selected, what cannot be moved, and for whom others make room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from descheduler.plan.moves import identity_of
from tests.builders import (
    Object,
    make_budget,
    make_node,
    make_pod,
    owner,
    preferred_node_affinity,
    required_anti_affinity,
    required_node_affinity,
)
from tests.planner.objective_over import Asked, objective_over

TAINTS, AFFINITY = "RemovePodsViolatingNodeTaints", "RemovePodsViolatingNodeAffinity"
APART = "RemovePodsViolatingInterPodAntiAffinity"
REQUIRED: Object = {"nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]}
PREFERRED: Object = {"nodeAffinityType": ["preferredDuringSchedulingIgnoredDuringExecution"]}

NODES = [
    make_node("a", cpu="10", taints=["x:NoSchedule"], labels={"name": "a"}),
    make_node("b", cpu="10", labels={"name": "b"}),
    make_node("c", cpu="10", labels={"name": "c", "disk": "ssd"}),
]


def pod(name: str, node: str = "a", cpu: str = "1", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **{"owners": [f"ReplicaSet/{name}"], **facts})


def repair(
    pods: Sequence[Pod], strategies: dict[str, Object] | None = None, weights: Object | None = None, **others: Any
) -> Asked:
    used = {TAINTS: {}} if strategies is None else strategies
    args = {"strategies": list(used), "weights": weights or {}}
    asked = objective_over("repairViolations", NODES, pods, args=args, strategies=used, **others)
    asked.objective.stated_over(asked.cluster)
    return asked


SSD: Object = {"affinity": required_node_affinity("disk", "ssd")}


def test_selected_pods_are_counted_as_things_are_booked() -> None:
    asked = repair([pod("p"), pod("q"), pod("fine", "b")])
    objective = asked.objective

    assert (objective.figure(), objective.nothing_to_do(), objective.counts) == (2, "", "violations left")
    assert (objective.text_of(1), objective.text_of(2)) == ("1 violation", "2 violations")
    assert objective.reason(asked.pod("p")) == f"{TAINTS}: does not tolerate taint x:NoSchedule of node a"
    assert objective.reason(asked.pod("fine")) == ""
    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("p")).is_accepted
        assert (objective.figure(), dict(objective.objections())) == (1, {})
        assert not objective.in_vain([asked.pod("p")])


def test_it_is_said_where_nothing_is_selected() -> None:
    found = repair([pod("fine", "b")], {TAINTS: {}, AFFINITY: REQUIRED}).objective

    assert found.nothing_to_do() == f"no pod is selected by {TAINTS} or {AFFINITY}"


def test_a_pod_counts_as_much_as_the_weightiest_of_its_strategies() -> None:
    """Pod both is selected twice."""
    asked = repair(
        [pod("both", **SSD), pod("tainted"), pod("fine", "b")], {TAINTS: {}, AFFINITY: REQUIRED}, {AFFINITY: 5}
    )

    value, _ = (
        asked.objective.stated_over(asked.cluster)
        .prepare(asked.cluster.problem)
        .value(asked.cluster.problem.assignment)
    )

    assert value == 6
    assert asked.objective.figure() == 2


STUCK: Object = {"node_selector": {"name": "a"}}


@pytest.mark.parametrize(
    ("facts", "budgets", "why"),
    [
        pytest.param(
            STUCK,
            9,
            "0/3 nodes are available for the replacement pod: 2 didn't match Pod's node affinity/selector,"
            " 1 untolerated taint",
            id="no other node",
        ),
        pytest.param(
            {},
            0,
            "PodDisruptionBudget default/s allows 0 disruptions (0 healthy, 0 required)",
            id="a budget that is used up",
        ),
    ],
)
def test_pods_that_cannot_be_moved_are_told_from_others(facts: Object, budgets: int, why: str) -> None:
    """Pod other is under a budget with a disruption left."""
    guards = tuple(
        make_budget(name, {"app": name}, disruptions_allowed=left) for name, left in (("s", budgets), ("o", 1))
    )
    pods = [pod("stuck", labels={"app": "s"}, **facts), pod("other", labels={"app": "o"}), pod("free")]
    objective = repair(pods, budgets=guards).objective

    stuck, other, free = (objective.why_not(each) for each in pods)

    assert stuck.startswith("selected (Remove")
    assert stuck.endswith(f", but cannot be evicted: {why}")
    assert {text.split(" (")[0] for text in (other, free)} == {"no plan found within the limits gives it another node"}


def test_the_bound_counts_each_pod_once() -> None:
    asked = repair([pod("stuck", **STUCK), pod("q")], weights={TAINTS: 7})

    assert asked.objective.bound_of((7, 5)) == (1, 5)
    assert asked.objective.bound_of((0, 5)) == (0, 5)


def test_the_bound_of_several_weights_is_that_of_the_first_problem() -> None:
    """Later problems leave out pods that were refused."""
    pods = [pod("stuck", **STUCK), pod("q"), pod("r", "b", node_selector={"disk": "ssd"})]
    asked = repair(pods, {TAINTS: {}, AFFINITY: REQUIRED}, weights={TAINTS: 7})
    stuck = asked.objective.bound_of((9, 5))

    asked.objective.stated_over(asked.cluster.where_stay({identity_of(asked.pod("q"))}))

    assert asked.objective.bound_of((9, 5)) == stuck


def apart(name: str, node: str = "b", **facts: Any) -> Pod:
    labels = {"app": "x", "name": name}
    return pod(name, node, labels=labels, affinity=required_anti_affinity({"app": "x"}), **facts)


def test_nothing_is_proven_where_strategies_compare_pods() -> None:
    pods = [apart("p", node_selector={"name": "b"}), apart("q", node_selector={"name": "b"})]

    assert repair(pods, {APART: {}}).objective.bound_of((9, 5)) == (0, 0)


def test_others_are_selected_in_place_of_pods_that_cannot_be_moved() -> None:
    pods = [apart("p"), apart("q")]
    first = next(each.name for each in pods if repair(pods, {APART: {}}).objective.reason(each))
    guard = make_budget("guard", {"name": first}, disruptions_allowed=0)

    asked = repair(pods, {APART: {}}, budgets=(guard,))

    assert [each.name for each in pods if asked.objective.reason(each)] == ["p", "q"]
    value, _ = (
        asked.objective.stated_over(asked.cluster)
        .prepare(asked.cluster.problem)
        .value(asked.cluster.problem.assignment)
    )
    assert (value, asked.objective.figure()) == (1, 1)


def test_moves_that_only_make_room_are_with_those_that_take_it_and_say_for_whom() -> None:
    pods = [pod("db", "b", "2", **SSD), pod("log", "b", "2", **SSD), pod("large", "c", "9"), pod("idle", "b")]
    asked = repair([*pods, pod("tainted")], {TAINTS: {}, AFFINITY: REQUIRED})
    makes, takes, also = asked.move("large", "b"), asked.move("db", "c"), asked.move("log", "c")

    groups = asked.objective.groups([makes, takes, asked.move("tainted", "b")])

    assert [asked.names(group) for group in groups] == [["large", "db"], ["tainted"]]
    assert asked.objective.reason(asked.pod("large")) == "makes room on node c for pod default/db"
    asked.objective.groups([makes, asked.move("tainted", "b"), asked.move("idle", "c")])
    assert asked.objective.reason(asked.pod("idle")) == "makes room on node b for pods default/large, default/tainted"
    asked.objective.groups([makes, takes, also])
    assert asked.objective.reason(asked.pod("large")) == "makes room on node c for pods default/db, default/log"
    asked.objective.groups([makes])
    assert asked.objective.reason(asked.pod("large")) == "makes room on node c for others"
    (part,) = asked.objective.parts(asked.cluster, [makes, takes, also])
    assert (part.gain, asked.names(part.moves)) == (2, ["large", "db", "log"])


def test_a_pod_leaves_in_vain_where_its_replacement_is_selected_again() -> None:
    """The node that it prefers is full, and it comes to another one that is no better."""
    nodes = [make_node("a", cpu="4"), make_node("c", cpu="4"), make_node("ssd", cpu="4", labels={"disk": "ssd"})]
    prefers: Object = {"affinity": preferred_node_affinity(("disk", "ssd", 1))}
    pods = [pod("db", cpu="2", **prefers), pod("other"), pod("full", "ssd", "4", owners=["DaemonSet/d"])]
    asked = objective_over(
        "repairViolations", nodes, pods, args={"strategies": [AFFINITY]}, strategies={AFFINITY: PREFERRED}
    )

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("db")).is_accepted
        assert (asked.objective.figure(), bool(asked.objective.in_vain([asked.pod("db")]))) == (1, True)
        (text,) = asked.objective.objections().values()
        assert text.startswith(f"the replacement pod would be selected again on node c: {AFFINITY}: ")
    assert not asked.objective.in_vain([asked.pod("db")])


def test_a_replacement_that_several_strategies_select_counts_once() -> None:
    """Both nodes that have room have a taint that the scheduler avoids."""
    nodes = [make_node(name, cpu="4", taints=["x:PreferNoSchedule"]) for name in "ac"]
    nodes.append(make_node("ssd", cpu="4", labels={"disk": "ssd"}))
    prefers: Object = {"affinity": preferred_node_affinity(("disk", "ssd", 1))}
    pods = [pod("db", cpu="2", **prefers), pod("other"), pod("full", "ssd", "4", owners=["DaemonSet/d"])]
    used = {AFFINITY: PREFERRED, TAINTS: {"includePreferNoSchedule": True}}
    asked = objective_over("repairViolations", nodes, pods, args={"strategies": list(used)}, strategies=used)

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("db")).is_accepted
        (text,) = asked.objective.objections().values()
        assert (asked.objective.figure(), AFFINITY in text, TAINTS in text) == (2, True, True)


def test_it_is_said_that_moves_of_others_end_what_a_pod_is_selected_for() -> None:
    pods = [apart("p"), apart("q")]
    asked = repair(pods, {APART: {}})
    first, other = sorted(pods, key=lambda each: not asked.objective.reason(each))

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(other).is_accepted
        assert asked.objective.why_not(first).startswith("the moves of other pods end what it is selected for (Remove")
    assert asked.objective.why_not(other) == f"not selected by {APART}"


def test_a_pod_for_which_none_is_created_is_not_selected_again() -> None:
    idle = Workload("ReplicaSet", "default", "idle", "idle", 0)
    pods = [pod("idle", owners=[owner("ReplicaSet/idle", uid="idle")]), pod("q")]
    asked = repair(pods, workloads={"idle": idle})

    with asked.handle.evictor.what_if():
        assert asked.handle.evictor.request(asked.pod("idle")).is_accepted
        assert (asked.objective.figure(), dict(asked.objective.objections())) == (1, {})
