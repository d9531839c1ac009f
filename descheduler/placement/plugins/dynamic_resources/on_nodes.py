"""One pod with claims before the nodes: what each of them has for it, and why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from descheduler.model.names import is_extended_resource
from descheduler.model.pod import EXTENDED_CLAIM, Pod
from descheduler.model.resource_claims import MOST_CONSUMERS, ClaimAllocation, DeviceStatus
from descheduler.placement.framework.extension_points import Conclusion, ReasonBits
from descheduler.placement.framework.obstacle import Code, Fact, Obstacle, Said
from descheduler.placement.plugins.dynamic_resources.device_world import DeviceWorld
from descheduler.placement.plugins.dynamic_resources.grants import ClaimReserving, Granted, GrantedClaim
from descheduler.placement.plugins.dynamic_resources.pod_claims import NamedClaim
from descheduler.placement.plugins.dynamic_resources.requests import AskedClaim
from descheduler.placement.plugins.dynamic_resources.rules import BRIEF_BIT, ClaimFault, DeviceFault, for_now
from descheduler.placement.plugins.dynamic_resources.search.allocation import (
    MOST_ALTERNATIVES,
    AllocationOutcome,
    NodeAnswer,
    is_available,
)
from descheduler.placement.plugins.helper.device_resources import IMPLICIT
from descheduler.placement.shadow.node_masks import BoolMask

_FITS = NodeAnswer(AllocationOutcome.FITS)
_FAULTS = {
    AllocationOutcome.NO_DEVICES: DeviceFault.NO_DEVICES,
    AllocationOutcome.INVALID_POOLS: DeviceFault.INVALID_POOLS,
    AllocationOutcome.ERROR: DeviceFault.ERROR,
}
_BITS = [_FAULTS[each].bit if each in _FAULTS else 0 for each in AllocationOutcome]
_BITS_BY_CODE = np.array([*_BITS, *(bit | BRIEF_BIT for bit in _BITS)], dtype=np.uint32)


class ClaimsOnNodes(ClaimReserving):
    """What nodes have for one pod, as the cluster is now."""

    def __init__(self, world: DeviceWorld, pod: Pod, claims: Sequence[NamedClaim], *, is_left_over: bool) -> None:
        self.claims = claims
        self._world = world
        self._pod = pod
        self._is_left_over = is_left_over
        self.resources = extended_resources(pod)
        served = [name for name in self.resources if name in world.by_resource]
        self._is_served_by_classes = bool(served)
        self._is_contested = any(name in world.contested for name in self.resources)
        self._open = [claim for claim in claims if claim.granted.allocation is None]
        self._allocated = [(claim, found) for claim in claims if (found := claim.granted.allocation) is not None]
        self._asked = [world.asked(claim) for claim in self._open]
        self._made: dict[tuple[str, ...], NamedClaim] = {}
        self._told: tuple[ReasonBits, Sequence[NodeAnswer], NDArray[np.uint8]] | None = None
        self._ends_briefly = False

    @property
    def is_idle(self) -> bool:
        """Whether the plugin has nothing to do for the pod."""
        return not self.claims and not self._is_served_by_classes and not self._is_contested

    def why_unbound(self, node: int) -> ClaimFault | None:
        """Why the pod cannot be bound to a node although there are devices; None where it can."""
        full = next((claim.name for claim, _ in self._allocated if claim.granted.num_consumers >= MOST_CONSUMERS), "")
        if full:
            consumers = f"{MOST_CONSUMERS} consumers, the most that the API server accepts"
            return ClaimFault(f"resource claim {full} has {consumers}", f"a resource claim has {consumers}")
        fault = self.binding_fault(node)
        return ClaimFault(f"binding fails: {fault}", f"binding fails: {fault}") if fault else None

    def binding_fault(self, node: int) -> str:
        """Why binding to a node fails although there are devices, a sentence of what must be otherwise; else ""."""
        names = [claim.name for claim in self._open]
        twice = next((name for name in names if names.count(name) > 1), "")
        if twice:
            return f"the pod must not name resource claim {twice} twice"
        if self.has_idle_claim(node):
            return "a device plugin must not serve the extended resources of a pod with resource claims"
        return ""

    def made_for(self, node: int) -> NamedClaim | None:
        """The claim that the scheduler makes for extended resources on a node; None where it makes none."""
        served = tuple(
            name for name in self.resources if name in self._world.by_resource and not self._listed(node).get(name)
        )
        if not served or not self._is_served_by_classes:
            return None
        known = self._made.get(served)
        if known is None:
            spec = self._world.made_spec(self._pod.spec, served)
            known = self._made[served] = NamedClaim(EXTENDED_CLAIM, spec, GrantedClaim())
        return known

    def has_idle_claim(self, node: int) -> bool:
        """Whether binding there fails: a device plugin serves all extended resources, and claims are allocated too."""
        return self._is_served_by_classes and bool(self._open) and self.made_for(node) is None

    def answer(self, node: int) -> NodeAnswer:
        """What the claims without devices get on a node."""
        return self._tell()[1][node]

    def bits(self) -> ReasonBits:
        """What is against each node."""
        return self._tell()[0].copy()

    def may_open(self) -> BoolMask:
        """The nodes that take the pod, or that would if no device were in use."""
        bits = self._tell()[0]
        found: BoolMask = bits == 0
        for node in np.flatnonzero(bits & DeviceFault.NO_DEVICES.bit).tolist():
            made = self.made_for(node)
            asked = self._asked if made is None else [*self._asked, self._world.asked(made)]
            found[node] = self._world.would_fit(asked, node)
        return found

    def obstacle(self, plugin: str, node: int, bits: int) -> Obstacle:
        is_brief = bool(bits & BRIEF_BIT) or (bits == DeviceFault.ENDED.bit and self._ends_briefly)
        if bits & DeviceFault.ERROR.bit:
            short = for_now(DeviceFault.ERROR) if is_brief else DeviceFault.ERROR.short
            return Obstacle.of(plugin, Code.ERROR, Said(self._error(node), short), is_brief=is_brief)
        faults = [fault for fault in DeviceFault if bits & fault.bit]
        facts: list[Fact] = [ClaimFault(each.reason, for_now(each)) if is_brief else each for each in faults]
        return Obstacle.of(plugin, Code.UNRESOLVABLE, *facts, is_brief=is_brief)

    def conclude(self, plugin: str, reached: BoolMask, *, is_sampled: bool) -> Conclusion | None:
        """An error on a node that is reached ends the attempt; unless enough other nodes are found before it."""
        bits, answers, outcomes = self._tell()
        failing = bits[reached & ((bits & DeviceFault.ERROR.bit) != 0)]
        failed, brief = bool(len(failing)), (bits & BRIEF_BIT) != 0
        self._ends_briefly = bool((failing & BRIEF_BIT).all())
        doubtful = np.flatnonzero(reached & (outcomes == AllocationOutcome.UNKNOWN.code))
        unknown = [answers[node].detail for node in doubtful.tolist()]
        if failed and not is_sampled:
            return Conclusion(ending_bit=DeviceFault.ENDED.bit, is_brief=self._ends_briefly)
        if failed:
            unknown.append("an error on some nodes ends the attempt if the scheduler looks at them")
        doubt = Obstacle.of(plugin, Code.UNDECIDED, Said.alike(unknown[0])) if unknown else None
        return Conclusion(doubt=doubt, is_brief=self._is_contested or bool(brief.any()))

    def raw_scores(self, feasible: BoolMask) -> NDArray[np.int64] | None:
        """Sums over the requests with alternatives, higher for earlier ones; None where no request has any."""
        has_alternatives = any(request.is_first_available for claim in self.claims for request in claim.spec.requests)
        if not has_alternatives or not self._open:
            return None
        shared = sum(_score(claim, allocation) for claim, allocation in self._allocated)
        raw = np.zeros(len(feasible), dtype=np.int64)
        for node in np.flatnonzero(feasible).tolist():
            raw[node] = self.answer(node).score + shared
        return raw

    def granted(self, node: int) -> list[Granted]:
        """What the pod gets on a node, for each of its claims; nothing where that cannot be told."""
        found = [Granted(claim.granted, None) for claim, _ in self._allocated]
        return found + [Granted(claim.granted, allocation) for claim, allocation in self.new_on(node)]

    def new_on(self, node: int) -> list[tuple[NamedClaim, ClaimAllocation]]:
        """The claims that get devices on a node, and these."""
        made = self.made_for(node)
        claims = self._open if made is None else [*self._open, made]
        return list(zip(claims, self.answer(node).allocations, strict=False))

    def why_not(self, node: int) -> Iterator[str]:
        """Why the claims get too few devices on a node, which of them cannot be used there, and which node ends the
        attempt; each a sentence."""
        bits = int(self._tell()[0][node])
        made = self.made_for(node)
        if bits & (DeviceFault.NO_DEVICES.bit | DeviceFault.INVALID_POOLS.bit):
            yield from self._world.shortages(self._open if made is None else [*self._open, made], node)
        for claim, allocation in self._allocated if bits & DeviceFault.ELSEWHERE.bit else ():
            if not allocation.holds(self._world.nodes[node].name, self._world.nodes[node].labels):
                devices = ", ".join("/".join(each.device) for each in allocation.results)
                yield f"{claim.title} has {devices}, which cannot be used from this node"
        failed = np.flatnonzero(self._tell()[0] & DeviceFault.ERROR.bit)
        if len(failed) and not bits:
            yield f"node {self._world.nodes[int(failed[0])].name}: {self._error(int(failed[0]))}"

    def conditions(self, node: int) -> tuple[str, ...]:
        """Why binding to a node may fail although there are devices, or the pod does not stay, each a sentence."""
        fault = self.binding_fault(node)
        told = [fault] if fault else []
        new = [result for _, allocation in self.new_on(node) for result in allocation.results]
        waiting = [name for each in new for name in each.binding_conditions]
        if waiting:
            told.append(f"the driver must prepare the devices ({', '.join(dict.fromkeys(waiting))})")
        old = [result for _, allocation in self._allocated for result in allocation.results]
        return (*told, *self._world.deletions([*old, *new]))

    def _listed(self, node: int) -> Mapping[str, int]:
        return self._world.nodes[node].allocatable

    def _error(self, node: int) -> str:
        """What ends the attempt on a node, with the name of the claim."""
        answer = self.answer(node)
        titles = [claim.title for claim in self._open]
        named = answer.claim is not None and answer.claim < len(titles)
        return f"{titles[answer.claim or 0]}, {answer.detail}" if named else answer.detail

    def _tell(self) -> tuple[ReasonBits, Sequence[NodeAnswer], NDArray[np.uint8]]:
        """What is against each node, what its claims get there, and the outcomes, as the cluster was when it was asked
        first."""
        if self._told is None:
            self._told = self._by_resources() if self._is_served_by_classes else self._by_claims()
            bits = self._told[0]
            for node in np.flatnonzero(bits == 0).tolist() if self._allocated else ():
                if not self._is_available(node):
                    bits[node] = DeviceFault.ELSEWHERE.bit
        return self._told

    def _by_claims(self) -> tuple[ReasonBits, Sequence[NodeAnswer], NDArray[np.uint8]]:
        """What all nodes say of the same claims."""
        number = len(self._world.nodes)
        if not self._asked:
            fits = np.full(number, AllocationOutcome.FITS.code, dtype=np.uint8)
            return np.zeros(number, dtype=np.uint32), [_FITS] * number, fits
        answers, outcomes = self._world.answers(self._asked)
        return _BITS_BY_CODE[outcomes], answers, outcomes

    def _by_resources(self) -> tuple[ReasonBits, Sequence[NodeAnswer], NDArray[np.uint8]]:
        """What nodes say on which the scheduler makes a claim of another content, or none."""
        number = len(self._world.nodes)
        bits, answers = np.zeros(number, dtype=np.uint32), [_FITS] * number
        outcomes = np.full(number, AllocationOutcome.FITS.code, dtype=np.uint8)
        groups: dict[tuple[int, ...], tuple[list[AskedClaim], list[int]]] = {}
        for node in range(number):
            bits[node] = self._bits_of_resources(node)
            if bits[node]:
                continue
            made = self.made_for(node)
            asked = self._asked if made is None else [*self._asked, self._world.asked(made)]
            if asked:
                groups.setdefault(tuple(map(id, asked)), (asked, []))[1].append(node)
        for asked, members in groups.values():
            theirs, told = self._world.answers(asked)
            outcomes[members], bits[members] = told[members], _BITS_BY_CODE[told[members]]
            for node in members:
                answers[node] = theirs[node]
        return bits, answers, outcomes

    def _bits_of_resources(self, node: int) -> int:
        """What is against a node before its devices are looked at."""
        if self._is_left_over:
            return DeviceFault.LEFT_OVER.bit
        listed = self._listed(node)
        unserved = [name for name in self.resources if name not in self._world.by_resource and name not in listed]
        is_brief = all(name in self._world.contested for name in unserved)
        return DeviceFault.UNSERVED.bit | (BRIEF_BIT if is_brief else 0) if unserved else 0

    def _is_available(self, node: int) -> bool:
        return all(
            is_available(allocation, _statuses(claim), self._world.nodes[node], self._world.now)
            for claim, allocation in self._allocated
        )


def extended_resources(pod: Pod) -> list[str]:
    """The extended resources of which a pod requests some, in the order of their names."""
    return sorted(
        name
        for name, amount in pod.spec.requests.items()
        if amount and (is_extended_resource(name) or name.startswith(IMPLICIT))
    )


def _statuses(claim: NamedClaim) -> Sequence[DeviceStatus]:
    return () if claim.granted.claim is None else claim.granted.claim.statuses


def _score(claim: NamedClaim, allocation: ClaimAllocation) -> int:
    """What an allocated claim counts: more for earlier alternatives."""
    chosen = {result.request for result in allocation.results}
    found = 0
    for request in claim.spec.requests:
        if request.is_first_available:
            names = [f"{request.name}/{each.name}" for each in request.choices]
            found += next((MOST_ALTERNATIVES - index for index, name in enumerate(names) if name in chosen), 0)
    return found
