"""Exact models of tiny clusters: all final states, or those to which pods can be moved one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import permutations, product

from ortools.sat.python import cp_model

from tests.planner.tiny_worlds import CAPACITY, NUM_GPUS, TinyPod, TinyWorld

Term = cp_model.LinearExprT


class FinalStates:
    """`at` has a variable for each pod and node that it may be on; `moves` is 1 where a pod leaves its node.

    Rules are what no order of moves gets round. `in_order` leaves the states to which some order leads.
    """

    def __init__(self, world: TinyWorld) -> None:
        self.world, self.model = world, cp_model.CpModel()
        self.at: dict[tuple[str, str], cp_model.IntVar] = {}
        self.moves: dict[str, Term] = {}
        for pod in world.pods:
            nodes = [name for name in world.prices if name not in world.old or name == pod.node]
            self.at |= {(pod.name, name): self.model.new_bool_var("") for name in nodes}
            there = sum(self.at[pod.name, name] for name in nodes)
            self.model.add(there == 1 if pod.node else there <= 1)
            self.moves[pod.name] = 1 - self.at[pod.name, pod.node] if pod.node else 0
        for name in world.prices:
            self.model.add(self.load(name) <= CAPACITY)
            self.model.add(self.gpus(name) <= NUM_GPUS)
        for app, name in product(world.apart, world.prices):
            for pod in self._of(app):
                if pod.node != name and (pod.name, name) in self.at:
                    self.model.add(self.count(app, [name]) <= 1).only_enforce_if(self.at[pod.name, name])
        for app, (zone, other) in product(world.spread, permutations(sorted(set(world.zones.values())))):
            more = sum((world.zones[pod.node] == zone) - (world.zones[pod.node] == other) for pod in self._of(app))
            self.model.add(self.difference(app, zone, other) <= max(more, 1))
        for app, number in world.allowed.items():
            self.model.add(sum(self.moves[pod.name] for pod in self._of(app)) <= number)

    def load(self, node: str) -> Term:
        """CPUs in use."""
        return sum(pod.need * self.at[pod.name, node] for pod in self.world.pods if (pod.name, node) in self.at)

    def gpus(self, node: str) -> Term:
        """GPUs in use."""
        return sum(pod.gpus * self.at[pod.name, node] for pod in self.world.pods if (pod.name, node) in self.at)

    def count(self, app: str, nodes: Iterable[str]) -> Term:
        """Pods of an app."""
        return sum(self.at.get((pod.name, name), 0) for name in nodes for pod in self._of(app))

    def difference(self, app: str, zone: str, other: str) -> Term:
        """How many more pods of an app are in `zone` than in `other`."""
        zones = self.world.zones
        in_zone, in_other = ([name for name in zones if zones[name] == each] for each in (zone, other))
        return cp_model.LinearExpr.weighted_sum([self.count(app, in_zone), self.count(app, in_other)], [1, -1])

    def arrivals(self, node: str) -> list[cp_model.IntVar]:
        """Variables of pods that come to a node."""
        pods = self.world.pods
        return [self.at[pod.name, node] for pod in pods if pod.node != node and (pod.name, node) in self.at]

    def tabled(self, terms: Sequence[Term], largest: Sequence[int], figure: Callable[..., int]) -> Term:
        """The `figure` of terms, which are from 0 to the `largest` each."""
        rows = list(product(*(range(most + 1) for most in largest)))
        is_row = [self.model.new_bool_var("") for _ in rows]
        self.model.add_exactly_one(is_row)
        for term, values in zip(terms, zip(*rows, strict=True), strict=True):
            self.model.add(cp_model.LinearExpr.weighted_sum(is_row, values) == term)
        return cp_model.LinearExpr.weighted_sum(is_row, [figure(*row) for row in rows])

    def in_order(self, most_cpus: int = CAPACITY) -> None:
        """Leaves the states to which moves one after the other lead: each pod moves once, to where it is admitted then,
        while the old pod is still there and once it has left. A pod comes to no node with more CPUs in use then."""
        order = _Order(self)
        for pod, name in product(self.world.pods, self.world.prices):
            if pod.node != name and (pod.name, name) in self.at:
                for terms, most in order.rules(pod, name, most_cpus):
                    self.model.add(cp_model.LinearExpr.sum(terms) <= most).only_enforce_if(self.at[pod.name, name])

    def _of(self, app: str) -> list[TinyPod]:
        return [pod for pod in self.world.pods if pod.app == app]


class _Order:
    """Where pods of `states` are just before another one moves."""

    def __init__(self, states: FinalStates) -> None:
        self._states, self._model, world = states, states.model, states.world
        self._rank = {pod.name: self._model.new_int_var(0, len(world.pods) - 1, "") for pod in world.pods}
        self._model.add_all_different(self._rank.values())
        self._there: dict[tuple[str, str, str], Term] = {}
        for pod, other in permutations(world.pods, 2):
            is_before = self._model.new_bool_var("")
            self._model.add(self._rank[other.name] < self._rank[pod.name]).only_enforce_if(is_before)
            self._model.add(self._rank[other.name] > self._rank[pod.name]).only_enforce_if(is_before.negated())
            for name in world.prices:
                if (ends := states.at.get((other.name, name))) is not None:
                    is_home = name == other.node
                    there = 1 - self._both(is_before, ends.negated()) if is_home else self._both(is_before, ends)
                    self._there[pod.name, other.name, name] = there

    def _both(self, one: cp_model.IntVar, other: cp_model.LiteralT) -> cp_model.IntVar:
        both = self._model.new_bool_var("")
        self._model.add_bool_or([both, one.negated(), ~other])
        self._model.add_implication(both, one)
        self._model.add_implication(both, other)
        return both

    def rules(self, pod: TinyPod, node: str, most_cpus: int) -> Iterator[tuple[Sequence[Term], int]]:
        """What holds where the pod comes to that node: the sum of terms and what it is at most."""
        others, world = [other for other in self._states.world.pods if other is not pod], self._states.world
        there = {other.name: self._there.get((pod.name, other.name, node), 0) for other in others}
        yield [other.need * there[other.name] for other in others], most_cpus - pod.need
        yield [other.gpus * there[other.name] for other in others], NUM_GPUS - pod.gpus
        mates = [other for other in others if other.app == pod.app]
        if pod.app in world.apart:
            yield [there[other.name] for other in mates], 0
        if pod.app in world.spread:
            zone = world.zones[node]
            more = [
                self._there.get((pod.name, other.name, name), 0) * (1 if world.zones[name] == zone else -1)
                for name, other in product(world.zones, mates)
            ]
            yield more, -1 if world.zones.get(pod.node) == zone else 0
