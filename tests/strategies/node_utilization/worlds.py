"""Nodes and pods in the round figures that utilization is easy to read from."""

from __future__ import annotations

from typing import Any

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from tests.builders import make_node, make_pod


def small_node(name: str, *, cpu: str = "4", pods: int = 10, **facts: Any) -> Node:
    """A node of 4 cores, 3,000 bytes and room for 10 pods."""
    return make_node(name, cpu=cpu, memory="3000", pods=str(pods), **facts)


def pods_on(node: str, count: int, *, prefix: str = "p", **facts: Any) -> list[Pod]:
    """`count` pods of 400m on `node`, named after both."""
    return [make_pod(f"{prefix}-{node}-{i}", node=node, **{"cpu": "400m", **facts}) for i in range(count)]
