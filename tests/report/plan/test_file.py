"""What a plan file keeps of each move, by which `apply` sees that the cluster has changed since."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.report.plan.file import ClusterIdentity, MoveBasis, NodeFootprint, basis_of, labels_of, make_plan_file
from tests.builders import make_node, make_pod, make_snapshot
from tests.report.decided_cycles import make_test_decisions

NOWHERE = ClusterIdentity(server="", uid="")


def basis(pod: Pod | None = None, *, node: Node | None = None, target: str | None = None) -> MoveBasis:
    """What the move of `pod` from node a is judged by, over a cluster of a, as given, and b."""
    pod = pod or make_pod("old")
    snapshot = make_snapshot([node or make_node("a"), make_node("b")], [pod])
    (old,) = make_plan_file(make_test_decisions([make_pod("old")]), NOWHERE).bases
    named = None if target is None else replace(source(), name=target)
    return basis_of(pod, snapshot, replace(old, target=named))


def source(**facts: Any) -> NodeFootprint:
    """The footprint of node a with these facts."""
    found = basis(node=make_node("a", **facts)).source
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("facts", "changed"),
    [
        pytest.param({"unschedulable": True}, {"cordoned"}, id="a cordon"),
        pytest.param({"ready": False}, {"ready"}, id="not ready"),
        pytest.param({"cpu": "8"}, {"allocatable"}, id="another size"),
        pytest.param({"labels": {"pool": "web"}}, {"labels"}, id="another label"),
        pytest.param({"taints": ["spot:NoSchedule"]}, {"taints"}, id="a taint"),
        pytest.param({"taints": ["node.kubernetes.io/unschedulable:NoSchedule"]}, set(), id="the taint of a cordon"),
        pytest.param({"annotations": {"a": "b"}}, set(), id="an annotation"),
    ],
)
def test_footprint_of_a_node_changes_with_what_decides_on_pods(facts: dict[str, Any], changed: set[str]) -> None:
    before, after = source(), source(**facts)

    assert {name for name in before.__struct_fields__ if getattr(before, name) != getattr(after, name)} == changed


def test_cordon_that_the_run_sets_itself_is_no_change() -> None:
    node = replace(make_node("a", unschedulable=True), cordoned_by_run=True)

    assert basis(node=node).source == source()


def test_taints_are_compared_whatever_their_order_is() -> None:
    taints = ["a:NoSchedule", "b=c:NoExecute"]

    assert source(taints=taints) == source(taints=taints[::-1])


@pytest.mark.parametrize(
    ("facts", "changed"),
    [
        pytest.param({"owners": ["ReplicaSet/other"]}, {"workload"}, id="another workload"),
        pytest.param({"owners": []}, {"workload"}, id="no workload"),
        pytest.param({"cpu": "1"}, {"requests"}, id="other requests"),
        pytest.param({"labels": {"app": "web"}}, {"labels"}, id="other labels"),
        pytest.param({"uid": "new"}, {"uid"}, id="another pod of the same name"),
        pytest.param({"node": "b"}, {"source"}, id="another node"),
    ],
)
def test_basis_of_a_move_changes_with_its_pod(facts: dict[str, Any], changed: set[str]) -> None:
    before, after = basis(), basis(make_pod("old", **facts))

    assert {name for name in before.__struct_fields__ if getattr(before, name) != getattr(after, name)} == changed


def test_workload_is_that_of_the_controller() -> None:
    assert basis(make_pod("old", owners=["ReplicaSet/web"])).workload == "replicaset-web"
    assert basis(make_pod("old", owners=[])).workload == ""


def test_target_is_the_node_of_the_plan_as_it_is_now_and_nothing_where_it_is_gone() -> None:
    target = basis(target="b").target

    assert target is not None
    assert target.name == "b"
    assert basis(target="gone").target is None
    assert basis(target=None).target is None


def test_plan_file_has_a_basis_for_each_pod_that_leaves_and_the_moves_of_each_plugin() -> None:
    decisions = make_test_decisions()

    file = make_plan_file(decisions, ClusterIdentity(server="https://10.0.0.1", uid="kube-system"))

    assert [basis.uid for basis in file.bases] == [move.pod.uid for move in decisions.leaving]
    assert [(each.profile, each.plugin) for each in file.plugins] == [("main", "PodLifeTime")]
    assert [basis.target and basis.target.name for basis in file.bases] == [move.to_node for move in decisions.leaving]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"wave": 2}, id="another wave"),
        pytest.param({"bundle": 1}, id="another bundle"),
        pytest.param({"reason": "too old"}, id="another reason"),
        pytest.param({"held_on": "b"}, id="room is held"),
        pytest.param({"serves": (make_pod("waits", node=""),)}, id="for a pending pod"),
        pytest.param({"landing": None}, id="no target"),
    ],
)
def test_digest_of_a_plugin_changes_with_its_moves(change: dict[str, Any]) -> None:
    decisions = make_test_decisions([make_pod("old")])
    changed = replace(decisions, moves=tuple(replace(move, **change) for move in decisions.moves))

    before, after = (make_plan_file(each, NOWHERE).plugins for each in (decisions, changed))

    assert before != after


def test_labels_are_compared_whatever_their_order_is() -> None:
    assert labels_of(make_pod("p", labels={"a": "1", "b": "2"})) == labels_of(
        make_pod("q", labels={"b": "2", "a": "1"})
    )
    assert labels_of(make_pod("p", labels={"a": "1"})) != labels_of(make_pod("p"))
