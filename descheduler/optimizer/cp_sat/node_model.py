"""The CP-SAT model of a neighbourhood: which of its pods is on which of its nodes, within capacity and rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.objective import Neighbourhood, Term

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


class NodeModel:
    """Implements `objective.Model`. A pod may be on a node of the neighbourhood that its class allows, or stay.

    `options` has the nodes where each pod may be, -1 (`PENDING`) where it may wait; `at[pod, node]` is 1 where it is.
    Loads and capacity are of parts, which are the nodes themselves where the problem has none. In a limit, loads are
    divided by the greatest common divisor of what the pods need of the resource.
    """

    def __init__(self, placement: Arrangement, neighbourhood: Neighbourhood) -> None:
        """Variables, hints, capacity at the end of the plan, and what is held at both ends while it runs."""
        from ortools.sat.python import cp_model

        self.model = cp_model.CpModel()
        self._placement, self._problem = placement, placement.problem
        self.pods: list[int] = neighbourhood.pods.tolist()
        self.nodes: list[int] = neighbourhood.nodes.tolist()
        self._fixed = self._fixed_usage(neighbourhood)
        self.options = self._options(neighbourhood)
        self.at = {(pod, node): self.model.new_bool_var("") for pod in self.pods for node in self.options[pod]}
        self._units = [max(int(np.gcd.reduce(column)), 1) for column in self._problem.need[neighbourhood.pods].T]
        parts = self._problem.parts_of(neighbourhood.nodes)
        # By part, (pod, node) of each variable that puts a pod on a node with that part.
        self._on: dict[int, list[tuple[int, int]]] = {each: [] for each in parts}
        # What is minimised: figures, and what moves cost.
        self._figures: list[tuple[int, Term]] = []
        self._charges: list[tuple[int, Term]] = []
        self._state_places()
        for each in parts:
            self._state_capacity(each)

    def _options(self, neighbourhood: Neighbourhood) -> dict[int, list[int]]:
        """Where each pod may be: nodes that its class allows and that can hold it without the other pods, or here."""
        problem, placement = self._problem, self._placement
        is_home = placement.origins[neighbourhood.pods][:, None] == neighbourhood.nodes
        is_open = problem.allowed[problem.pod_class[neighbourhood.pods][:, None], neighbourhood.nodes] | is_home
        if problem.parts is not None:
            leaves = [problem.leaves_machine(pod, neighbourhood.nodes) for pod in self.pods]
            is_open &= np.array(leaves, dtype=bool).reshape(is_home.shape) | is_home
        room = self._room_without_pods(neighbourhood.nodes)
        for need, left in zip(problem.need[neighbourhood.pods].T, room.T, strict=True):
            is_open &= need[:, None] <= np.maximum(left, 0)
        is_open |= is_home
        return {
            pod: self._with_stay(pod, neighbourhood.nodes[row]) for pod, row in zip(self.pods, is_open, strict=True)
        }

    def _room_without_pods(self, nodes: Ints) -> Ints:
        """int64[n, R]: what nodes can hold without the neighbourhood's pods."""
        limit = np.maximum(self._problem.part_capacity, self._placement.usage.T).astype(np.int64)
        room = limit - self._fixed
        parts = self._problem.parts
        return room[nodes] if parts is None else parts.least(room)[nodes]

    def _with_stay(self, pod: int, nodes: Ints) -> list[int]:
        """The nodes, and where the pod is now; that it is pending, if it was before the plan."""
        stays = {int(self._placement.at[pod])}
        if self._placement.origins[pod] == PENDING:
            stays.add(PENDING)
        found: list[int] = nodes.tolist()
        return [*found, *sorted(stays.difference(found))]

    def _fixed_usage(self, neighbourhood: Neighbourhood) -> Ints:
        """int64[C, R]: what pods outside of the neighbourhood take of each part."""
        usage = self._placement.usage.T.astype(np.int64)
        now = self._placement.at[neighbourhood.pods]
        placed = now >= 0
        self._problem.add_needs(usage, neighbourhood.pods[placed], now[placed], sign=-1)
        return usage

    def _state_places(self) -> None:
        """Each pod is in one place; the solver begins with where they are now."""
        parts_at = {node: self._problem.parts_at(node) for _, node in self.at}
        for pod in self.pods:
            choices = [self.at[pod, node] for node in self.options[pod]]
            self.model.add_exactly_one(choices)
            for node, variable in zip(self.options[pod], choices, strict=True):
                self.model.add_hint(variable, int(node == self._placement.at[pod]))
                for part in parts_at[node]:
                    if part in self._on:
                        self._on[part].append((pod, node))

    def _state_capacity(self, part: int) -> None:
        capacity = self._problem.part_capacity[part]
        for resource in range(self._problem.num_resources):
            limit = max(int(capacity[resource]), int(self._placement.usage[resource, part]))
            self.limit_load(part, resource, limit)
            if self._problem.both_ends[resource]:
                self._limit_held(part, resource, limit)

    def _limit_held(self, part: int, resource: int, limit: int) -> None:
        """As capacity, with every pod that was there before the plan, wherever it is now, and none that was pending.

        So pods of the neighbourhood that were there count whatever the solver decides, and only others are variables.
        """
        need, origins = self._problem.need[:, resource], self._placement.origins
        was_there = self._problem.takes(origins, part)
        left = was_there & (self._placement.at != origins)
        gone = int(need[left].sum())
        own = [pod for pod in self.pods if was_there[pod]]
        stayed = sum(int(need[pod]) for pod in own if not left[pod])
        was_pending = (origins == PENDING) & self._problem.takes(self._placement.at, part)
        waits = int(need[was_pending].sum())
        waits_outside = waits - sum(int(need[pod]) for pod in self.pods if was_pending[pod])
        limit = max(limit, int(self._placement.usage[resource, part]) + gone - waits)
        room = limit - int(self._fixed[part, resource]) - gone - stayed + waits_outside
        inside = set(own)
        places = [at for at in self._on[part] if at[0] not in inside and origins[at[0]] != PENDING]
        self._add_limit(places, resource, room, None)

    def limit_load(self, node: int, resource: int, limit: float, unless: Term | None = None) -> None:
        """See `objective.Model`."""
        room = math.floor(limit) - int(self._fixed[node, resource])
        self._add_limit(self._on[node], resource, room, unless)

    def _add_limit(self, places: Sequence[tuple[int, int]], resource: int, room: int, unless: Term | None) -> None:
        """Pods in `places`, (pod, node) each, need no more than `room`; nothing where they never do."""
        unit = self._units[resource]
        weights = [int(self._problem.need[pod, resource]) // unit for pod, _ in places]
        terms = [(weight, self.at[place]) for weight, place in zip(weights, places, strict=True) if weight]
        most = sum(weight for weight, _ in terms)
        if most <= room // unit:
            return
        constraint = self.model.add(_sum(terms) <= max(room // unit, 0))
        if unless is not None:
            constraint.only_enforce_if(_variable(unless).negated())

    def is_at(self, pod: int, node: int) -> Term | None:
        """See `objective.Model`."""
        return self.at.get((pod, node))

    def has_moved(self, pod: int) -> Term:
        """See `objective.Model`."""
        home = self.at.get((pod, int(self._placement.origins[pod])))
        return 1 if home is None else 1 - home

    def limit_moves(self, pods: Sequence[int], most: int) -> None:
        """At most `most` of the pods are not on the node that they were on before the plan."""
        self.model.add(_sum((1, self.has_moved(pod)) for pod in pods) <= most)

    def new_bool(self) -> Term:
        """See `objective.Model`."""
        return self.model.new_bool_var("")

    def free_slots(self, node: int, need: Sequence[int]) -> Term:
        """See `objective.Model`."""
        capacity = self._problem.part_capacity[node]
        most = min(int(capacity[resource]) // amount for resource, amount in enumerate(need) if amount)
        slots = self.model.new_int_var(0, max(most, 0), "")
        is_over = self._placement.usage[:, node] > capacity
        for resource, amount in enumerate(need):
            if amount and is_over[resource]:
                self.model.add(slots == 0)
            elif amount:
                self.model.add(amount * slots + self._load(node, resource) <= int(capacity[resource]))
        return slots

    def has_room(self, parts: Sequence[int], need: Sequence[int]) -> Term:
        """See `objective.Model`."""
        has_room = self.model.new_bool_var("")
        for part in parts:
            for resource, amount in enumerate(need):
                if amount:
                    room = int(self._problem.part_capacity[part, resource]) - amount
                    self.model.add(self._load(part, resource) <= room).only_enforce_if(has_room)
        return has_room

    def free_unless(self, part: int, resource: int, unless: Term) -> Term:
        """See `objective.Model`."""
        capacity = int(self._problem.part_capacity[part, resource])
        free = capacity - self._load(part, resource)
        return self._no_less_than(free - capacity * _variable(unless), capacity)

    def require(self, terms: Sequence[Term], least: int, when: Term) -> None:
        """See `objective.Model`."""
        total = _sum((1, term) for term in terms)
        self.model.add(total >= least).only_enforce_if(_variable(when))

    def _load(self, node: int, resource: int) -> cp_model.LinearExpr:
        """What all pods need on the node, the neighbourhood's as they are placed."""
        terms = [(int(self._problem.need[pod, resource]), self.at[pod, at]) for pod, at in self._on[node]]
        return _sum(terms) + int(self._fixed[node, resource])

    def _no_less_than(self, expression: cp_model.LinearExpr, most: int) -> Term:
        """A variable of 0 or more that is no less than `expression`, which is at most `most`."""
        variable = self.model.new_int_var(0, max(most, 0), "")
        self.model.add(variable >= expression)
        return variable

    def equate(self, first: Term, second: Term) -> None:
        """See `objective.Model`."""
        self.model.add(_variable(first) == _variable(second))

    def forbid_both(self, first: Term, second: Term) -> None:
        """See `objective.Model`."""
        self.model.add(_variable(first) + _variable(second) <= 1)

    def at_least(self, weights: Sequence[int], terms: Sequence[Term], least: int, unless: Term) -> None:
        """See `objective.Model`."""
        self.model.add(_sum(zip(weights, terms, strict=True)) >= least).only_enforce_if(_variable(unless).negated())

    def minimise(self, weights: Sequence[int], terms: Sequence[Term]) -> None:
        """See `objective.Model`."""
        self._figures.extend(zip(weights, terms, strict=True))

    def charge_moves(self, costs: Ints, pods: Ints) -> None:
        """See `objective.Model`."""
        moved = map(self.has_moved, pods.tolist())
        self._charges.extend(zip(costs.tolist(), moved, strict=True))

    def figures_alone(self) -> cp_model.CpModel:
        """The model, with the figures minimised whatever moves cost."""
        self.model.minimize(_sum(self._figures))
        return self.model

    def keep_figures(self, most: int) -> None:
        """The figures are `most` at most and no longer minimised, so that the cost of moves is left."""
        self.model.add(_sum(self._figures) <= most)
        self._figures = []

    def finish(self) -> cp_model.CpModel:
        """The model, with figures and the cost of moves minimised together."""
        self.model.minimize(_sum([*self._figures, *self._charges]))
        return self.model


def _variable(term: Term) -> cp_model.IntVar:
    """A term in the solver's own type, which objectives do not see."""
    return cast("cp_model.IntVar", term)


def _sum(terms: Iterable[tuple[int, Term]]) -> cp_model.LinearExpr:
    """The sum of the terms, each times its weight."""
    from ortools.sat.python import cp_model

    pairs = list(terms)
    return cp_model.LinearExpr.weighted_sum([_variable(term) for _, term in pairs], [weight for weight, _ in pairs])
