"""What was refused of plans, without which later ones are made: pods that stay, and closed nodes or zones."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from descheduler.model.node import ZONE_LABEL
from descheduler.optimizer import Limits, RepairViolations, make_problem, solve
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.objectives.cluster_objective import ClusterObjective
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.planner.search.refusals import Refusals
from descheduler.planner.search.trials import Trial
from tests.builders import make_node, make_pod

NODES = [make_node(name, labels={ZONE_LABEL: zone}) for name, zone in zip("abcd", "xyyz", strict=True)]
PODS = [make_pod(name, node="a") for name in "pq"]
P, Q = map(identity_of, PODS)


def cluster(unasked: frozenset[PodIdentity] = frozenset()) -> ClusterProblem:
    problem = make_problem([[1], [1]], [[9]] * 4, [0, 0])
    return ClusterProblem(problem, PODS, "abcd", ["cpu"], problem.capacity, unasked)


def trial(companions: frozenset[PodIdentity] = frozenset()) -> Trial:
    """A plan that moves both pods to node b."""
    found = cluster()
    narrow = make_problem([[1], [1]], [[9]] * 4, [0, 0], allowed=[[True, True, False, False]])
    plan = solve(narrow, RepairViolations(np.ones(2, np.int64)), Limits(work=0.1))
    assert plan.assignment.tolist() == [1, 1]
    return Trial(0, 0, plan, found, (), False, {}, companions)


def refusals(*, chooses_nodes: bool = False, share: float = 0.0, is_chain: bool = False) -> Refusals:
    objective: Any = SimpleNamespace(scheduled_share=share, is_planned_further=is_chain)
    return Refusals(cast(ClusterObjective, objective), NODES, chooses_nodes=chooses_nodes)


def left(found: Refusals, unasked: frozenset[PodIdentity] = frozenset()) -> dict[str, str]:
    """By movable pod the nodes that are open to it."""
    problem = found.without_refused(cluster(unasked)).problem
    names = np.array(list("abcd"))
    return {
        pod.name: "".join(names[problem.allowed[problem.pod_class[number]]].tolist())
        for number, pod in enumerate(PODS)
        if problem.evictable[number]
    }


def test_pods_that_were_not_asked_about_stay() -> None:
    assert left(refusals()) == {"p": "abcd", "q": "abcd"}
    assert left(refusals(), frozenset({Q})) == {"p": "abcd"}


def test_a_refused_pod_stays_where_the_scheduler_chooses_the_nodes() -> None:
    found = refusals()

    found.add([P], trial())

    assert left(found) == {"q": "abcd"}
    found.forget_pods()
    assert left(found) == {"p": "abcd", "q": "abcd"}


def test_companions_of_a_refused_pod_are_not_to_blame() -> None:
    found = refusals()

    found.add([P, Q], trial(frozenset({Q})))

    assert left(found) == {"q": "abcd"}


def test_a_chosen_node_is_closed_and_from_the_third_refusal_on_its_zone() -> None:
    found = refusals(chooses_nodes=True)
    for _ in range(2):
        found.add([P], trial())
        assert left(found) == {"p": "acd", "q": "abcd"}

    found.add([P], trial())

    assert left(found) == {"p": "ad", "q": "abcd"}


def test_where_the_plan_counts_with_the_scheduler_a_pod_stays_after_three_refusals() -> None:
    found = refusals(share=0.5)
    for _ in range(2):
        found.add([P], trial())
        assert left(found) == {"p": "acd", "q": "abcd"}

    found.add([P], trial())

    assert left(found) == {"q": "abcd"}


def test_a_pod_of_a_chain_stays_after_two_refusals_and_none_of_its_nodes_is_closed() -> None:
    found = refusals(chooses_nodes=True, is_chain=True)
    found.add([P], trial())
    assert left(found) == {"p": "abcd", "q": "abcd"}

    found.add([P], trial())

    assert left(found) == {"q": "abcd"}


def test_a_pod_that_the_plan_does_not_move_stays_at_once() -> None:
    found, other = refusals(chooses_nodes=True), identity_of(make_pod("other"))

    found.add([other], trial())
    found.keep([Q])

    assert left(found) == {"p": "abcd"}
