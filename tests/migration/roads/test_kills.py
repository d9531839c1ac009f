"""A run that is killed at any call loses nothing: the next one finishes or undoes what it left."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import pytest

from descheduler.transport.errors import ExchangeError
from tests.faults.faults import Act, Fault
from tests.living.api.server import Call
from tests.living.builders import (
    LOWEST,
    TAINTED,
    budget,
    deployment,
    living_cluster,
    node,
    stateful_set,
)
from tests.living.cluster import LivingCluster
from tests.living.faults import AnyFault, FaultyWay, Killed
from tests.living.observing.observer import Observer
from tests.living.observing.promises import Limits
from tests.migration.roads.playing import Play
from tests.series import Part, parts

Object = dict[str, Any]

KOORD = "koord-scheduler"


@dataclass(frozen=True)
class Way:
    """How a run holds room and keeps its jobs."""

    provider: str
    keeps_objects: bool
    mode: str = "ReservationFirst"
    has_reserve_line: bool = True


WAYS = {
    "reservations": Way("koordinator", keeps_objects=True),
    "reservations as shipped": Way("koordinator", keeps_objects=True, has_reserve_line=False),
    "placeholders": Way("placeholder", keeps_objects=False),
    "directly": Way("none", keeps_objects=True, mode="EvictDirectly"),
}


def world(way: Way) -> LivingCluster:
    scheduler = KOORD if way.provider == "koordinator" else "default-scheduler"
    workloads = [
        deployment("web", 1, on=["n1"], scheduler=scheduler, grace_seconds=1),
        stateful_set("db", 1, on=["n1"], scheduler=scheduler, grace_seconds=1),
    ]
    others = [LOWEST, budget("web", maxUnavailable=1)]
    nodes = [TAINTED, node("n2"), node("n3")]
    return living_cluster(nodes, workloads, others, ready_seconds=1.0, has_reserve_line=way.has_reserve_line)


def play(cluster: LivingCluster, way: Way, **options: Any) -> Play:
    made = Play(cluster, way.provider, way.keeps_objects, way.mode)
    return made.through(FaultyWay(cluster.api, **options))


@cache
def num_calls(way: Way) -> int:
    """How many calls a run makes that nobody disturbs."""
    cluster = world(way)
    path = FaultyWay(cluster.api)
    Play(cluster, way.provider, way.keeps_objects, way.mode).through(path).evict(*cluster.pods(node="n1"))
    return path.num_calls


def broken_by_a_kill(way: Way, number: int, *, after: bool) -> list[str]:
    """What is wrong once the run after the one that was killed at its call `number` has ended, a sentence each."""
    cluster = world(way)
    observer = Observer(cluster, Limits(at_once_per_workload=1))
    victims = cluster.pods(node="n1")
    with suppress(Killed):
        play(cluster, way, kill_at=number, kills_after_effect=after).evict(*victims)
    cluster.clock.sleep(5)
    second = play(cluster, way)
    second.take_up()
    left = {pod["metadata"]["uid"] for pod in cluster.pods(node="n1")}
    second.evict(*(pod for pod in victims if pod["metadata"]["uid"] in left))
    broken = map(str, observer.finish())
    stayed = (f"pod {pod['metadata']['name']} has not moved" for pod in cluster.pods(node="n1"))
    return [f"call {number}: {text}" for text in (*broken, *stayed)]


@pytest.mark.long
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
@pytest.mark.parametrize("part", parts(6))
def test_a_run_that_is_killed_is_taken_up_by_the_next(part: Part, way: Way, after: bool) -> None:
    numbers = part.of(range(1, num_calls(way) + 1), shift=3 * after)

    assert [text for number in numbers for text in broken_by_a_kill(way, number, after=after)] == []


def test_nothing_is_given_back_when_the_jobs_cannot_be_listed() -> None:
    way = WAYS["reservations"]
    cluster = world(way)
    observer = Observer(cluster)
    calls = FaultyWay(cluster.api)
    with suppress(Killed):
        calls.before("POST", "/eviction", partial(setattr, calls, "is_dead", True))
        Play(cluster, way.provider).through(calls).evict(*cluster.pods("web"))
    held = cluster.all("reservations.scheduling.koordinator.sh")

    def is_jobs(call: Call) -> AnyFault | None:
        """The list of jobs is answered by a proxy that knows nothing."""
        return Fault(Act.NEVER, code=404) if call.request.path.endswith("/podmigrationjobs") else None

    with pytest.raises(ExchangeError):
        Play(cluster, way.provider).through(FaultyWay(cluster.api, is_jobs)).take_up()
    assert cluster.all("reservations.scheduling.koordinator.sh") == held != []
    Play(cluster, way.provider).take_up()
    observer.assert_kept()
