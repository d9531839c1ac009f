"""Which arguments go together with a surge."""

from __future__ import annotations

import pytest

from descheduler.eviction.migration_controller.args import MigrationControllerArgs, default_args
from descheduler.eviction.migration_controller.args_checks import validate_args
from descheduler.eviction.migration_controller.surging_pods import surge_notes
from descheduler.model.groups.workloads import Workload
from descheduler.plan.moves import Move
from descheduler.policy.types import PluginConfig, Policy, Profile
from tests.builders import make_pod, make_snapshot

NEEDS_PROVIDER = "Surge needs reservationProvider koordinator or placeholder"
NEEDS_MODE = "Surge needs defaultJobMode ReservationFirst"


def problems(**args: str) -> list[str]:
    """What is wrong with `singleReplicas` beside these arguments."""
    found = validate_args(default_args(MigrationControllerArgs(**args)))  # type: ignore[arg-type]
    return [problem.message for problem in found if problem.path == ("singleReplicas",)]


@pytest.mark.parametrize("provider", ["koordinator", "placeholder"])
def test_surge_goes_with_a_provider_that_is_named(provider: str) -> None:
    assert problems(single_replicas="Surge", reservation_provider=provider) == []


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param({}, f"{NEEDS_PROVIDER} (now unset)", id="a provider that depends on the cluster"),
        pytest.param({"reservation_provider": "none"}, f"{NEEDS_PROVIDER} (now none)", id="no provider"),
        pytest.param(
            {"reservation_provider": "koordinator", "default_job_mode": "EvictDirectly"},
            f"{NEEDS_MODE} (now EvictDirectly)",
            id="no room",
        ),
        pytest.param(
            {"reservation_provider": "placeholder", "eviction_policy": "Delete"},
            "Surge needs evictionPolicy Eviction (now Delete)",
            id="pods that are deleted",
        ),
    ],
)
def test_surge_needs_room_for_certain(args: dict[str, str], message: str) -> None:
    assert problems(single_replicas="Surge", **args) == [message]
    assert problems(single_replicas="Evict", **args) == problems(**args) == []


def test_plan_names_the_pods_whose_workloads_are_scaled_up() -> None:
    args = default_args(MigrationControllerArgs(single_replicas="Surge", reservation_provider="placeholder"))
    configs = (PluginConfig("MigrationController", args),)
    profile = Profile("repair", plugin_configs=configs, evict=("MigrationController",))
    policy = Policy(
        kind="DeschedulerConfiguration", path="p.yaml", digest="", compatibility="fixed", profiles=(profile,)
    )
    one, many = make_pod("one", owners=("ReplicaSet/one",)), make_pod("many", owners=("ReplicaSet/many",))
    replicas = {"one": 1, "many": 3}
    workloads = [Workload("ReplicaSet", "default", name, f"replicaset-{name}", n) for name, n in replicas.items()]
    snapshot = make_snapshot(workloads={each.uid: each for each in workloads})

    notes = surge_notes(policy, [Move(pod, "repair", "Taints", "") for pod in (one, many)], snapshot)

    assert notes == (
        "profile repair: singleReplicas (Surge) applies to 1 pod (default/one): "
        "its workload is scaled to 2 replicas first",
    )
