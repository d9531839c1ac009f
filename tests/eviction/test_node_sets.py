"""Whether some node of a set fits a pod: which nodes count, and how much has to be free."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.eviction.node_fit import NodeFit
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from tests.builders import make_node, make_pod, make_view, required_anti_affinity, required_node_affinity

WEB = make_pod("web", cpu="2", memory="1Gi")


def fit(pod: Pod, nodes: list[Node], *others: Pod, among: str = "", spares_namesakes: bool = False) -> tuple[bool, ...]:
    """Whether any other node fits, any node does, and any other has room by Koordinator's weaker check."""
    view = make_view(nodes, [pod, *others])
    found = NodeFit(view, spares_namesakes=spares_namesakes)
    node_set = found.node_set([node for node in nodes if not among or node.name in among])
    return (
        found.fits_any_other(pod, node_set),
        found.fits_any(pod, node_set),
        found.has_room_on_any_other(pod, node_set),
    )


ALL, NONE, OWN = (True, True, True), (False, False, False), (False, True, False)


@pytest.mark.parametrize(
    ("nodes", "among", "expected"),
    [
        pytest.param([make_node("a"), make_node("b")], "", ALL, id="another node"),
        pytest.param([make_node("a")], "", OWN, id="its own node alone"),
        pytest.param([make_node("a"), make_node("b")], "a", OWN, id="its own node alone in the set"),
        pytest.param([make_node("a"), make_node("b")], "b", ALL, id="another node alone in the set"),
        pytest.param([make_node("a"), make_node("b", unschedulable=True)], "", OWN, id="a closed node"),
        pytest.param([make_node("a", unschedulable=True)], "", NONE, id="its own node, which is closed"),
        pytest.param([make_node("a", unschedulable=True), make_node("b", unschedulable=True)], "", NONE, id="none"),
        pytest.param([make_node("a"), make_node("b", cpu="2")], "", ALL, id="just enough CPU"),
        pytest.param([make_node("a"), make_node("b", cpu="1999m")], "", OWN, id="too little CPU"),
        pytest.param([make_node("a"), make_node("b", memory="1Gi")], "", ALL, id="just enough memory"),
        pytest.param([make_node("a"), make_node("b", memory="1023Mi")], "", OWN, id="too little memory"),
        pytest.param([make_node("a"), make_node("b", pods="1")], "", ALL, id="one more pod"),
        pytest.param([make_node("a"), make_node("b", pods="0")], "", (False, True, True), id="no more pod"),
        pytest.param([make_node("a"), make_node("b", taints=["x:NoSchedule"])], "", OWN, id="a taint"),
        pytest.param([make_node("a"), make_node("b", taints=["x:PreferNoSchedule"])], "", ALL, id="a soft taint"),
    ],
)
def test_node_fits_that_is_open_and_has_as_much_free_as_the_pod_requests(
    nodes: list[Node], among: str, expected: tuple[bool, ...]
) -> None:
    assert fit(WEB, nodes, among=among) == expected


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        pytest.param(make_pod("x", node="b", cpu="2"), ALL, id="leaves enough"),
        pytest.param(make_pod("x", node="b", cpu="2001m"), OWN, id="leaves too little"),
        pytest.param(make_pod("x", node="b", cpu="4", phase="Succeeded"), ALL, id="has finished"),
        pytest.param(make_pod("x", node="b", cpu="4", deleted=1), OWN, id="is about to go"),
    ],
)
def test_pods_of_a_node_take_what_they_request(other: Pod, expected: tuple[bool, ...]) -> None:
    assert fit(WEB, [make_node("a"), make_node("b")], other) == expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"node_selector": {"pool": "x"}}, True),
        ({"node_selector": {"pool": "y"}}, False),
        ({"affinity": required_node_affinity("pool", "x")}, True),
        ({"affinity": required_node_affinity("pool", "y")}, False),
        ({"node_selector": {"pool": "x"}, "affinity": required_node_affinity("pool", "y")}, False),
        ({}, True),
    ],
)
def test_node_is_selected_by_selector_and_affinity(facts: dict[str, Any], expected: bool) -> None:
    pod = make_pod("web", **facts)
    nodes = [make_node("a"), make_node("b", labels={"pool": "x"}, unschedulable=True)]
    found = NodeFit(make_view(nodes, [pod]))

    assert found.is_selected_by_any(pod, found.node_set(nodes)) is expected


AWAY = {"labels": {"app": "web"}, "affinity": required_anti_affinity({"app": "web"})}


@pytest.mark.parametrize(
    ("other", "spares_namesakes", "fits"),
    [
        pytest.param(make_pod("other", node="b", labels={"app": "db"}), False, True, id="another app"),
        pytest.param(make_pod("other", node="b", labels={"app": "web"}), False, False, id="the same app"),
        pytest.param(make_pod("web", namespace="x", node="b", labels={"app": "web"}), False, True, id="elsewhere"),
        pytest.param(make_pod("other", node="a", labels={"app": "web"}), False, True, id="on its own node"),
        pytest.param(make_pod("other", node="b", labels={"app": "web"}), True, False, id="the same app, spared or not"),
    ],
)
def test_node_does_not_fit_beside_pods_that_the_pod_keeps_away_from(
    other: Pod, spares_namesakes: bool, fits: bool
) -> None:
    pod = make_pod("web", cpu="1", **AWAY)

    found = fit(pod, [make_node("a"), make_node("b")], other, spares_namesakes=spares_namesakes)

    assert (found[0], found[2]) == (fits, True)


def test_answers_follow_what_is_booked() -> None:
    pod, other = make_pod("web", node="a", cpu="3"), make_pod("other", node="b", cpu="3")
    view = make_view([make_node("a"), make_node("b")], [pod, other], moves_take_effect=True)
    found = NodeFit(view)
    nodes = found.node_set(view.snapshot.nodes)

    before = found.fits_any_other(pod, nodes)
    undo = view.book_eviction(other)
    during = found.fits_any_other(pod, nodes), found.has_room_on_any_other(pod, nodes)
    undo()

    assert (before, during, found.fits_any_other(pod, nodes)) == (False, (True, True), False)
