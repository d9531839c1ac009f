"""What each quota of a tree may use now: the runtime quota of koordinator 1.8 (`RefreshRuntime`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.model.koordinator.elastic_quota import DEFAULT_QUOTA, ROOT_QUOTA, SYSTEM_QUOTA
from descheduler.model.requests import ResourceList, ceil_amount
from descheduler.placement.plugins.elastic_quota.quota_tree import NO_PARENT, Amounts, QuotaTree, row_of, wrapped

_Columns = NDArray[np.intp] | slice
_ALL = slice(None)


class _SiblingShares:
    """Shares of a total among children that have `mins` and `weights`, of which those that `lends` marks lend.

    All arrays have a row a resource and a column a child. `is_known` marks the resources of which mins are scaled. A
    child that wants more than its floor, which is its scaled min or what it is guaranteed, gets the floor first; any
    other gets what it wants, or the floor if it does not lend. What is left is filled up by weight.
    """

    def __init__(self, mins: Amounts, weights: Amounts, lends: NDArray[np.bool_], is_known: NDArray[np.bool_]) -> None:
        self._own_mins = mins
        self._weights = weights
        self._lends = lends
        self._is_known = is_known
        self._wanted = np.zeros_like(mins)
        self._guaranteed = np.zeros_like(mins)
        self._mins = mins
        self._first = np.zeros_like(mins)
        self._sums: Amounts = np.zeros(len(mins), dtype=np.int64)
        self._is_hungry: NDArray[np.bool_] = np.zeros(mins.shape, dtype=bool)
        self._may_get_more: NDArray[np.bool_] = np.zeros(len(lends), dtype=bool)
        self._total: Amounts | None = None
        self._filled: tuple[NDArray[np.intp], Amounts] | None = None

    def change(self, columns: NDArray[np.intp], wanted: Amounts, guaranteed: Amounts) -> None:
        """What the children of these columns, each once, want and are guaranteed from now on."""
        is_new = (self._wanted[:, columns] != wanted) | (self._guaranteed[:, columns] != guaranteed)
        if is_new.any():
            self._wanted[:, columns], self._guaranteed[:, columns] = wanted, guaranteed
            self._give_first(columns)

    def min_of(self, column: int, total: Amounts) -> Amounts:
        """The scaled min of one child where there is `total` for all."""
        self._share(total)
        return self._mins[:, column].copy()

    def of(self, column: int, total: Amounts) -> Amounts:
        """What one child gets where there is `total` for all."""
        self._share(total)
        if self._filled is None:
            self._filled = self._fill_up(total - self._sums)
        if not self._may_get_more[column]:
            return self._first[:, column].copy()
        columns, filled = self._filled
        return filled[:, columns.searchsorted(column)].copy()

    def _share(self, total: Amounts) -> None:
        if self._total is not None and np.array_equal(self._total, total):
            return
        mins = _scaled_mins(self._own_mins, total, self._is_known)
        is_first = self._total is None
        self._total, self._filled = total, None
        if is_first or mins is not self._mins:
            self._mins = mins
            self._give_first(_ALL)

    def _give_first(self, columns: _Columns) -> None:
        wanted = self._wanted[:, columns]
        floors = np.maximum(self._mins[:, columns], self._guaranteed[:, columns])
        is_hungry = wanted > floors
        first = np.where(is_hungry | ~self._lends[columns], floors, wanted)
        self._sums = self._sums + first.sum(axis=1) - self._first[:, columns].sum(axis=1)
        self._first[:, columns] = first
        self._is_hungry[:, columns] = is_hungry
        self._may_get_more[columns] = is_hungry.any(axis=0)
        self._filled = None

    def _fill_up(self, rest: Amounts) -> tuple[NDArray[np.intp], Amounts]:
        """The columns, in order, of children that do not have enough at first, and what these get."""
        (columns,) = self._may_get_more.nonzero()
        wanted, weights = self._wanted.take(columns, axis=1), self._weights.take(columns, axis=1)
        first, is_hungry = self._first.take(columns, axis=1), self._is_hungry.take(columns, axis=1)
        return columns, _fill_up(rest, wanted, weights, first, is_hungry)


def _scaled_mins(mins: Amounts, total: Amounts, is_known: NDArray[np.bool_]) -> Amounts:
    """The min of each child, in proportion less where there is less than all mins together (koordinator 1.8).

    Resources that `is_known` does not mark, as nothing has them, are not scaled. Fractions are cut off, in float64 as
    in `scale_minquota_when_over_root_res.go`.
    """
    sums = mins.sum(axis=1)
    short = is_known & (total < sums)
    if not short.any():
        return mins
    scaled = mins.copy()
    for row in short.nonzero()[0].tolist():
        if total[row] <= 0:
            scaled[row] = 0
        else:
            scaled[row] = (float(total[row]) * mins[row].astype(np.float64) / float(sums[row])).astype(np.int64)
    return scaled


def _fill_up(
    rest: Amounts, wanted: Amounts, weights: Amounts, shares: Amounts, is_hungry: NDArray[np.bool_]
) -> Amounts:
    """`shares` with what is left, `rest`: it goes to those that want more, by weight, up to what they want.

    `rest` has one entry a resource. Whoever has enough leaves the rest to the others. Each share is rounded half up on
    its own, in float64, so that the sum may miss the total by half a unit a child and round (koordinator 1.8
    `runtime_quota_calculator.go`; its main branch hands out exactly what is left).
    """
    while (rest > 0).any():
        weight_sums = np.where(is_hungry, weights, 0).sum(axis=1)
        goes_on = (rest > 0) & (weight_sums > 0)
        if not goes_on.any():
            break
        is_hungry = is_hungry & goes_on[:, None]
        divisors = np.where(goes_on, weight_sums, 1).astype(np.float64)
        exact = weights.astype(np.float64) * rest.astype(np.float64)[:, None] / divisors[:, None]
        grown = shares + (np.where(is_hungry, exact, 0.0) + 0.5).astype(np.int64)
        has_enough = is_hungry & (grown >= wanted)
        rest = np.where(has_enough, grown - wanted, 0).sum(axis=1)
        shares = np.where(has_enough, wanted, np.where(is_hungry, grown, shares))
        is_hungry &= ~has_enough
    return shares


class _Siblings(NamedTuple):
    """The children of one parent, `NO_PARENT` of those below the root or without their parent."""

    parent: int
    is_of_root: bool
    children: NDArray[np.intp]
    shares: _SiblingShares


class RuntimeQuota:
    """The runtime quotas of `tree`, for the sums that it holds when asked; `total` is what there is for all of them.

    Computing is eager: an answer counts with every quota as it is, while koord-scheduler refreshes only the path of the
    quota that it asks about. `scales_mins` is `enableMinQuotaScale`. Quotas are given of those resources alone that the
    max of their parent names, which for a valid tree are all that matter.
    """

    def __init__(self, tree: QuotaTree, total: ResourceList, *, scales_mins: bool = True) -> None:
        self._tree = tree
        self._total = row_of(tree.resources, total)
        self._is_known: NDArray[np.bool_] = np.array([name in total for name in tree.resources], dtype=bool)
        self._is_given = self._given_resources()
        self._built_in = [tree.index[name] for name in (DEFAULT_QUOTA, SYSTEM_QUOTA) if name in tree.index]
        self._siblings_of: dict[int, tuple[_Siblings, int]] = {}
        for siblings in self._families(scales_mins=scales_mins):
            for column, child in enumerate(siblings.children.tolist()):
                self._siblings_of[child] = siblings, column
            self._change(siblings, siblings.children.tolist())
        self._changed = tree.changed()

    @property
    def total(self) -> Amounts:
        """What there is for the quotas below the root: pods of the default and the system quota take of it first."""
        taken: Amounts = self._tree.used[self._built_in].sum(axis=0)
        return self._total - taken

    def of(self, index: int) -> Amounts:
        """What the quota `index` may use now, of each resource of the tree; 0 of those that it is not given."""
        siblings, column = self._siblings_of[index]
        return self._given(index, siblings.shares.of(column, self._total_of(siblings)))

    def limits(self, index: int) -> frozenset[str]:
        """The resources of which the quota `index` has a runtime quota."""
        most, names = self._tree.quotas[index].max, self._tree.resources
        return frozenset(name for name, is_given in zip(names, self._is_given[index], strict=True) if is_given) & set(
            most
        )

    def scaled_min(self, index: int) -> Amounts:
        """The min of the quota `index`, in proportion less where its parent has less than its children's mins."""
        siblings, column = self._siblings_of[index]
        return siblings.shares.min_of(column, self._total_of(siblings))

    def _total_of(self, siblings: _Siblings) -> Amounts:
        """What there is for them; each parent is asked before its children, as a tree may be too deep to recurse."""
        self._keep_up()
        path = []
        while siblings.parent != NO_PARENT:
            path.append(siblings.parent)
            siblings = self._siblings_of[siblings.parent][0]
        total = self.total if siblings.is_of_root else np.zeros_like(self._total)
        for parent in reversed(path):
            siblings, column = self._siblings_of[parent]
            total = self._given(parent, siblings.shares.of(column, total))
        return total

    def _given(self, index: int, amounts: Amounts) -> Amounts:
        return np.where(self._is_given[index], amounts, 0)

    def _keep_up(self) -> None:
        """Tells the shares of what changed in the tree."""
        changed: dict[int, list[int]] = {}
        for index in self._changed:
            changed.setdefault(id(self._siblings_of[index][0]), []).append(index)
        for indices in changed.values():
            self._change(self._siblings_of[indices[0]][0], indices)
        self._changed.clear()

    def _change(self, siblings: _Siblings, indices: Sequence[int]) -> None:
        columns = np.array([self._siblings_of[index][1] for index in indices], dtype=np.intp)
        siblings.shares.change(columns, self._tree.limited[indices].T, self._tree.guaranteed[indices].T)

    def _given_resources(self) -> NDArray[np.bool_]:
        """A row a quota: whether it is given of a resource."""
        tree = self._tree
        rows = [
            [parent == NO_PARENT or name in tree.quotas[parent].max for name in tree.resources]
            for parent in tree.parents
        ]
        return np.array(rows, dtype=bool).reshape(tree.mins.shape)

    def _families(self, *, scales_mins: bool) -> Iterator[_Siblings]:
        tree = self._tree
        families: dict[tuple[int, bool], list[int]] = {}
        for index, parent in enumerate(tree.parents):
            is_of_root = parent == NO_PARENT and tree.quotas[index].parent == ROOT_QUOTA
            families.setdefault((parent, is_of_root), []).append(index)
        weights = np.array(
            [
                [wrapped(ceil_amount(name, q.shared_weight.get(name, 0))) for name in tree.resources]
                for q in tree.quotas
            ],
            dtype=np.int64,
        ).reshape(tree.mins.shape)
        for (parent, is_of_root), children in families.items():
            is_known = self._is_known if parent == NO_PARENT else self._is_given[parent]
            shares = _SiblingShares(
                np.ascontiguousarray(tree.mins[children].T),
                np.ascontiguousarray(weights[children].T),
                tree.lends[children],
                is_known & scales_mins,
            )
            yield _Siblings(parent, is_of_root, np.array(children, dtype=np.intp), shares)
