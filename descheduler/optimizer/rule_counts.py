"""How often each group of a rule is in each domain, kept as pods move, and which moves the rule leaves open.

Counts have one row and one column more than there are groups and domains: what belongs to none (-1) lands there, by
numpy's own indexing, and is never looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from descheduler.optimizer.arrays import PENDING, Bools, Ints
from descheduler.optimizer.rules import AtMost, MaxSkew, MinDomains, MoveLimit, Rule, Together

_Counts = npt.NDArray[np.int32]


class RuleCounts(Protocol):
    """What one rule knows of a placement."""

    def open_moves(self, pods: Ints, sources: Ints, nodes: Ints) -> Bools | None:
        """bool[k, n]: whether each pod may go from its node in `sources` to each of `nodes`, alone; None: all may."""
        ...

    def move(self, pod: int, source: int, target: int) -> None:
        """Takes note of a move that was made; either end may be -1 (pending)."""
        ...


def count_rules(rules: Sequence[Rule], origins: Ints, assignment: Ints) -> list[RuleCounts]:
    """The counts of `rules` where pods are at `assignment` and were at `origins` before the plan."""
    limits = [rule for rule in rules if isinstance(rule, MoveLimit)]
    others = [_count_rule(rule, origins, assignment) for rule in rules if not isinstance(rule, MoveLimit)]
    return [*others, MovedCounts(limits, origins, assignment)] if limits else others


def _count_rule(rule: AtMost | MaxSkew | MinDomains | Together, origins: Ints, assignment: Ints) -> RuleCounts:
    match rule:
        case AtMost():
            return AtMostCounts(rule, assignment)
        case MaxSkew():
            return SkewCounts(rule, origins, assignment)
        case MinDomains():
            return DomainCounts(rule, assignment)
        case Together():
            return TogetherCounts(rule, assignment)


def _domain_of(rule: AtMost | MaxSkew | MinDomains | Together) -> Ints:
    """int64[N + 1]: the domain of each node, and of no node."""
    return np.append(rule.domain, -1)


def _count(group: Ints, domain: Ints, assignment: Ints, num_groups: int) -> _Counts:
    counts = np.zeros((num_groups + 1, int(domain.max(initial=-1)) + 2), np.int32)
    np.add.at(counts, (group, domain[assignment]), 1)
    return counts


def _binding(group: Ints, can_bind: Bools) -> tuple[Ints, Ints]:
    """The groups renumbered without those that cannot bind, which become -1, and the old number of each new one."""
    kept = np.flatnonzero(can_bind)
    number = np.full(len(can_bind) + 1, -1)
    number[kept] = np.arange(len(kept))
    return number[group], kept


class AtMostCounts:
    """Groups of no more pods than their limit are not counted."""

    def __init__(self, rule: AtMost, assignment: Ints) -> None:
        sizes = np.bincount(rule.group + 1, minlength=len(rule.limit) + 1)[1:]
        self.group, kept = _binding(rule.group, sizes > rule.limit)
        self.domain = _domain_of(rule)
        self.counts = _count(self.group, self.domain, assignment, len(kept))
        self.limit = np.append(rule.limit[kept], len(rule.group))

    def open_moves(self, pods: Ints, sources: Ints, nodes: Ints) -> Bools | None:
        group = self.group[pods]
        if not (group >= 0).any():
            return None
        target = self.domain[nodes]
        is_open: Bools = self.counts[group[:, None], target] < self.limit[group][:, None]
        is_open |= (self.domain[sources][:, None] == target) | (target < 0)
        return is_open

    def move(self, pod: int, source: int, target: int) -> None:
        row = self.counts[self.group[pod]]
        row[self.domain[source]] -= 1
        row[self.domain[target]] += 1


class SkewCounts:
    """How many pods of each group are in each domain, in the emptiest one that is there, and in the fullest one."""

    def __init__(self, rule: MaxSkew, origins: Ints, assignment: Ints) -> None:
        self._rule, self._group, self._domain, self._origins = rule, rule.group, _domain_of(rule), origins
        self._holds_first = rule.holds_first
        num_groups, _ = rule.there.shape
        self._counts = np.pad(rule.count(assignment), ((0, 1), (0, 1)))
        self._skew = np.append(rule.skew, len(rule.group) + 1)
        self._there = np.zeros(self._counts.shape, bool)
        self._there[:num_groups, :-1] = rule.there
        self._least = np.zeros(num_groups + 1, np.int64)
        self._most = np.zeros(num_groups + 1, np.int64)
        for group in range(num_groups):
            self._sum_up(group)

    def _sum_up(self, group: int) -> None:
        row, there = self._counts[group], self._there[group]
        self._least[group] = row[there].min() if there.any() else 0
        self._most[group] = row[:-1].max(initial=0)

    def open_moves(self, pods: Ints, sources: Ints, nodes: Ints) -> Bools | None:
        group = self._group[pods]
        if not self._rule.holds_for(pods).any():
            return None
        source, target = self._domain[sources], self._domain[nodes]
        now, least, skew = self._counts[group[:, None], target], self._least[group], self._skew[group]
        is_least = self._there[group, source] & (self._counts[group, source] == least)
        after = least - is_least
        is_open: Bools = now + 1 - after[:, None] <= skew[:, None]
        # A pod that leaves the emptiest domain makes all others worse.
        is_open &= (~is_least | (self._most[group] - after <= skew))[:, None]
        stays: Bools = np.asarray(source[:, None] == target)
        if self._holds_first:
            stays &= (now + 1 - least[:, None] <= skew[:, None]) | (self._origins[pods][:, None] == nodes)
            is_open &= source[:, None] != target
        is_open |= stays
        return np.asarray(is_open | (target < 0) | ~self._rule.holds_for(pods)[:, None])

    def may_change(self) -> Bools:
        """bool[G + 1]: whether a pod of each group might leave its domain for another one, as `open_moves` has it.

        The last is of no group.
        """
        counts, least = self._counts[:, :-1], self._least[:, None]
        is_least = self._there[:, :-1] & (counts == least)
        after, skew = least - is_least, self._skew[:, None]
        may_leave = (counts > 0) & (~is_least | (self._most[:, None] - after <= skew))
        # The emptiest domain is the best to go to; of the emptiest itself, the second.
        ranked = np.argsort(counts, axis=1, kind="stable")[:, :2]
        emptiest = np.take_along_axis(counts, ranked, axis=1)
        of_others = np.where(np.arange(counts.shape[1]) == ranked[:, :1], emptiest[:, -1:], emptiest[:, :1])
        is_open = may_leave & (of_others + 1 - after <= skew)
        return np.asarray(is_open.any(axis=1) & (counts.shape[1] > 1))

    def move(self, pod: int, source: int, target: int) -> None:
        group, left, entered = int(self._group[pod]), int(self._domain[source]), int(self._domain[target])
        if group < 0 or left == entered:
            return
        self._counts[group, left] -= 1
        self._counts[group, entered] += 1
        self._sum_up(group)


class DomainCounts:
    """How many domains each group is in."""

    def __init__(self, rule: MinDomains, assignment: Ints) -> None:
        self.group, self.domain = rule.group, _domain_of(rule)
        self.counts = _count(self.group, self.domain, assignment, len(rule.minimum))
        self.covered = (self.counts[:, :-1] > 0).sum(axis=1)
        self.minimum = np.append(rule.minimum, 0)

    def open_moves(self, pods: Ints, sources: Ints, nodes: Ints) -> Bools | None:
        group = self.group[pods]
        if not (group >= 0).any():
            return None
        source, target = self.domain[sources], self.domain[nodes]
        counts, covered = self.counts, self.covered[group]
        lost = (counts[group, source] == 1) & (source >= 0)
        gained = (counts[group[:, None], target] == 0) & (target >= 0)
        after = covered[:, None] - lost[:, None] + gained
        enough: Bools = after >= np.minimum(self.minimum[group], covered)[:, None]
        enough |= source[:, None] == target
        return enough

    def move(self, pod: int, source: int, target: int) -> None:
        group = self.group[pod]
        row, left, entered = self.counts[group], self.domain[source], self.domain[target]
        row[left] -= 1
        self.covered[group] -= int(left >= 0 and row[left] == 0)
        self.covered[group] += int(entered >= 0 and row[entered] == 0)
        row[entered] += 1


class TogetherCounts:
    """`missing[g, d]`: how many groups that g needs have no pod in d; `needed[g, d]`: how many that are in d need g."""

    def __init__(self, rule: Together, assignment: Ints) -> None:
        self.group, self.domain = rule.group, _domain_of(rule)
        pairs = np.unique(rule.pairs[rule.pairs[:, 0] != rule.pairs[:, 1]], axis=0)
        num_groups = 1 + max(int(rule.group.max(initial=-1)), int(pairs.max(initial=-1)))
        self.counts = _count(rule.group, self.domain, assignment, num_groups)
        self.needs = _lists(pairs[:, 0], pairs[:, 1], num_groups)
        self.needed_by = _lists(pairs[:, 1], pairs[:, 0], num_groups)
        present = self.counts > 0
        self.missing = np.zeros_like(self.counts)
        np.add.at(self.missing, pairs[:, 0], (~present[pairs[:, 1]]).astype(np.int32))
        self.needed = np.zeros_like(self.counts)
        np.add.at(self.needed, pairs[:, 1], present[pairs[:, 0]].astype(np.int32))

    def open_moves(self, pods: Ints, sources: Ints, nodes: Ints) -> Bools | None:
        group = self.group[pods]
        source, target = self.domain[sources], self.domain[nodes]
        may_leave = (self.counts[group, source] > 1) | (self.needed[group, source] == 0) | (source < 0)
        may_enter = (self.missing[group[:, None], target] == 0) | (target < 0)
        is_open: Bools = may_leave[:, None] & may_enter
        is_open |= (source[:, None] == target) | (group < 0)[:, None]
        return is_open

    def move(self, pod: int, source: int, target: int) -> None:
        group, left, entered = int(self.group[pod]), int(self.domain[source]), int(self.domain[target])
        if group < 0 or left == entered:
            return
        row = self.counts[group]
        row[left] -= 1
        if row[left] == 0:
            self._flip(group, left, -1)
        if row[entered] == 0:
            self._flip(group, entered, 1)
        row[entered] += 1

    def _flip(self, group: int, domain: int, sign: int) -> None:
        """Takes note that `group` has its first pod in `domain` (+1), or its last one left (-1)."""
        self.missing[self.needed_by[group], domain] -= sign
        self.needed[self.needs[group], domain] += sign


def _lists(keys: Ints, values: Ints, num_keys: int) -> list[Ints]:
    """The values of each key."""
    order = np.argsort(keys, kind="stable")
    cuts = np.searchsorted(keys[order], np.arange(1, num_keys))
    return np.split(values[order], cuts)


class MovedCounts:
    """How many pods of each group of all limits are not where they were before the plan; the groups that can bind.

    The limits are looked at together, a row each: there are ten of them, and moves are asked about one by one.
    """

    def __init__(self, rules: Sequence[MoveLimit], origins: Ints, assignment: Ints) -> None:
        self._origins = origins
        self._group = np.zeros((len(rules), len(origins)), np.int64)
        limits, num_groups = [np.array([len(origins) + 1])], 1
        for row, rule in enumerate(rules):
            sizes = rule.count(np.flatnonzero(origins != PENDING))
            group, kept = _binding(rule.group, sizes > rule.limit)
            # The first cell is of pods that no limit can keep.
            self._group[row] = np.where(group >= 0, group + num_groups, 0)
            limits.append(rule.limit[kept])
            num_groups += len(kept)
        self._group = self._group[self._group.any(axis=1)]
        self._limit: Ints = np.concatenate(limits)
        self._moved = np.zeros(num_groups, np.int64)
        moved = np.flatnonzero((assignment != origins) & (origins != PENDING))
        np.add.at(self._moved, self._group[:, moved], 1)
        self._moved[0] = 0

    def may_leave(self, pods: Ints) -> Bools:
        """bool[k]: whether the limits let each pod that is where it was before the plan leave."""
        group = self._group[:, pods]
        return np.asarray((self._moved[group] < self._limit[group]).all(axis=0))

    def open_moves(self, pods: Ints, sources: Ints, nodes: Ints) -> Bools | None:
        origin = self._origins[pods]
        has_moved = (sources != origin) | (origin == PENDING)
        free: Bools = has_moved | self.may_leave(pods)
        return None if free.all() else free[:, None] | (origin[:, None] == nodes)

    def move(self, pod: int, source: int, target: int) -> None:
        origin = int(self._origins[pod])
        if origin != PENDING and (source == origin) != (target == origin):
            for group in self._group[:, pod].tolist():
                self._moved[group] += 1 if source == origin else -1
            self._moved[0] = 0
