"""Pending pods that may take the room of a replacement: by a tie, by their turn, or because nobody knows."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.landings.landing import Landing
from tests.builders import Object, node_object, pod_object
from tests.placement.clusters import HOSTNAME
from tests.placement.considered import LANDS, LANDS_IF, NO, consider
from tests.placement.workloads import cluster_of

OLD = node_object("old", unschedulable=True, cpu="64")


def landing(*objects: Object, **facts: Any) -> Landing:
    """That of a pod of 2 CPU and priority 5 on a cordoned node."""
    victim = pod_object("victim", node="old", **{"cpu": "2", "priority": 5, "owners": ["ReplicaSet/victim"], **facts})
    return consider(cluster_of(OLD, victim, *objects))


def pending(name: str = "waits", **facts: Any) -> Object:
    made = {"cpu": "2", "priority": 5, "owners": [f"ReplicaSet/{name}"], **facts}
    return pod_object(name, node="", phase="Pending", **made)


def nodes(*names: str, cpu: str = "2") -> list[Object]:
    return [node_object(name, cpu=cpu) for name in names]


ON_Y = {"node_selector": {HOSTNAME: "y"}}


@pytest.mark.parametrize(
    ("objects", "facts", "conditions"),
    [
        pytest.param(
            [*nodes("x", "y"), pending()],
            ON_Y,
            ("pending pod default/waits may be scheduled there first",),
            id="it may as well get the only node",
        ),
        pytest.param([*nodes("x", "y"), pending()], {}, (), id="each takes one of two nodes"),
        pytest.param([*nodes("x", "y", cpu="4"), pending()], ON_Y, (), id="there is room for both"),
        pytest.param([*nodes("x", "y"), pending(node_selector={HOSTNAME: "x"})], ON_Y, (), id="it goes elsewhere"),
        pytest.param(
            [*nodes("x", "y", "z"), pending("one"), pending("two")],
            {},
            (),
            id="three nodes are enough for three",
        ),
    ],
)
def test_pending_pod_that_is_tied_between_nodes_may_be_in_the_way(
    objects: list[Object], facts: Any, conditions: tuple[str, ...]
) -> None:
    found = landing(*objects, **facts)

    assert (found.verdict, found.conditions) == (LANDS_IF if conditions else LANDS, conditions)


def unknown(name: str = "theirs", **facts: Any) -> Object:
    """A pending pod whose scheduler is not modelled."""
    return pending(name, scheduler="mine", **facts)


@pytest.mark.parametrize(
    ("objects", "verdict"),
    [
        pytest.param([*nodes("x"), unknown()], LANDS_IF, id="it may take the only node"),
        pytest.param([*nodes("x", "y"), unknown()], LANDS, id="it takes one of two nodes at most"),
        pytest.param([*nodes("x", "y"), unknown("one"), unknown("two")], LANDS_IF, id="two may take both"),
        pytest.param([*nodes("x", cpu="4"), unknown()], LANDS, id="there is room beside it"),
        pytest.param([*nodes("x", cpu="5"), unknown("one"), unknown("two")], LANDS_IF, id="not beside two"),
        pytest.param([*nodes("x", cpu="6"), unknown("one"), unknown("two")], LANDS, id="there is beside two"),
        pytest.param([*nodes("x"), unknown(priority=4)], LANDS, id="its priority is lower"),
        pytest.param([*nodes("x"), unknown(cpu="3")], LANDS, id="it fits nowhere"),
        pytest.param(
            [*nodes("x"), *nodes("y", cpu="1"), unknown(node_selector={HOSTNAME: "y"}, cpu="1")],
            LANDS,
            id="it goes elsewhere",
        ),
    ],
)
def test_pending_pod_of_which_nobody_knows_takes_one_node_at_most(objects: list[Object], verdict: Any) -> None:
    assert landing(*objects).verdict is verdict


HIGHER = "pending pod default/waits has a higher priority and is scheduled onto x first"


@pytest.mark.parametrize(
    ("objects", "verdict", "told"),
    [
        pytest.param([*nodes("x"), pending(priority=6)], NO, HIGHER, id="a higher priority has the room"),
        pytest.param([*nodes("x"), pending(priority=5)], LANDS_IF, "", id="the same priority may have it"),
        pytest.param([*nodes("x"), pending(priority=4)], LANDS_IF, "", id="a lower one that is there already"),
        pytest.param([*nodes("x", "y"), pending(priority=6)], LANDS, "", id="there is another node"),
        pytest.param(
            [*nodes("x", cpu="3"), pending("small", cpu="1", priority=6), pending(priority=6)],
            NO,
            HIGHER,
            id="the larger one of two is in the way",
        ),
    ],
)
def test_pending_pod_that_takes_the_room_is_told(objects: list[Object], verdict: Any, told: str) -> None:
    found = landing(*objects)

    assert found.verdict is verdict
    assert found.message.endswith(told)


def test_pod_of_higher_priority_that_can_go_elsewhere_leaves_a_condition() -> None:
    """It is predicted on the larger node, which is the only one for the replacement."""
    found = landing(*nodes("large", cpu="8"), *nodes("small"), pending(priority=6), cpu="8")

    assert (found.verdict, found.node) == (LANDS_IF, "large")
    assert found.conditions == ("pending pod default/waits may be scheduled there first",)
