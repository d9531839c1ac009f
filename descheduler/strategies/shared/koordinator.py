"""What plugins of Koordinator share: what they say that have nothing to look at, and how they add requests up."""

from __future__ import annotations

from descheduler.model.pod import Pod
from descheduler.policy.shared_args import Args, LabelSelectorArg

PAUSED = "the plugin is paused (paused: true)"
NO_NODE = "no node matches nodeSelector"


def not_selected(pod: Pod) -> str:
    """Why a pod on a node that the plugin does not look at is not selected."""
    return f"node {pod.node_name} does not match nodeSelector"


def container_request(pod: Pod, resource: str) -> int:
    """The sum over the containers, in nano units; init containers, pod-level requests and overhead are left out."""
    return sum(container.requests.get(resource, 0) for container in pod.spec.containers)


class PodSelector(Args, frozen=True):
    """One entry of `podSelectors`."""

    name: str = ""
    """For the reader."""
    selector: LabelSelectorArg | None = None
    """Labels of the pods; an entry without it does not count."""
