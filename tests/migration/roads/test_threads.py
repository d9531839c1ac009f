"""A run leaves no thread behind, however it ends."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from descheduler.cycle.options import RunOptions
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.run import run_with
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.policy.load import load_policy
from descheduler.supervision import RunStopped, Watch
from descheduler.transport.errors import ExchangeError
from tests.living.faults import FaultyWay
from tests.migration.roads.whole_runs import LEASE_SECONDS, WAYS, policy_of, watch_of, world

_PATIENCE_SECONDS = 20.0
"""For threads that were told to end, on a loaded machine."""


def left_after(run: Callable[[], object]) -> list[str]:
    """The threads that `run` has started and that do not end."""
    before = set(threading.enumerate())
    run()
    started = [thread for thread in threading.enumerate() if thread not in before]
    until = time.monotonic() + _PATIENCE_SECONDS
    for thread in started:
        thread.join(max(0.0, until - time.monotonic()))
    return [thread.name for thread in started if thread.is_alive()]


def fail() -> None:
    raise ExchangeError("no way to the server")


ENDS: dict[str, Callable[[FaultyWay, Watch], object]] = {
    "well": lambda way, watch: None,
    "by SIGTERM when a job is created": lambda way, watch: way.before(
        "POST", "/podmigrationjobs", lambda: watch.request_stop(signal.SIGTERM)
    ),
    "by SIGTERM at an eviction": lambda way, watch: way.before(
        "POST", "/eviction", lambda: watch.request_stop(signal.SIGTERM)
    ),
    "by an error when jobs are taken up": lambda way, watch: way.before("GET", "/podmigrationjobs", fail),
    "by an error when the cluster is read": lambda way, watch: way.before("GET", "/pods", fail),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_run_leaves_no_thread(end: str) -> None:
    way = WAYS["reservations"]
    cluster = world(way)
    watch, passage = watch_of(cluster, 600.0), FaultyWay(cluster.api)
    ENDS[end](passage, watch)
    options = RunOptions(lease=LeaseOptions(duration_seconds=LEASE_SECONDS))

    def run() -> None:
        with suppress(ExchangeError, RunStopped):
            policy = load_policy(policy_of(way), REGISTRY)
            run_with(cluster.client(passage=passage), policy, options, watch, now=cluster.clock.now())

    assert left_after(run) == []
