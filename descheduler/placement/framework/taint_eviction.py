"""Nodes that take a pod and evict it again: taints that it tolerates for a time only."""

from __future__ import annotations

from descheduler.model.node import Node
from descheduler.model.selection.taints import NO_EXECUTE, Toleration

__all__ = ["eviction_by_taint"]


def eviction_by_taint(tolerations: tuple[Toleration, ...], node: Node) -> str:
    """The sentence where `node` evicts a pod of these tolerations after some seconds, else an empty string.

    The first toleration of each taint counts, and of several times the shortest, as in
    `k8s.io/kubernetes/pkg/controller/tainteviction/taint_eviction.go` (1.36). Placement itself asks for no time.
    """
    shortest: tuple[int, str] | None = None
    for taint in node.taints:
        if taint.effect == NO_EXECUTE:
            used = next((toleration for toleration in tolerations if toleration.tolerates(taint)), None)
            if used is not None and used.toleration_seconds is not None:
                time = max(0, used.toleration_seconds), taint.key
                shortest = time if shortest is None else min(shortest, time)
    if shortest is None:
        return ""
    return f"node {node.name} evicts the pod again after {shortest[0]} s (tolerationSeconds for taint {shortest[1]})"
