"""Whenever nodes report after pods have left, the node that koord-scheduler then takes is among the predicted ones."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, combinations
from random import Random

import pytest

from descheduler.model.pod import Pod
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.placement.plugins.load_aware_scheduling.worlds import (
    koord_pod,
    large_node,
    measured,
    measured_cluster,
    scheduler_of,
)

NAMES = ("a", "b", "c", "d")


def cluster_of(
    pods: list[Pod], used: Mapping[str, int], systems: Mapping[str, int], gone: frozenset[str], reported: frozenset[str]
) -> ShadowCluster:
    """The cluster without the pods that are `gone`, of which the nodes that have `reported` say nothing any more."""
    metrics = []
    for name in NAMES:
        on_node = [pod for pod in pods if pod.node_name == name]
        seen = [pod for pod in on_node if pod.name not in gone or name not in reported]
        usage = systems[name] + sum(used[pod.name] for pod in seen)
        by_pod = {pod.key: {"cpu": str(used[pod.name])} for pod in seen}
        metrics.append(measured(name, usage={"cpu": str(usage)}, pods=by_pod))
    stay = [pod for pod in pods if pod.name not in gone]
    return measured_cluster([large_node(name) for name in NAMES], stay, metrics)


def best_of(cluster: ShadowCluster) -> frozenset[int]:
    scheduler = scheduler_of(cluster)
    choice = scheduler.choose(scheduler.evaluate(koord_pod()))
    assert choice is not None
    return frozenset(choice.ties)


@pytest.mark.parametrize("seed", range(25))
def test_node_that_is_taken_is_among_the_ties_whichever_nodes_have_reported(seed: int) -> None:
    """By brute force over every set of nodes that have."""
    random = Random(seed)
    pods = [koord_pod(f"p{n}", random.choice(NAMES), started=random.choice((20, 3600))) for n in range(8)]
    used = {pod.name: random.randint(1, 8) for pod in pods}
    systems = {name: random.randint(0, 9) for name in NAMES}
    leaving = random.sample(pods, 3)
    gone = frozenset(pod.name for pod in leaving)

    before = cluster_of(pods, used, systems, frozenset(), frozenset())
    scheduler_of(before)
    for pod in leaving:
        before.remove(pod)
    predicted = best_of(before)

    sets = chain.from_iterable(combinations(NAMES, number) for number in range(len(NAMES) + 1))
    taken = [best_of(cluster_of(pods, used, systems, gone, frozenset(reported))) for reported in sets]
    assert frozenset[int]().union(*taken) == predicted
