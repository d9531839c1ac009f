"""What a run says of pods whose evictions had no clear answer, and that it could not look at afterwards."""

from __future__ import annotations

import pytest

from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.faults.faults import Act, Delivery, Fault
from tests.living.api.server import Call
from tests.living.builders import deployment, living_cluster, node
from tests.living.faults import FaultyWay
from tests.migration.roads.playing import Play


def silent(call: Call, *, was_asked: bool) -> Fault | None:
    """Evictions take effect and are not answered, nor are looks at pods that come after them."""
    request = call.request
    is_look = was_asked and request.method == "GET" and "/pods/" in request.path
    return Fault(Act.AT_ONCE, delivery=Delivery.SILENT) if is_look or request.path.endswith("/eviction") else None


@pytest.mark.parametrize("keeps_objects", [True, False])
def test_a_job_whose_pod_is_not_seen_again_ends_as_unknown_however_long_ago_it_was_asked_to_leave(
    keeps_objects: bool,
) -> None:
    cluster = living_cluster([node("n1"), node("n2")], [deployment("a", 1, on=["n1"])])
    way = FaultyWay(cluster.api, lambda call: silent(call, was_asked=bool(cluster.api.sent("POST", "/eviction"))))
    play = Play(cluster, provider="none", mode="EvictDirectly", keeps_objects=keeps_objects).through(way)

    (outcome,) = play.evict(cluster.pods("a")[0])

    assert (outcome.kind, outcome.code) == (OutcomeKind.EVICTED, OutcomeCode.OUTCOME_UNKNOWN)
    assert play.open_calls.pods == [f"shop/{outcome.eviction.name}"]
