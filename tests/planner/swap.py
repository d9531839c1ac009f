"""A small world in which no order of moves reaches what bounds take for possible."""

from __future__ import annotations

from typing import Any

from descheduler.model.pod import Pod
from tests.builders import make_node, make_pod, required_node_affinity

_KEY = "kubernetes.io/hostname"


def _pod(name: str, cpu: str, node: str, **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **{"owners": [f"ReplicaSet/{name}"], **facts})


NODES = [make_node(name, cpu="10", labels={_KEY: name}) for name in "abcd"]
PODS = [
    _pod("a", "4", "a", owners=["DaemonSet/agent"]),
    _pod("to-b", "5", "a", affinity=required_node_affinity(_KEY, "b")),
    _pod("b", "2", "b", owners=["DaemonSet/agent"]),
    _pod("to-a", "3", "b", affinity=required_node_affinity(_KEY, "a")),
    *(_pod("x", "4", "c"), _pod("y", "4", "c"), _pod("d", "3", "d", owners=["DaemonSet/agent"])),
]
"""Nodes a and c are over 70 %. A pod of c goes to d; pods of a and b would have to change places, both at once."""
