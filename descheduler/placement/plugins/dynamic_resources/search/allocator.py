"""Which devices the scheduler would take for claims, on one node: the first that fit, with every combination tried.

Mirrors `allocateOne` of `k8s.io/dynamic-resource-allocation/structured/internal/experimental` (1.36, 1.37). Devices
that are alike are tried once at each place: if the first of them leads nowhere, neither do the others. Beside requests
for all devices each is tried, as another error may come of it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from descheduler.model.node import Node
from descheduler.model.resource_claims import DeviceId
from descheduler.placement.plugins.dynamic_resources.pools import DevicePool, PoolDevice, PoolState
from descheduler.placement.plugins.dynamic_resources.requests import (
    AskedClaim,
    AskedDevices,
    AttemptError,
    UnknownAllocation,
)
from descheduler.placement.plugins.dynamic_resources.rules import DeviceRules
from descheduler.placement.plugins.dynamic_resources.search.constraints import (
    Constraint,
    attribute_of,
    consumption,
    make_constraint,
)
from descheduler.placement.plugins.dynamic_resources.usage import CounterAccounts, DeviceUsage

MOST_DEVICES = 32
"""Devices of one claim."""
TOO_LONG = "the search for devices takes too many steps"
"""Why nothing is told of a search that is given up."""


class TakenDevice(NamedTuple):
    """A device that is taken for a claim; `consumed` is what a share consumes, None for a whole device."""

    asked: AskedDevices
    device: PoolDevice
    consumed: Mapping[str, int] | None


class _Place(NamedTuple):
    """Where the search stands: device `device` of request `request` of claim `claim`, the next one from `start` on."""

    claim: int
    request: int
    device: int
    start: int


class _Found(NamedTuple):
    """A device with its pool."""

    pool: DevicePool
    device: PoolDevice


_Ready = dict[AskedDevices, list[_Found]]


class DeviceSearch:
    """One search for all of `claims` on `node`, which tries at most `most_steps` devices. It may be run once."""

    def __init__(
        self,
        claims: Sequence[AskedClaim],
        pools: Sequence[DevicePool],
        node: Node,
        usage: DeviceUsage,
        rules: DeviceRules,
        most_steps: int,
    ) -> None:
        self._claims = claims
        self._node = node
        self._usage = usage
        self._rules = rules
        self._steps_left = most_steps
        self._pools = pools
        self._usable = [pool for pool in pools if pool.state is PoolState.COMPLETE]
        self._all: _Ready = {}
        self._accounts = CounterAccounts(usage, counts_by_driver=rules.counts_by_driver)
        keeps = rules.keeps_distinct_values
        self._constraints: list[list[Constraint]] = [
            [make_constraint(each, keeps_all_values=keeps) for each in claim.constraints] for claim in claims
        ]
        self._taken: list[list[TakenDevice]] = [[] for _ in claims]
        self._whole: Counter[DeviceId] = Counter()
        self._num_shares: Counter[DeviceId] = Counter()
        self._consumed: dict[DeviceId, Counter[str]] = {}
        self._least: list[list[int]] = []
        self._kinds: dict[PoolDevice, Hashable] = {}
        self.choices: dict[tuple[int, int], int] = {}
        """Claim and request → the alternative that was chosen, for requests that have alternatives."""

    def run(self) -> list[list[TakenDevice]] | None:
        """The devices of each claim, or None where some claim gets none.

        Raises AttemptError where the scheduler gives the pod up, and UnknownAllocation.
        """
        doubtful = next((pool for pool in self._pools if pool.state is PoolState.UNKNOWN), None)
        if doubtful is not None:
            raise UnknownAllocation("the ResourceSlices of a pool disagree on resourceSliceCount")
        for claim in self._claims:
            self._least.append(list(self._least_numbers(claim)))
        return self._taken if self._place(_Place(0, 0, 0, 0)) else None

    def _least_numbers(self, claim: AskedClaim) -> Iterator[int]:
        """How many devices each request asks for at least. Raises AttemptError for more than a claim may have."""
        total = 0
        for request in claim.requests:
            least = min((self._number(claim, asked) for asked in request.choices), default=0)
            total += least
            if total > MOST_DEVICES:
                raise AttemptError(f"request {request.name}: more than {MOST_DEVICES} devices", claim)
            yield least

    def _number(self, claim: AskedClaim, asked: AskedDevices) -> int:
        if not asked.is_all:
            return asked.number
        states = PoolState.INCOMPLETE, PoolState.INVALID
        troubled = [pool for pool in self._pools if pool.state in states]
        if troubled:
            what = "is being updated" if troubled[0].is_changing else "is invalid"
            text = f"request {asked.name}: all devices, but pool {troubled[0].name} {what}"
            raise AttemptError(text, claim, is_brief=all(pool.is_changing for pool in troubled))
        found = (_Found(pool, device) for pool in self._usable for device in pool.devices)
        self._all[asked] = [each for each in found if self._is_among_all(asked, each.device)]
        return len(self._all[asked])

    def _is_among_all(self, asked: AskedDevices, device: PoolDevice) -> bool:
        if not self._selects(asked, device):
            return False
        amounts = consumption(device.body.capacity, asked.capacity)
        if amounts is None:
            return False
        return self._rules.keeps_short_devices or not device.body.allows_multiple or self._has_left(device, amounts)

    def _selects(self, asked: AskedDevices, device: PoolDevice) -> bool:
        return asked.selects(device) and device.is_usable_from(self._node)

    def _place(self, place: _Place) -> bool:
        """Takes devices for everything from `place` on."""
        if place.claim == len(self._claims):
            return True
        claim = self._claims[place.claim]
        if place.request == len(claim.requests):
            return self._place(_Place(place.claim + 1, 0, 0, 0))
        request = claim.requests[place.request]
        if not request.is_first_available:
            return self._request(request.choices[0], place)
        for index, asked in enumerate(request.choices):
            if self._request(asked, place):
                self.choices[place.claim, place.request] = index
                return True
        return False

    def _request(self, asked: AskedDevices, place: _Place) -> bool:
        """The same with one choice of the request, of which no device or some are taken."""
        number = len(self._all[asked]) if asked.is_all else asked.number
        if asked.is_all and not number:
            return False
        if place.device >= number:
            return self._place(_Place(place.claim, place.request + 1, 0, 0))
        if place.device == 0 and self._is_too_much(place, number):
            return False
        if asked.is_all:
            return self._take_all(asked, place)
        return self._take_any(asked, place)

    def _is_too_much(self, place: _Place, number: int) -> bool:
        """Whether the claim has too many devices if the request gets so many, and those after it their least."""
        later = sum(self._least[place.claim][place.request + 1 :])
        return len(self._taken[place.claim]) + number + later > MOST_DEVICES

    def _take_all(self, asked: AskedDevices, place: _Place) -> bool:
        found = self._all[asked][place.device]
        if self._is_in_use(asked, found.device, place) or not self._take(asked, found, place, must=True):
            return False
        if self._request(asked, place._replace(device=place.device + 1)):
            return True
        self._give_back(asked, found, place)
        return False

    def _take_any(self, asked: AskedDevices, place: _Place) -> bool:
        failed: set[Hashable] = set()
        for index, found in self._from(place.start, asked):
            if self._is_in_use(asked, found.device, place):
                continue
            if failed and self._kind(found.device) in failed:
                continue
            self._count_step()
            if not self._selects(asked, found.device) or not self._take(asked, found, place):
                continue
            if self._request(asked, place._replace(device=place.device + 1, start=index + 1)):
                return True
            self._give_back(asked, found, place)
            if not self._all and not asked.has_admin_access:
                failed.add(self._kind(found.device))
        return False

    def _from(self, start: int, asked: AskedDevices) -> Iterator[tuple[int, _Found]]:
        """The devices from a place on, each with its own, but for those that others have and the request cannot get."""
        first = 0
        for pool in self._usable:
            if start < first + len(pool.devices):
                open_ones = range(len(pool.devices)) if asked.has_admin_access else self._usage.free_in(pool)
                for number in range(bisect_left(open_ones, start - first), len(open_ones)):
                    place = open_ones[number]
                    yield first + place, _Found(pool, pool.devices[place])
            first += len(pool.devices)

    def _count_step(self) -> None:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise UnknownAllocation(TOO_LONG)

    def _is_in_use(self, asked: AskedDevices, device: PoolDevice, place: _Place) -> bool:
        if asked.has_admin_access:
            return any(each.device is device for each in self._taken[place.claim])
        return self._usage.is_taken(device.id) or self._whole[device.id] > 0

    def _take(self, asked: AskedDevices, found: _Found, place: _Place, *, must: bool = False) -> bool:
        """Takes a device that is selected, if nothing but its selectors speaks against it.

        Raises AttemptError where the device of an All request, which is a must, violates a constraint.
        """
        device = found.device
        amounts = consumption(device.body.capacity, asked.capacity)
        if amounts is None or (device.body.allows_multiple and not self._has_left(device, amounts)):
            return False
        is_charged = self._is_charged(asked, device)
        if is_charged and not self._accounts.take(found.pool, device):
            return False
        if asked.tolerates(device) and self._meets_constraints(asked, device, place, must=must):
            self._note(asked, device, place, amounts)
            return True
        if is_charged:
            self._accounts.give_back(found.pool, device)
        return False

    def _has_left(self, device: PoolDevice, amounts: Mapping[str, int]) -> bool:
        ours = self._consumed.get(device.id)
        wanted = amounts if ours is None else {name: amount + ours[name] for name, amount in amounts.items()}
        return self._usage.has_left(device, wanted)

    def _is_charged(self, asked: AskedDevices, device: PoolDevice) -> bool:
        """Whether taking the device costs counters: a share of a device that is shared already does not."""
        if not device.body.consumes:
            return False
        if not device.body.allows_multiple:
            return True
        return not self._num_shares[device.id] and not self._usage.is_charged(device.id, self._rules)

    def _meets_constraints(self, asked: AskedDevices, device: PoolDevice, place: _Place, *, must: bool) -> bool:
        added: list[Constraint] = []
        for constraint in self._constraints[place.claim]:
            if not constraint.add(asked, device):
                for each in reversed(added):
                    each.remove(asked, device)
                if must:
                    text = f"request {asked.name}: device {'/'.join(device.id)} does not meet a constraint"
                    raise AttemptError(text, self._claims[place.claim])
                return False
            added.append(constraint)
        return True

    def _note(self, asked: AskedDevices, device: PoolDevice, place: _Place, amounts: Mapping[str, int]) -> None:
        is_share = device.body.allows_multiple
        self._taken[place.claim].append(TakenDevice(asked, device, amounts if is_share else None))
        if is_share:
            self._num_shares[device.id] += 1
            self._consumed.setdefault(device.id, Counter()).update(amounts)
        else:
            self._whole[device.id] += 1

    def _give_back(self, asked: AskedDevices, found: _Found, place: _Place) -> None:
        """Undoes the last `_take`."""
        device = found.device
        taken = self._taken[place.claim].pop()
        if taken.consumed is not None:
            self._num_shares[device.id] -= 1
            self._consumed[device.id].subtract(taken.consumed)
        else:
            self._whole[device.id] -= 1
        if self._is_charged(asked, device):
            self._accounts.give_back(found.pool, device)
        for constraint in reversed(self._constraints[place.claim]):
            constraint.remove(asked, device)

    def _kind(self, device: PoolDevice) -> Hashable:
        """What makes two free devices the same to all claims; one that several may share is like no other."""
        known = self._kinds.get(device)
        if known is None:
            known = self._kinds[device] = device.id if device.body.allows_multiple else tuple(self._traits(device))
        return known

    def _traits(self, device: PoolDevice) -> Iterator[Hashable]:
        body = device.body
        yield device.id.driver, device.id.pool
        yield tuple((use.name, tuple(sorted(use.counters.items()))) for use in body.consumes)
        yield tuple(sorted(body.capacity.items(), key=itemgetter(0)))
        for claim in self._claims:
            for constraint in claim.constraints:
                yield attribute_of(constraint.attribute, device)
            for request in claim.requests:
                for asked in request.choices:
                    yield self._answer(asked, device), asked.tolerates(device)

    def _answer(self, asked: AskedDevices, device: PoolDevice) -> Hashable:
        """What the selectors say; one that cannot tell makes the device like no other."""
        try:
            return self._selects(asked, device)
        except (AttemptError, UnknownAllocation):
            return device.id
