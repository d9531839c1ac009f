"""Nodes that are nearly full, pods that wait for room on them, and runs of MakeRoom over both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from tests.builders import make_node, make_pod
from tests.planner.runs import run_objective

NODES = [make_node(name, cpu="10") for name in "abc"]


def pod(name: str, cpu: str, node: str | None, **facts: Any) -> Pod:
    """A pod on `node`, or on none."""
    return make_pod(name, cpu=cpu, node=node, **facts)


def pending(name: str, cpu: str, **facts: Any) -> Pod:
    """A pod that waits to be scheduled."""
    return pod(name, cpu, None, phase="Pending", **facts)


def fixed(node: str, cpu: str, **facts: Any) -> Pod:
    """A bare pod, which is not evicted."""
    return pod(f"{node}-fixed", cpu, node, owners=[], **facts)


def run(pods: Sequence[Pod], **others: Any) -> Decisions:
    """What is decided where MakeRoom is the only objective, by default on `NODES`."""
    return run_objective("makeRoom", others.pop("nodes", NODES), pods, **others)


NEARLY_FULL = [
    *(pod(name, "2", "a") for name in ("a0", "a1")),
    fixed("a", "4"),
    *(fixed(node, "7") for node in "bc"),
]
"""2 cores of a and 3 of each of b and c are free."""
