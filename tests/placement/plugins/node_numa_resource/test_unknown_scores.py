"""Nodes whose score NodeNUMAResource cannot tell: none of them, and none beside them, is named for certain."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.framework.evaluation import Choice
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.koord_scheduler import koord_profile
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.plugins.coscheduling.worlds import prover_of

POLICY = {"node.koordinator.sh/numa-topology-policy": "SingleNUMANode"}


def make_test_node(name: str, cpu: int, *, policy: bool = False) -> Node:
    return make_node(name, cpu=str(cpu), memory="64Gi", labels=POLICY if policy else {})


def chosen(nodes: list[Node], pod: Pod) -> tuple[Scheduler, Choice]:
    cluster = shadow_cluster_of(make_snapshot(nodes), PLUGINS)
    scheduler = Scheduler(cluster, koord_profile(PLUGINS), plugins=PLUGINS)
    choice = scheduler.choose(scheduler.evaluate(pod))
    assert choice is not None
    return scheduler, choice


def koord_pod(**facts: object) -> Pod:
    return make_pod("p", node="", cpu="2", scheduler="koord-scheduler", priority=9000, **facts)


def test_node_of_known_score_comes_first_beside_one_that_may_be_better() -> None:
    _, choice = chosen([make_test_node("numa", 64, policy=True), make_test_node("plain", 8)], koord_pod())

    assert (choice.node, choice.ties, choice.is_open) == (1, (1, 0), True)


def test_policy_of_the_pod_leaves_all_nodes_open() -> None:
    asked = {"scheduling.koordinator.sh/numa-topology-spec": '{"numaTopologyPolicy": "BestEffort"}'}
    nodes = [make_test_node("large", 64), make_test_node("small", 48)]

    _, choice = chosen(nodes, koord_pod(annotations=asked))

    assert sorted(choice.ties) == [0, 1]


def test_nodes_without_a_policy_are_told_as_ever() -> None:
    _, choice = chosen([make_test_node("large", 64), make_test_node("small", 8)], koord_pod())

    assert (choice.ties, choice.is_open) == ((0,), False)


@pytest.mark.parametrize("seed", range(40))
def test_winner_is_named_whatever_the_unknown_scores_are(seed: int) -> None:
    """By brute force over what NodeNUMAResource could give to the nodes with a policy."""
    random = Random(seed)
    nodes = [
        make_test_node(f"n{index}", random.choice((4, 16, 64)), policy=random.random() < 0.4) for index in range(5)
    ]
    scheduler, choice = chosen(nodes, koord_pod())
    table = scheduler.scores(scheduler.evaluate(koord_pod()))
    weight = dict(koord_profile(PLUGINS).scores)["NodeNUMAResource"]
    open_nodes = np.array([bool(node.labels.get(next(iter(POLICY)))) for node in nodes])
    rest = table.totals - np.where(open_nodes, table.by_plugin["NodeNUMAResource"].final, 0)

    winners = set[int]()
    for _ in range(300):
        given = np.array([random.choice((0, 100, random.randint(0, 100))) * weight for _ in nodes])
        totals = rest + np.where(open_nodes, given, 0)
        winners |= set((totals == totals.max()).nonzero()[0].tolist())

    assert winners <= set(choice.ties)
    if choice.is_open:
        assert len(choice.ties) > 1


def test_landing_beside_such_a_node_names_both() -> None:
    nodes = [make_test_node("numa", 64, policy=True), make_test_node("plain", 8), make_node("old", unschedulable=True)]
    victim = make_pod("p", node="old", cpu="2", scheduler="koord-scheduler", owners=["ReplicaSet/p"])

    landing = prover_of(nodes, [victim]).consider(victim)

    assert (landing.node, landing.ties, landing.is_open) == ("plain", ("plain", "numa"), True)
