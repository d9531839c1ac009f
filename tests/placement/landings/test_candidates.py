"""When the node of a replacement is its scheduler's choice among several."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from descheduler.placement.landings.candidates import LandingCandidate
from descheduler.placement.prover import LandingProver
from tests.builders import make_pod, node_object, pod_object
from tests.placement.workloads import cluster_of, workload_object

VICTIM = make_pod("web")


def candidate(**unplaced: Any) -> LandingCandidate:
    """One whose scheduler leaves every choice open, where it looks for a node at all."""
    scheduler = SimpleNamespace(leaves_open=lambda pod: unplaced["leaves_open"])
    found = SimpleNamespace(pod=VICTIM, scheduler=scheduler, held_on=unplaced["held_on"]) if unplaced else None
    return LandingCandidate(VICTIM, leaves=True, is_moved=True, unplaced=cast(Any, found))


@pytest.mark.parametrize(
    ("unplaced", "is_open"),
    [
        pytest.param({}, False, id="no node is looked for"),
        pytest.param({"leaves_open": True, "held_on": ""}, True, id="the scheduler leaves it open"),
        pytest.param({"leaves_open": False, "held_on": ""}, False, id="the scheduler is known to choose"),
        pytest.param({"leaves_open": True, "held_on": "a"}, False, id="room is held on a node"),
    ],
)
def test_choice_is_open_where_the_scheduler_leaves_it_so(unplaced: dict[str, Any], is_open: bool) -> None:
    assert candidate(**unplaced).is_placed_openly is is_open


def test_what_the_owner_does_goes_by_the_pods_that_leave_before_in_each_proof() -> None:
    """The second failure fails the Job."""
    names = ("first", "second")
    pods = [pod_object(name, node="a", owners=["Job/sum"]) for name in names]
    job = workload_object("Job/sum", replicas=2, completions=2, backoffLimit=1)
    snapshot = cluster_of(node_object("a", cpu="4"), job, *pods)
    first, second = (next(pod for pod in snapshot.pods if pod.name == name) for name in names)
    prover = LandingProver(snapshot)

    found = [prover.prove(order) for order in ([first, second], [second, first], [second], [first, second])]

    losses = [[bool(each.replacement.answer.loss) for each in verdict.landings] for verdict in found]
    assert losses == [[False, True], [False, True], [False], [False, True]]
