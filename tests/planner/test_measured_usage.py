"""Measured usage of nodes: after the moves that are booked, and as further columns of the problem."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.model.pod import Pod
from descheduler.optimizer import make_problem
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.planner.utilization.measured_usage import MeasuredUsage
from descheduler.planner.utilization.node_utilization import NodeUtilization
from descheduler.planner.utilization.targets import NO_CEILING, UsageTargets
from tests.builders import make_pod

P, Q, R, UNKNOWN = (make_pod(name, node=node) for name, node in (("p", "a"), ("q", "a"), ("r", "b"), ("u", "c")))
USAGE: Mapping[str, int] = {"p": 300, "q": 200, "r": 100}
"""Milli cores of pods."""


def usage(*arrivals: tuple[Pod, Pod | None]) -> tuple[MeasuredUsage, list[tuple[Pod, Pod | None]]]:
    """Nodes a and b use 600 and 50 of 1000 milli cores; node c was not measured, nor was the pod on it."""
    booked = list(arrivals)
    evictor = cast(PluginEvictor, SimpleNamespace(arrivals=lambda: tuple(booked)))
    measured = {
        name: NodeUtilization(("cpu",), np.array([taken]), np.array([1000])) for name, taken in (("a", 600), ("b", 50))
    }

    def of_pod(pod: Pod) -> Mapping[str, int] | None:
        return {"cpu": USAGE[pod.name] * 10**6} if pod.name in USAGE else None

    return MeasuredUsage(evictor, ("cpu",), measured, of_pod), booked


def taken(found: MeasuredUsage, node: str) -> Any:
    of_node = found.of(node)
    return None if of_node is None else of_node.taken.tolist()


def test_what_is_booked_has_its_predecessor_s_usage_on_another_node() -> None:
    found, booked = usage()
    assert [taken(found, node) for node in "abc"] == [[600], [50], None]

    booked.append((P, make_pod("p-2", node="b")))
    assert [taken(found, node) for node in "ab"] == [[300], [350]]

    booked.append((Q, None))
    assert [taken(found, node) for node in "ab"] == [[100], [350]]
    booked.append((make_pod("p", node="a", uid="other"), None))
    assert taken(found, "a") == [0]


def test_a_replacement_that_is_booked_onto_another_node_in_a_further_trial_counts_there() -> None:
    found, booked = usage((P, make_pod("p-2", node="b")))
    assert [taken(found, node) for node in "ab"] == [[300], [350]]

    booked[:] = [(P, make_pod("p-2", node="c"))]
    assert [taken(found, node) for node in "ab"] == [[300], [50]]


def test_pods_need_what_was_measured_of_them() -> None:
    found, _ = usage()

    assert [found.need(pod).tolist() for pod in (P, UNKNOWN)] == [[300], [0]]


def cluster() -> ClusterProblem:
    problem = make_problem([[1]] * 4, [[9]] * 3, [0, 0, 1, 2])
    return ClusterProblem(problem, [P, Q, R, UNKNOWN], "abc", ["pods"], problem.capacity)


def test_usage_is_a_further_resource_and_what_was_not_measured_stays() -> None:
    """Node a uses 100 beyond its pods; the pods of node b use more than it, which is measured at another moment."""
    found, _ = usage()

    problem = found.problem_over(cluster())

    assert problem.need.tolist() == [[1, 300], [1, 200], [1, 100], [1, 0]]
    assert problem.capacity.tolist() == [[9, 900], [9, 1000], [9, 0]]
    assert problem.evictable.tolist() == [True, True, True, False]
    assert problem.allowed.tolist() == [[True, True, False]]
    assert problem.both_ends.tolist() == [False, False]


def test_targets_limit_usage_less_what_others_than_pods_use() -> None:
    found, _ = usage()

    ceilings = found.ceilings_over(cluster(), UsageTargets({"cpu": 50.0}))

    assert ceilings.tolist() == [[NO_CEILING, 400], [NO_CEILING, 500], [NO_CEILING, NO_CEILING // 2]]
