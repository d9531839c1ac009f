"""Whole runs of which one write, or every write of a kind, has no clear answer; what is there when they have ended.

`python -m tests.migration.roads.unclear_writes` takes every write with every effect; the suite takes a part.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import cache

from descheduler.cluster.snapshot import SnapshotError
from descheduler.cycle.options import RunResult
from descheduler.supervision import RunStopped, Watch
from descheduler.transport.errors import ExchangeError
from tests.faults.faults import Act, Delivery, Fault, Form
from tests.living.api.server import Call
from tests.living.cluster import LivingCluster
from tests.living.faults import AnyFault, FaultyWay
from tests.living.observing.leftovers import leftovers
from tests.migration.roads.whole_runs import SURGES, WAYS, live_run, observed, policy_of, world

ALL_WAYS = WAYS | SURGES
EFFECTS: dict[str, AnyFault] = {
    "504 after the effect": Fault(Act.AT_ONCE, 504),
    "500 after the effect": Fault(Act.AT_ONCE, 500),
    "502 of a proxy after the effect": Fault(Act.AT_ONCE, 502, Form.TEXT),
    "429 of a proxy after the effect": Fault(Act.AT_ONCE, 429, Form.TEXT_WITH_WAIT),
    "no answer after the effect": Fault(Act.AT_ONCE, delivery=Delivery.SILENT),
    "reset after the effect": Fault(Act.AT_ONCE, delivery=Delivery.RESET),
    "cut in the middle": Fault(Act.AT_ONCE, delivery=Delivery.TRUNCATED),
    "504 before the effect": Fault(Act.LATE, 504, late_seconds=25.0),
    "reset before the effect": Fault(Act.LATE, delivery=Delivery.RESET, late_seconds=3.0),
    "no answer before the effect": Fault(Act.LATE, delivery=Delivery.SILENT, late_seconds=38.0),
    "504 without effect": Fault(Act.NEVER, 504),
    "reset without effect": Fault(Act.NEVER, delivery=Delivery.RESET),
}
_SETTLE_SECONDS = 60.0


@cache
def writes(name: str) -> tuple[tuple[int, str], ...]:
    """Number and subject of each write of a run that nobody disturbs, but for its Lease and its Events."""
    way = ALL_WAYS[name]
    cluster = world(way)
    found: list[tuple[int, str]] = []
    passage = FaultyWay(cluster.api)

    def note(call: Call) -> None:
        if is_write(call):
            found.append((passage.num_calls, call.subject))

    passage = FaultyWay(cluster.api, note)
    live_run(cluster, policy_of(way), passage)
    return tuple(found)


def is_write(call: Call) -> bool:
    """Whether a call changes a job, a room or a pod."""
    path = call.request.path
    return call.request.method != "GET" and not path.endswith("/events") and "/leases" not in path


def left_over(cluster: LivingCluster) -> list[str]:
    """What is there that a run has made and nobody needs any more, a sentence each."""
    return [text for _, text in leftovers(cluster.store)]


def left_after(
    name: str,
    choose: Callable[[FaultyWay, Call], AnyFault | None],
    prepare: Callable[[LivingCluster, FaultyWay, Watch], None] = lambda cluster, way, watch: None,
    *,
    watch_of: Callable[[LivingCluster], Watch] | None = None,
) -> tuple[list[str], RunResult | None]:
    """What is wrong at the end of one run, a sentence each, and its result, None where it has failed."""
    way = ALL_WAYS[name]
    cluster = world(way)
    observer = observed(cluster)
    passage = FaultyWay(cluster.api, lambda call: choose(passage, call))
    watch = None if watch_of is None else watch_of(cluster)
    if watch is not None:
        prepare(cluster, passage, watch)
    try:
        result = live_run(cluster, policy_of(way), passage, watch=watch)
    except (ExchangeError, SnapshotError, RunStopped):
        result = None
    at_end = [f"at the end of the run: {text}" for text in left_over(cluster)]
    later = observer.finish(settle_seconds=_SETTLE_SECONDS)
    return [*at_end, *map(str, later)], result


def main(arguments: Sequence[str] | None = None) -> int:
    """Takes every write; returns 1 when anything was left over, lost or done twice."""
    parser = argparse.ArgumentParser(prog="python -m tests.migration.roads.unclear_writes", description=__doc__)
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--way", choices=list(ALL_WAYS))
    options = parser.parse_args(arguments)
    num_runs = num_broken = 0
    for name in [options.way] if options.way else ALL_WAYS:
        for number, subject in writes(name)[:: options.stride]:
            for effect, fault in EFFECTS.items():
                broken, _ = left_after(name, at_call(number, fault))
                num_runs, num_broken = num_runs + 1, num_broken + bool(broken)
                for sentence in broken:
                    print(f"{name}, call {number} ({subject}), {effect}: {sentence}", flush=True)
    print(f"{num_runs} runs, {num_broken} of them with something left, lost or done twice")
    return bool(num_broken)


def at_call(number: int, fault: AnyFault) -> Callable[[FaultyWay, Call], AnyFault | None]:
    """Has the call of this number meet `fault`."""
    return lambda way, call: fault if way.num_calls == number else None


if __name__ == "__main__":
    sys.exit(main())
