"""Cordoned nodes and the pods that they take all the same."""

from __future__ import annotations

import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.node_unschedulable import NodeUnschedulable
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, obstacles, passing


def test_cordoned_node_rejects_even_without_the_taint() -> None:
    cluster = make_cluster([make_node("a", unschedulable=True), make_node("b")])

    against = obstacles(NodeUnschedulable, cluster, make_pod("new", node=""))

    assert against == {"a": Obstacle("NodeUnschedulable", Code.UNRESOLVABLE, ("node(s) were unschedulable",))}


@pytest.mark.parametrize(
    ("toleration", "is_taken"),
    [
        pytest.param(
            {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}, True, id="the key of the cordon"
        ),
        pytest.param({"operator": "Exists"}, True, id="every key"),
        pytest.param({"key": "node.kubernetes.io/unschedulable"}, True, id="the empty value that the taint has"),
        pytest.param({"key": "node.kubernetes.io/unschedulable", "value": "x"}, False, id="another value"),
        pytest.param({"operator": "Exists", "effect": "NoExecute"}, False, id="another effect"),
        pytest.param({"key": "other", "operator": "Exists"}, False, id="another key"),
    ],
)
def test_pod_that_tolerates_the_cordon_taint_is_taken(toleration: dict[str, str], is_taken: bool) -> None:
    cluster = make_cluster([make_node("a", unschedulable=True)])

    left = passing(NodeUnschedulable, cluster, make_pod("new", node="", tolerations=[toleration]))

    assert left == (["a"] if is_taken else [])


def test_comparing_toleration_does_not_cover_the_empty_value_of_a_cordon() -> None:
    version = KubeVersion().with_gates({"TaintTolerationComparisonOperators": True})
    cluster = make_cluster([make_node("a", unschedulable=True)], version=version)
    toleration = {"key": "node.kubernetes.io/unschedulable", "operator": "Gt", "value": "0"}

    left = passing(NodeUnschedulable, cluster, make_pod("new", node="", tolerations=[toleration]))

    assert left == []
