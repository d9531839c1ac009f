"""How pods bear on each other through the devices that their claims get."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence

from descheduler.model.pod import Pod
from descheduler.model.resource_claims import ResourceSlice
from descheduler.placement.framework.interactions import GatheredPods, Meeting, meeting_each_other
from descheduler.placement.plugins.dynamic_resources.device_world import DeviceWorld
from descheduler.placement.plugins.dynamic_resources.on_nodes import extended_resources
from descheduler.placement.plugins.dynamic_resources.pod_claims import ClaimsOfPod, missing_class
from descheduler.placement.plugins.dynamic_resources.requests import AskedClaim, AttemptError, UnknownAllocation
from descheduler.placement.plugins.dynamic_resources.rules import ClaimFault
from descheduler.placement.plugins.helper.device_resources import IMPLICIT


class ClaimInterplay:
    """Devices can be shared by nodes, a claim binds its pods to where it is, and a device in use hides an error.

    Pods need devices that have claims, or that request a resource which one of the classes `by_resource` serves. None
    of this is so of pods that take `own_devices`: others only leave them fewer devices, on the node of these others.
    """

    def __init__(self, by_resource: Container[str], own_devices: Callable[[Pod], bool]) -> None:
        self._by_resource = by_resource
        self._takes_own = own_devices

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether another pod may take the device on which a selector fails, or get the claim of both its devices."""
        return self._is_concerned(pod)

    def is_local(self, pod: Pod) -> bool:
        """Whether it needs no devices, or those of its node alone."""
        return not self._is_concerned(pod)

    def is_felt_widely(self, pod: Pod) -> bool:
        """Not beyond those that need devices, which are not local themselves."""
        return False

    def interact(self, first: Pod, second: Pod) -> bool:
        """Whether both need devices, and one of them others than of its node alone."""
        concerned = self._is_concerned(first) or self._is_concerned(second)
        return concerned and self._needs_devices(first) and self._needs_devices(second)

    def interacting(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """All that need devices, but for those of which both take devices of their nodes alone."""
        concerned, needing = gathered.where(self._is_concerned), gathered.where(self._needs_devices)
        return [(concerned, needing), (needing, concerned)] if len(concerned) else []

    def closing(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """All that need devices."""
        return meeting_each_other(gathered.where(self._needs_devices))

    def _is_concerned(self, pod: Pod) -> bool:
        return self._needs_devices(pod) and not self._takes_own(pod)

    def _needs_devices(self, pod: Pod) -> bool:
        return pod.spec.has_resource_claims or any(
            name in self._by_resource or name.startswith(IMPLICIT) for name in pod.spec.requests if "/" in name
        )


class OwnDevices:
    """Which pods take devices of their node alone, by claims that no other pod has.

    They do where each pool is of one node and each device is for one pod, if no selector fails on any device, and if
    fewer devices never make more of a claim possible: distinct attributes and `All` with constraints may.
    """

    def __init__(self, claims: ClaimsOfPod, world: DeviceWorld) -> None:
        self._claims = claims
        self._world = world
        self._is_plain: bool | None = None
        self._known: dict[AskedClaim, bool] = {}

    def __call__(self, pod: Pod) -> bool:
        """Whether `pod` is one of them."""
        if any(each.claim_name for each in pod.spec.resource_claims) or extended_resources(pod):
            return False
        if self._is_plain is None:
            self._is_plain = _are_plain(self._world.catalog.slices)
        claims = self._claims.of(pod) if self._is_plain else ()
        if not self._is_plain or isinstance(claims, ClaimFault) or missing_class(claims, self._world.catalog.classes):
            return False
        return all(self._only_loses(self._world.asked(claim)) for claim in claims)

    def _only_loses(self, claim: AskedClaim) -> bool:
        if claim not in self._known:
            self._known[claim] = not _is_fickle(claim) and self._never_fails(claim)
        return self._known[claim]

    def _never_fails(self, claim: AskedClaim) -> bool:
        """Whether each of its selectors has a value for every device."""
        pools = {each for node in self._world.nodes for each in self._world.pools.seen_from(node)}
        try:
            for request in claim.requests:
                for choice in request.choices:
                    for pool in pools:
                        for device in pool.devices:
                            choice.selects(device)
        except (AttemptError, UnknownAllocation):
            return False
        return True


def _is_fickle(claim: AskedClaim) -> bool:
    """Whether it may get devices where fewer are left, or end the attempt because of those that are."""
    takes_all = any(choice.is_all for request in claim.requests for choice in request.choices)
    return any(each.is_distinct or takes_all for each in claim.constraints)


def _are_plain(slices: Sequence[ResourceSlice]) -> bool:
    """Whether each pool is of one node, and each device for one pod.

    In some releases drivers share the counters of pools of one name, so that names are compared without drivers.
    """
    nodes: dict[str, str] = {}
    return all(
        each.reach.node_name
        and not each.is_per_device
        and nodes.setdefault(each.pool, each.reach.node_name) == each.reach.node_name
        and not any(device.allows_multiple for device in each.devices)
        for each in slices
    )
