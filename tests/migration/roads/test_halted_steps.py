"""A run that has to end begins nothing more, also of jobs whose next step it is about to take."""

from __future__ import annotations

import signal

import pytest

from tests.living.faults import FaultyWay
from tests.migration.roads.whole_runs import SURGES, live_run, policy_of, watch_of, world


@pytest.mark.parametrize("way_name", SURGES)
def test_no_workload_is_scaled_up_once_the_run_has_to_end(way_name: str) -> None:
    way = SURGES[way_name]
    cluster = world(way)
    watch, passage = watch_of(cluster, 600.0), FaultyWay(cluster.api)
    passage.before("GET", "/horizontalpodautoscalers", lambda: watch.request_stop(signal.SIGTERM))

    live_run(cluster, policy_of(way), passage, watch=watch)

    assert not cluster.api.sent("PATCH", "/scale")


def test_no_room_is_held_once_the_run_has_to_end() -> None:
    way = SURGES["surges with reservations"]
    cluster = world(way)
    watch, passage = watch_of(cluster, 600.0), FaultyWay(cluster.api)
    passage.before("PATCH", "/status", lambda: watch.request_stop(signal.SIGTERM))

    live_run(cluster, policy_of(way), passage, watch=watch)

    assert not cluster.api.sent("POST", "/reservations")
