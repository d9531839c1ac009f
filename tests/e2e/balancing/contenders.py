"""The programs that balance, each a policy that is run once at a time with evictions allowed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from tests.cronjob.manifests import OVERLAYS, REPOSITORY
from tests.e2e.control_plane import ControlPlane
from tests.e2e.kube_api import ApiError, Object
from tests.e2e.peers.upstream import run_once
from tests.e2e.program import Program

PROFILE = REPOSITORY / "config" / "profiles" / "plan-balance.yaml"
TARGET_PERCENT = 70
"""Of CPU and memory, as in the profile."""

_RUN_SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class Turn:
    """One run. `told` is the program's own document about it, empty for one that writes none."""

    seconds: float
    told: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contender:
    """A program. `run` raises RuntimeError when it fails."""

    name: str
    run: Callable[[ControlPlane], Turn]


def planner(*, is_limited: bool = True, provider: str = "placeholder") -> Contender:
    """MigrationPlanner with the arguments of the shipped profile, room held by `provider`.

    Without `is_limited` a run may evict as many pods as its plan has, instead of the profile's number.
    """
    policy = _by_jobs(yaml.safe_load(PROFILE.read_text()), provider)
    if not is_limited:
        del policy["maxNoOfPodsToEvictTotal"]
    limit = policy.get("maxNoOfPodsToEvictTotal", "any number")

    def run(plane: ControlPlane) -> Turn:
        _ensure_priority_class(plane)
        began = time.monotonic()
        report = Program(plane.kubeconfig, plane.folder).start(json.dumps(policy)).wait(_RUN_SECONDS)
        if report.exit_code != 0:
            raise RuntimeError(f"descheduler run ended with {report.exit_code}: {report.log[-4000:]}")
        return Turn(time.monotonic() - began, report.document)

    return Contender(f"MigrationPlanner, {limit} a run, room by {provider}", run)


def upstream(*, underused_percent: int) -> Contender:
    """LowNodeUtilization of the upstream program; nodes under `underused_percent` may take pods."""
    percent = {"thresholds": underused_percent, "targetThresholds": TARGET_PERCENT}
    args = {name: {"cpu": value, "memory": value} for name, value in percent.items()}
    configs = [{"name": "DefaultEvictor", "args": {"nodeFit": True}}, {"name": "LowNodeUtilization", "args": args}]
    profile = {
        "name": "balance",
        "pluginConfig": configs,
        "plugins": {"balance": {"enabled": ["LowNodeUtilization"]}},
    }
    policy = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}

    def run(plane: ControlPlane) -> Turn:
        began = time.monotonic()
        run_once(plane, policy)
        return Turn(time.monotonic() - began)

    return Contender(f"LowNodeUtilization, {underused_percent}/{TARGET_PERCENT}", run)


def _by_jobs(policy: Object, provider: str) -> Object:
    """The same profile as a DeschedulerConfiguration, whose MigrationController moves pods by jobs.

    How many pods of a workload move at once is limited as by default; it counts pods of a node and a time between runs
    as well, of which the profile knows nothing.
    """
    (profile,) = policy["profiles"]
    configs = [config for config in profile["pluginConfig"] if config["name"] != "DefaultEvictor"]
    controller = {
        "reservationProvider": provider,
        "maxMigratingPerNode": 0,
        "objectLimiters": {"workload": {"duration": "0s"}},
    }
    return {
        **policy,
        "kind": "DeschedulerConfiguration",
        "profiles": [
            {
                "name": profile["name"],
                "pluginConfig": [*configs, {"name": "MigrationController", "args": controller}],
                "plugins": {
                    "balance": {"enabled": [{"name": name} for name in profile["plugins"]["balance"]["enabled"]]}
                },
            }
        ],
    }


def _ensure_priority_class(plane: ControlPlane) -> None:
    """The class of placeholders that the overlay ships."""
    try:
        plane.api.create(yaml.safe_load((OVERLAYS / "placeholder" / "priority-class.yaml").read_text()))
    except ApiError as error:
        if error.status != 409:
            raise
