"""Puts recorded clusters before the placement engine and asks it about their candidates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.model.kube_version import KubeVersion
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.extension_points import ScoreError
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import decode_pod
from tests.conformance.scheduler_answer import Answer, normalised_scores
from tests.placement.default_scheduler import default_scheduler

__all__ = ["is_scheduler_case", "make_scheduler", "our_answers"]

Case = Mapping[str, Any]

_NO_STORAGE = [
    {"apiVersion": version, "kind": f"{kind}List", "items": []}
    for version, kind in (
        ("v1", "PersistentVolumeClaim"),
        ("v1", "PersistentVolume"),
        ("storage.k8s.io/v1", "StorageClass"),
    )
]
"""A case holds all objects of its cluster: a kind that it leaves out was looked for, and there are none."""


def is_scheduler_case(vector: Mapping[str, Any]) -> bool:
    """Whether a recorded case is one of placement: candidates to place, in a sequence or each on its own."""
    return vector.keys() >= {"candidates", "mode"}


def make_scheduler(case: Case) -> Scheduler:
    """The default profile over the cluster of a case."""
    nodes = [{"apiVersion": "v1", "kind": "Node", **node} for node in case["nodes"]]
    pods = [{"apiVersion": "v1", "kind": "Pod", **pod} for pod in case["pods"]]
    snapshot = snapshot_from_objects([*nodes, *pods, *(case.get("objects") or ()), *_NO_STORAGE])
    # No recorded cluster has a DeviceClass, so that none serves an extended resource.
    version = KubeVersion.parse(case["kubernetes"]).with_gates({"DRAExtendedResource": False})
    return default_scheduler(ShadowCluster(snapshot, version=version))


def our_answers(scheduler: Scheduler, case: Case) -> Iterator[Answer]:
    """What `scheduler` says of each candidate, in order; those of a sequence are put where the reference put them."""
    for candidate, expect in zip(case["candidates"], case["expect"], strict=True):
        evaluation = scheduler.evaluate(decode_pod(candidate))
        yield _answer(evaluation)
        if "bound_to" in expect:
            scheduler.place(evaluation, scheduler.cluster.table.index[expect["bound_to"]])


def _answer(evaluation: PodEvaluation) -> Answer:
    feasible = _names(evaluation, evaluation.feasible)
    if evaluation.refusals:
        refusals = evaluation.refusals
        return Answer(
            feasible,
            refused=tuple((obstacle.plugin, obstacle.code.value) for obstacle in refusals),
            messages=tuple(f"{obstacle.plugin}: {'; '.join(obstacle.reasons)}" for obstacle in refusals),
        )
    table = evaluation.cycle.cluster.table
    infeasible = {table.nodes[node].name: node for node in np.flatnonzero(~evaluation.feasible).tolist()}
    against = {name: evaluation.obstacles_on(node) for name, node in infeasible.items()}
    scored = _scored(evaluation, feasible) if feasible else {}
    return Answer(
        feasible,
        narrowed=None if evaluation.narrowed is None else _names(evaluation, evaluation.narrowed),
        rejected={name: tuple(obstacle.plugin for obstacle in found) for name, found in against.items()} or None,
        reported={name: evaluation.first_obstacle_on(node).plugin for name, node in infeasible.items()} or None,
        reasons={name: tuple(map(_entry, found)) for name, found in against.items()} or None,
        **scored,
    )


def _scored(evaluation: PodEvaluation, feasible: tuple[str, ...]) -> dict[str, Any]:
    """The fields of an Answer about scores, for a pod that fits somewhere."""
    choice = evaluation.choose()
    names = [node.name for node in evaluation.cycle.cluster.table.nodes]
    best = () if choice is None else tuple(names[node] for node in choice.ties)
    try:
        table = evaluation.scores()
    except ScoreError as error:
        return {"messages": (str(error),), "scores": {}, "best": best}
    given = {plugin: scores.final.tolist() for plugin, scores in table.by_plugin.items()}
    before = {plugin: scores.raw.tolist() for plugin, scores in table.by_plugin.items() if scores.raw is not None}
    final, raw = normalised_scores(feasible, given, before)
    totals = dict(zip(feasible, table.totals.tolist(), strict=True))
    return {"scores": final, "raw": raw, "totals": totals, "best": best}


def _entry(obstacle: Obstacle) -> tuple[str, ...]:
    return obstacle.plugin, obstacle.code.value, *obstacle.reasons


def _names(evaluation: PodEvaluation, mask: BoolMask) -> tuple[str, ...]:
    nodes = evaluation.cycle.cluster.table.nodes
    return tuple(nodes[node].name for node in np.flatnonzero(mask).tolist())
