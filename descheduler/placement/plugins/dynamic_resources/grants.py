"""The claims of a cluster and the devices that they have, while pods come and leave."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod, PodSpec
from descheduler.model.quantity import ceil_value
from descheduler.model.resource_claims import (
    CLAIM_KIND,
    DEVICE_CLASS_KIND,
    SLICE_KIND,
    TAINT_RULE_KIND,
    AllocationResult,
    ClaimAllocation,
    ClaimSpec,
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceSlice,
)
from descheduler.placement.framework.matched_reservations import Allocation
from descheduler.placement.plugins.dynamic_resources.pools import DevicePools
from descheduler.placement.plugins.dynamic_resources.requests import AskedClaim, DeviceSelectors
from descheduler.placement.plugins.dynamic_resources.rules import DeviceRules
from descheduler.placement.plugins.dynamic_resources.usage import DeviceUsage
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster


class _DeviceCatalog:
    """Slices and classes of one snapshot, for the schedulers of all releases."""

    def __init__(self, snapshot: Snapshot) -> None:
        objects = snapshot.objects
        self.slices: Sequence[ResourceSlice] = objects.get(SLICE_KIND, ())
        classes: Sequence[DeviceClass] = objects.get(DEVICE_CLASS_KIND, ())
        self.classes: Mapping[str, DeviceClass] = {each.name: each for each in classes}
        self.selectors = DeviceSelectors()
        self._taint_rules: Sequence[DeviceTaintRule] = objects.get(TAINT_RULE_KIND, ())
        self._pools: dict[DeviceRules, DevicePools] = {}
        # What was asked for is kept as well, so that an identity stands for it.
        self._asked: dict[int, tuple[ClaimSpec, AskedClaim]] = {}
        self._first: dict[bytes, ClaimSpec] = {}

    def pools(self, rules: DeviceRules) -> DevicePools:
        """The pools as a scheduler of these rules sees them."""
        if rules not in self._pools:
            self._pools[rules] = DevicePools(self.slices, self._taint_rules, rules)
        return self._pools[rules]

    def asked(self, spec: ClaimSpec) -> AskedClaim:
        """What a claim asks for, compiled once for all claims of its content. The classes that it names exist."""
        known = self._asked.get(id(spec))
        if known is None:
            first = self.first_alike(spec)
            made = AskedClaim(spec, self.classes, self.selectors) if first is spec else self.asked(first)
            known = self._asked[id(spec)] = spec, made
        return known[1]

    def first_alike(self, spec: ClaimSpec) -> ClaimSpec:
        """One object for all claims of the same content."""
        return self._first.setdefault(msgspec.json.encode(spec, order="deterministic"), spec)


_PODS = "pods"


class Grant:
    """An allocation, held while it has holders; one that `stays` is held without any.

    An allocated claim without consumers stays as it is: only the end of a consumer clears it.
    """

    __slots__ = ("allocation", "holders", "stays")

    def __init__(self, allocation: ClaimAllocation) -> None:
        self.allocation = allocation
        self.holders: set[Hashable] = set()
        self.stays = False

    @property
    def is_held(self) -> bool:
        """Whether its devices are in use."""
        return self.stays or bool(self.holders)


class GrantedClaim:
    """A claim with the grants that it has had; at most one of them is held. None for a claim that is yet to be made."""

    __slots__ = ("claim", "first", "grants")

    def __init__(self, claim: ResourceClaim | None = None) -> None:
        self.claim = claim
        self.grants: list[Grant] = []
        self.first: Grant | None = None
        """What the snapshot has it allocated."""

    @property
    def allocation(self) -> ClaimAllocation | None:
        """What it is allocated now."""
        grant = self.grant
        return None if grant is None else grant.allocation

    @property
    def num_consumers(self) -> int:
        """How many consumers have it reserved now."""
        grant = self.grant
        return 0 if grant is None else len(grant.holders)

    @property
    def grant(self) -> Grant | None:
        """What is held for it now."""
        return next((grant for grant in self.grants if grant.is_held), None)


class Granted(NamedTuple):
    """What a pod that is placed gets for one claim: None of `allocation` where the claim has its devices already."""

    claim: GrantedClaim
    allocation: ClaimAllocation | None


class ClaimGrants:
    """A follower that knows all claims by namespace and name. A claim is cleared when its last consumer leaves.

    Pods that are placed hold their grants by the ledger; here are those that the snapshot has on a node.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        self.usage = DeviceUsage()
        self.catalog = _DeviceCatalog(cluster.snapshot)
        claims: Iterable[ResourceClaim] = cluster.snapshot.objects.get(CLAIM_KIND, ())
        self.by_key = {claim.key: GrantedClaim(claim) for claim in claims}
        self._reserved: dict[str, list[Grant]] = {}
        placed = [pod for pod, _ in cluster.placed_pods if pod.uid]
        self._bound = {pod.uid for pod in placed}
        self._made_for = {
            (pod.namespace, name): pod.uid for pod in placed for name in pod.generated_claims.values() if name
        }
        for granted in self.by_key.values():
            self._hold_allocated(granted)

    def _hold_allocated(self, granted: GrantedClaim) -> None:
        claim = granted.claim
        if claim is None or claim.allocation is None:
            return
        grant = Grant(claim.allocation)
        holders = [(each.resource, each.uid) for each in claim.consumers]
        if not holders and claim.key in self._made_for:
            holders = [(_PODS, self._made_for[claim.key])]  # it goes with its owner
        grant.holders.update(holders)
        grant.stays = not holders
        granted.grants.append(grant)
        granted.first = grant
        self.usage.change(grant.allocation.results, 1)
        for resource, uid in holders:
            if resource == _PODS and uid in self._bound:
                self._reserved.setdefault(uid, []).append(grant)

    def hold(self, grant: Grant, holder: Hashable) -> None:
        """Adds a holder; the first one takes the devices."""
        if not grant.is_held:
            self.usage.change(grant.allocation.results, 1)
        grant.holders.add(holder)

    def let_go(self, grant: Grant, holder: Hashable) -> None:
        """Takes a holder away; the last one gives the devices back."""
        was_held = grant.is_held
        grant.holders.discard(holder)
        if was_held and not grant.is_held:
            self.usage.change(grant.allocation.results, -1)

    def concerns(self, spec: PodSpec) -> bool:
        """Whether pods of the spec may hold devices, by claims of their own or by extended resources."""
        return bool(self._reserved) and (spec.has_resource_claims or any("/" in name for name in spec.requests))

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """It consumes what is reserved for it."""
        for grant in self._reserved.get(pod.uid, ()):
            self.hold(grant, (_PODS, pod.uid))

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """It is gone, and its reservations with it."""
        for grant in self._reserved.get(pod.uid, ()):
            self.let_go(grant, (_PODS, pod.uid))

    def fingerprint(self) -> object:
        """The devices in use, which claims have which, and how many consumers each claim has."""
        held = ((key, granted.grant) for key, granted in self.by_key.items())
        grants = sorted((key, repr(each.allocation.results), len(each.holders)) for key, each in held if each)
        return self.usage.fingerprint(), grants


class ClaimReserving:
    """What the plugin finds out about a pod before Reserve, and leaves in the scratch of the cycle under its name."""

    def granted(self, node: int) -> list[Granted]:
        """What the pod gets on a node, for each of its claims."""
        raise NotImplementedError


class TakenGrants:
    """What one placed pod holds."""

    __slots__ = ("grants",)

    def __init__(self, grants: list[tuple[GrantedClaim, Grant]]) -> None:
        self.grants = grants


class ClaimLedger:
    """Takes devices for placed pods, shared by the profiles of all schedulers."""

    NAME = "DynamicResources"

    def __init__(self, cluster: ShadowCluster) -> None:
        self.claims = cluster.follow(ClaimGrants)

    def reserve(self, cycle: Cycle, node: int) -> TakenGrants | None:
        """Takes what the scheduler would choose on `node` for each claim of the pod.

        Nothing is taken for a pod that DynamicResources did not look at in the same cycle.
        """
        reserving = cycle.scratch.get(self.NAME)
        if not isinstance(reserving, ClaimReserving):
            return None
        found: list[tuple[GrantedClaim, Grant]] = []
        for claim, allocation in reserving.granted(node):
            grant = claim.grant if allocation is None else Grant(allocation)
            if grant is not None:
                found.append((claim, grant))
        if not found:
            return None
        taken = TakenGrants(found)
        self.restore(taken)
        return taken

    def restore(self, taken: TakenGrants) -> None:
        for claim, grant in taken.grants:
            if grant not in claim.grants:
                claim.grants.append(grant)
            self.claims.hold(grant, taken)

    def release(self, taken: TakenGrants) -> None:
        """Gives back what `reserve` took; a claim that others share keeps its devices."""
        for claim, grant in taken.grants:
            self.claims.let_go(grant, taken)
            if not grant.is_held and grant is not claim.first:
                claim.grants.remove(grant)

    def allocations(self, taken: TakenGrants | None) -> tuple[Allocation, ...]:
        """The devices of the claims, by driver, with what a share consumes of its device."""
        results = [result for _, grant in taken.grants for result in grant.allocation.results] if taken else []
        return tuple(
            Allocation(self.NAME, each.device.driver, f"{each.device.pool}/{each.device.device}", _whole(each))
            for each in results
        )

    def fingerprint(self) -> object:
        return self.claims.fingerprint()


def _whole(result: AllocationResult) -> Mapping[str, int]:
    return {name: ceil_value(amount) for name, amount in (result.consumed or {}).items()}
