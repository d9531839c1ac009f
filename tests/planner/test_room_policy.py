"""The policy that only makes room, and the scheduler that a pod with some requests waits for."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.planner.args import MigrationPlannerArgs
from descheduler.planner.room_policy import BUILT_IN, room_policy, scheduler_of
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from tests.planner.runs import verified


def planner_of(policy: Policy) -> MigrationPlannerArgs:
    (profile,) = policy.profiles
    args = profile.args["MigrationPlanner"]
    assert isinstance(args, MigrationPlannerArgs)
    return args


@pytest.mark.parametrize(("pods", "named"), [(["shop/web-0"], ("shop/web-0",)), ([], "pending")])
def test_the_planner_is_the_only_plugin_that_selects_pods_and_keeps_its_other_arguments(
    pods: list[str], named: Any
) -> None:
    planned = {"objectives": [{"consolidateNodes": {}}], "maxEvictions": 7}
    policy = load_policy(verified(planned), REGISTRY)

    (profile,) = room_policy(policy, pods).profiles

    assert (profile.deschedule, profile.balance) == ((), ("MigrationPlanner",))
    args = planner_of(room_policy(policy, pods))
    assert args.max_evictions == 7
    (objective,) = args.objectives
    assert objective.consolidate_nodes is None
    assert objective.make_room is not None
    assert objective.make_room.pods == named
    assert [config.name for config in profile.plugin_configs] == [
        "DefaultEvictor",
        "PlacementVerification",
        "MigrationPlanner",
    ]


def test_a_profile_without_the_planner_gets_one() -> None:
    document = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [
            {
                "name": "p",
                "pluginConfig": [{"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}}],
                "plugins": {"deschedule": {"enabled": ["PodLifeTime"]}},
            }
        ],
    }

    policy = room_policy(load_policy(document, REGISTRY), [])

    assert policy.profiles[0].deschedule == ()
    assert len(planner_of(policy).objectives) == 1


def built_in(scheduler: str | None = None) -> Policy:
    if scheduler is None:
        return load_policy(BUILT_IN, REGISTRY)
    policy = verified({"objectives": [{"makeRoom": {}}]}, packs=False)
    policy["profiles"][0]["pluginConfig"][2]["args"] = {"schedulerConfigFile": scheduler}
    return load_policy(policy, REGISTRY)


@pytest.mark.parametrize(
    ("resources", "name"),
    [
        (["cpu", "nvidia.com/gpu"], "default-scheduler"),
        (["cpu", "koordinator.sh/gpu-core"], "koord-scheduler"),
        (["kubernetes.io/batch-cpu"], "koord-scheduler"),
        (["kubernetes.io/mid-memory"], "koord-scheduler"),
        ([], "default-scheduler"),
    ],
)
def test_a_pod_waits_for_the_scheduler_that_knows_its_resources(resources: list[str], name: str) -> None:
    assert scheduler_of(built_in(), resources) == name


def test_the_scheduler_of_the_policy_comes_first() -> None:
    policy = built_in("config/schedulers/koord-scheduler.yaml")

    assert scheduler_of(policy, ["cpu"]) == "koord-scheduler"
