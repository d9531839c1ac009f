"""How long waves take by the pace of evictions and by grace periods."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.load import load_policy
from descheduler.report.formats.render import render
from descheduler.report.pictures.review import time_text
from descheduler.report.plan.document import Plan
from descheduler.report.plan.wave_times import PlannedWave, planned_waves
from tests.builders import make_node, make_pod
from tests.report.decided_cycles import make_test_decisions, make_test_plan, pod_life_time_policy


def configuration(**controller: object) -> dict[str, Any]:
    """A policy of Koordinator's kind that evicts pods after a minute."""
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration",
        "profiles": [
            {
                "name": "main",
                "pluginConfig": [
                    {"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}},
                    {"name": "MigrationController", "args": controller},
                ],
                "plugins": {
                    "deschedule": {"enabled": [{"name": "PodLifeTime"}]},
                    "evict": {"enabled": [{"name": "MigrationController"}]},
                },
            }
        ],
    }


def plan_of(*, number: int, policy: Any = None, grace: int | None = None, **pod: Any) -> Plan:
    pods = [make_pod(f"old-{each:02}", **pod) for each in range(number)]
    if grace is not None:
        pods = [replace(each, spec=msgspec.structs.replace(each.spec, grace_period_seconds=grace)) for each in pods]
    return make_test_plan(pods, nodes=[make_node("a"), make_node("b")], policy=policy)


def test_pods_within_the_burst_take_their_grace_period_alone() -> None:
    assert plan_of(number=3).waves == (PlannedWave(wave=1, pods=3, pace_seconds=0.0, grace_seconds=30, seconds=30.0),)


def test_more_pods_wait_for_the_pace() -> None:
    """10 at once, then 5 a second by default."""
    [wave] = plan_of(number=30).waves

    assert (wave.pace_seconds, wave.seconds) == (4.0, 34.0)


def test_grace_period_of_the_pod_counts() -> None:
    assert [wave.grace_seconds for wave in plan_of(number=2, grace=90).waves] == [90]


def test_grace_period_of_the_policy_comes_before_that_of_the_pod() -> None:
    plan = plan_of(number=2, grace=90, policy=pod_life_time_policy(gracePeriodSeconds=5))

    assert [wave.grace_seconds for wave in plan.waves] == [5]


def test_pods_of_a_workload_leave_one_after_the_other_where_waves_are_kept() -> None:
    leaving = make_test_decisions([make_pod(f"old-{number}") for number in range(3)]).leaving
    policy = load_policy(configuration(evictBurst=10), REGISTRY)

    [wave] = planned_waves(policy, leaving)

    assert (wave.pods, wave.grace_seconds) == (3, 3 * 30)


def test_plan_that_evicts_nothing_has_no_wave_and_no_time() -> None:
    plan = plan_of(number=0)

    assert (plan.waves, time_text(plan)) == ((), "")


@pytest.mark.parametrize("output", ["html", "markdown"])
def test_pictures_tell_the_time(output: str) -> None:
    text = "".join(render(plan_of(number=2), "html" if output == "html" else "markdown"))

    assert "estimated time: 30s for pace and grace periods" in text


def test_json_has_the_time_of_each_wave() -> None:
    document = json.loads("".join(render(plan_of(number=2), "json")))

    assert document["waves"] == [{"wave": 1, "pods": 2, "paceSeconds": 0.0, "graceSeconds": 30, "seconds": 30.0}]
