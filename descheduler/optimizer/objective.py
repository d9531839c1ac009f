"""What a plan is for: how good a placement is, how good one can be at best, and how to search for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Bools, Floats, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.order.ordering import Ordered
from descheduler.optimizer.problem import Problem

Value = tuple[int, ...]
"""What an objective makes of a placement, most important figure first, each the lower the better."""

Term = object
"""A linear expression of the solver's model, which objectives pass around and do not look into."""


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhood:
    """A piece of the cluster that is solved anew while the rest stays: `pods` may move among `nodes` (or stay)."""

    nodes: Ints
    pods: Ints


class Model(Protocol):
    """The solver's model of a neighbourhood, as far as objectives add to it. Nodes are named by their index.

    Loads and free capacity are of parts, where the problem has them.
    """

    def is_at(self, pod: int, node: int) -> Term | None:
        """1 where the pod is on the node; None where it cannot be there."""
        ...

    def has_moved(self, pod: int) -> Term:
        """1 where the pod is not on the node it had before the plan."""
        ...

    def new_bool(self) -> Term:
        """A free choice of 0 or 1."""
        ...

    def limit_load(self, node: int, resource: int, limit: float, unless: Term | None = None) -> None:
        """What pods need on the node stays within `limit`, or `unless` is 1."""
        ...

    def free_slots(self, node: int, need: Sequence[int]) -> Term:
        """How many more pods of that need fit on the node; exact where it is maximised."""
        ...

    def has_room(self, parts: Sequence[int], need: Sequence[int]) -> Term:
        """1 only where each of the parts has that much free."""
        ...

    def free_unless(self, part: int, resource: int, unless: Term) -> Term:
        """What is free on the part, or 0 where `unless` is 1; exact where it is minimised."""
        ...

    def require(self, terms: Sequence[Term], least: int, when: Term) -> None:
        """At least `least` of the terms are 1, or `when` is 0."""
        ...

    def equate(self, first: Term, second: Term) -> None:
        """Both are equal."""
        ...

    def forbid_both(self, first: Term, second: Term) -> None:
        """At most one of the two is 1."""
        ...

    def at_least(self, weights: Sequence[int], terms: Sequence[Term], least: int, unless: Term) -> None:
        """The weighted sum of the terms is `least` or more, or `unless` is 1."""
        ...

    def minimise(self, weights: Sequence[int], terms: Sequence[Term]) -> None:
        """Adds to the figures, which are minimised together with what moves cost."""
        ...

    def charge_moves(self, costs: Ints, pods: Ints) -> None:
        """Adds what it costs that pods are not on the nodes that they had before the plan, element by element."""
        ...


class Annealer(Protocol):
    """One annealing of one placement, in as many steps as its caller likes.

    share: the part of the search's limits that it pays to anneal for; the rest is for neighbourhoods. The caller gives
    it as `until` of each run.
    """

    share: float

    def run(self, budget: Budget, whole: Budget, until: float) -> None:
        """Goes on until `budget` is over or `whole` is at the share `until`; the temperature falls with `whole`."""
        ...


class Guide(Protocol):
    """The objective as a sum over nodes and moves, which the hill climb follows."""

    def node_cost(self, nodes: Ints, usage: Floats) -> Floats:
        """float64[...]: the cost of nodes if `usage`, float64[R, ...], were taken of them.

        `nodes` is broadcast against the last axes of `usage`. Where the problem has parts, they are parts.
        """
        ...

    def move_cost(self, pods: Ints, nodes: Ints) -> Floats:
        """float64[...]: what it costs that pods are on nodes, element by element; 0 where they were before the plan."""
        ...


class PreparedObjective(Guide, Protocol):
    """An objective over one problem, to inherit from.

    All but `node_cost`, `move_cost`, `proposed`, `on_the_way`, `ordered`, `annealing` and `vary` has to be given.
    """

    _problem: Problem

    def node_cost(self, nodes: Ints, usage: Floats) -> Floats:
        """Nothing: the objective is no sum over nodes, so that single moves tell nothing of it."""
        return np.zeros(usage.shape[1:])

    def move_cost(self, pods: Ints, nodes: Ints) -> Floats:
        """The pod's own cost."""
        return eviction_cost(self._problem, pods, nodes)

    def value(self, assignment: Ints) -> Value:
        """How good the assignment is."""
        ...

    def bound(self) -> Value:
        """A value that no assignment is better than."""
        ...

    def proposed(self) -> Ints | None:
        """An assignment that keeps all rules and may be worth beginning with, found with the bound; None for none."""
        return None

    def on_the_way(self, problem: Problem) -> Problem:
        """`problem`, the objective's or what is left of it, with what moves have to keep one by one."""
        return problem

    def ordered(self, problem: Problem, assignment: Ints) -> Ordered | None:
        """The objective's own order of moves to `assignment`, or to one like it; None for none.

        `problem` is the objective's, with what moves have to keep one by one.
        """
        return None

    def first_plan(self, placement: Arrangement, rng: np.random.Generator, budget: Budget) -> None:
        """Moves pods to a good placement within a second or so, or until `budget` is over; keeps every rule."""
        ...

    def tidy(self, placement: Arrangement) -> None:
        """Takes back moves that turned out not to help."""
        ...

    def annealing(self, placement: Arrangement, rng: np.random.Generator) -> Annealer | None:
        """An annealing of the placement; None where single moves and swaps do not better it step by step."""
        return None

    def vary(self, placement: Arrangement, rng: np.random.Generator, budget: Budget) -> bool:
        """Betters the placement by a search of its own until `budget` is over; False where there is no such search."""
        return False

    def neighbourhood(self, placement: Arrangement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
        """A piece of some `num_pods` pods worth solving anew; None: nothing is left to gain."""
        ...

    def add_to(self, model: Model, placement: Arrangement, neighbourhood: Neighbourhood) -> None:
        """States the objective in the model of `neighbourhood`."""
        ...


class Objective(Protocol):
    """What an operator chooses."""

    def prepare(self, problem: Problem) -> PreparedObjective:
        """The objective over this problem. Raises ValueError where its arrays do not fit the problem's."""
        ...


def away(problem: Problem, pods: Ints, nodes: Ints) -> Bools:
    """bool[...]: whether pods would have moved if they were on nodes, element by element."""
    is_away: Bools = problem.assignment[pods] != nodes
    return is_away


def eviction_cost(problem: Problem, pods: Ints, nodes: Ints) -> Floats:
    """float64[...]: what it costs that pods are on nodes: their own cost unless they were there before."""
    cost: Floats = np.multiply(away(problem, pods, nodes), problem.cost[pods], dtype=np.float64)
    return cost
