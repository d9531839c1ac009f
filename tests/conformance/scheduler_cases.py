"""Puts recorded clusters before the placement engine and asks it about their candidates."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.model.kube_version import KubeVersion
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.extension_points import ScoreError
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.plugins.dynamic_resources.on_nodes import ClaimsOnNodes
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.node_masks import BoolMask
from tests.builders import decode_pod
from tests.conformance.device_answers import is_ended, our_abortion, our_allocations, our_bound_claims
from tests.conformance.scheduler_answer import Answer, comparable_entry, normalised_scores
from tests.placement.default_scheduler import default_scheduler

Case = Mapping[str, Any]

_NONE = [
    {"apiVersion": version, "kind": f"{kind}List", "items": []}
    for version, kind in (
        ("v1", "PersistentVolumeClaim"),
        ("v1", "PersistentVolume"),
        ("storage.k8s.io/v1", "StorageClass"),
        ("resource.k8s.io/v1", "ResourceClaim"),
        ("resource.k8s.io/v1", "ResourceClaimTemplate"),
        ("resource.k8s.io/v1", "DeviceClass"),
        ("resource.k8s.io/v1", "ResourceSlice"),
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
    snapshot = snapshot_from_objects([*nodes, *pods, *(case.get("objects") or ()), *_NONE])
    # Bindings of devices wait since long ago, or will do so.
    snapshot = dataclasses.replace(snapshot, taken_at=datetime(2026, 11, 1, tzinfo=UTC))
    return default_scheduler(shadow_cluster_of(snapshot, PLUGINS, KubeVersion.parse(case["kubernetes"])))


def our_answers(scheduler: Scheduler, case: Case) -> Iterator[Answer]:
    """What `scheduler` says of each candidate, in order; those of a sequence are put where the reference put them."""
    for candidate, expect in zip(case["candidates"], case["expect"], strict=True):
        evaluation = scheduler.evaluate(decode_pod(candidate))
        answer = _answer(evaluation)
        if "bound_to" in expect:
            placed = scheduler.place(evaluation, scheduler.cluster.table.index[expect["bound_to"]])
            answer = dataclasses.replace(answer, bound=our_bound_claims(evaluation, placed))
        elif case["mode"] == "sequence" and evaluation.fits:
            answer = dataclasses.replace(answer, binds=_binds(evaluation))
        yield answer


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
    aborted = our_abortion(evaluation)
    against = {name: evaluation.obstacles_on(node) for name, node in infeasible.items()}
    against = {name: found for name, found in against.items() if not all(is_ended(each.reasons) for each in found)}
    reported = {name: evaluation.first_obstacle_on(infeasible[name]).plugin for name in against}
    scored = _scored(evaluation, feasible) if feasible else {}
    return Answer(
        feasible,
        narrowed=None if evaluation.narrowing.nodes is None else _names(evaluation, evaluation.narrowing.nodes),
        rejected={name: tuple(obstacle.plugin for obstacle in found) for name, found in against.items()} or None,
        reported=reported or None,
        reasons={name: tuple(map(_entry, found)) for name, found in against.items()} or None,
        aborted=aborted,
        allocations=our_allocations(evaluation) or None,
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


def _binds(evaluation: PodEvaluation) -> bool | None:
    """False where the pod fits on nodes on all of which binding fails."""
    on_nodes = evaluation.cycle.scratch.get("DynamicResources")
    is_failing = isinstance(on_nodes, ClaimsOnNodes) and all(map(on_nodes.binding_fault, evaluation.nodes.tolist()))
    return False if is_failing else None


def _entry(obstacle: Obstacle) -> tuple[str, ...]:
    return comparable_entry((obstacle.plugin, obstacle.code.value, *obstacle.reasons))


def _names(evaluation: PodEvaluation, mask: BoolMask) -> tuple[str, ...]:
    nodes = evaluation.cycle.cluster.table.nodes
    return tuple(nodes[node].name for node in np.flatnonzero(mask).tolist())
