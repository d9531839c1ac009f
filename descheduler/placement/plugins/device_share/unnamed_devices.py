"""Pods that run with GPUs of which nobody says which: the scheduler takes their devices to be free."""

from __future__ import annotations

from descheduler.model.annotations import DEVICES_ALLOCATED_ANNOTATION
from descheduler.model.koordinator.devices import GPU
from descheduler.model.pod import Pod
from descheduler.placement.plugins.device_share.requests import RequestError, device_requests
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster

__all__ = ["UnnamedDevices"]


class UnnamedDevices:
    """A follower of bound pods that ask for GPUs and have no annotation, by node."""

    def __init__(self, cluster: ShadowCluster) -> None:
        del cluster
        self._on: dict[int, dict[str, int]] = {}
        self._asking: dict[int, tuple[object, bool]] = {}

    def on(self, node: int) -> str:
        """The first such pod on a node by name, empty without one."""
        return min(self._on.get(node, ()), default="")

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """It may use any device of the node."""
        del is_terminating
        if node != NO_NODE and self._is_unnamed(pod):
            names = self._on.setdefault(node, {})
            names[pod.key] = names.get(pod.key, 0) + 1

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """It no longer does."""
        del is_terminating
        if node != NO_NODE and self._is_unnamed(pod):
            names = self._on[node]
            names[pod.key] -= 1
            if not names[pod.key]:
                del names[pod.key]

    def fingerprint(self) -> object:
        """All of them."""
        return sorted((node, sorted(names)) for node, names in self._on.items() if names)

    def _is_unnamed(self, pod: Pod) -> bool:
        return bool(pod.node_name) and DEVICES_ALLOCATED_ANNOTATION not in pod.annotations and self._asks(pod)

    def _asks(self, pod: Pod) -> bool:
        spec = pod.spec
        known = self._asking.get(id(spec))
        if known is None:
            try:
                asks = GPU in device_requests(spec.requests)
            except RequestError:
                asks = False
            known = self._asking[id(spec)] = (spec, asks)
        return known[1]
