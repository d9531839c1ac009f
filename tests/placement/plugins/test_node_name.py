"""Pods that name their node before they are bound."""

from __future__ import annotations

import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.node_name import NodeName
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, obstacles, passing
from tests.placement.default_scheduler import default_scheduler


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        pytest.param("", ["a", "b"], id="a pod that names none fits anywhere"),
        pytest.param("b", ["b"], id="a pod that names one fits there alone"),
        pytest.param("gone", [], id="a pod that names an unknown one fits nowhere"),
    ],
)
def test_only_the_named_node_is_left(wanted: str, left: list[str]) -> None:
    cluster = make_cluster([make_node("a"), make_node("b")])

    assert passing(NodeName, cluster, make_pod("new", node=wanted)) == left


def test_reason_speaks_of_the_requested_name() -> None:
    cluster = make_cluster([make_node("a"), make_node("b")])

    against = obstacles(NodeName, cluster, make_pod("new", node="b"))

    assert against == {"a": Obstacle("NodeName", Code.UNRESOLVABLE, ("node(s) didn't match the requested node name",))}


def _named(node: str) -> dict[str, object]:
    fields = [{"key": "metadata.name", "operator": "In", "values": [node]}]
    required = {"nodeSelectorTerms": [{"matchFields": fields}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


@pytest.mark.parametrize(("version", "first"), [("1.36", "NodeUnschedulable"), ("1.37", "NodeName")])
def test_another_node_that_is_cordoned_is_refused_by_name_first_from_1_37_on(version: str, first: str) -> None:
    cluster = make_cluster([make_node("a", unschedulable=True), make_node("b")], version=KubeVersion.parse(version))

    evaluation = default_scheduler(cluster).evaluate(make_pod("new", node="b"))

    assert [obstacle.plugin for obstacle in evaluation.obstacles_on(0)] == sorted(
        ["NodeName", "NodeUnschedulable"], key=lambda plugin: plugin != first
    )
    assert evaluation.first_obstacle_on(0).plugin == first


@pytest.mark.parametrize("node", ["b", "gone"])
def test_pod_whose_affinity_names_another_node_is_refused_before_nodes_are_looked_at(node: str) -> None:
    evaluation = default_scheduler(make_cluster([make_node("a"), make_node("b")])).evaluate(
        make_pod("new", node="a", spec=_named(node))
    )

    reason = "node(s) didn't satisfy plugin(s) [NodeAffinity NodeName] simultaneously"
    assert evaluation.refusals == (Obstacle("NodeAffinity", Code.UNRESOLVABLE, (reason,)),)


def test_node_that_does_not_exist_is_named_twice_and_fits_nowhere() -> None:
    evaluation = default_scheduler(make_cluster([make_node("a")])).evaluate(
        make_pod("new", node="gone", spec=_named("gone"))
    )

    assert (evaluation.refusals, evaluation.fits) == ((), False)
    reason = "node(s) didn't satisfy plugin(s) [NodeAffinity NodeName]"
    assert evaluation.first_obstacle_on(0).reasons == (reason,)
