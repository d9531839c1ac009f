"""Placeholders in a namespace whose ResourceQuota has room for few of them: their jobs take turns."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from descheduler.plan.outcome import Outcome, OutcomeCode
from tests.living.builders import deployment, living_cluster, node, priority_class
from tests.living.cluster import LivingCluster
from tests.migration.roads.playing import Play
from tests.migration.roads.test_bundles import bundled

Object = dict[str, Any]
APPS = ("a", "b", "c", "d")


def quota(pods: int) -> Object:
    metadata = {"name": "compute", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": {"pods": str(pods)}}}


def world(pods: int) -> LivingCluster:
    """Four pods on a node that they have to leave, and three nodes, in a namespace that may have so many `pods`."""
    lowest = priority_class("descheduler-placeholder", -1_000_000_000)
    nodes = [
        node("n1", cpu="8", taints=["gone=soon:NoSchedule"]),
        *(node(name, cpu="8") for name in ("n2", "n3", "n4")),
    ]
    return living_cluster(nodes, [deployment(app, 1, on=["n1"]) for app in APPS], [lowest, quota(pods)])


def pods_of(cluster: LivingCluster) -> list[Object]:
    return [pod for app in APPS for pod in cluster.pods(app)]


def codes(outcomes: Iterable[Outcome]) -> set[OutcomeCode]:
    return {outcome.code for outcome in outcomes}


def test_each_has_its_room_held_once_another_one_has_given_its_own_back() -> None:
    cluster = world(pods=len(APPS) + 1)

    outcomes = Play(cluster, provider="placeholder").evict(*pods_of(cluster))

    assert codes(outcomes) <= {OutcomeCode.DONE, OutcomeCode.MISSED_ROOM}
    assert not any("n1" in cluster.nodes_of(app) for app in APPS)


def test_pods_stay_where_no_placeholder_has_room() -> None:
    cluster = world(pods=len(APPS))

    outcomes = Play(cluster, provider="placeholder").evict(*pods_of(cluster))

    assert codes(outcomes) == {OutcomeCode.NO_ROOM}
    assert all("exceeded quota: compute" in outcome.message for outcome in outcomes)
    assert all(cluster.nodes_of(app) == ["n1"] for app in APPS)


def test_a_job_whose_turn_does_not_come_in_time_says_what_it_waited_for() -> None:
    cluster = world(pods=len(APPS) + 1)

    outcomes = Play(cluster, provider="placeholder", ttl=timedelta(seconds=5)).evict(*pods_of(cluster))

    late = {outcome.message for outcome in outcomes if outcome.code is OutcomeCode.TIMED_OUT}
    assert late == {
        "its time limit (ttl) has passed; the pod was not evicted:"
        " other placeholders of this run use up the ResourceQuota of namespace shop"
    }


def test_pods_of_a_bundle_do_not_wait_for_each_other() -> None:
    """All of them hold room before the first leaves, and there is not enough for that."""
    cluster = world(pods=len(APPS) + 1)
    play = Play(cluster, provider="placeholder")

    outcomes = play.run(bundled(play, *pods_of(cluster)))

    assert codes(outcomes) == {OutcomeCode.NO_ROOM, OutcomeCode.BUNDLE}
    assert all(cluster.nodes_of(app) == ["n1"] for app in APPS)
    assert cluster.clock.monotonic() < 120
