"""A run that is killed at any call of a surge leaves nothing scaled: the next one takes it back, or finishes it."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from typing import Any

import pytest

from descheduler.migration.job.surge import Surge
from tests.living.builders import budget, deployment, living_cluster, node, priority_class
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay, Killed
from tests.living.observing.observer import Observer
from tests.migration.roads.playing import Play

PROVIDERS = ("koordinator", "placeholder")
LOWEST = priority_class("descheduler-placeholder", -1_000_000_000)


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


def cases() -> list[Any]:
    return [
        pytest.param(provider, after, number, id=f"{provider}-{'after' if after else 'before'}-{number}")
        for provider in PROVIDERS
        for after in (False, True)
        for number in range(1, num_calls(provider) + 1)
    ]


@pytest.mark.parametrize(("provider", "after", "number"), cases())
def test_the_next_run_finds_the_workload_as_it_was_or_finishes_its_move(
    provider: str, after: bool, number: int
) -> None:
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
    observer.assert_kept()
    assert not cluster.pods(node="n1")
    deployed = cluster.get("deployments.apps", "web", "shop")
    assert deployed is not None
    assert deployed["spec"]["replicas"] == 1
