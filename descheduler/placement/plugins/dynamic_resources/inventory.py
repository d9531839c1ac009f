"""How many devices a node has, by driver and class, and how many of them are free."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from descheduler.model.node import Node
from descheduler.placement.plugins.dynamic_resources.grants import ClaimGrants
from descheduler.placement.plugins.dynamic_resources.pools import DevicePool, PoolDevice, PoolState
from descheduler.placement.plugins.dynamic_resources.requests import AttemptError, UnknownAllocation
from descheduler.placement.plugins.dynamic_resources.rules import DeviceRules
from descheduler.placement.plugins.dynamic_resources.usage import CounterAccounts
from descheduler.placement.shadow.shadow_cluster import ShadowCluster


class DeviceCount(msgspec.Struct, frozen=True):
    """Devices of one `driver` that one class selects; `device_class` is empty for devices that no class selects.

    `in_use` are allocated whole, `shared` in part. `tainted` ones are neither, and have a taint of effect NoSchedule or
    NoExecute. `unusable` ones belong to a pool that the scheduler cannot use now, or need more shared counters than are
    left.
    """

    driver: str
    device_class: str
    total: int
    in_use: int
    shared: int
    tainted: int
    unusable: int

    @property
    def free(self) -> int:
        """All others."""
        return self.total - self.in_use - self.shared - self.tainted - self.unusable


class DeviceInventory:
    """The devices of one shadow cluster, as it is when it is asked."""

    def __init__(self, cluster: ShadowCluster) -> None:
        grants = cluster.follow(ClaimGrants)
        self._usage = grants.usage
        self._classes = sorted(grants.catalog.classes.values(), key=lambda each: each.name)
        self._selectors = grants.catalog.selectors
        self._rules = DeviceRules.of(cluster.version)
        self._pools = grants.catalog.pools(self._rules)

    def on(self, node: Node) -> tuple[DeviceCount, ...]:
        """The devices of a node, by driver and class; a device that two classes select counts for both."""
        states: dict[tuple[str, str], list[str]] = {}
        accounts = CounterAccounts(self._usage, counts_by_driver=self._rules.counts_by_driver)
        for pool in self._pools.seen_from(node):
            for device in pool.devices:
                if device.is_usable_from(node):
                    for name in list(self._classes_of(device)) or [""]:
                        states.setdefault((device.id.driver, name), []).append(self._state(device, pool, accounts))
        return tuple(
            DeviceCount(driver, name, len(found), *map(found.count, ("in use", "shared", "tainted", "unusable")))
            for (driver, name), found in sorted(states.items())
        )

    def _state(self, device: PoolDevice, pool: DevicePool, accounts: CounterAccounts) -> str:
        if self._usage.is_taken(device.id):
            return "in use"
        if self._usage.is_shared(device.id):
            return "shared"
        if pool.state is not PoolState.COMPLETE or (device.body.consumes and not accounts.has_left(pool, device)):
            return "unusable"
        return "tainted" if device.taints else "free"

    def _classes_of(self, device: PoolDevice) -> Iterator[str]:
        for each in self._classes:
            try:
                if self._selectors.select(self._selectors.of(each.selectors), device):
                    yield each.name
            except (AttemptError, UnknownAllocation):
                continue
