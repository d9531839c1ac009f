"""What the containers of a pod request, as Koordinator's plugins add it up."""

from __future__ import annotations

from descheduler.model.pod import Pod

__all__ = ["container_request"]


def container_request(pod: Pod, resource: str) -> int:
    """The sum over the containers, in nano units; init containers, pod-level requests and overhead are left out."""
    return sum(container.requests.get(resource, 0) for container in pod.spec.containers)
