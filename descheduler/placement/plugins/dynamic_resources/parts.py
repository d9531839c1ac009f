"""Devices of resource claims as parts of nodes that planners may count: whole ones, and parts of partitioned ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from descheduler.model.pod import Pod, PodSpec, coming_claims
from descheduler.model.resource_claims import DEVICE_CLASS_KIND, SLICE_KIND, TAINT_RULE_KIND, DeviceClass, DeviceId
from descheduler.placement.framework.node_parts import WHOLE_PART, FreePart, NoParts, PartNeed
from descheduler.placement.plugins.dynamic_resources.grants import ClaimGrants
from descheduler.placement.plugins.dynamic_resources.pod_claims import ClaimsOfPod, missing_class
from descheduler.placement.plugins.dynamic_resources.pools import DevicePool, DevicePools, PoolDevice, PoolState
from descheduler.placement.plugins.dynamic_resources.reasons import ClaimFault
from descheduler.placement.plugins.dynamic_resources.requests import (
    AskedClaim,
    AskedDevices,
    AttemptError,
    DeviceSelectors,
    UnknownAllocation,
)
from descheduler.placement.plugins.dynamic_resources.rules import DeviceRules
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["ClaimParts"]


class _Share(NamedTuple):
    """A device as a share of a part of its node, in percent."""

    device: PoolDevice
    part: int
    percent: int


class ClaimParts(NoParts):
    """A part is a device, or a set of counters that the partitions of one device share; both on one node alone.

    Devices that several pods may share, that have taints or that several nodes can use are no parts: pods that may get
    one ask for no part. Alternatives have to ask for the same number and share of parts.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        objects = cluster.snapshot.objects
        self._nodes = cluster.table.nodes
        self._index = cluster.table.index
        self._grants = cluster.follow(ClaimGrants)
        self._claims = ClaimsOfPod(cluster.snapshot, self._grants)
        self._classes: Mapping[str, DeviceClass] = {each.name: each for each in objects.get(DEVICE_CLASS_KIND, ())}
        self._selectors = DeviceSelectors()
        self._pools = DevicePools(
            objects.get(SLICE_KIND, ()), objects.get(TAINT_RULE_KIND, ()), DeviceRules.of(cluster.version)
        )
        self.is_listed = bool(objects.get(SLICE_KIND))
        self._shares: dict[int, Mapping[DeviceId, _Share]] = {}
        self._states: dict[int, Mapping[int, FreePart]] = {}
        self._needs: dict[int, tuple[PodSpec, PartNeed | None]] = {}

    def state(self, node: int) -> object:
        """What is free of each part, which is the same object until that changes."""
        now = self.free(node)
        if self._states.get(node) != now:
            self._states[node] = now
        return self._states[node]

    def free(self, node: int) -> Mapping[int, FreePart]:
        """Percent of each part that no device in use takes."""
        left: dict[int, int] = {}
        for share in self._shares_on(node).values():
            taken = share.percent if self._grants.usage.is_taken(share.device.id) else 0
            left[share.part] = max(0, left.get(share.part, WHOLE_PART) - taken)
        return {part: FreePart(percent, percent) for part, percent in sorted(left.items())}

    def held_by(self, pod: Pod) -> tuple[int, ...]:
        """The parts of the devices that its claims have; none where another pod uses one of them too."""
        node, claims = self._index.get(pod.node_name), self._claims.of(pod)
        if node is None or isinstance(claims, ClaimFault):
            return ()
        shares, parts = self._shares_on(node), set[int]()
        for claim in claims:
            results = () if claim.granted.allocation is None else claim.granted.allocation.results
            found = {shares[each.device].part for each in results if each.device in shares}
            if claim.granted.num_consumers > 1 or len(found) < len(results) or parts & found:
                return ()
            parts |= found
        return tuple(sorted(parts))

    def need_of(self, pod: Pod, most_memory: int) -> PartNeed | None:
        """What the claims of a new pod like `pod` ask for: so many devices, each the same share of its part."""
        del most_memory
        if not pod.spec.resource_claims or not self.is_listed:
            return None
        known = self._needs.get(id(pod.spec))
        if known is None:
            known = self._needs[id(pod.spec)] = pod.spec, self._need(pod)
        return known[1]

    def _need(self, pod: Pod) -> PartNeed | None:
        claims = self._claims.of(replace(pod, generated_claims=coming_claims(pod.name, pod.spec)))
        if isinstance(claims, ClaimFault) or missing_class(claims, self._classes) is not None:
            return None
        number, percents = 0, set[int]()
        try:
            for claim in claims:
                for request in AskedClaim(claim.spec, self._classes, self._selectors).requests:
                    numbers = {asked.number for asked in request.choices}
                    if len(numbers) > 1 or any(asked.is_all or asked.has_admin_access for asked in request.choices):
                        return None
                    number += numbers.pop()
                    percents = percents.union(*map(self._percents, request.choices))
        except (AttemptError, UnknownAllocation):
            return None
        if len(percents) != 1 or 0 in percents:
            return None
        (percent,) = percents
        return PartNeed(number, percent, percent)

    def _percents(self, asked: AskedDevices) -> set[int]:
        """The shares of the devices that a request selects; 0 for one that is of no part."""
        found = set[int]()
        for node in range(len(self._nodes)):
            shares = self._shares_on(node)
            for pool in self._pools.seen_from(self._nodes[node]):
                for device in pool.devices:
                    if asked.selects(device):
                        share = shares.get(device.id)
                        found.add(0 if share is None else share.percent)
        return found

    def _shares_on(self, node: int) -> Mapping[DeviceId, _Share]:
        known = self._shares.get(node)
        if known is None:
            place, parts = self._nodes[node], dict[object, int]()
            known = self._shares[node] = {
                device.id: _Share(device, parts.setdefault(part, len(parts)), percent)
                for pool in self._pools.seen_from(place)
                for device, part, percent in _parts_of(pool, place.name)
            }
        return known


def _parts_of(pool: DevicePool, node: str) -> Iterator[tuple[PoolDevice, object, int]]:
    """The devices of a pool that are parts of a node, each with its part and its share of that."""
    for device in pool.devices if pool.state is PoolState.COMPLETE else ():
        uses = device.body.consumes
        if device.pins_to.node_name != node or device.body.allows_multiple or device.taints or len(uses) > 1:
            continue
        if not uses:
            yield device, device.id, WHOLE_PART
            continue
        totals = pool.counters[uses[0].name]
        shares = [-(-WHOLE_PART * amount // totals[name]) for name, amount in uses[0].counters.items() if totals[name]]
        yield device, (pool.key, uses[0].name), min(WHOLE_PART, max(shares, default=WHOLE_PART))
