"""Nodes that are to be drained and nodes with room, and runs of DrainNodes over both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from tests.builders import Object, make_node, make_pod
from tests.planner.runs import run_objective

OLD = {"pool": "old"}
CORDONED = [make_node(name, cpu="10", labels=OLD, unschedulable=True) for name in ("old-1", "old-2", "old-3")]
FREE = [make_node(name, cpu="10") for name in ("new-1", "new-2")]


def pod(name: str, node: str, cpu: str = "2", **facts: Any) -> Pod:
    """A pod on `node`."""
    return make_pod(name, cpu=cpu, node=node, **facts)


def run(pods: Iterable[Pod], nodes: Sequence[Node] = (*CORDONED, *FREE), **others: Any) -> Decisions:
    """What is decided where the nodes with label `pool: old` are to be drained; `args` are those of DrainNodes."""
    args: Object = {"nodeSelector": {"matchLabels": OLD}, **others.pop("args", {})}
    return run_objective("drainNodes", nodes, pods, args=args, packs=False, **others)
