"""Why the devices that a node sees do not do for claims: the first test that each device fails, counted in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from descheduler.model.node import Node
from descheduler.model.text.counted import counted
from descheduler.placement.plugins.dynamic_resources.pools import DevicePool, PoolDevice, PoolState
from descheduler.placement.plugins.dynamic_resources.requests import AskedClaim, AskedDevices
from descheduler.placement.plugins.dynamic_resources.rules import DeviceRules
from descheduler.placement.plugins.dynamic_resources.search.constraints import attribute_of, consumption
from descheduler.placement.plugins.dynamic_resources.usage import CounterAccounts, DeviceUsage

_STATES = {
    PoolState.INCOMPLETE: "is incomplete: its driver has not published all ResourceSlices of it",
    PoolState.OBSOLETE: "is being updated: its driver has published a newer generation of it elsewhere",
    PoolState.INVALID: "is invalid: names of devices or counter sets occur twice, or counters are not defined",
    PoolState.UNKNOWN: "is being updated: its ResourceSlices disagree on resourceSliceCount",
}
_TOGETHER = "each request has enough devices for itself; together they do not fit"


class _Test(NamedTuple):
    """What a device fails at, as it is said of one device and of several; `is_meant` where the request is for it."""

    one: str
    several: str
    is_meant: bool = True

    def said_of(self, number: int) -> str:
        """The same with how many devices it is true of."""
        return f"{number} {self.one if number == 1 else self.several}"


_FREE = _Test("can be taken", "can be taken")
_ALLOCATED = _Test("is allocated", "are allocated")
_FAR = _Test("cannot be used from the node", "cannot be used from the node", is_meant=False)
_SMALL = _Test("has too little capacity", "have too little capacity", is_meant=False)
_COUNTERS = _Test("needs more of shared counters than is left", "need more of shared counters than is left")


def device_shortages(
    claims: Sequence[tuple[str, AskedClaim]],
    node: Node,
    pools: Sequence[DevicePool],
    usage: DeviceUsage,
    rules: DeviceRules,
) -> Iterator[str]:
    """A sentence for each of `pools` that cannot be used, and for each request that has too few devices on `node`.

    `claims` come with their titles.
    """
    yield from (f"pool {pool.name} {_STATES[pool.state]}" for pool in pools if pool.state in _STATES)
    tests = _Tests(node, usage, rules)
    found = [(pool, each) for pool in pools if pool.state is PoolState.COMPLETE for each in pool.devices]
    said = False
    for title, claim in claims:
        for asked in (choice for request in claim.requests for choice in request.choices):
            counts = Counter(tests.first_failed(claim, asked, pool, device) for pool, device in found)
            if not _is_enough(asked, counts):
                said = True
                yield f"{title}, request {asked.name} ({_wanted(asked)}): {_counted(counts)}"
    if not said and found:
        yield _TOGETHER


def _is_enough(asked: AskedDevices, counts: Counter[_Test]) -> bool:
    if not asked.is_all:
        return counts[_FREE] >= asked.number
    return 0 < counts[_FREE] == sum(number for test, number in counts.items() if test.is_meant)


def _wanted(asked: AskedDevices) -> str:
    return "allocationMode: All" if asked.is_all else f"count: {asked.number}"


def _counted(counts: Counter[_Test]) -> str:
    if not counts:
        return "the node has no devices"
    parts = ", ".join(test.said_of(number) for test, number in counts.most_common())
    return f"{counted(counts.total(), 'device')}: {parts}"


class _Tests:
    """The tests of one device, in the order of the search."""

    def __init__(self, node: Node, usage: DeviceUsage, rules: DeviceRules) -> None:
        self._node = node
        self._usage = usage
        self._rules = rules
        self._accounts = CounterAccounts(usage, counts_by_driver=rules.counts_by_driver)

    def first_failed(self, claim: AskedClaim, asked: AskedDevices, pool: DevicePool, device: PoolDevice) -> _Test:
        """The first test that a device fails for a request."""
        if self._usage.is_taken(device.id) and not asked.has_admin_access:
            return _ALLOCATED
        if selector := asked.first_failing(device):
            return _Test(f"fails {selector}", f"fail {selector}", is_meant=False)
        if not device.is_usable_from(self._node):
            return _FAR
        if not self._has_capacity(asked, device):
            return _SMALL
        if not self._has_counters(pool, device):
            return _COUNTERS
        taint = next((each for each in device.taints if not asked.tolerates_taint(each)), None)
        if taint is not None:
            return _Test(f"is tainted ({taint.effect} {taint.key})", f"are tainted ({taint.effect} {taint.key})")
        for each in claim.constraints:
            if each.concerns(asked.request, asked.alternative) and attribute_of(each.attribute, device) is None:
                return _Test(f"lacks attribute {each.attribute}", f"lack attribute {each.attribute}")
        return _FREE

    def _has_capacity(self, asked: AskedDevices, device: PoolDevice) -> bool:
        amounts = consumption(device.body.capacity, asked.capacity)
        return amounts is not None and (not device.body.allows_multiple or self._usage.has_left(device, amounts))

    def _has_counters(self, pool: DevicePool, device: PoolDevice) -> bool:
        if not device.body.consumes or self._usage.is_charged(device.id, self._rules):
            return True
        return self._accounts.has_left(pool, device)
