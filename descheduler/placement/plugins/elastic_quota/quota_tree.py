"""One tree of quotas: what their pods request and use, summed up to the root, in the integers of koord-scheduler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from descheduler.model.koordinator.elastic_quota import ElasticQuota
from descheduler.model.requests import ResourceList, ceil_amount

Amounts = NDArray[np.int64]
"""An amount for each resource of a tree, in its order."""
_UNLIMITED = 2**63 - 1
_RANGE = 2**64


def capped(amount: int) -> int:
    """The nearest integer of 64 bits."""
    return max(-_UNLIMITED, min(amount, _UNLIMITED))


def wrapped(amount: int) -> int:
    """What is left of `amount` in 64 bits: the built-in max as thousandths of a cpu comes out as -600."""
    return (amount + 2**63) % _RANGE - 2**63


def row_of(resources: Sequence[str], amounts: ResourceList, missing: int = 0) -> Amounts:
    """`amounts` (nano units) in units, in the order of `resources`; those that it does not name are `missing`."""
    found = (capped(ceil_amount(name, amounts[name])) if name in amounts else missing for name in resources)
    return np.fromiter(found, dtype=np.int64, count=len(resources))


NO_PARENT = -1
"""Stands for the parent of quotas directly below the root, and of those whose parent does not exist."""

_MOST_OF_POD = 2**50


class QuotaTree:
    """The quotas of one tree, by index; arrays of amounts have a row a quota and a column a resource, in units.

    `requests` are at least `mins` for a quota that does not lend; `limited` are they within its max, which is what its
    parent is asked for. `fixed_requests` and `fixed_used` are those of non-preemptible pods. `allocated` and
    `guaranteed` stay 0 unless `guarantees_usage` (gate ElasticQuotaGuaranteeUsage), with which no quota lends.
    """

    def __init__(self, quotas: Sequence[ElasticQuota], *, guarantees_usage: bool = False) -> None:
        self.quotas = tuple(quotas)
        self.index = {quota.name: index for index, quota in enumerate(self.quotas)}
        self.resources = tuple(sorted({name for quota in self.quotas for name in quota.max}))
        self.parents = _parents(self.quotas, self.index)
        self.mins = self.table([quota.min for quota in self.quotas])
        self.lends: NDArray[np.bool_] = np.array([q.lends and not guarantees_usage for q in self.quotas], dtype=bool)
        self._most = self.table([quota.max for quota in self.quotas], missing=_UNLIMITED)
        self._guarantees_usage = guarantees_usage
        self._changed: list[set[int]] = []
        size = self.mins.shape
        self.child_requests, self.requests, self.limited, self.used = np.zeros((4, *size), dtype=np.int64)
        self.fixed_requests, self.fixed_used, self.allocated, self.guaranteed = np.zeros((4, *size), dtype=np.int64)
        asks_for_nothing = self.lends & (self._most >= 0).all(axis=1)
        for index in (~asks_for_nothing).nonzero()[0].tolist():
            self._request_more(index, self._nothing)
        for index in range(len(self.quotas)) if guarantees_usage else ():
            self._allocate(index, self._nothing)

    def changed(self) -> set[int]:
        """A set to which every quota is added from now on of which `limited` or `guaranteed` change."""
        self._changed.append(set())
        return self._changed[-1]

    def table(self, lists: Sequence[ResourceList], missing: int = 0) -> Amounts:
        """Amounts (nano units) of each quota as an array in units."""
        rows = [row_of(self.resources, each, missing) for each in lists]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(self.resources))

    def charge(self, index: int, requests: ResourceList) -> Amounts:
        """What a pod with `requests` (nano units) is charged in the quota `index`: only what its max names counts.

        Amounts that no machine has are cut, so that thousands of them stay in 64 bits.
        """
        most = self.quotas[index].max
        charged = row_of(self.resources, {name: nano for name, nano in requests.items() if name in most})
        return np.clip(charged, -_MOST_OF_POD, _MOST_OF_POD)

    def path(self, index: int) -> Iterator[int]:
        """The quota and its parents below the root, upwards."""
        while index != NO_PARENT:
            yield index
            index = self.parents[index]

    def add_request(self, index: int, amounts: Amounts, *, is_fixed: bool = False) -> None:
        """Adds what pods of the quota `index` request, negative to take it back.

        `is_fixed` is true of non-preemptible pods.
        """
        if is_fixed:
            for each in self.path(index):
                self.fixed_requests[each] += amounts
        self._request_more(index, amounts)

    def add_used(self, index: int, amounts: Amounts, *, is_fixed: bool = False) -> None:
        """Adds what placed pods of the quota `index` use, negative to take it back."""
        for each in self.path(index):
            self.used[each] += amounts
            if is_fixed:
                self.fixed_used[each] += amounts
        if self._guarantees_usage:
            self._allocate(index, amounts)

    @property
    def _nothing(self) -> Amounts:
        return np.zeros(len(self.resources), dtype=np.int64)

    def _request_more(self, index: int, amounts: Amounts) -> None:
        """`recursiveUpdateGroupTreeWithDeltaRequest` of `group_quota_manager.go`."""
        for each in self.path(index):
            self.child_requests[each] += amounts
            wanted = self.child_requests[each]
            self.requests[each] = wanted if self.lends[each] else np.maximum(wanted, self.mins[each])
            before = self.limited[each].copy()
            self.limited[each] = np.minimum(self.requests[each], self._most[each])
            amounts = self.limited[each] - before
            if not amounts.any():
                return
            self._note(each)

    def _allocate(self, index: int, amounts: Amounts) -> None:
        """`recursiveUpdateGroupTreeWithDeltaAllocated` of `group_quota_manager.go`."""
        for each in self.path(index):
            self.allocated[each] += amounts
            before = self.guaranteed[each].copy()
            self.guaranteed[each] = np.maximum(self.allocated[each], self.mins[each])
            amounts = self.guaranteed[each] - before
            if not amounts.any():
                return
            self._note(each)

    def _note(self, index: int) -> None:
        for changed in self._changed:
            changed.add(index)


def _parents(quotas: Sequence[ElasticQuota], index: Mapping[str, int]) -> list[int]:
    """The index of each quota's parent. A loop, which the webhook refuses, is opened where it was closed."""
    parents = [index.get(quota.parent, NO_PARENT) for quota in quotas]
    walk_of = [NO_PARENT] * len(parents)  # the start from which a quota was come by
    for start in range(len(parents)):
        each = start
        while walk_of[each] == NO_PARENT:
            walk_of[each] = start
            if parents[each] == NO_PARENT:
                break
            if walk_of[parents[each]] == start:
                parents[each] = NO_PARENT
                break
            each = parents[each]
    return parents
