"""What nodes reserve by Koordinator's annotation is off every capacity figure of a DeschedulerConfiguration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from descheduler import Evaluation, evaluate
from tests.builders import NOW, Object, node_object, pod_object

PROFILE = Path(__file__).parents[2] / "config" / "profiles" / "node-reservation.yaml"
RESERVATION = {"node.koordinator.sh/reservation": '{"resources": {"cpu": "3", "memory": "2Gi"}}'}


def by_kind(upstream: object, koordinator: object) -> list[tuple[str, object]]:
    """What is expected of each kind of policy."""
    return [("DeschedulerPolicy", upstream), ("DeschedulerConfiguration", koordinator)]


def policy(kind: str, plugin: str, point: str, args: Object, evictor: Object | None = None) -> Object:
    """A policy of `kind` with one plugin, which DefaultEvictor evicts for and nothing else verifies."""
    enabled: list[object] = [plugin] if kind == "DeschedulerPolicy" else [{"name": plugin}]
    plugins: Object = {point: {"enabled": enabled}}
    if kind == "DeschedulerConfiguration":
        only = {"enabled": [{"name": "DefaultEvictor"}], "disabled": [{"name": "*"}]}
        plugins |= {"filter": only, "evict": only}
    configs = [{"name": "DefaultEvictor", "args": evictor or {}}, {"name": plugin, "args": args}]
    profile = {"name": "p", "pluginConfig": configs, "plugins": plugins}
    return {"apiVersion": "descheduler/v1alpha2", "kind": kind, "profiles": [profile]}


def evicted(result: Evaluation) -> list[str]:
    return [eviction.name for eviction in result.evictions]


def too_old(kind: str, objects: Sequence[Object], evictor: Object | None = None) -> Evaluation:
    return evaluate(policy(kind, "PodLifeTime", "deschedule", {"maxPodLifeTimeSeconds": 60}, evictor), objects, now=NOW)


@pytest.mark.parametrize(("kind", "cpu_milli"), by_kind(8000, 5000))
def test_figures_of_the_plan(kind: str, cpu_milli: int) -> None:
    nodes = [node_object("a", annotations=RESERVATION), node_object("b")]

    plan = too_old(kind, [*nodes, pod_object("p")]).plan

    assert plan.figures.total.allocatable.cpu_milli == cpu_milli


@pytest.mark.parametrize(("kind", "expected"), by_kind(["p"], []))
def test_node_fit(kind: str, expected: list[str]) -> None:
    objects = [node_object("a"), node_object("b", annotations=RESERVATION), pod_object("p", cpu="2")]

    assert evicted(too_old(kind, objects, {"nodeFit": True})) == expected


@pytest.mark.parametrize(("kind", "expected"), by_kind([("p", "b")], []))
def test_landing_of_the_replacement(kind: str, expected: list[tuple[str, str]]) -> None:
    """Node `a` is cordoned, and what node `b` reserves leaves too little for the pod."""
    nodes = [node_object("a", unschedulable=True), node_object("b", annotations=RESERVATION)]

    result = too_old(kind, [*nodes, pod_object("p", cpu="2")])

    assert [(eviction.name, eviction.target_node) for eviction in result.evictions] == expected
    assert [refusal.code for refusal in result.refusals] == ([] if expected else ["NoLanding"])


@pytest.mark.parametrize(("kind", "expected"), by_kind([], ["p"]))
def test_thresholds_of_utilization(kind: str, expected: list[str]) -> None:
    """600m are 15% of 4 cores, and 60% of the one that is not reserved."""
    args: Object = {"thresholds": {"cpu": 10, "memory": 90}, "targetThresholds": {"cpu": 50, "memory": 90}}
    nodes = [node_object("a", annotations=RESERVATION), node_object("b")]
    policy_of_kind = policy(kind, "LowNodeUtilization", "balance", args)

    result = evaluate(policy_of_kind, [*nodes, pod_object("p", cpu="600m")], now=NOW)

    assert evicted(result) == expected


def test_shipped_profile_says_what_the_next_run_evicts() -> None:
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default", "uid": "ReplicaSet-web"},
        "spec": {"replicas": 4},
    }
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "ReplicaSet-web", "controller": True}
    pods = [pod_object(f"p{n}", cpu="300m", priority=n, owners=[owner]) for n in range(4)]

    result = evaluate(PROFILE, [node_object("a", annotations=RESERVATION), node_object("b"), replica_set, *pods], NOW)

    assert result.evictions == ()
    assert [(refusal.name, refusal.code) for refusal in result.refusals] == [("p0", "TooFewObservations")]
