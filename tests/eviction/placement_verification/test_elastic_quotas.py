"""Pods whose replacement their elastic quota does not admit."""

from __future__ import annotations

import pytest

from descheduler import Evaluation, evaluate
from tests.builders import NOW, Object, node_object, pod_object
from tests.explanation.questions import pod_explanation, policy_of

_LABELS = {"quota.scheduling.koordinator.sh/name": "team"}


def _quota(cpu: str) -> Object:
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": "team", "namespace": "default"},
        "spec": {"min": {"cpu": "1"}, "max": {"cpu": cpu}},
    }


def _pod(name: str, *, scheduler: str = "koord-scheduler") -> Object:
    return pod_object(name, cpu="2", labels=_LABELS, scheduler=scheduler)


def _policy() -> Object:
    only = {"enabled": [{"name": "DefaultEvictor"}], "disabled": [{"name": "MigrationController"}]}
    plugins = {"deschedule": {"enabled": [{"name": "PodLifeTime"}]}, "filter": only, "evict": only}
    configs = [{"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}}]
    profile = {"name": "p", "pluginConfig": configs, "plugins": plugins}
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerConfiguration", "profiles": [profile]}


def _evaluated(max_cpu: str, **facts: str) -> Evaluation:
    """Two pods of the quota, 2 cpus each, and a policy that finds both too old."""
    nodes = [node_object("a", unschedulable=True), node_object("b")]
    return evaluate(_policy(), [*nodes, _quota(max_cpu), _pod("p", **facts), _pod("q", **facts)], now=NOW)


def test_pods_of_a_quota_over_its_limit_stay() -> None:
    result = _evaluated("3")

    assert [(refusal.name, refusal.code) for refusal in result.refusals] == [
        ("p", "ElasticQuota"),
        ("q", "ElasticQuota"),
    ]
    assert result.refusals[0].message == (
        "the scheduler rejects the replacement pod: quota team: 2 CPU requested, 1 CPU over its max of 3"
    )


@pytest.mark.parametrize("max_cpu", ["4", "5"])
def test_pods_of_a_quota_within_its_limit_leave_one_after_another(max_cpu: str) -> None:
    result = _evaluated(max_cpu)

    assert [eviction.name for eviction in result.evictions] == ["p", "q"]


def test_quota_stays_unknown_to_a_scheduler_that_does_not_run_the_plugin() -> None:
    result = _evaluated("3", scheduler="default-scheduler")

    assert {refusal.code for refusal in result.refusals} == {"UnknownLanding"}


def test_explanation_shows_the_quota_that_refuses() -> None:
    nodes = [node_object("a"), node_object("b")]
    placement = pod_explanation("p", [*nodes, _quota("3"), _pod("p"), _pod("q")], policy_of(_policy())).placement

    assert placement is not None
    assert [refusal.plugin for refusal in placement.refusals] == ["ElasticQuota"]
    assert placement.quota is not None
    assert placement.quota.name == "team"
    (cpu,) = placement.quota.resources
    assert (cpu.min, cpu.max, cpu.runtime, cpu.used, cpu.requested, cpu.pod) == (1000, 3000, 3000, 2000, 4000, 2000)
