"""What comes for an evicted pod, by where it is predicted to land, and what agents report of both."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.model.groups.workloads import JobFacts, Workload
from descheduler.model.objects import NodeUsage, PodUsage
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.replacements.answer import OwnerAnswer, Returns
from descheduler.placement.replacements.replacement import Replacement
from descheduler.plan.moves import Move
from descheduler.simulation.arrivals import arrival_of
from descheduler.simulation.status_after import (
    budgets_after,
    ended_owners,
    node_metrics_after,
    server_usage_after,
    workloads_after,
)
from tests.builders import NOW, make_budget, make_pod, make_snapshot
from tests.worlds.node_metrics import make_node_metric, metrics_by_node

CORE = 10**9
OLD = make_pod("old", labels={"app": "web"})
NEW = replace(make_pod("old+", node="", uid="", started=None, ready=False, phase="Pending"), conditions=())


def landing(node: str | None, verdict: LandingVerdict = LandingVerdict.LANDS, **facts: Any) -> Landing:
    made = Replacement(OLD, OwnerAnswer(Returns.AT_ONCE), **{"pod": NEW, "source": "template", **facts})
    return Landing(OLD, made, verdict, verdict, node, patch={"given": "gpu-0"})


@pytest.mark.parametrize(
    ("predicted", "fate", "node"),
    [
        pytest.param(landing("b"), "scheduled", "b", id="onto a node"),
        pytest.param(landing(None, LandingVerdict.NO), "pending", "", id="onto none"),
        pytest.param(landing(None, LandingVerdict.UNKNOWN), "unknown", "", id="nobody knows"),
        pytest.param(landing(None, unmovable="it is static", pod=None), "scheduled", "a", id="a pod that stays"),
        pytest.param(landing("b", pod=None), "not created", None, id="nothing is created"),
        pytest.param(landing("b", barred="a quota"), "not created", None, id="it is not admitted"),
        pytest.param(None, "not created", None, id="nothing was predicted"),
    ],
)
def test_what_comes_for_an_evicted_pod(predicted: Landing | None, fate: str, node: str | None) -> None:
    found = arrival_of(Move(OLD, "p", "A", landing=predicted), NOW)

    assert (found.fate, None if found.pod is None else found.pod.node_name) == (fate, node)


def test_pod_that_has_come_runs_and_is_ready() -> None:
    found = arrival_of(Move(OLD, "p", "A", landing=landing("b")), NOW).pod

    assert found is not None
    assert (found.phase, found.is_ready, found.created_at, found.started_at) == ("Running", True, NOW, NOW)
    assert (found.uid, dict(found.annotations), found.conditions) == ("default-old+", {"given": "gpu-0"}, ())
    bare = landing("b", pod=replace(NEW, conditions=None))
    arrived = arrival_of(Move(OLD, "p", "A", landing=bare), NOW).pod
    assert arrived is not None
    assert arrived.conditions is None


def come(name: str = "old+", **facts: Any) -> Pod:
    return make_pod(name, **{"node": "b", "labels": {"app": "web"}, **facts})


@pytest.mark.parametrize(
    ("arrived", "healthy", "allowed"),
    [
        pytest.param([], 2, 0, id="nothing comes"),
        pytest.param([come()], 3, 1, id="as many come"),
        pytest.param([come(), come("more")], 4, 2, id="more come"),
        pytest.param([come(ready=False)], 2, 0, id="what comes is not ready"),
        pytest.param([come(deleted=5)], 2, 0, id="what comes is terminating"),
        pytest.param([come(labels={"app": "db"})], 2, 0, id="what comes is of another budget"),
    ],
)
def test_budget_allows_what_is_healthy_beyond_what_is_desired(arrived: list[Pod], healthy: int, allowed: int) -> None:
    budget = make_budget("web", {"app": "web"}, disruptions_allowed=1, current_healthy=3, desired_healthy=2)

    (after,) = budgets_after(make_snapshot(pods=[OLD], budgets=(budget,)), [OLD], arrived)

    assert (after.current_healthy, after.disruptions_allowed) == (healthy, allowed)


def test_budget_without_a_status_says_nothing_afterwards_either() -> None:
    budget = make_budget("web", {"app": "web"})

    assert budgets_after(make_snapshot(pods=[OLD], budgets=(budget,)), [OLD], []) == (budget,)


def test_usage_by_the_metrics_server_goes_with_its_pod() -> None:
    measured = PodUsage("default", "old", ({"cpu": CORE}, {"cpu": CORE}))
    nodes = {name: NodeUsage(name, {"cpu": cores * CORE}) for name, cores in (("a", 3), ("b", 1), ("c", 1))}
    snapshot = make_snapshot(node_usage=nodes, pod_usage={("default", "old"): measured})

    after, pods = server_usage_after(snapshot, [(OLD, come())])
    gone, none = server_usage_after(snapshot, [(OLD, None)])

    assert {name: usage.usage["cpu"] // CORE for name, usage in after.items()} == {"a": 1, "b": 3, "c": 1}
    assert pods == {("default", "old+"): replace(measured, name="old+")}
    assert {name: usage.usage["cpu"] // CORE for name, usage in gone.items()} == {"a": 1, "b": 1, "c": 1}
    assert none == {}


def test_usage_of_a_node_does_not_fall_below_zero() -> None:
    nodes = {"a": NodeUsage("a", {"cpu": CORE})}
    measured = PodUsage("default", "old", ({"cpu": 2 * CORE},))

    after, _ = server_usage_after(
        make_snapshot(node_usage=nodes, pod_usage={("default", "old"): measured}), [(OLD, None)]
    )

    assert after["a"].usage == {"cpu": 0}


def test_usage_by_koordinator_goes_with_its_pod() -> None:
    metrics = metrics_by_node(
        [make_node_metric("a", {"default/old": {"cpu": "2"}, "default/x": {"cpu": "1"}}), make_node_metric("b")]
    )

    after = node_metrics_after(make_snapshot(node_metrics=metrics), [(OLD, come())], timedelta(minutes=5))

    assert {name: [pod.key for pod in metric.pods] for name, metric in after.items()} == {
        "a": ["default/x"],
        "b": ["default/old+"],
    }
    assert after["a"].node_usage["cpu"] == CORE
    before, later = metrics["a"].updated_at, after["a"].updated_at
    assert before is not None
    assert later == before + timedelta(minutes=5)


def test_metric_without_a_time_has_none_afterwards_either() -> None:
    metrics = metrics_by_node([make_node_metric("a", age=None)])

    assert node_metrics_after(make_snapshot(node_metrics=metrics), [], timedelta(minutes=5))["a"].updated_at is None


@pytest.mark.parametrize(
    ("owners", "num_failed"), [pytest.param(["Job/train"], 1, id="of the Job"), pytest.param((), 0, id="of nobody")]
)
def test_eviction_that_counts_as_a_failure_is_one_of_its_job(owners: Any, num_failed: int) -> None:
    pod = make_pod("old", owners=owners)
    job = Workload("Job", "default", "train", "job-train", 1, job=JobFacts())
    answer = OwnerAnswer(Returns.AT_ONCE, is_counted=True, failed_index=3)
    move = Move(pod, "p", "A", landing=replace(landing("b"), replacement=Replacement(pod, answer, NEW, "template")))

    (after,) = workloads_after({job.uid: job}, [move]).values()

    assert after.job is not None
    assert (after.job.num_failed, after.job.failed_indexes) == (num_failed, frozenset({3} if num_failed else ()))
    assert ended_owners([move]) == frozenset()
