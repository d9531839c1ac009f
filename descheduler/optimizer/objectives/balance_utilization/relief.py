"""How many nodes can be under their ceiling at most, and by how few evictions: one small model over these nodes.

Limits on moves count in total. A pod for which no node has room takes the room of pods that leave there in turn, and
pods for which few nodes have room share these. Where all other pods go is not looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import NamedTuple

import numpy as np

from descheduler.optimizer.arrays import PENDING, Bools, Ints
from descheduler.optimizer.cp_sat.integer_program import IntegerProgram
from descheduler.optimizer.objectives.balance_utilization.ceilings import Ceilings
from descheduler.optimizer.objectives.balance_utilization.large_pods import LargePods, pod_kinds
from descheduler.optimizer.rules import AtMost, MaxSkew

_MOST_DOMAINS = 20
"""Of a topology, for its spread to be a part of the program."""

_WORK = 2.0
"""Of the program: with 100 nodes it is mostly done after half of it, 1 to 2 s; with 500 nodes it takes some 6 s."""


class RelaxedPlan(NamedTuple):
    """`least` is (nodes that are over their ceiling at least, what it costs at least that no more are).

    `leaving` are pods with which the program does that, or as much as it was found to do, and `places` the nodes that
    the large ones of these come to, by their kind, a node once for each pod.
    """

    least: tuple[int, int]
    leaving: Sequence[int]
    places: Mapping[int, Sequence[int]]


def least_relief(ceilings: Ceilings, large: LargePods) -> RelaxedPlan:
    """What relieves the most nodes, by the fewest and then the cheapest evictions."""
    program = _Program(ceilings, large)
    least = program.least()
    return RelaxedPlan(least, program.leaving(), program.places())


@dataclass(frozen=True, slots=True)
class _Counted:
    """How many of `pods`, which are alike, leave a node, or how many such pods come to it, 0 to `most`, by a choice."""

    choice: int
    pods: Ints
    most: int

    @property
    def pod(self) -> int:
        """One of them."""
        return int(self.pods[0])


class _Program:
    """Choices are, of each node, whether it is under its ceiling; how many pods of each kind leave it; and how many
    large pods of each kind come to it."""

    def __init__(self, ceilings: Ceilings, large: LargePods) -> None:
        self._ceilings, self._problem, self._large = ceilings, ceilings.problem, large
        self._program = IntegerProgram(_WORK, restarts=True)
        self._nodes = np.union1d(ceilings.hot, large.nodes)
        self._under = {node: self._program.choose() for node in self._nodes.tolist()}
        for node in np.flatnonzero(~ceilings.was_hot[self._nodes]):  # they stay so
            self._program.limit({self._under[int(self._nodes[node])]: -1}, -1)
        self._leaving: dict[int, list[_Counted]] = {node: [] for node in self._under}
        self._count_leaving()
        self._coming: dict[int, list[_Counted]] = {node: [] for node in self._under}
        self._count_coming()

    @cached_property
    def _movable(self) -> Ints:
        """Pods that can leave one of the nodes."""
        return np.flatnonzero(self._ceilings.leaves & np.isin(self._problem.assignment, self._nodes))

    def _count_leaving(self) -> None:
        pods, problem = self._movable, self._problem
        _, kind = pod_kinds(problem, pods, costs=True)
        places = np.column_stack((problem.assignment[pods], kind))
        _, number = np.unique(places, axis=0, return_inverse=True)
        by_place = pods[np.argsort(number.reshape(-1), kind="stable")]
        for alike in np.split(by_place, np.cumsum(np.bincount(number.reshape(-1)))[:-1]) if len(pods) else ():
            counted = _Counted(self._program.choose(len(alike)), alike, len(alike))
            self._leaving[int(problem.assignment[counted.pod])].append(counted)

    def _count_coming(self) -> None:
        """A large pod that leaves comes to one of the nodes."""
        num_leaving = np.bincount(self._large.kind[self._movable] + 1, minlength=len(self._large.pods) + 1)[1:]
        rows: list[dict[int, int]] = [{} for _ in num_leaving]
        for kind, node in zip(*np.nonzero(self._large.capacity), strict=True):
            most = min(int(num_leaving[kind]), int(self._large.capacity[kind, node]))
            coming = _Counted(self._program.choose(most), self._large.pods[[kind]], most)
            self._coming[int(node)].append(coming)
            rows[kind][coming.choice] = -1
        for each in self._all_leaving:
            if (kind := int(self._large.kind[each.pod])) >= 0:
                rows[kind][each.choice] = 1
        for row in rows:
            self._program.limit(row, 0)

    @property
    def _all_leaving(self) -> Iterator[_Counted]:
        return (each for found in self._leaving.values() for each in found)

    def _require_room(self, node: int) -> None:
        """Others leave for those that come: implied, but in fractions of pods only until it is said."""
        under, own = self._under[node], self._least_counts.get(node, 0)
        row: dict[int, int] = {}
        for each in self._coming[node]:
            need = self._problem.need[each.pod]
            needed, is_under = self._num_needed(node, need, self._sums), self._is_under_for(node, need)
            if is_under:
                self._program.limit({each.choice: 1, under: -each.most}, 0)
            if needed is None:
                self._program.limit({each.choice: 1, under: each.most}, each.most)
            elif needed > own and is_under:
                row[each.choice] = needed - own
                if each.most == 1:
                    self._require_without_large(node, need, is_coming=each.choice)
        if row:
            at_once = self._most_at_once(node, [each.pod for each in self._coming[node] if each.choice in row])
            row |= {each.choice: -at_once for each in self._leaving[node]}
            self._program.limit({**row, under: at_once * own}, 0)

    def _is_under_for(self, node: int, need: Ints) -> bool:
        """Whether a pod of that need comes only if the node is under its ceiling: it takes of all that is over."""
        return bool((need[self._ceilings.usage[node] > self._most[node]] > 0).all())

    def _most_at_once(self, node: int, pods: list[int]) -> int:
        """How many of the pods may come at once at most, if all others leave that can."""
        least = self._problem.need[pods].min(axis=0)
        room = self._ceilings.room[node] - self._stays[node]
        return int((room // np.maximum(least, 1))[least > 0].min(initial=len(self._movable)))

    @cached_property
    def _stays(self) -> Ints:
        """int64[N, R]: what pods use that cannot leave."""
        return self._problem.usage(np.where(self._ceilings.leaves, PENDING, self._problem.assignment))

    def _require_without_large(self, node: int, need: Ints, *, is_coming: int | None = None) -> None:
        """The same where no large pod leaves: it takes more of the others."""
        own, needed = (self._num_needed(node, each, self._sums_of_small) for each in (np.zeros_like(need), need))
        if needed is None:
            self._require(node, 0, 1, small=0, is_coming=is_coming)
        elif own is not None:
            self._require(node, own, needed, large=max(needed, 1), is_coming=is_coming)

    def _require(
        self, node: int, own: int, needed: int, *, small: int = 1, large: int = 1, is_coming: int | None = None
    ) -> None:
        """Pods that leave a node that is under its ceiling count `needed` together, or `own` if none comes."""
        row = {each.choice: -(small if self._large.kind[each.pod] < 0 else large) for each in self._leaving[node]}
        row[self._under[node]] = needed
        if is_coming is not None:
            row[is_coming] = needed - own
        self._program.limit(row, 0 if is_coming is None else needed - own)

    @cached_property
    def _least_counts(self) -> dict[int, int]:
        return self._ceilings.least_counts

    def _num_needed(self, node: int, need: Ints, sums: Mapping[int, Ints]) -> int | None:
        """How many pods have to leave a node at least that takes a pod of that need; None: all together do not do."""
        missing = self._ceilings.usage[node] + need - self._most[node]
        needed = 0
        for excess, of_largest in zip(missing.tolist(), sums[node], strict=True):
            if excess > 0:
                needed = max(needed, int(np.searchsorted(of_largest, excess)) + 1)
                if needed > len(of_largest):
                    return None
        return needed

    @cached_property
    def _sums(self) -> dict[int, Ints]:
        return self._sums_of(self._movable)

    @cached_property
    def _sums_of_small(self) -> dict[int, Ints]:
        return self._sums_of(self._movable[self._large.kind[self._movable] < 0])

    def _sums_of(self, pods: Ints) -> dict[int, Ints]:
        """int64[R, m] of each node: what the largest of its `pods` need, by resource, 1 to all m of them."""
        nodes = self._problem.assignment[pods]
        order = np.argsort(nodes, kind="stable")
        found = np.split(pods[order], np.searchsorted(nodes[order], self._nodes, side="right")[:-1])
        sums = (np.cumsum(-np.sort(-self._problem.need[of_node], axis=0), axis=0).T for of_node in found)
        return dict(zip(self._nodes.tolist(), sums, strict=True))

    @cached_property
    def _capacity(self) -> Ints:
        """int64[N, R]: what may be used of a node that stays over its ceiling."""
        return np.maximum(self._problem.capacity, self._ceilings.usage)

    @cached_property
    def _most(self) -> Ints:
        """int64[N, R]: what may be used of a node that is under its ceiling."""
        return np.minimum(self._ceilings.whole_ceiling, self._capacity)

    def least(self) -> tuple[int, int]:
        """See RelaxedPlan."""
        program, under = self._program, self._under.values()
        self._limit_usage()
        self._limit_moves()
        self._limit_groups()
        num_under = program.most_gained(dict.fromkeys(under, 1)) or 0
        program.limit(dict.fromkeys(under, -1), -num_under)
        num_relieved = max(num_under - len(self._nodes) + len(self._ceilings.hot), 0)
        one_each = {each.choice: -1 for each in self._all_leaving}
        fewest = sum(sorted(self._least_counts.values())[:num_relieved])
        count = max(-(program.most_gained(one_each) or 0), fewest)
        program.limit(one_each, -count)
        costs = {each.choice: -int(self._problem.cost[each.pod]) for each in self._all_leaving}
        if len(set(costs.values())) <= 1:
            self._wait_for_few(costs)
            return len(self._nodes) - num_under, count * -min(costs.values(), default=0)
        cheapest = sum(sorted(cover.bound for cover in self._ceilings.covers.values() if cover)[:num_relieved])
        of_count = int(np.sort(self._problem.cost[self._movable])[:count].sum())
        proven = -(program.most_gained(costs, begins_with_taken=True) or 0)
        self._wait_for_few(costs)
        return len(self._nodes) - num_under, max(proven, cheapest, of_count)

    def _wait_for_few(self, costs: Mapping[int, int]) -> None:
        """Looks for a solution as cheap as the last one, in which fewer large pods come to where others have to leave.

        Pods that wait for each other in a circle can be moved in no order.
        """
        if not (taken := self._program.taken):
            return
        spent = sum(-cost * taken[choice] for choice, cost in costs.items())
        self._program.limit({choice: -cost for choice, cost in costs.items()}, spent)
        room, need = self._ceilings.room - self._ceilings.usage, self._problem.need
        waiting = [
            each.choice
            for node, coming in self._coming.items()
            for each in coming
            if ((need[each.pod] > room[node]) & (need[each.pod] > 0)).any()
        ]
        self._program.most_gained(dict.fromkeys(waiting, -1), begins_with_taken=True)

    def leaving(self) -> list[int]:
        """Of the last solution."""
        taken = self._program.taken
        return [pod for each in self._all_leaving if taken for pod in each.pods[: taken[each.choice]].tolist()]

    def places(self) -> dict[int, list[int]]:
        """Of the last solution."""
        taken, found = self._program.taken, dict[int, list[int]]()
        for node, coming in self._coming.items() if taken else ():
            for each in coming:
                found.setdefault(int(self._large.kind[each.pod]), []).extend([node] * taken[each.choice])
        return found

    def _limit_usage(self) -> None:
        """A node that is under its ceiling loses what it has too much of, and at least as many pods as that takes."""
        need, usage = self._problem.need, self._ceilings.usage
        for node, under in self._under.items():
            leaving, coming = self._leaving[node], self._coming[node]
            for resource in range(self._problem.num_resources):
                row = {each.choice: -int(need[each.pod, resource]) for each in leaving}
                row |= {each.choice: int(need[each.pod, resource]) for each in coming}
                spare = int(self._capacity[node, resource] - self._most[node, resource])
                self._program.limit({**row, under: spare}, int(self._capacity[node, resource] - usage[node, resource]))
            self._require_room(node)
            cover = self._ceilings.covers.get(node)
            if cover is not None:
                cost = {each.choice: -int(self._problem.cost[each.pod]) for each in leaving}
                self._program.limit({**cost, under: cover.bound}, 0)
                self._require(node, 0, self._least_counts[node])
                self._require_without_large(node, np.zeros_like(need[0]))

    def _limit_moves(self) -> None:
        for rule in self._problem.move_limits:
            for group, most in rule.binding(self._movable):
                self._program.limit(
                    {each.choice: 1 for each in self._all_leaving if rule.group[each.pod] == group}, most
                )

    def _limit_groups(self) -> None:
        """Rules between pods, as far as large ones come to nodes: it is known where these go."""
        for rule in self._problem.rules:
            if isinstance(rule, AtMost):
                self._limit_group(rule)
            elif isinstance(rule, MaxSkew) and rule.there.shape[1] <= _MOST_DOMAINS:
                self._limit_skews(rule)

    def _limit_group(self, rule: AtMost) -> None:
        """No more large pods of a group come to a domain than it may have, with those that stay."""
        assignment = self._problem.assignment
        gains = self._gains(rule)
        for group, domain in sorted(gains):
            there = (rule.group == group) & (rule.domain[assignment] == domain) & (assignment >= 0)
            others = int((there & self._is_unmodelled).sum())
            self._program.limit(gains[group, domain], max(int(rule.limit[group]) - int(there.sum()), 0) + others)

    def _limit_skews(self, rule: MaxSkew) -> None:
        """Of groups that are even before: no domain gets so many more pods than another that they are not."""
        gains, assignment = self._gains(rule), self._problem.assignment
        all_counts = rule.count(assignment)
        is_free = self._ceilings.leaves & ~rule.holds_for(np.arange(len(assignment)))
        for group in sorted({group for group, _ in gains}):
            members = (rule.group == group) & (assignment >= 0)
            counts, there = all_counts[group], rule.there[group]
            if not there.any() or counts.max() - counts[there].min() > rule.skew[group]:
                continue
            changes = [gains.get((group, domain), {}) for domain in range(len(counts))]
            small = [each.choice for each in self._all_leaving if members[each.pod] and self._is_small(each.pod)]
            num_unknown = int((members & (self._is_unmodelled | is_free)).sum())
            # Each pod of which it is open where it goes, or that goes anywhere, may leave the one domain for the other.
            spare = int(rule.skew[group]) + 2 * num_unknown
            for domain, other in permutations(range(len(counts)), 2):
                if there[other]:
                    row = Counter(dict.fromkeys(small, -2))
                    row.update(changes[domain])
                    row.subtract(changes[other])
                    self._program.limit(row, spare - int(counts[domain] - counts[other]))

    def _gains(self, rule: AtMost | MaxSkew) -> dict[tuple[int, int], dict[int, int]]:
        """By group and domain how many more pods are there by each choice; of groups with large pods that come."""
        gains: dict[tuple[int, int], dict[int, int]] = {}
        groups = {int(rule.group[each.pod]) for found in self._coming.values() for each in found}
        for sign, counted in ((1, self._coming), (-1, self._leaving)):
            for node, found in counted.items():
                for each in found:
                    group, domain = int(rule.group[each.pod]), int(rule.domain[node])
                    if group in groups and min(group, domain) >= 0:
                        gains.setdefault((group, domain), {})[each.choice] = sign
        return gains

    def _is_small(self, pod: int) -> bool:
        return int(self._large.kind[pod]) < 0

    @cached_property
    def _is_unmodelled(self) -> Bools:
        """bool[P]: pods that can leave and are on none of the nodes."""
        others: Bools = self._ceilings.leaves.copy()
        others[self._movable] = False
        return others
