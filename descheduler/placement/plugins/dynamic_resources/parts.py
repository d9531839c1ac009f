"""Devices of resource claims as parts of nodes that planners may count: whole ones, and parts of partitioned ones."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from descheduler.model.pod import Pod, PodSpec, coming_claims
from descheduler.model.resource_claims import DeviceId
from descheduler.placement.framework.node_parts import ALL_PARTS, WHOLE_PART, FreePart, NoParts, PartNeed
from descheduler.placement.plugins.dynamic_resources.grants import ClaimGrants
from descheduler.placement.plugins.dynamic_resources.pod_claims import ClaimsOfPod, missing_class
from descheduler.placement.plugins.dynamic_resources.pools import DevicePool, PoolDevice, PoolState
from descheduler.placement.plugins.dynamic_resources.requests import AskedDevices, AttemptError, UnknownAllocation
from descheduler.placement.plugins.dynamic_resources.rules import ClaimFault, DeviceRules
from descheduler.placement.shadow.shadow_cluster import ShadowCluster


class _Share(NamedTuple):
    """A device as a share of a part of its node, in percent."""

    device: PoolDevice
    part: int
    percent: int


class _Size(NamedTuple):
    """So many parts, or `ALL_PARTS`, and percent of each; 0 of devices that are no parts."""

    number: int
    percent: int


class _Counted(NamedTuple):
    """What the claims of a pod ask for at `least`, and why it may be more, or cannot be told."""

    least: PartNeed | None
    why_not: str


_NOTHING = _Counted(None, "")
_ALTERNATIVES = "its resource claims have alternatives of different sizes (firstAvailable)"
_OTHER_SIZES = "its resource claims ask for devices of different sizes"
_NO_PARTS = "its resource claims select devices that are tainted, or that several pods or nodes can use"
_ALL = "its resource claims ask for all devices of a kind (allocationMode: All), and a node has others beside these"
_ALL_AND_OTHERS = "its resource claims ask for all devices of a node (allocationMode: All) and for others"
_ADMIN = "its resource claims have access to devices in use (adminAccess)"


class ClaimParts(NoParts):
    """A part is a device, or a set of counters that the partitions of one device share; both on one node alone.

    Devices that several pods may share, that have taints or that several nodes can use are no parts: requests that may
    get one cannot be counted, and those that get no others ask for nothing. `All` counts where no device of a node is
    left beside it.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        self._nodes = cluster.table.nodes
        self._index = cluster.table.index
        self._grants = cluster.follow(ClaimGrants)
        self._claims = ClaimsOfPod(cluster.snapshot, self._grants)
        self._catalog = self._grants.catalog
        self._pools = self._catalog.pools(DeviceRules.of(cluster.version))
        self.is_listed = bool(self._catalog.slices)
        self._shares: dict[int, Mapping[DeviceId, _Share]] = {}
        self._states: dict[int, Mapping[int, FreePart]] = {}
        # A spec names other templates in another namespace. It is kept here, so that its identity stands for it.
        self._needs: dict[tuple[str, int], tuple[PodSpec, _Counted]] = {}
        self._sizes_by_kind: dict[Hashable, _Size | str | None] = {}

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
            own = [shares[each.device].part for each in results if each.device in shares]
            if (own and claim.granted.num_consumers > 1) or len({*own}) < len(own) or parts & {*own}:
                return ()
            parts |= {*own}
        return tuple(sorted(parts))

    def need_of(self, pod: Pod, most_memory: int) -> PartNeed | None:
        """What the claims of a new pod like `pod` ask for: so many devices, each the same share of its part.

        Of alternatives it is the smallest where the pod has no node yet, since that is enough for it to be scheduled.
        """
        counted = self._counted(pod)
        return None if pod.node_name and counted.why_not else counted.least

    def why_uncounted(self, pod: Pod) -> str:
        """Why it cannot be told how many devices a new pod like `pod` gets, and of which share: its claims say it."""
        counted = self._counted(pod)
        return counted.why_not if pod.node_name or counted.least is None else ""

    def _counted(self, pod: Pod) -> _Counted:
        if not pod.spec.resource_claims or not self.is_listed:
            return _NOTHING
        key = pod.namespace, id(pod.spec)
        known = self._needs.get(key)
        if known is None:
            known = self._needs[key] = pod.spec, self._count(pod)
        return known[1]

    def _count(self, pod: Pod) -> _Counted:
        claims = self._claims.of(replace(pod, generated_claims=coming_claims(pod.name, pod.spec)))
        if isinstance(claims, ClaimFault) or missing_class(claims, self._catalog.classes) is not None:
            return _NOTHING
        try:
            found = [
                self._sizes(request.choices) for claim in claims for request in self._catalog.asked(claim.spec).requests
            ]
        except (AttemptError, UnknownAllocation):
            return _NOTHING
        why_not = next((each for each in found if isinstance(each, str)), "")
        sizes = [each for each in found if not isinstance(each, str) and each]
        counted = [size for each in sizes for size in each if size.number]
        if not why_not and len(counted) > 1 and any(size.number == ALL_PARTS for size in counted):
            why_not = _ALL_AND_OTHERS
        least = [each[0] for each in sizes]
        percents = {size.percent for size in least if size.number}
        if why_not or len(percents) > 1:
            return _Counted(None, why_not or _OTHER_SIZES)
        varies = _ALTERNATIVES if any(len(each) > 1 for each in sizes) else ""
        percent = next(iter(percents), 0)
        return _Counted(PartNeed(sum(size.number for size in least), percent, percent) if percent else None, varies)

    def _sizes(self, choices: Iterable[AskedDevices]) -> Sequence[_Size] | str:
        """The sizes of the alternatives of one request, the smallest first, or why one has none.

        An alternative that selects no device of any node is never taken.
        """
        found = set[_Size]()
        for asked in choices:
            if asked.kind not in self._sizes_by_kind:
                self._sizes_by_kind[asked.kind] = self._size(asked)
            size = self._sizes_by_kind[asked.kind]
            if isinstance(size, str):
                return size
            if size is not None:
                found.add(size)
        return sorted(found, key=lambda size: (size.number * size.percent, size))

    def _size(self, asked: AskedDevices) -> _Size | str | None:
        if asked.has_admin_access:
            return _ADMIN
        numbers, percents = set[int](), set[int]()
        for node in range(len(self._nodes)):
            shares = self._shares_on(node)
            pools = self._pools.seen_from(self._nodes[node])
            selected = [each for pool in pools for each in pool.devices if asked.selects(each)]
            percents.update(0 if (share := shares.get(each.id)) is None else share.percent for each in selected)
            if selected:
                numbers.add(len(selected) if len(selected) == len({each.part for each in shares.values()}) else 0)
        if percents <= {0}:
            return _Size(0, 0) if percents else None
        if len(percents) > 1:
            return _NO_PARTS if 0 in percents else _OTHER_SIZES
        if not asked.is_all:
            return _Size(asked.number, percents.pop())
        return _ALL if 0 in numbers else _Size(numbers.pop() if len(numbers) == 1 else ALL_PARTS, percents.pop())

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
