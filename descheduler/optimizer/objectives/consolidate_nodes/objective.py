"""ConsolidateNodes: the most nodes emptied whole, at the least cost of evictions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Bools, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objective import Model, Neighbourhood, PreparedObjective, Value
from descheduler.optimizer.objectives.consolidate_nodes.contended_limits import ContendedLimits
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains
from descheduler.optimizer.objectives.consolidate_nodes.greedy import (
    ORDERS,
    drain_greedily,
    drain_together,
    replace_greedily,
)
from descheduler.optimizer.objectives.consolidate_nodes.in_turn import in_turn
from descheduler.optimizer.objectives.consolidate_nodes.most_allocated import MostAllocated
from descheduler.optimizer.objectives.consolidate_nodes.most_emptied import MostEmptied, most_emptied
from descheduler.optimizer.objectives.consolidate_nodes.node_sets import NodeSets
from descheduler.optimizer.objectives.consolidate_nodes.scheduled import Drain, ScheduledDrains
from descheduler.optimizer.objectives.consolidate_nodes.varied_drains import VariedDrains
from descheduler.optimizer.objectives.weighted_sample import weighted_sample
from descheduler.optimizer.order.ordering import Ordered
from descheduler.optimizer.problem import Problem

_PODS_PER_TARGET = 12
_MOST_UNDECIDED, _CONTENDED_WEIGHT = 3, 3.0
"""Nodes of a neighbourhood that might be emptied, and how much likelier an emptied one is for each limit in the way."""


@dataclass(frozen=True, slots=True, eq=False)
class ConsolidateNodes:
    """Nodes emptied whole, the dearest first; a pod leaves its node only together with all others of it.

    ceiling:   int64[N, R], how full a node may get by pods that it receives; None: its capacity.
    weight:    int64[N], what a node in use costs; 0 only where it is protected; None: 1.
    protected: bool[N], nodes that are not emptied; None: none.
    receives:  bool[N], nodes that may receive pods although they have none today, and count from then on; None: none.

    Pods that are on every node (DaemonSets) are no pods here: take their requests from the capacity. Other nodes
    without pods today neither count nor receive any. A value is (weight of the nodes in use, cost of the moves).
    """

    ceiling: Ints | None = None
    weight: Ints | None = None
    protected: Bools | None = None
    receives: Bools | None = None

    def prepare(self, problem: Problem) -> ConsolidateNodesGoal:
        """Raises ValueError where the arrays are not of the problem's nodes, or nodes share parts."""
        problem.refuse_parts("ConsolidateNodes")
        ceiling = problem.capacity if self.ceiling is None else self.ceiling
        weight = np.ones(problem.num_nodes, np.int64) if self.weight is None else self.weight
        protected = np.zeros(problem.num_nodes, bool) if self.protected is None else self.protected
        if ceiling.shape != problem.capacity.shape:
            raise ValueError(f"ceiling: shape {ceiling.shape}, expected {problem.capacity.shape}")
        receives = np.zeros(problem.num_nodes, bool) if self.receives is None else self.receives
        for name, values in (("weight", weight), ("protected", protected), ("receives", receives)):
            if values.shape != (problem.num_nodes,):
                raise ValueError(f"{name}: shape {values.shape}, expected {(problem.num_nodes,)}")
        drains = Drains(problem, np.minimum(ceiling, problem.capacity), protected, receives)
        return ConsolidateNodesGoal(problem, drains, weight)


class ConsolidateNodesGoal(PreparedObjective):
    """`ConsolidateNodes` over one problem."""

    def __init__(self, problem: Problem, drains: Drains, weight: Ints) -> None:
        self._problem, self._drains, self._weight = problem, drains, weight
        self._used_weight = int(weight[drains.num_pods > 0].sum())
        self._contended = ContendedLimits(drains)
        self._sets = NodeSets(drains, self._contended, weight)

    def value(self, assignment: Ints) -> Value:
        """(weight of the nodes in use, cost of the moves)."""
        used = np.unique(assignment[assignment >= 0])
        moved = self._problem.moved(assignment)
        return int(self._weight[used].sum()), int(self._problem.cost[moved].sum())

    def bound(self) -> Value:
        """(weight of the nodes in use less what volume and limits allow to empty, what that much costs at least)."""
        return self._bound

    @cached_property
    def _bound(self) -> Value:
        most = self._most_emptied
        return self._used_weight - most.weight, most.cost

    @cached_property
    def _most_emptied(self) -> MostEmptied:
        return most_emptied(self._drains, self._weight)

    def proposed(self) -> Ints | None:
        """The nodes are emptied that reach the bound, as far as their pods have places; None where it knows none."""
        nodes = self._most_emptied.nodes
        if not len(nodes):
            return None
        placement = Arrangement(self._problem)
        drain_together(self._drains, placement, nodes, self._weight)
        return placement.at

    def scheduled(
        self,
        first: Iterable[int],
        last: Sequence[Drain],
        scheduler: MostAllocated,
        budget: Budget,
        rng: np.random.Generator,
    ) -> list[Drain]:
        """The best sequence of drains found where `scheduler` chooses the targets.

        To begin with there are the nodes `first`, and the drains of the `last` search over the same pods and nodes.
        """
        enough = self._most_emptied.weight
        drains = ScheduledDrains(self._drains, self._sets, self._weight, scheduler, budget, rng)
        return drains.search(first, last, enough)

    def first_plan(self, placement: Arrangement, rng: np.random.Generator, budget: Budget) -> None:
        """The best of the greedy orders."""
        start, best = placement.at.copy(), placement.at.copy()
        for order in ORDERS:
            placement.reset(start)
            drain_greedily(self._drains, placement, order, self._weight, budget=budget)
            replace_greedily(self._drains, placement, order, self._weight, budget=budget)
            best = min(best, placement.at.copy(), key=self.value)
        placement.reset(best)

    def tidy(self, placement: Arrangement) -> None:
        """Pods go home whose node is not emptied, as those of a hint of which a part is refused."""
        is_emptied = self._drains.is_emptied(placement)
        for pod in self._problem.moved(placement.at).tolist():
            home = int(self._problem.assignment[pod])
            if not is_emptied[home] and placement.is_open(pod, home):
                placement.move(pod, home)

    def ordered(self, problem: Problem, assignment: Ints) -> Ordered:
        """The nodes are emptied in turn; no node is opened for that which has no pods in `assignment`."""
        is_opened = np.isin(np.arange(problem.num_nodes), assignment)
        receives = self._drains.is_used & (~self._drains.opens | (self._weight == 0) | is_opened)
        return in_turn(self._drains, problem, assignment, receives)

    def vary(self, placement: Arrangement, rng: np.random.Generator, budget: Budget) -> bool:
        """Other drains than those of the placement, as long as no less is emptied."""
        VariedDrains(self._drains, self._contended, self._sets, self._weight, placement, rng, budget).search()
        return True

    def neighbourhood(self, placement: Arrangement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
        """Nodes that might be emptied, with nodes that stay and have room."""
        return _choose(self._drains, self._contended, placement, rng, num_pods)

    def add_to(self, model: Model, placement: Arrangement, neighbourhood: Neighbourhood) -> None:
        """Minimises the weight of nodes in use, then cost; of what is equal the model's random choice."""
        emptied = self._drains.is_emptied(placement)
        inside = set(neighbourhood.pods.tolist())
        most = 1 + int(self._problem.cost[neighbourhood.pods].sum())
        for node in neighbourhood.nodes.tolist():
            for resource in range(self._problem.num_resources):
                model.limit_load(node, resource, float(self._drains.limit[resource, node]))
            home = self._drains.home[node].tolist()
            if self._drains.can_empty[node] and inside.issuperset(home):
                goes = model.new_bool()
                model.minimise([-int(self._weight[node]) * most], [goes])
                self._take_whole(model, placement, node, goes)
                self._keep_away(model, neighbourhood, node, goes)
            elif self._drains.opens[node] and self._weight[node]:
                closed = model.new_bool()
                model.minimise([-int(self._weight[node]) * most], [closed])
                self._keep_away(model, neighbourhood, node, closed)
            elif emptied[node] or not self._drains.is_used[node]:
                self._keep_away(model, neighbourhood, node, 1)
        model.charge_moves(self._problem.cost[neighbourhood.pods], neighbourhood.pods)

    def _take_whole(self, model: Model, placement: Arrangement, node: int, goes: object) -> None:
        """All pods leave or none, unless an objective before this one took some of them already."""
        home = self._drains.home[node]
        has_left = placement.at[home] != node
        is_whole = has_left.all() or not has_left.any()
        for pod in home.tolist():
            if is_whole:
                model.equate(model.has_moved(pod), goes)
            else:
                model.forbid_both(model.is_at(pod, node), goes)

    def _keep_away(self, model: Model, neighbourhood: Neighbourhood, node: int, goes: object) -> None:
        """Nothing arrives on a node that is emptied, or is not opened."""
        for pod in neighbourhood.pods.tolist():
            if self._problem.assignment[pod] != node:
                at = model.is_at(pod, node)
                if at is not None:
                    model.forbid_both(at, goes)


def _choose(
    drains: Drains, contended: ContendedLimits, placement: Arrangement, rng: np.random.Generator, num_pods: int
) -> Neighbourhood | None:
    """Some nodes whose pods may leave or come back, and nodes that take them; None: no node can be emptied any more."""
    emptied = drains.is_emptied(placement)
    if not (drains.can_empty & ~emptied).any():
        return None
    undecided = _undecided_nodes(drains, contended, placement, rng, num_pods, emptied)
    targets = _targets(drains, placement, rng, max(4, num_pods // _PODS_PER_TARGET), emptied, undecided)
    nodes = np.unique(np.concatenate((undecided, targets)))
    home = np.concatenate([drains.home[node] for node in undecided.tolist()])
    guests = np.flatnonzero((placement.at != placement.origins) & np.isin(placement.at, nodes))
    return Neighbourhood(nodes, np.union1d(home, guests))


def _undecided_nodes(
    drains: Drains,
    contended: ContendedLimits,
    placement: Arrangement,
    rng: np.random.Generator,
    num_pods: int,
    emptied: Bools,
) -> Ints:
    """Nodes that might be emptied, the ones with few pods more often, in turn with such that are emptied; six at most.

    Of the latter those more often that have used up what limits leave to pods of the former.
    """
    left = np.flatnonzero(drains.can_empty & ~emptied)
    weights = 1.0 / (1.0 + drains.num_pods[left] * drains.share[left])
    order = weighted_sample(left, weights, rng, len(left))
    gone = np.flatnonzero(emptied & drains.can_empty)
    in_the_way = contended.in_the_way(placement, order[:_MOST_UNDECIDED], gone)
    gone = weighted_sample(gone, 1.0 + _CONTENDED_WEIGHT * in_the_way, rng, len(gone))
    chosen: list[int] = []
    pods = 0
    for pair in zip(order.tolist(), [*gone.tolist(), *[-1] * len(order)], strict=False):
        for node in pair:
            if node >= 0 and (not chosen or pods + drains.num_pods[node] <= num_pods * 0.7):
                chosen.append(node)
                pods += int(drains.num_pods[node])
        if pods > num_pods * 0.5 or len(chosen) >= 2 * _MOST_UNDECIDED:
            break
    return np.array(chosen)


def _targets(
    drains: Drains, placement: Arrangement, rng: np.random.Generator, count: int, emptied: Bools, undecided: Ints
) -> Ints:
    """Nodes that stay, the ones with much room more often."""
    stays = drains.is_used & ~emptied
    stays[undecided] = False
    nodes = np.flatnonzero(stays)
    room = (drains.room(placement, nodes) * drains.scale[:, nodes]).min(axis=0)
    return weighted_sample(nodes, np.maximum(room, 0.0) + 0.01, rng, count)
