"""How long waves take by the pace of evictions and by grace periods."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from descheduler.cycle.plugins import REGISTRY
from descheduler.plan.moves import Move
from descheduler.policy.load import load_policy
from descheduler.report.formats.render import render
from descheduler.report.plan.document import Plan
from descheduler.report.plan.wave_times import PlannedWave, planned_waves
from descheduler.report.tables.summary import time_text
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


@pytest.mark.parametrize(
    ("policy", "number", "pace"),
    [
        pytest.param(pod_life_time_policy(), 10, 0.0, id="as many as go at once"),
        pytest.param(pod_life_time_policy(), 11, 0.2, id="one more"),
        pytest.param(configuration(evictQPS=4, evictBurst=2), 10, 2.0, id="of a MigrationController"),
        pytest.param(configuration(evictQPS="0.5", evictBurst=2), 4, 4.0, id="as a text"),
        pytest.param(configuration(evictBurst=1), 11, 1.0, id="of a MigrationController by default"),
        pytest.param(configuration(evictQPS=1), 4, 3.0, id="a burst of one"),
    ],
)
def test_pace_of_evictions_is_that_of_the_policy(policy: Any, number: int, pace: float) -> None:
    moves = [Move(make_pod(f"old-{each:02}"), "main", "PodLifeTime", bundle=1) for each in range(number)]

    [wave] = planned_waves(load_policy(policy, REGISTRY), moves)

    assert (wave.pods, wave.pace_seconds, wave.seconds) == (number, pace, round(pace + 30, 1))


@pytest.mark.parametrize(
    ("connection", "number", "pace"),
    [
        pytest.param({"qps": 2, "burst": 4}, 10, 3.0, id="both"),
        pytest.param({"qps": 2}, 102, 1.0, id="a burst of 100 by default"),
        pytest.param({"burst": 2}, 102, 2.0, id="50 a second by default"),
    ],
)
def test_pace_of_a_profile_without_migration_controller_is_that_of_the_connection(
    connection: dict[str, float], number: int, pace: float
) -> None:
    policy = load_policy(configuration() | {"clientConnection": connection}, REGISTRY)
    moves = [Move(make_pod(f"old-{each:02}"), "other", "PodLifeTime", bundle=1) for each in range(number)]

    [wave] = planned_waves(policy, moves)

    assert wave.pace_seconds == pace


def test_profiles_have_paces_of_their_own_and_the_slowest_counts() -> None:
    policy = configuration(evictQPS=1, evictBurst=1)
    pods = [make_pod(f"old-{each:02}") for each in range(14)]
    moves = [Move(pod, "main" if each < 3 else "other", "P", bundle=1) for each, pod in enumerate(pods)]

    [wave] = planned_waves(load_policy(policy, REGISTRY), moves)

    assert wave.pace_seconds == 2.0  # of 3 pods, one at once; the other 11 go at once


@pytest.mark.parametrize(
    ("options", "grace"),
    [
        pytest.param({"gracePeriodSeconds": 7}, 7, id="of the controller"),
        pytest.param({"gracePeriodSeconds": 0}, 0, id="none"),
        pytest.param({}, 30, id="of the pod"),
    ],
)
def test_grace_period_of_a_controller_comes_before_that_of_the_pod(options: dict[str, int], grace: int) -> None:
    policy = load_policy(configuration(defaultDeleteOptions=options), REGISTRY)

    [wave] = planned_waves(policy, [Move(make_pod("old"), "main", "P")])

    assert wave.grace_seconds == grace


@pytest.mark.parametrize(
    ("facts", "bundle", "grace"),
    [
        pytest.param({}, 0, 60, id="of one workload"),
        pytest.param({"owners": []}, 0, 30, id="without a workload"),
        pytest.param({}, 1, 30, id="of a bundle"),
        pytest.param({"phase": "Failed"}, 0, 0, id="that have finished"),
    ],
)
def test_pods_leave_together_or_one_after_the_other(facts: dict[str, Any], bundle: int, grace: int) -> None:
    moves = [Move(make_pod(name, **facts), "main", "P", bundle=bundle) for name in ("a", "b")]

    [wave] = planned_waves(load_policy(configuration(evictBurst=9), REGISTRY), moves)

    assert wave.grace_seconds == grace


def test_waves_come_in_order_and_the_workload_that_takes_longest_counts() -> None:
    pods = [make_pod(name, owners=[f"ReplicaSet/{name[0]}"]) for name in ("a-1", "b-1", "b-2", "c-1")]
    moves = [Move(pod, "main", "P", wave=wave) for pod, wave in zip(pods, (2, 1, 1, 1), strict=True)]

    waves = planned_waves(load_policy(configuration(evictBurst=9), REGISTRY), moves)

    assert [(wave.wave, wave.pods, wave.grace_seconds) for wave in waves] == [(1, 3, 60), (2, 1, 30)]
