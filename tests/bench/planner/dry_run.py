"""Balancing as users run it: a dry run of `config/profiles/plan-balance.yaml` on a dump, its moves replayed here.

The replacements are where the model of the scheduler places them, which is asked to spread: nobody holds room for them.
With chosen nodes the plan chooses, and Reservations of Koordinator hold the room.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from descheduler.model.quantity import parse_quantity
from descheduler.optimizer import Limits
from descheduler.optimizer.arrays import Ints
from tests.bench.planner.balance import MEAN_RATIOS
from tests.e2e.kube_api import Object
from tests.worlds.uneven import make_uneven_cluster

_PROFILES = Path(__file__).resolve().parents[3] / "config" / "profiles"
TARGET = 0.7
"""Of CPU and memory, in `plan-balance`."""
_NO_LIMIT_SECONDS = 24 * 3600.0
_NO_LIMITS = {
    "maxMigratingPerNode": 0,
    "maxMigratingPerWorkload": "100%",
    "maxUnavailablePerWorkload": "100%",
    "skipCheckExpectedReplicas": True,
    "objectLimiters": {"workload": {"duration": "0s"}},
}
"""Arguments of MigrationController."""


def report(*, nodes: int, seeds: Sequence[int], limits: Limits, num_workers: int, chooses_nodes: bool = False) -> None:
    """Prints a line a cluster, and the ratio of all evictions to what is needed at least."""
    for name, mean_ratio in MEAN_RATIOS.items():
        evictions = bound = over = num_optimal = 0
        for seed in seeds:
            objects = list(_with_uids(make_uneven_cluster(nodes=nodes, seed=seed, mean_ratio=mean_ratio)))
            started = time.monotonic()
            document = dry_run("plan-balance", objects, limits, num_workers, chooses_nodes=chooses_nodes)
            seconds = time.monotonic() - started
            goal, left = document["goal"], _num_over(objects, document["moves"])
            num_optimal += goal["status"] == "optimal"
            print(
                f"{nodes} {name} {seed}: {goal['objectives'][0]['sentence']}; replayed: {left} nodes over,"
                f" {len(document['moves'])} of {goal['bound']} moves, {goal['status']},"
                f" {seconds:.1f} s of the whole command",
                flush=True,
            )
            evictions, bound, over = evictions + len(document["moves"]), bound + goal["bound"], over + left
        print(
            f"{nodes} {name}, dry run: evictions {evictions / max(bound, 1):.4f} of the bound, {over} nodes over,"
            f" {num_optimal} of {len(seeds)} plans proven optimal"
        )


def _with_uids(objects: Iterator[Object]) -> Iterator[Object]:
    """As an API server would have stored them."""
    for number, found in enumerate(objects):
        yield {**found, "metadata": {"uid": f"uid-{number}", **found["metadata"]}}


def dry_run(
    profile: str, objects: Sequence[Object], limits: Limits, num_workers: int, *, chooses_nodes: bool = False
) -> Mapping[str, Any]:
    """The plan as JSON, without the limits on evictions that `profile` of `config/profiles` has."""
    policy = yaml.safe_load((_PROFILES / f"{profile}.yaml").read_text())
    del policy["maxNoOfPodsToEvictTotal"]
    configs = {entry["name"]: entry["args"] for entry in policy["profiles"][0]["pluginConfig"] if "args" in entry}
    if "MigrationController" in configs:
        configs["MigrationController"] |= _NO_LIMITS
    args, verification = configs["MigrationPlanner"], configs.get("PlacementVerification", {})
    if scheduler := verification.get("schedulerConfigFile"):
        verification["schedulerConfigFile"] = str((_PROFILES / scheduler).resolve())
    args |= {"timeLimit": f"{limits.seconds or _NO_LIMIT_SECONDS:g}s", "workers": num_workers}
    args |= {"workLimit": limits.work or 0}
    return _planned(_with_chosen_nodes(args) if chooses_nodes else policy, objects)


def _with_chosen_nodes(args: Mapping[str, Any]) -> dict[str, Any]:
    """A policy that chooses nodes with these `args` of MigrationPlanner, under a scheduler with its usual settings."""
    controller = {**_NO_LIMITS, "reservationProvider": "koordinator", "schedulerNames": ["default-scheduler"]}
    configs = {"MigrationPlanner": {**args, "chooseNodes": True}, "MigrationController": controller}
    profile = {
        "name": "chosen-nodes",
        "pluginConfig": [{"name": name, "args": found} for name, found in configs.items()],
        "plugins": {"balance": {"enabled": [{"name": "MigrationPlanner"}]}},
    }
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerConfiguration", "profiles": [profile]}


def _planned(policy: Mapping[str, Any], objects: Sequence[Object]) -> Mapping[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        dump, file = Path(folder, "cluster.jsonl"), Path(folder, "policy.yaml")
        dump.write_text("".join(json.dumps(found) + "\n" for found in objects))
        file.write_text(yaml.safe_dump(policy))
        command = ["run", "--dry-run", "--policy-config-file", str(file), "--snapshot", str(dump), "-o", "json"]
        done = subprocess.run(
            [sys.executable, "-m", "descheduler", *command],
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    document: Mapping[str, Any] = json.loads(done.stdout)
    return document


def _num_over(objects: Sequence[Object], moves: Sequence[Mapping[str, Any]]) -> int:
    """Nodes over the target once the moves are made, from the objects alone."""
    target = {(move["pod"]["namespace"], move["pod"]["name"]): move["to"] for move in moves}
    room: dict[str, Ints] = {}
    used: dict[str, Ints] = {}
    for found in objects:
        metadata = found["metadata"]
        if found["kind"] == "Node":
            room[metadata["name"]] = _amounts(found["status"]["allocatable"])
        elif found["kind"] == "Pod":
            node = target.get((metadata["namespace"], metadata["name"]), found["spec"]["nodeName"])
            need = _amounts(found["spec"]["containers"][0]["resources"]["requests"])
            used[node] = used.get(node, np.zeros_like(need)) + need
    return sum(bool((used.get(name, 0) > TARGET * room[name]).any()) for name in room)


def _amounts(found: Mapping[str, str]) -> Ints:
    """int64[2]: CPU and memory, in millionths."""
    return np.array([parse_quantity(found[resource]) // 1000 for resource in ("cpu", "memory")], dtype=np.int64)
