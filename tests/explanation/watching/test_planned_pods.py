"""Why MigrationPlanner leaves pods of a node that is over its target."""

from __future__ import annotations

from collections.abc import Sequence

from tests.builders import Object, node_object, pod_object
from tests.explanation.watching.unselected_pods import Question
from tests.strategies.quiet_worlds import PLANNED


def why_not(others: Sequence[Object], cpu: str) -> str:
    """Of a pod on node a, beside `others`, with nodes of 4 cores."""
    nodes = [node_object(name) for name in "ab"]
    (miss,) = Question("MigrationPlanner", pod_object("p", cpu=cpu), PLANNED, nodes, others).miss()
    return miss.message


def daemon(name: str, node: str) -> Object:
    return pod_object(name, node=node, cpu="2", owners=["DaemonSet/d"])


def test_other_pods_of_its_node_are_enough() -> None:
    others = [pod_object(name, cpu="1500m") for name in "qr"]

    assert why_not(others, "100m") == "other pods of node a bring it under its target"


def test_its_replacement_would_bring_another_node_over_its_target() -> None:
    assert why_not([daemon("q", "a"), daemon("b", "b")], "1") == (
        "node a stays over its target (cpu 70 %): no plan that was found brings it under it within the limits"
    )
