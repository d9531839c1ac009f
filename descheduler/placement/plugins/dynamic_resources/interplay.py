"""How pods that need devices bear on each other."""

from __future__ import annotations

from collections.abc import Iterable

from descheduler.model.pod import Pod
from descheduler.placement.framework.interactions import GatheredPods, Meeting, meeting_each_other

__all__ = ["ClaimInterplay", "may_need_devices"]


def may_need_devices(pod: Pod) -> bool:
    """Whether a pod has claims, or requests a resource that a class may serve."""
    return pod.spec.has_resource_claims or any("/" in name for name in pod.spec.requests)


class ClaimInterplay:
    """Devices can be shared by nodes, a claim binds its pods to where it is, and a device in use hides an error."""

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether it needs devices: a pod that takes the one on which a selector fails helps others."""
        return may_need_devices(pod)

    def is_local(self, pod: Pod) -> bool:
        """Whether it needs no devices."""
        return not may_need_devices(pod)

    def is_felt_widely(self, pod: Pod) -> bool:
        """Not beyond those that need devices, which are not local themselves."""
        del pod
        return False

    def interact(self, first: Pod, second: Pod) -> bool:
        """Whether both need devices."""
        return may_need_devices(first) and may_need_devices(second)

    def interacting(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """All that need devices."""
        return meeting_each_other(gathered.where(may_need_devices))

    def closing(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """All that need devices."""
        return meeting_each_other(gathered.where(may_need_devices))
