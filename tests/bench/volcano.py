"""`python -m tests.bench.volcano [--nodes N] [--dry-run]`: one session of Volcano over a large batch cluster.

With `--dry-run` verified dry runs instead: of a cluster with pods of kube-scheduler, of Volcano, and of both.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from descheduler import evaluate
from descheduler.placement.configuration.volcano import load_volcano_configuration
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
from descheduler.placement.volcano.session import Session
from tests.builders import NOW
from tests.placement.volcano.cycle.cycle import run_cycle
from tests.placement.volcano.worlds import Object, group, node, owned, pods, queue, snapshot_of

_NUM_QUEUES, _JOB_SIZE, _PODS_A_NODE, _PENDING = 10, 40, 4, 4
"""Every fourth job is pending."""
_PLUGINS = (
    ("priority", "gang", "conformance"),
    ("drf", "predicates", "proportion", "nodeorder", "binpack"),
)


_TAINT = {"key": "maintenance", "value": "planned", "effect": "NoSchedule"}
_TAINTED = 50
"""Every so many nodes are tainted: all pods of theirs are to leave."""
_SHARE = 2
"""How many pods of each scheduler a node has in a dry run."""
_ROUNDS = 3
_DRY_RUN: Mapping[str, Any] = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerConfiguration",
    "profiles": [
        {
            "name": "maintenance",
            "pluginConfig": [
                {
                    "name": "MigrationController",
                    "args": {
                        "apiVersion": "descheduler/v1alpha2",
                        "kind": "MigrationControllerArgs",
                        "defaultJobMode": "EvictDirectly",
                        "maxMigratingPerNode": 10,
                        "skipEvictionGates": [
                            "ExpectedReplicas",
                            "MaxMigratingPerWorkload",
                            "MaxUnavailablePerWorkload",
                        ],
                    },
                }
            ],
            "plugins": {"deschedule": {"enabled": [{"name": "RemovePodsViolatingNodeTaints"}]}},
        }
    ],
}


def _objects(num_nodes: int) -> Iterator[Object]:
    for number in range(_NUM_QUEUES):
        yield queue(f"q{number}", weight=number % 3 + 1)
    for number in range(num_nodes):
        yield node(f"n{number:05}", cpu="16", memory="64Gi")
    for number in range(num_nodes * _PODS_A_NODE // _JOB_SIZE):
        is_pending = number % _PENDING == 0
        phase = "Pending" if is_pending else "Running"
        yield group(f"j{number}", least=_JOB_SIZE // 2, queue=f"q{number % _NUM_QUEUES}", phase=phase)
        yield from pods(f"j{number}", _JOB_SIZE, memory="2Gi", on="" if is_pending else f"n{number % num_nodes:05}")


def report(num_nodes: int = 5000) -> Sequence[float]:
    """Prints how long opening and running a session takes, and returns its seconds: wall and CPU."""
    snapshot = snapshot_of(_objects(num_nodes))
    document = {
        "actions": "enqueue, allocate, preempt, reclaim, backfill",
        "tiers": [{"plugins": [{"name": name} for name in tier]} for tier in _PLUGINS],
    }
    configuration = load_volcano_configuration(document, modelled=VOLCANO_PLUGINS)
    wall, cpu = time.perf_counter(), time.process_time()
    session = Session(ShadowCluster(snapshot), configuration, plugins=VOLCANO_PLUGINS)
    run_cycle(session)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(
        f"session of Volcano, {num_nodes:,} nodes, {len(snapshot.pods):,} pods, {len(session.jobs)} jobs,"
        f" {len(session.binds):,} bound: {wall:.1f} s wall, {cpu:.1f} s CPU"
    )
    return wall, cpu


def report_dry_runs(num_nodes: int = 1000) -> Sequence[float]:
    """Prints the CPU seconds of dry runs of each scheduler's pods alone and of both, and returns them in this order.

    Each is the least of some rounds, in which one run comes after the other: what else the machine does falls on all.
    """
    nodes = [_node_of_dry_run(number) for number in range(num_nodes)]
    of_kube, of_volcano = list(_kube_pods(num_nodes)), list(_volcano_jobs(num_nodes))
    evaluate(_DRY_RUN, [queue("default"), *nodes, *of_volcano], now=NOW)  # imports what a run needs
    worlds = {"kube-scheduler": of_kube, "Volcano": of_volcano, "both": of_kube + of_volcano}
    seconds, results = dict.fromkeys(worlds, math.inf), {}
    for _ in range(_ROUNDS):
        for name, objects in worlds.items():
            cpu = time.process_time()
            results[name] = evaluate(_DRY_RUN, [queue("default"), *nodes, *objects], now=NOW)
            seconds[name] = min(seconds[name], time.process_time() - cpu)
    for name, result in results.items():
        waves = len({move.wave for move in result.plan.moves})
        print(
            f"dry run, {num_nodes:,} nodes, pods of {name}: {len(result.evictions):,} evictions in {waves} waves,"
            f" {len(result.refusals):,} refusals, {seconds[name]:.2f} s CPU"
        )
    of_one, of_other, of_both = seconds.values()
    print(f"both: {of_both / (of_one + of_other):.2f} times the sum of each alone")
    return tuple(seconds.values())


def _node_of_dry_run(number: int) -> Object:
    found = node(f"n{number:05}", cpu="16", memory="64Gi")
    return {**found, "spec": {"taints": [_TAINT]}} if number % _TAINTED == 0 else found


def _kube_pods(num_nodes: int) -> Iterator[Object]:
    """Pods of many sizes: on equal nodes any of them may be chosen, and all that may come of that is looked at."""
    for number in range(num_nodes):
        sizes = {"cpu": f"{200 + number * 7 % 1800}m", "memory": f"{256 + number * 131 % 3840}Mi"}
        for pod in owned(pods(f"web{number}", _SHARE, on=f"n{number:05}", **sizes), owner=f"web{number // 10}"):
            yield {**pod, "spec": {**pod["spec"], "schedulerName": "default-scheduler"}}


def _volcano_jobs(num_nodes: int) -> Iterator[Object]:
    """Jobs of `_JOB_SIZE` pods, of which all but two have to run, over nodes in a row."""
    for number in range(_NUM_QUEUES):
        yield queue(f"q{number}", weight=number % 3 + 1)
    nodes_a_job = _JOB_SIZE // _SHARE
    for first in range(0, num_nodes, nodes_a_job):
        name = f"j{first}"
        yield group(name, least=_JOB_SIZE - 2, queue=f"q{first // nodes_a_job % _NUM_QUEUES}", phase="Running")
        made = owned(pods(name, min(nodes_a_job, num_nodes - first) * _SHARE, memory="2Gi", on=" "), owner=name)
        for index, pod in enumerate(made):
            yield {**pod, "spec": {**pod["spec"], "nodeName": f"n{first + index // _SHARE:05}"}}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.volcano")
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    run = report_dry_runs if options.dry_run else report
    run(*filter(None, (options.nodes,)))
