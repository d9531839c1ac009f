"""What the eviction of a pod costs, beside that of others."""

from __future__ import annotations

import pytest

from descheduler.model.koordinator.eviction_annotations import COST_ANNOTATION, DELETION_COST_ANNOTATION
from descheduler.model.pod import Pod
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.problem import make_problem
from descheduler.placement.prover import LandingProver
from descheduler.planner.args import DisruptionCost
from descheduler.planner.problem.disruption_cost import (
    ORDINARY,
    cost_of_cheapest,
    disruption_costs,
    fewest_that_cost,
    most_of_ties,
)
from tests.builders import NOW, container_status, make_pod, make_view, pod_object
from tests.placement.workloads import cluster_of, workload_object


def test_eviction_that_fails_a_job_is_the_dearest_however_young_the_pod_is() -> None:
    snapshot = cluster_of(
        pod_object("young", owners=["Job/fragile"], age=1),
        pod_object("old", owners=["Job/patient"], age=900_000),
        pod_object("web", owners=["ReplicaSet/web"], age=900_000, priority=1000),
        workload_object("Job/fragile", completions=1, backoffLimit=0),
        workload_object("Job/patient", completions=1, backoffLimit=6),
        workload_object("ReplicaSet/web"),
    )
    view = make_view(snapshot.nodes, snapshot.pods)

    costs = disruption_costs(
        snapshot.pods, DisruptionCost(), view, NOW, ends_owner=LandingProver(snapshot, now=NOW).ends_owner
    )

    by_name = dict(zip((pod.name for pod in snapshot.pods), costs.tolist(), strict=True))
    assert by_name["young"] > 1000 * ORDINARY
    assert max(by_name["old"], by_name["web"]) < 2 * ORDINARY


def costs_of(*pods: Pod, ends: str = "", **weights: float) -> list[int]:
    """What evictions cost where only these weights count."""
    nothing = dict.fromkeys(DisruptionCost.__struct_fields__, 0.0)
    view = make_view(pods=pods)
    found = disruption_costs(
        pods, DisruptionCost(**{**nothing, **weights}), view, NOW, ends_owner=lambda pod: pod.name == ends
    )
    costs: list[int] = found.tolist()
    return costs


def test_an_ordinary_eviction_costs_the_same_for_all_where_nothing_counts() -> None:
    assert costs_of(make_pod("a", priority=5), make_pod("b")) == [ORDINARY, ORDINARY]
    assert costs_of() == []


def test_priorities_count_by_their_rank() -> None:
    pods = [make_pod(str(number), priority=priority) for number, priority in enumerate((-5, None, 2_000_000, None))]

    assert costs_of(*pods, priority=1.0) == [1000, 1500, 2000, 1500]
    assert costs_of(*pods[:1], priority=1.0) == [1000]


def annotated(name: str, key: str, cost: str) -> Pod:
    return make_pod(name, annotations={key: cost})


def test_stated_costs_count_as_a_share_of_the_highest_and_make_pods_cheaper_below_0() -> None:
    koordinator, kubernetes = COST_ANNOTATION, DELETION_COST_ANNOTATION
    pods = [annotated("a", koordinator, "100"), annotated("b", kubernetes, "50"), annotated("c", kubernetes, "-100")]

    assert costs_of(*pods, make_pod("d"), eviction_cost=0.5) == [1500, 1250, 500, 1000]
    assert costs_of(annotated("c", kubernetes, "-7"), eviction_cost=1.0) == [1]


def test_long_running_pods_cost_half_as_much_again_after_an_hour() -> None:
    pods = [make_pod("new", age=0), make_pod("hour", age=3600), make_pod("old", age=3 * 3600), make_pod("odd", age=-60)]

    assert costs_of(*pods, age=1.0) == [1000, 1500, 1750, 1000]


def test_pods_of_jobs_cost_more_the_longer_they_run_and_others_do_not() -> None:
    of_job = make_pod("job", age=3600, owners=["Job/j"])

    assert costs_of(of_job, make_pod("web", age=3600), make_pod("bare", owners=[]), job=1.0) == [1500, 1000, 1000]


@pytest.mark.parametrize(("restarts", "cost"), [(0, 2000), (1, 1800), (5, 1000), (99, 1000)])
def test_pods_that_have_restarted_cost_less_up_to_five_restarts(restarts: int, cost: int) -> None:
    assert costs_of(make_pod("a", containers=[container_status(restarts)]), restarts=1.0) == [cost]


def test_restarts_of_all_containers_count_together() -> None:
    assert costs_of(make_pod("a", containers=[container_status(2), container_status(1)]), restarts=1.0) == [1400]


def test_the_only_pod_of_a_controller_costs_most() -> None:
    pods = [make_pod(f"web-{number}") for number in range(4)]

    assert costs_of(*pods, make_pod("db", owners=["ReplicaSet/db"]), replicas=1.0) == [1250] * 4 + [2000]
    assert costs_of(make_pod("bare", owners=[]), replicas=1.0) == [2000]


def test_pods_of_a_gang_cost_more() -> None:
    gang = make_pod("g", annotations={"gang.scheduling.koordinator.sh/name": "g"})

    assert costs_of(gang, make_pod("web"), gang=0.5) == [1500, 1000]


def test_an_eviction_that_ends_a_job_weighs_a_thousand_whatever_else_makes_it_cheap() -> None:
    cheap = annotated("end", DELETION_COST_ANNOTATION, "-100")

    assert costs_of(cheap, make_pod("web"), ends="end", eviction_cost=1.0) == [1_001_000, 1000]


@pytest.mark.parametrize(("number", "cost"), [(0, 0), (1, 2), (2, 5), (3, 12), (9, 12)])
def test_the_cheapest_evictions_are_of_pods_that_can_be_evicted(number: int, cost: int) -> None:
    problem = make_problem(
        [[1]] * 5, [[9]], [0, 0, 0, 0, PENDING], cost=[7, 2, 1, 3, 1], evictable=[True, True, False, True, True]
    )

    assert cost_of_cheapest(problem, number) == cost


@pytest.mark.parametrize(("cost", "number"), [(0, 0), (1, 1), (7, 1), (8, 2), (10, 2), (11, 3), (12, 3)])
def test_so_much_is_cost_by_no_fewer_evictions_than_by_the_dearest(cost: int, number: int) -> None:
    problem = make_problem(
        [[1]] * 5, [[9]], [0, 0, 0, 0, PENDING], cost=[2, 7, 9, 3, 9], evictable=[True, True, False, True, True]
    )

    assert fewest_that_cost(problem, cost) == number


def test_plans_with_as_many_evictions_differ_by_tie_breaks_alone() -> None:
    assert most_of_ties(0) == 0
    assert most_of_ties(3) == pytest.approx(3 * most_of_ties(1))
    assert 0 < most_of_ties(1) < ORDINARY
