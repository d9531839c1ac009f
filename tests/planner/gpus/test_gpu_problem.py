"""Clusters as choices of GPUs: what is free of each, and where pods may go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.problem import make_problem
from descheduler.placement.prover import LandingProver
from descheduler.planner.gpus.gpu_problem import with_gpus
from descheduler.planner.problem.cluster_problem import ClusterProblem
from tests.builders import Object
from tests.planner.gpus.runs import gpu_node, gpu_snapshot, pending_pod, shared_pod


def _divided(nodes: Sequence[Sequence[Object]], pods: Sequence[Object], *, for_bounds: bool = False) -> ClusterProblem:
    """The cluster with GPUs told apart; every pod may go anywhere."""
    snapshot = gpu_snapshot(nodes, pods)
    openings = LandingProver(snapshot).openings()
    names = [node.name for node in snapshot.nodes]
    need = np.array([openings.need(pod.spec) for pod in snapshot.pods])
    at = [names.index(pod.node_name) if pod.node_name else PENDING for pod in snapshot.pods]
    allocatable = openings.capacity.T.copy()
    problem = make_problem(need, allocatable, at)
    cluster = ClusterProblem(problem, snapshot.pods, names, openings.resources, allocatable)
    return with_gpus(cluster.for_bounds() if for_bounds else cluster, openings)


def _names(cluster: ClusterProblem, pod: str) -> list[str]:
    """The nodes of the choices that a pod may go to."""
    (number,) = (number for number, each in enumerate(cluster.pods) if each.name == pod)
    problem = cluster.problem
    return [cluster.nodes[place] for place in np.flatnonzero(problem.allowed[problem.pod_class[number]]).tolist()]


def test_a_gpu_has_what_its_pods_leave() -> None:
    cluster = _divided([gpu_node("a")], [shared_pod("p", "a", 30, 1)])

    problem = cluster.problem
    free = (problem.part_capacity - problem.usage(problem.assignment))[1:, -1]
    assert free.tolist() == [100, 70]


@pytest.mark.parametrize(("for_bounds", "mebibytes"), [(False, 2), (True, 1)])
def test_memory_is_rounded_to_mebibytes_up_in_plans_and_down_in_bounds(*, for_bounds: bool, mebibytes: int) -> None:
    pod = shared_pod("p", "a", 30, 1)
    pod["spec"]["containers"][0]["resources"]["requests"]["memory"] = str(2**20 + 1)

    cluster = _divided([gpu_node("a")], [pod], for_bounds=for_bounds)

    assert cluster.problem.need[0, cluster.resources.index("memory")] == mebibytes


def test_a_pod_of_two_gpus_may_have_each_pair_that_is_neighbours_or_equally_free() -> None:
    """GPUs 1 and 2 are idle; pairs by minor are (0, 1) and (2, 3), by what is free (1, 2) and (0, 3)."""
    pods = [shared_pod("p", "a", 50, 0), shared_pod("q", "a", 50, 3), pending_pod("pair", 100, number=2)]

    cluster = _divided([gpu_node("a", 4)], pods)

    assert _names(cluster, "pair") == ["a"] * 4


def test_a_pod_without_gpus_takes_none() -> None:
    assert _names(_divided([gpu_node("a"), gpu_node("b", 0)], [shared_pod("web", "a", 0)]), "web") == ["a", "b"]


def test_a_pod_stays_that_has_other_gpus_than_it_asks_for() -> None:
    wrong = shared_pod("p", "a", 100, 0, 1)
    wrong["metadata"]["annotations"] = shared_pod("p", "a", 100, 0)["metadata"]["annotations"]

    cluster = _divided([gpu_node("a"), gpu_node("b")], [wrong])

    assert cluster.problem.evictable.tolist() == [False]


def test_targets_of_the_last_plan_are_gpus_with_room() -> None:
    """GPU 0 of node b is taken."""
    pods = [shared_pod("p", "a", 50, 0), shared_pod("q", "b", 100, 0)]
    cluster = _divided([gpu_node("a"), gpu_node("b")], pods)

    found = cluster.assignment_with({cluster.pods[0].uid: "b"})

    assert found is not None
    usage = cluster.problem.usage(found)
    assert cluster.nodes[int(found[0])] == "b"
    assert (usage <= cluster.problem.part_capacity).all()
