"""What a rival can do, on whatever cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

Object = dict[str, Any]

APP = "web"
"""The Deployment with one pod of 1 CPU that has to move."""
SOURCE = "n1"
"""The node on which it runs, and must not any more: it has a taint."""
TARGETS = ("n2", "n3")
"""The other nodes: empty, and as large, with 4 CPUs each."""


class RivalWorld(Protocol):
    """A cluster with these nodes and this Deployment. Each deed returns when controllers have reacted."""

    def run_pod(self, name: str, cpu: str, node: str) -> None:
        """A pod comes that runs on this node already."""

    def schedule_pod(self, name: str, cpu: str, node: str) -> None:
        """A pod comes that only fits on this node; the scheduler sees to it."""

    def edit_node(self, name: str, change: Callable[[Object], object]) -> None:
        """The node is changed in place by `change`."""

    def delete_node(self, name: str) -> None:
        """The node goes."""

    def fail_node(self, name: str) -> None:
        """The node is not ready any more."""

    def label_pods(self, key: str, value: str) -> None:
        """The pods on the source get a label."""

    def delete_pods(self) -> None:
        """The pods on the source are deleted."""

    def evict_pods(self) -> None:
        """The pods on the source are evicted."""

    def scale(self, replicas: int) -> None:
        """The Deployment gets so many replicas."""

    def protect(self, min_available: int) -> None:
        """The Deployment gets a budget."""
