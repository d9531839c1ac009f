"""What plugins of Koordinator say that have nothing to look at."""

from __future__ import annotations

from descheduler.model.pod import Pod

__all__ = ["NO_NODE", "PAUSED", "not_selected"]

PAUSED = "the plugin is paused (paused: true)"
NO_NODE = "no node matches nodeSelector"


def not_selected(pod: Pod) -> str:
    """Why a pod on a node that the plugin does not look at is not selected."""
    return f"node {pod.node_name} does not match nodeSelector"
