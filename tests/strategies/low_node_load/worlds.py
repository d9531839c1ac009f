"""Clusters of nodes with 10 cores and 10 GB, whose pods use what a test says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from descheduler.model.koordinator.node_reports import RAW_ALLOCATABLE_ANNOTATION, NodeMetric
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from tests.builders import Object, make_node, make_pod
from tests.strategies.runs import run_plugin
from tests.worlds.node_metrics import make_node_metric, metrics_by_node

AT_ONCE = {"anomalyCondition": {"consecutiveAbnormalities": 1}}
LOAD = {"lowThresholds": {"cpu": 30}, "highThresholds": {"cpu": 50}, **AT_ONCE}

NodeWorld = tuple[Node, Sequence[Pod], NodeMetric | None]


def node(
    name: str,
    cpus: Mapping[str, str] | None = None,
    *,
    system: Mapping[str, str] | None = None,
    pods: Mapping[str, Mapping[str, Any]] | None = None,
    age: float | None = 60,
    unmeasured: Sequence[str] = (),
    usage: Mapping[str, Mapping[str, str]] | None = None,
    raw_allocatable: str | None = None,
    **facts: Any,
) -> NodeWorld:
    """A node with a prod pod for each of `cpus`, which is what they use; `pods` are further facts of theirs.

    `usage` replaces what pods use of all resources; `unmeasured` are further pods without usage.
    """
    used = {name: {"cpu": cpu} for name, cpu in (cpus or {}).items()} | dict(usage or {})
    names = [*used, *unmeasured]
    made = [
        make_pod(each, node=name, **{"cpu": "1m", "uid": f"{name}-{each}", **(pods or {}).get(each, {})})
        for each in names
    ]
    keys = {f"{pod.namespace}/{pod.name}": used[pod.name] for pod in made if pod.name in used}
    settings: Object = {"cpu": "10", "memory": "10G", **facts}
    annotations = {} if raw_allocatable is None else {RAW_ALLOCATABLE_ANNOTATION: raw_allocatable}
    made_node = msgspec.structs.replace(make_node(name, **settings), annotations=annotations)
    return made_node, made, make_node_metric(name, keys, system=system, age=age)


def run(*worlds: NodeWorld, args: Object | None = None, **others: Any) -> Decisions:
    """A run over these nodes with thresholds of 30 and 50 percent of cpu, in which one round is enough."""
    nodes = [each for each, _, _ in worlds]
    pods = [pod for _, made, _ in worlds for pod in made]
    metrics = metrics_by_node([metric for _, _, metric in worlds if metric is not None])
    all_args = {**LOAD, **(args or {})}
    return run_plugin("LowNodeLoad", nodes, pods, args=all_args, compatibility="fixed", node_metrics=metrics, **others)
