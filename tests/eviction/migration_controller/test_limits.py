"""What the limits of a MigrationController leave, before any pod is asked for."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.eviction.migration_controller.limits import MigrationLimits
from descheduler.eviction.migration_controller.migrating_pods import MigratingPods
from descheduler.model.pod import Pod
from tests.eviction.migration_controller.koordinator_clusters import make_args, make_cluster, make_koord_pod

GATES = (
    "MaxMigratingGlobally",
    "MaxMigratingPerNode",
    "MaxMigratingPerNamespace",
    "MaxMigratingPerWorkload",
    "MaxUnavailablePerWorkload",
)


def left_to(pod: Pod, moving: list[Pod], gate: str, **args: Any) -> int:
    """How many pods of the scope of `pod` the limit of `gate` leaves while `moving` migrate."""
    handle = make_cluster([pod, *moving])
    migrating = MigratingPods(handle.view)
    for each in moving:
        migrating.move(each)
    others = [each for each in GATES if each != gate]
    limits = MigrationLimits(make_args(**args, skipEvictionGates=others), handle.view.snapshot, migrating)
    (allowance,) = limits.allowances()
    key = allowance.key_of(pod)
    assert key is not None
    return allowance.left(key)


@pytest.mark.parametrize(
    ("gate", "args"),
    [
        pytest.param("MaxMigratingGlobally", {"maxMigratingGlobally": 4}, id="of the cluster"),
        pytest.param("MaxMigratingPerNode", {"maxMigratingPerNode": 4}, id="of a node"),
        pytest.param("MaxMigratingPerNamespace", {"maxMigratingPerNamespace": 4}, id="of a namespace"),
        pytest.param("MaxMigratingPerWorkload", {"maxMigratingPerWorkload": 4}, id="of a workload"),
        pytest.param("MaxUnavailablePerWorkload", {"maxUnavailablePerWorkload": 4}, id="of what may be unavailable"),
    ],
)
@pytest.mark.parametrize("num_moving", [0, 1, 3])
def test_pods_that_migrate_are_taken_from_the_limit(gate: str, args: dict[str, Any], num_moving: int) -> None:
    moving = [make_koord_pod(f"moving-{number}") for number in range(num_moving)]

    assert left_to(make_koord_pod("asked"), moving, gate, **args) == 4 - num_moving


@pytest.mark.parametrize(
    ("gate", "args", "facts"),
    [
        pytest.param("MaxMigratingPerNode", {"maxMigratingPerNode": 4}, {"node": "b"}, id="on another node"),
        pytest.param(
            "MaxMigratingPerNamespace", {"maxMigratingPerNamespace": 4}, {"namespace": "z"}, id="in another namespace"
        ),
        pytest.param(
            "MaxMigratingPerWorkload",
            {"maxMigratingPerWorkload": 4},
            {"owners": ["ReplicaSet/other"]},
            id="of another workload",
        ),
    ],
)
def test_pods_that_migrate_elsewhere_are_not(gate: str, args: dict[str, Any], facts: dict[str, Any]) -> None:
    moving = [make_koord_pod("moving", **facts)]

    assert left_to(make_koord_pod("asked"), moving, gate, **args) == 4


def test_one_pod_of_a_workload_may_always_migrate() -> None:
    pod = make_koord_pod("asked", owners=["ReplicaSet/gone"])

    assert left_to(pod, [], "MaxMigratingPerWorkload", maxMigratingPerWorkload=4) == 1
    moving = [make_koord_pod("moving", owners=["ReplicaSet/gone"])]
    assert left_to(pod, moving, "MaxMigratingPerWorkload", maxMigratingPerWorkload=4) == 0


def test_shards_divide_every_limit_but_those_of_nodes() -> None:
    numbers = {f"max{scope}": 4 for scope in ("MigratingGlobally", "MigratingPerNode", "MigratingPerNamespace")}
    handle = make_cluster([make_koord_pod("asked")])
    limits = MigrationLimits(make_args(**numbers), handle.view.snapshot, MigratingPods(handle.view))

    divided = [allowance.divided for allowance in limits.allowances()]

    assert divided == [
        "maxMigratingGlobally",
        "",
        "maxMigratingPerNamespace",
        "maxMigratingPerWorkload",
        "maxUnavailablePerWorkload",
    ]
