"""What each quota of a tree may use now: the runtime quota of koordinator 1.8 (`RefreshRuntime`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.model.koordinator.elastic_quota import DEFAULT_QUOTA, ROOT_QUOTA, SYSTEM_QUOTA
from descheduler.model.requests import ResourceList, ceil_amount
from descheduler.placement.plugins.elastic_quota.quota_tree import NO_PARENT, QuotaTree
from descheduler.placement.plugins.elastic_quota.sibling_shares import SiblingShares
from descheduler.placement.plugins.elastic_quota.units import Amounts, row_of, wrapped

__all__ = ["RuntimeQuota"]


class _Siblings(NamedTuple):
    """The children of one parent, `NO_PARENT` of those below the root or without their parent."""

    parent: int
    is_of_root: bool
    children: NDArray[np.intp]
    shares: SiblingShares


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
            shares = SiblingShares(
                np.ascontiguousarray(tree.mins[children].T),
                np.ascontiguousarray(weights[children].T),
                tree.lends[children],
                is_known & scales_mins,
            )
            yield _Siblings(parent, is_of_root, np.array(children, dtype=np.intp), shares)
