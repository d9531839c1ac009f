"""What each quota of a tree may use now: the runtime quota of koordinator 1.8 (`RefreshRuntime`)."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.model.koordinator.elastic_quota import DEFAULT_QUOTA, ROOT_QUOTA, SYSTEM_QUOTA
from descheduler.model.requests import ResourceList
from descheduler.placement.plugins.elastic_quota.quota_tree import NO_PARENT, QuotaTree
from descheduler.placement.plugins.elastic_quota.units import Amounts, in_units, row_of, wrapped
from descheduler.placement.plugins.elastic_quota.water_filling import scaled_mins, share_out

__all__ = ["RuntimeQuota"]

_MOST_KEPT = 64
"""Results of one parent that are kept: evicting a pod and placing its replacement leads back to the same requests."""


class _Shares(NamedTuple):
    """What the children of one parent may use, and their scaled mins: a row a resource, a column a child."""

    runtimes: Amounts
    mins: Amounts


class _Siblings(msgspec.Struct):
    """The children of one parent, `NO_PARENT` of those below the root or without their parent."""

    parent: int
    is_of_root: bool
    children: NDArray[np.intp]
    lends: NDArray[np.bool_]
    weights: Amounts
    mins: Amounts
    kept: dict[bytes, _Shares] = msgspec.field(default_factory=dict)


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
        self._scales_mins = scales_mins
        self._is_given = self._given_resources()
        self._built_in = [tree.index[name] for name in (DEFAULT_QUOTA, SYSTEM_QUOTA) if name in tree.index]
        self._siblings_of: dict[int, tuple[_Siblings, int]] = {}
        for siblings in self._families():
            for column, child in enumerate(siblings.children.tolist()):
                self._siblings_of[child] = siblings, column

    @property
    def total(self) -> Amounts:
        """What there is for the quotas below the root: pods of the default and the system quota take of it first."""
        taken: Amounts = self._tree.used[self._built_in].sum(axis=0)
        return self._total - taken

    def of(self, index: int) -> Amounts:
        """What the quota `index` may use now, of each resource of the tree; 0 of those that it is not given."""
        siblings, column = self._siblings_of[index]
        return np.where(self._is_given[index], self._shares(siblings).runtimes[:, column], 0)

    def limits(self, index: int) -> frozenset[str]:
        """The resources of which the quota `index` has a runtime quota."""
        most, names = self._tree.quotas[index].max, self._tree.resources
        return frozenset(name for name, is_given in zip(names, self._is_given[index], strict=True) if is_given) & set(
            most
        )

    def scaled_min(self, index: int) -> Amounts:
        """The min of the quota `index`, in proportion less where its parent has less than its children's mins."""
        siblings, column = self._siblings_of[index]
        return self._shares(siblings).mins[:, column]

    def _shares(self, siblings: _Siblings) -> _Shares:
        """What they get; each parent is asked before its children, as a tree may be too deep to recurse."""
        path = [siblings]
        while path[-1].parent != NO_PARENT:
            path.append(self._siblings_of[path[-1].parent][0])
        shares = self._shared_out(path[-1], self.total if path[-1].is_of_root else np.zeros_like(self._total))
        for each in reversed(path[:-1]):
            _, column = self._siblings_of[each.parent]
            given = np.where(self._is_given[each.parent], shares.runtimes[:, column], 0)
            shares = self._shared_out(each, given)
        return shares

    def _shared_out(self, siblings: _Siblings, total: Amounts) -> _Shares:
        """What they get where their parent has `total` for them."""
        tree, children = self._tree, siblings.children
        is_known = self._is_known if siblings.parent == NO_PARENT else self._is_given[siblings.parent]
        wanted, guaranteed = tree.limited.take(children, axis=0).T, tree.guaranteed.take(children, axis=0).T
        key = total.tobytes() + wanted.tobytes() + guaranteed.tobytes()
        known = siblings.kept.get(key)
        if known is None:
            mins = scaled_mins(siblings.mins, total, is_known) if self._scales_mins else siblings.mins
            runtimes = share_out(total, wanted, siblings.weights, np.maximum(mins, guaranteed), siblings.lends)
            if len(siblings.kept) >= _MOST_KEPT:
                siblings.kept.clear()
            known = siblings.kept[key] = _Shares(runtimes, mins)
        return known

    def _given_resources(self) -> NDArray[np.bool_]:
        """A row a quota: whether it is given of a resource."""
        tree = self._tree
        rows = [
            [parent == NO_PARENT or name in tree.quotas[parent].max for name in tree.resources]
            for parent in tree.parents
        ]
        return np.array(rows, dtype=bool).reshape(tree.mins.shape)

    def _families(self) -> list[_Siblings]:
        tree = self._tree
        families: dict[tuple[int, bool], list[int]] = {}
        for index, parent in enumerate(tree.parents):
            is_of_root = parent == NO_PARENT and tree.quotas[index].parent == ROOT_QUOTA
            families.setdefault((parent, is_of_root), []).append(index)
        weights = np.array(
            [[wrapped(in_units(name, q.shared_weight.get(name, 0))) for name in tree.resources] for q in tree.quotas],
            dtype=np.int64,
        ).reshape(tree.mins.shape)
        return [
            _Siblings(
                parent,
                is_of_root,
                np.array(children, dtype=np.intp),
                tree.lends[children],
                np.ascontiguousarray(weights[children].T),
                np.ascontiguousarray(tree.mins[children].T),
            )
            for (parent, is_of_root), children in families.items()
        ]
