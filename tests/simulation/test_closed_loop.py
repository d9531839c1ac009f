"""The figures of a cluster, and how the endings of policies are put into words."""

from __future__ import annotations

import pytest

from descheduler.report.simulation_document import Utilization
from descheduler.simulation.closed_loop import figures_of
from tests.builders import Object, container_status, node_object, pod_object
from tests.simulation.loops import balancing, decided, evicting, simulated


def test_figures_are_of_requests_of_pods_that_have_not_finished() -> None:
    objects = [
        node_object("a", cpu="4", memory="8Gi"),
        node_object("b", cpu="4", memory="8Gi", unschedulable=True),
        pod_object("one", node="a", cpu="1", memory="2Gi"),
        pod_object("two", node="a", cpu="1"),
        pod_object("done", node="a", cpu="2", phase="Succeeded"),
        pod_object("waits", node="", cpu="1", phase="Pending"),
    ]

    found = figures_of(decided(evicting(), *objects), {"volumes": 2, "devices": 1})

    assert (found.pods, found.pending, found.unknown, found.nodes_over_target) == (4, 1, 3, None)
    assert found.cpu == Utilization(50.0, "a", 25.0)
    assert found.memory == Utilization(25.0, "a", 12.5)


def test_nodes_without_a_resource_do_not_count() -> None:
    objects = [node_object("a", cpu="4"), node_object("none", cpu="0"), pod_object("p", node="a", cpu="4")]

    assert figures_of(decided(evicting(), *objects), {}).cpu == Utilization(100.0, "a", 0.0)


def test_cluster_without_a_resource_has_no_utilization() -> None:
    assert figures_of(decided(evicting(), node_object("none", cpu="0")), {}).cpu == Utilization(0.0, "", 0.0)


@pytest.mark.parametrize(("num_pods", "over"), [(4, 1), (2, 0)])
def test_nodes_over_their_target_are_counted_where_a_plugin_has_one(num_pods: int, over: int) -> None:
    nodes = [node_object(name, cpu="4") for name in "ab"]
    pods = [pod_object(f"p{each}", node="a", cpu="1") for each in range(num_pods)]

    assert figures_of(decided(balancing(), *nodes, *pods), {}).nodes_over_target == over


def restarted(number: int) -> list[Object]:
    """Pods of different workloads that have restarted."""
    status = [container_status(restarts=5)]
    return [pod_object(f"p{n}", containers=status, owners=[f"ReplicaSet/w{n}"]) for n in range(number)]


@pytest.mark.parametrize(
    ("objects", "sentence"),
    [
        pytest.param([], "nothing is evicted, 0 pods pending", id="nothing to do"),
        pytest.param(
            [pod_object("waits", node="", cpu="9", phase="Pending")],
            "nothing is evicted, 1 pod pending",
            id="a pod that fits nowhere",
        ),
        pytest.param(restarted(1), "converges after 1 cycle: 1 eviction, 0 pods pending", id="one eviction"),
        pytest.param(restarted(2), "converges after 1 cycle: 2 evictions, 0 pods pending", id="two evictions"),
    ],
)
def test_sentence_of_a_policy_that_converges(objects: list[Object], sentence: str) -> None:
    nodes = [node_object(name, cpu="4") for name in "ab"]

    assert simulated(evicting(), *nodes, *objects).sentence == sentence
