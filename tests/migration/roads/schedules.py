"""Seeded fault schedules: whole runs on a living cluster whose API answers wrongly, late or not at all.

`python -m tests.migration.roads.schedules --seeds 1000` plays them and prints what the observer found. Each seed
has runs follow each other, the last ones without faults, until all is moved; then nothing may be broken or left over.
"""

from __future__ import annotations

import argparse
import random
import sys
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from descheduler.cluster.snapshot import SnapshotError
from descheduler.kube.leases.lease import LeaseHeld
from descheduler.supervision import RunStopped
from descheduler.transport.errors import ExchangeError
from tests.faults.faults import Answer, Requests
from tests.living.api.server import Call, LivingApi
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay, SeededFaults
from tests.migration.roads.whole_runs import LEASE_SECONDS, SURGES, WAYS, Way, live_run, observed, policy_of, world

_MOST_CALLS = 4000
_FAULTY_RUNS = 6
_MOST_RUNS = 12
_WHOLE = "whole"
_HELD = "lease held"
_LONGEST_RUN_SECONDS = 700.0
"""The deadline of a run, and what may pass until the calls under way have ended."""


class Endless(BaseException):
    """The program goes on asking."""


class BoundedWay(FaultyWay):
    """A way that is closed to who goes round in circles."""

    def __init__(self, api: LivingApi, choose: SeededFaults) -> None:
        super().__init__(api, choose)
        self.num_before = 0

    def answer(self, call: Call, carry_out: object) -> Answer:
        """As `FaultyWay.answer`. Raises Endless."""
        if self.num_calls - self.num_before > _MOST_CALLS:
            raise Endless(f"{call.subject} is one call too many")
        return super().answer(call, carry_out)  # type: ignore[arg-type]


@dataclass
class Story:
    """What came of a seed: `faults` are broken promises and wrong ends, a sentence each."""

    seed: int
    way: str
    faults: list[str] = field(default_factory=list)
    num_calls: int = 0
    num_runs: int = 0
    num_evicted: int = 0
    is_calm: bool = False
    """Whether the last run has ended and met no fault."""
    met: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)


def play(seed: int, ways: Mapping[str, Way] = WAYS) -> Story:
    """The story of `seed` in one of these ways, by its number."""
    name, way = list(ways.items())[seed % len(ways)]
    story = Story(seed, name)
    cluster = world(way, seed=seed)
    observer = observed(cluster)
    faults = _schedule(seed)
    passage = BoundedWay(cluster.api, faults)
    while (cluster.pods(node="n1") or not story.is_calm) and story.num_runs < _MOST_RUNS and not story.faults:
        if story.num_runs == _FAULTY_RUNS:
            faults.most = 0
        num_met, began, passage.num_before = len(passage.met), cluster.clock.monotonic(), passage.num_calls
        end = _run(cluster, way, passage, story)
        story.is_calm = end == _WHOLE and num_met == len(passage.met)
        seconds = cluster.clock.monotonic() - began
        if seconds > _LONGEST_RUN_SECONDS:
            story.faults.append(f"run {story.num_runs} took {seconds:.0f} s")
        is_long = end == _HELD or story.num_runs > _FAULTY_RUNS
        cluster.clock.sleep(LEASE_SECONDS + 20.0 if is_long else 30.0)
    story.faults += map(str, observer.finish())
    story.faults += [f"pod {pod['metadata']['name']} has not moved" for pod in cluster.pods(node="n1")]
    story.met.update(kind for _, kind in passage.met)
    story.num_calls, story.num_evicted = passage.num_calls, len(observer.departures)
    return story


def _schedule(seed: int) -> SeededFaults:
    """Half of the schedules spare the lists, so that more is met by what comes after them."""
    draw = random.Random(f"schedule/{seed}")
    kinds = frozenset({Requests.EVICTION, Requests.LEASE, Requests.POD, Requests.EVENT})
    rate = draw.choice((0.03, 0.1, 0.2, 0.35))
    return SeededFaults(seed, rate=rate, most=60, kinds=kinds if draw.random() < 0.5 else frozenset())


def _run(cluster: LivingCluster, way: Way, passage: FaultyWay, story: Story) -> str:
    """How one more run has ended."""
    story.num_runs += 1
    end = _end(cluster, way, passage, story)
    story.ends[end] += 1
    return end


def _end(cluster: LivingCluster, way: Way, passage: FaultyWay, story: Story) -> str:
    try:
        result = live_run(cluster, policy_of(way), passage)
    except LeaseHeld:
        return _HELD
    except (ExchangeError, SnapshotError, RunStopped) as error:
        return type(error).__name__
    except (Exception, Endless):
        story.faults.append(traceback.format_exc())
        return "traceback"
    told = [*(outcome.message for outcome in result.outcomes), *result.decisions.notes]
    story.faults += [text for text in told if "internal error" in text]
    return result.guard or _WHOLE


def main(arguments: Sequence[str] | None = None) -> int:
    """Plays as many seeds as asked for; returns 1 when any broke a promise."""
    parser = argparse.ArgumentParser(prog="python -m tests.migration.roads.schedules", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--surges", action="store_true", help="surge workloads with one replica")
    options = parser.parse_args(arguments)
    ways = SURGES if options.surges else WAYS
    stories = [_told(play(options.first_seed + number, ways)) for number in range(options.seeds)]
    for title, counted in (
        ("faults", sum((story.met for story in stories), Counter())),
        ("ends of runs", sum((story.ends for story in stories), Counter())),
    ):
        print(f"{title}: " + ", ".join(f"{name} {number}" for name, number in counted.most_common()))
    num_runs, num_calls = sum(story.num_runs for story in stories), sum(story.num_calls for story in stories)
    num_evicted = sum(story.num_evicted for story in stories)
    num_broken = sum(bool(story.faults) for story in stories)
    print(
        f"{len(stories)} schedules, {num_runs} runs, {num_calls} calls, {num_evicted} evictions, {num_broken} not kept"
    )
    return bool(num_broken)


def _told(story: Story) -> Story:
    for fault in story.faults:
        print(f"seed {story.seed} ({story.way}): {fault}", flush=True)
    return story


if __name__ == "__main__":
    sys.exit(main())
