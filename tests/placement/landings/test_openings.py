"""Which nodes may take a pending pod once others have left them."""

from __future__ import annotations

from descheduler.placement.landings.openings import Openings
from descheduler.placement.prover import LandingProver
from tests.builders import make_node, make_pod, make_snapshot

NODES = [
    make_node("full", cpu="2"),
    make_node("small", cpu="1"),
    make_node("tainted", cpu="4", taints=["a=b:NoSchedule"]),
]
WAITING = make_pod("waiting", cpu="2", node="", phase="Pending")


def openings() -> Openings:
    return LandingProver(make_snapshot(NODES, [make_pod("there", cpu="2", node="full"), WAITING])).openings()


def test_nodes_are_open_to_a_pending_pod_that_room_can_be_made_on() -> None:
    """Whether a node is large enough is said by its capacity."""
    found = openings().open_to_pending(WAITING)

    assert found is not None
    assert found.now.tolist() == [True, True, False]


def test_no_node_is_open_to_a_pod_whose_scheduler_is_not_known() -> None:
    other = make_pod("other", cpu="1", node="", phase="Pending", scheduler="of-others")

    assert openings().open_to_pending(other) is None
