"""Pods that name their node before they are bound."""

from __future__ import annotations

import pytest

from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.node_name import NodeName
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, obstacles, passing


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
