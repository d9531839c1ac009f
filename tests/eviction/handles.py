"""Handles over small clusters, as filter plugins get them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from descheduler.eviction.handle import Handle
from descheduler.eviction.node_fit import NodeFit
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.policy.types import Compatibility, Policy, PolicyKind
from tests.builders import NOW, make_view


def make_policy(kind: PolicyKind = "DeschedulerPolicy") -> Policy:
    """A policy without profiles."""
    compatibility: Compatibility = "upstream" if kind == "DeschedulerPolicy" else "fixed"
    return Policy(kind=kind, path="<policy>", compatibility=compatibility, digest="")


def make_handle(
    nodes: Iterable[Node] = (), pods: Iterable[Pod] = (), *, kind: PolicyKind = "DeschedulerPolicy", **others: Any
) -> Handle:
    """A handle over a cluster; with kind DeschedulerConfiguration booked evictions take effect at once."""
    view = make_view(nodes, pods, moves_take_effect=kind == "DeschedulerConfiguration", **others)
    return Handle(make_policy(kind), view, NodeFit(view), NOW)
