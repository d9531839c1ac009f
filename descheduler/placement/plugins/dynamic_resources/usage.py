"""Which devices are in use, by whole devices, shares and what shares consume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

from descheduler.model.resource_claims import AllocationResult, DeviceId
from descheduler.placement.plugins.dynamic_resources.pools import DevicePool, PoolDevice, PoolKey
from descheduler.placement.plugins.dynamic_resources.rules import DeviceRules

_Counters = Mapping[tuple[str, str], int]


class CounterAccounts:
    """The accounts of the pools that are asked about, each opened at its first use."""

    def __init__(self, usage: DeviceUsage, *, counts_by_driver: bool) -> None:
        self._usage = usage
        self._counts_by_driver = counts_by_driver
        self._available: dict[Hashable, _Counters] = {}
        self._consumed: dict[Hashable, Counter[tuple[str, str]]] = {}

    def take(self, pool: DevicePool, device: PoolDevice) -> bool:
        """Whether the pool has room for a device, for which it is then charged."""
        account = self._account(pool)
        available = self._available.get(account)
        if available is None:
            available = self._available[account] = self._left(pool)
        self._charge(account, device, 1)
        consumed = self._consumed[account]
        if all(consumed[counter] <= left for counter, left in available.items()):
            return True
        self._charge(account, device, -1)
        return False

    def has_left(self, pool: DevicePool, device: PoolDevice) -> bool:
        """Whether the pool has room for a device, for which nothing is charged."""
        is_open = self.take(pool, device)
        if is_open:
            self.give_back(pool, device)
        return is_open

    def give_back(self, pool: DevicePool, device: PoolDevice) -> None:
        """The inverse of a `take` that succeeded."""
        self._charge(self._account(pool), device, -1)

    def _account(self, pool: DevicePool) -> Hashable:
        return pool.key if self._counts_by_driver else pool.key.pool

    def _charge(self, account: Hashable, device: PoolDevice, sign: int) -> None:
        consumed = self._consumed.setdefault(account, Counter())
        for use in device.body.consumes:
            for name, amount in use.counters.items():
                consumed[use.name, name] += sign * amount

    def _left(self, pool: DevicePool) -> _Counters:
        """What devices in use leave of each counter; it may be less than nothing."""
        left = {(name, each): amount for name, counters in pool.counters.items() for each, amount in counters.items()}
        for device in pool.consumers:
            if self._usage.is_taken(device.id) or self._usage.is_shared(device.id):
                for use in device.body.consumes:
                    for name, amount in use.counters.items():
                        left[use.name, name] -= amount
        return left


_NOTHING: Mapping[str, int] = {}
_LONGEST_EPOCH = 10_000
"""Changes."""


class DeviceUsage:
    """What allocations took of all devices.

    `changed` are the devices that have changed, each time once more, since the beginning of an `epoch`: a search over
    many plans changes them millions of times.
    """

    def __init__(self) -> None:
        self._whole: Counter[DeviceId] = Counter()
        self._shares: Counter[DeviceId] = Counter()
        self._sized_shares: Counter[DeviceId] = Counter()
        self._consumed: dict[DeviceId, Counter[str]] = {}
        self.changed: list[DeviceId] = []
        self.epoch = 0
        self._free: dict[DevicePool, Sequence[int]] = {}
        self._kept_free: dict[PoolKey, list[DevicePool]] = {}

    def change(self, results: Iterable[AllocationResult], sign: int) -> None:
        """Takes the devices of an allocation (`sign` 1), or gives them back (-1)."""
        for each in results:
            if each.has_admin_access:
                continue
            if each.is_shared:
                _add(self._shares, each.device, sign)
                if each.consumed:
                    _add(self._sized_shares, each.device, sign)
                    self._consume(each.device, each.consumed, sign)
            else:
                _add(self._whole, each.device, sign)
            self._note(each.device)
            for pool in self._kept_free.pop(PoolKey(each.device.driver, each.device.pool), ()):
                del self._free[pool]

    def _note(self, device: DeviceId) -> None:
        if len(self.changed) >= _LONGEST_EPOCH:
            self.changed.clear()
            self.epoch += 1
        self.changed.append(device)

    def is_taken(self, device: DeviceId) -> bool:
        """Whether it is in use as a whole."""
        return device in self._whole

    def free_in(self, pool: DevicePool) -> Sequence[int]:
        """The places of the devices of a pool that are not in use as a whole, ascending."""
        known = self._free.get(pool)
        if known is None:
            known = [place for place, device in enumerate(pool.devices) if device.id not in self._whole]
            self._free[pool] = known
            self._kept_free.setdefault(pool.key, []).append(pool)
        return known

    def is_shared(self, device: DeviceId) -> bool:
        """Whether it has a share in use."""
        return device in self._shares

    def is_charged(self, device: DeviceId, rules: DeviceRules) -> bool:
        """Whether its counters are charged already, so that one more share of it costs none.

        kube-scheduler 1.36 charges them again unless a share states what it consumes.
        """
        return device in (self._shares if rules.charges_shared_once else self._sized_shares)

    def has_left(self, device: PoolDevice, amounts: Mapping[str, int]) -> bool:
        """Whether its shares leave so much of its capacities."""
        consumed = self._consumed.get(device.id, _NOTHING)
        capacity = device.body.capacity
        return all(amount + consumed.get(name, 0) <= capacity[name].value for name, amount in amounts.items())

    def fingerprint(self) -> object:
        consumed = [(device, sorted(amounts.items())) for device, amounts in self._consumed.items()]
        return sorted(self._whole.items()), sorted(self._shares.items()), sorted(consumed)

    def _consume(self, device: DeviceId, amounts: Mapping[str, int], sign: int) -> None:
        held = self._consumed.setdefault(device, Counter())
        for name, amount in amounts.items():
            held[name] += sign * amount
            if not held[name]:
                del held[name]
        if not held:
            del self._consumed[device]


def _add(counts: Counter[DeviceId], device: DeviceId, sign: int) -> None:
    counts[device] += sign
    if not counts[device]:
        del counts[device]
