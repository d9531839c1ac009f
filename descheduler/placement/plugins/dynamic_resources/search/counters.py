"""Counters that the devices of a pool share: what is left of them during one attempt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping

from descheduler.placement.plugins.dynamic_resources.pools import DevicePool, PoolDevice
from descheduler.placement.plugins.dynamic_resources.usage import DeviceUsage

__all__ = ["CounterAccounts"]

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
