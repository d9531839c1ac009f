"""The order of moves, as constraints of a model of a whole problem: each pod arrives where there is room then."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.cp_sat.node_model import NodeModel
from descheduler.optimizer.rules import AtMost, MaxSkew, Together

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


def state_order(model: NodeModel, placement: Arrangement) -> None:
    """Leaves the assignments to which moves one after the other lead, each pod moved once, by capacity, `AtMost`,
    `MaxSkew` and `Together`.

    The moves begin with the origins of `placement`, and all pods that may leave are the model's.
    """
    order = _Order(model, placement)
    for pod in model.pods:
        for node in model.options[pod]:
            if node not in (PENDING, placement.origins[pod]):
                order.state_capacity(pod, node)
                for rule in placement.problem.rules:
                    if isinstance(rule, AtMost) and rule.group[pod] >= 0 and rule.domain[node] >= 0:
                        order.state_at_most(pod, node, rule)
                    elif isinstance(rule, MaxSkew) and rule.holds_for(np.array([pod]))[0] and rule.domain[node] >= 0:
                        order.state_max_skew(pod, node, rule)
                    elif isinstance(rule, Together) and rule.group[pod] >= 0:
                        order.state_together(pod, node, rule)


class _Order:
    """Where the other pods of `model` are just before a pod moves: at home until they have moved, then elsewhere."""

    def __init__(self, model: NodeModel, placement: Arrangement) -> None:
        self._model, self._origins, self._problem = model, placement.origins, placement.problem
        fixed = np.where(np.isin(np.arange(len(self._origins)), model.pods), PENDING, self._origins)
        self._fixed, self._fixed_usage = fixed, self._problem.usage(fixed)
        cp = model.model
        rank = {pod: cp.new_int_var(0, len(model.pods) - 1, "") for pod in model.pods}
        self._there: dict[tuple[int, int, int], cp_model.IntVar] = {}
        self._away: dict[tuple[int, int, int], cp_model.IntVar] = {}
        self._is_before: dict[tuple[int, int], cp_model.IntVar] = {}
        for pod, other in permutations(model.pods, 2):
            is_before = cp.new_bool_var("")
            cp.add(rank[other] < rank[pod]).only_enforce_if(is_before)
            cp.add(rank[other] > rank[pod]).only_enforce_if(is_before.negated())
            self._is_before[pod, other] = is_before
            for node in model.options[other]:
                self._there[pod, other, node] = self._is_there(other, node, is_before)

    def _is_there(self, pod: int, node: int, has_moved: cp_model.IntVar) -> cp_model.IntVar:
        """A variable that is 1 at least where the pod, which `has_moved` or is at home, is on the node."""
        cp, ends = self._model.model, self._model.at[pod, node]
        is_there = cp.new_bool_var("")
        cp.add_bool_or([is_there, has_moved.negated(), ends.negated()])
        if node == self._origins[pod]:
            cp.add_bool_or([is_there, has_moved])
        return is_there

    def _is_away(self, before: int, pod: int, node: int) -> cp_model.IntVar:
        """A variable that is 1 at least where `pod` is not on the node just before the pod `before` moves."""
        key = before, pod, node
        if key not in self._away:
            cp, ends, has_moved = self._model.model, self._model.at[pod, node], self._is_before[before, pod]
            away = self._away[key] = cp.new_bool_var("")
            cp.add_bool_or([away, has_moved.negated(), ends])
            if node != self._origins[pod]:
                cp.add_bool_or([away, has_moved])
        return self._away[key]

    def state_capacity(self, pod: int, node: int) -> None:
        """Where the pod comes to the node, there is room for it."""
        problem, others = self._problem, [other for other in self._model.pods if other != pod]
        for part in problem.parts_at(node):
            for resource, need in enumerate(problem.need[pod].tolist()):
                room = int(problem.part_capacity[part, resource] - self._fixed_usage[part, resource]) - need
                load = sum(
                    int(problem.need[other, resource]) * self._there[pod, other, at]
                    for other in others
                    for at in self._model.options[other]
                    if problem.need[other, resource] and part in problem.parts_at(at)
                )
                if need:
                    self._model.model.add(load <= room).only_enforce_if(self._model.at[pod, node])

    def state_at_most(self, pod: int, node: int, rule: AtMost) -> None:
        """Where the pod comes to the node, few enough pods of its group are in that domain."""
        group, domain = int(rule.group[pod]), int(rule.domain[node])
        members = rule.group == group
        fixed = int((members & (self._fixed != PENDING) & (rule.domain[self._fixed] == domain)).sum())
        there = sum(
            self._there[pod, other, at]
            for other in self._model.pods
            if other != pod and members[other]
            for at in self._model.options[other]
            if at != PENDING and rule.domain[at] == domain
        )
        room = int(rule.limit[group]) - 1 - fixed
        if rule.domain[self._origins[pod]] != domain or self._origins[pod] == PENDING:
            self._model.model.add(there <= room).only_enforce_if(self._model.at[pod, node])

    def state_max_skew(self, pod: int, node: int, rule: MaxSkew) -> None:
        """Where the pod comes to the node, that domain has few enough pods of its group, as `SkewCounts.open_moves`."""
        group, domain, home = int(rule.group[pod]), int(rule.domain[node]), int(self._origins[pod])
        stays = home != PENDING and rule.domain[home] == domain
        if stays and not rule.holds_first:
            return
        fixed = rule.count(self._fixed)[group]
        others = [other for other in self._model.pods if other != pod and rule.group[other] == group]
        places = [(other, at) for other in others for at in self._model.options[other] if at != PENDING]
        there = sum(self._there[pod, other, at] for other, at in places if rule.domain[at] == domain)
        most = there + int(fixed[domain]) + 1 + stays
        if not rule.there[group].any():
            self._model.model.add(most <= int(rule.skew[group])).only_enforce_if(self._model.at[pod, node])
        for each in np.flatnonzero(rule.there[group]).tolist():
            if each != domain:
                here = [(other, at) for other, at in places if rule.domain[at] == each]
                least = sum(1 - self._is_away(pod, other, at) for other, at in here) + int(fixed[each])
                self._model.model.add(most - least <= int(rule.skew[group])).only_enforce_if(self._model.at[pod, node])

    def state_together(self, pod: int, node: int, rule: Together) -> None:
        """Where the pod comes to the node, all are there that it needs, and where it was it is not the last one that is
        needed, as `TogetherCounts.open_moves`."""
        group, home = int(rule.group[pod]), int(self._origins[pod])
        entered, left = int(rule.domain[node]), -1 if home == PENDING else int(rule.domain[home])
        if entered == left:
            return
        moves = self._model.at[pod, node]
        for first, needed in np.unique(rule.pairs[rule.pairs[:, 0] != rule.pairs[:, 1]], axis=0).tolist():
            if first == group and entered >= 0:
                self._model.model.add(self._least(pod, rule, needed, entered) >= 1).only_enforce_if(moves)
            if needed == group and left >= 0:
                others = self._least(pod, rule, group, left)
                for there in self._most(pod, rule, first, left):
                    self._model.model.add(others >= 1).only_enforce_if(moves, there)

    def _least(self, before: int, rule: Together, group: int, domain: int) -> cp_model.LinearExprT:
        """How many other pods of the group are in the domain at least, just before the pod `before` moves."""
        places = self._places(before, rule, group, domain)
        return sum(1 - self._is_away(before, other, at) for other, at in places) + self._num_fixed(rule, group, domain)

    def _most(self, before: int, rule: Together, group: int, domain: int) -> Iterator[cp_model.LiteralT]:
        """A literal for each pod of the group that can be in the domain then, which is true at least where it is."""
        if self._num_fixed(rule, group, domain):
            yield True
        for other, at in self._places(before, rule, group, domain):
            yield self._there[before, other, at]

    def _num_fixed(self, rule: Together, group: int, domain: int) -> int:
        """Pods of the group in the domain that are not the model's."""
        return int(((rule.group == group) & (self._fixed != PENDING) & (rule.domain[self._fixed] == domain)).sum())

    def _places(self, before: int, rule: Together, group: int, domain: int) -> list[tuple[int, int]]:
        """(pod, node) where other pods of the group may be in the domain."""
        return [
            (other, at)
            for other in self._model.pods
            if other != before and rule.group[other] == group
            for at in self._model.options[other]
            if at != PENDING and rule.domain[at] == domain
        ]
