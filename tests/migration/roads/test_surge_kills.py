"""A run that is killed at any call of a surge leaves nothing scaled: the next one takes it back, or finishes it."""

from __future__ import annotations

from contextlib import suppress
from functools import cache

import pytest

from descheduler.migration.job.surge import Surge
from tests.living.builders import LOWEST, budget, deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay, Killed
from tests.living.observing.observer import Observer
from tests.migration.roads.playing import Play
from tests.series import Part, parts


def world(provider: str) -> LivingCluster:
    """A Deployment of one replica, whose budget lets no pod go before another one serves."""
    scheduler = "koord-scheduler" if provider == "koordinator" else "default-scheduler"
    nodes = [node("n1", taints=["gone=soon:NoSchedule"]), node("n2"), node("n3")]
    web = deployment("web", 1, on=["n1"], scheduler=scheduler, grace_seconds=1)
    return living_cluster(nodes, [web], [LOWEST, budget("web", minAvailable=1)], ready_seconds=1.0)


def play(cluster: LivingCluster, provider: str, way: FaultyWay) -> Play:
    surge = Surge(is_required=True)
    return Play(cluster, provider, keeps_objects=provider == "koordinator", surge=surge).through(way)


@cache
def num_calls(provider: str) -> int:
    """How many calls a run makes that nobody disturbs."""
    cluster = world(provider)
    way = FaultyWay(cluster.api)
    play(cluster, provider, way).evict(*cluster.pods(node="n1"))
    return way.num_calls


def broken_by_a_kill(provider: str, number: int, *, after: bool) -> list[str]:
    """What is wrong once the run after the one that was killed at its call `number` has ended, a sentence each."""
    cluster = world(provider)
    observer = Observer(cluster)
    victims = cluster.pods(node="n1")
    with suppress(Killed):
        way = FaultyWay(cluster.api, kill_at=number, kills_after_effect=after)
        play(cluster, provider, way).evict(*victims)
    cluster.clock.sleep(5.0 * (number % 2))
    second = play(cluster, provider, FaultyWay(cluster.api))
    second.take_up()
    cluster.clock.sleep(5)
    second.evict(*cluster.pods("web", node="n1"))
    broken = [*map(str, observer.finish())]
    broken += [f"pod {pod['metadata']['name']} has not moved" for pod in cluster.pods(node="n1")]
    deployed = cluster.get("deployments.apps", "web", "shop")
    if deployed is None or deployed["spec"]["replicas"] != 1:
        broken.append(f"the Deployment is {deployed}")
    return [f"call {number}: {text}" for text in broken]


@pytest.mark.long
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("provider", ["koordinator", "placeholder"])
@pytest.mark.parametrize("part", parts(5))
def test_the_next_run_finds_the_workload_as_it_was_or_finishes_its_move(part: Part, provider: str, after: bool) -> None:
    numbers = part.of(range(1, num_calls(provider) + 1), shift=2 * after)

    assert [text for number in numbers for text in broken_by_a_kill(provider, number, after=after)] == []
