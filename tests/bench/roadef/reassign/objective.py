"""The objective of the ROADEF/EURO challenge 2012 (machine reassignment, by Google), in the challenge's own integers.

With L[n, r] the load of node n and A = capacity - L, the cost is the sum of

* load:       weight[r] * max(0, L[n, r] - safety[n, r]),
* proportion: weight * max(0, target * A[n, per] - A[n, wanted]), for each proportion,
* moves:      `Problem.cost` of each moved pod, and `between[old node, new node]`,
* spread of the disruption: `group_weight` * the most pods that any group has to move.

Source: challenge.roadef.org/2012, "Google ROADEF/EURO challenge 2011-2012: machine reassignment", section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objective import Annealer, Model, Neighbourhood, PreparedObjective, Value, away
from descheduler.optimizer.objectives.reduce_fragmentation import choose_dear_nodes
from descheduler.optimizer.problem import Problem
from tests.bench.roadef.reassign.annealing import Annealing
from tests.bench.roadef.reassign.compiled_annealing import CompiledAnnealing, has_compiler
from tests.bench.roadef.reassign.kernel import State
from tests.bench.roadef.reassign.kernel_state import is_known, make_state
from tests.bench.roadef.reassign.loads import Loads

if TYPE_CHECKING:
    from descheduler.optimizer.cp_sat.node_model import NodeModel

_GAINS_OF_START = 6.0


@dataclass(frozen=True, slots=True)
class Proportion:
    """For `target` free units of resource `per`, a node has one of `wanted` free... each unit short costs `weight`.

    The shortage of a node is `max(0, target * free[per] - free[wanted])`.
    """

    per: int
    wanted: int
    target: int
    weight: int


@dataclass(frozen=True, slots=True, eq=False)
class Reassign:
    """safety: int64[N, R]; weight: int64[R]; between: int64[N, N]; group: int64[P] (-1: none)."""

    safety: Ints
    weight: Ints
    proportions: tuple[Proportion, ...]
    between: Ints
    group: Ints
    group_weight: int

    def prepare(self, problem: Problem) -> ReassignGoal:
        """Raises ValueError where shapes differ from the problem's, or nodes share parts."""
        problem.refuse_parts("Reassign")
        if self.safety.shape != problem.capacity.shape:
            raise ValueError(f"safety: shape {self.safety.shape}, expected {problem.capacity.shape}")
        return ReassignGoal(problem, self)


class ReassignGoal(PreparedObjective):
    """`Reassign` over one problem."""

    def __init__(self, problem: Problem, costs: Reassign) -> None:
        self._problem, self._costs = problem, costs
        self._safety: Floats = np.ascontiguousarray(costs.safety.T, dtype=np.float64)
        self._capacity: Floats = np.ascontiguousarray(problem.capacity.T, dtype=np.float64)
        self._between = costs.between.astype(np.float64)
        self._cost = problem.cost.astype(np.float64)

    def value(self, assignment: Ints) -> Value:
        """The cost, exactly."""
        costs, problem = self._costs, self._problem
        usage = problem.usage(assignment)
        free = problem.capacity - usage
        total = int((np.maximum(usage - costs.safety, 0).sum(axis=0) * costs.weight).sum())
        for proportion in costs.proportions:
            shortage = np.maximum(proportion.target * free[:, proportion.per] - free[:, proportion.wanted], 0)
            total += proportion.weight * int(shortage.sum())
        moved = problem.moved(assignment)
        total += int(problem.cost[moved].sum())
        total += int(costs.between[problem.assignment[moved], assignment[moved]].sum())
        groups = costs.group[moved]
        return (total + costs.group_weight * int(np.bincount(groups[groups >= 0], minlength=1).max()),)

    def bound(self) -> Value:
        """The cost of loads and proportions if the cluster were one node: what no placement is cheaper than."""
        costs, problem = self._costs, self._problem
        need, capacity = problem.need.sum(axis=0), problem.capacity.sum(axis=0)
        free = capacity - need
        total = int((np.maximum(need - costs.safety.sum(axis=0), 0) * costs.weight).sum())
        for proportion in costs.proportions:
            total += proportion.weight * max(
                0, proportion.target * int(free[proportion.per]) - int(free[proportion.wanted])
            )
        return (total,)

    def node_cost(self, nodes: Ints, usage: Floats) -> Floats:
        """Loads and proportions."""
        cost = np.zeros(usage.shape[1:])
        for resource in np.flatnonzero(self._costs.weight).tolist():
            above = usage[resource] - self._safety[resource, nodes]
            np.maximum(above, 0.0, out=above)
            above *= float(self._costs.weight[resource])
            cost += above
        for proportion in self._costs.proportions:
            free = self._capacity[proportion.per, nodes] - usage[proportion.per]
            wanted = self._capacity[proportion.wanted, nodes] - usage[proportion.wanted]
            cost += proportion.weight * np.maximum(proportion.target * free - wanted, 0.0)
        return cost

    def move_cost(self, pods: Ints, nodes: Ints) -> Floats:
        """The pod's and the nodes'; what a group's moves cost together is left to `value`."""
        own = away(self._problem, pods, nodes) * self._cost[pods]
        cost: Floats = own + self._between[self._problem.assignment[pods], nodes]
        return cost

    def first_plan(self, placement: Arrangement, rng: np.random.Generator, budget: Budget) -> None:
        """The placement as it is: single moves do the rest."""

    def tidy(self, placement: Arrangement) -> None:
        """Nothing: each move pays for itself."""

    def annealing(self, placement: Arrangement, rng: np.random.Generator) -> Annealer:
        """By the guide, which is the cost but for what groups cost together; compiled where that is possible."""
        if not has_compiler() or not is_known(self._problem.rules):
            return Annealing(placement, self, rng)
        return CompiledAnnealing(placement, lambda: self.kernel_state(placement), self._start_temperature(), rng)

    def _start_temperature(self) -> float:
        """Some times what a pod could win at most on average, doing nothing being worth its value.

        Far below it the search stays where it starts, far above it the time goes by before the sum falls.
        """
        to_win = self.value(self._problem.assignment)[0] - self.bound()[0]
        return max(_GAINS_OF_START * to_win / self._problem.num_pods, 1.0)

    def kernel_state(self, placement: Arrangement) -> State:
        """The placement and its costs as the kernel's arrays."""
        costs = self._costs
        parts = [(part.per, part.wanted, part.target, part.weight) for part in costs.proportions]
        return make_state(
            placement,
            safety=costs.safety,
            weight=costs.weight,
            proportions=np.array(parts, np.float64).reshape(-1, 4),
            between=costs.between,
        )

    def neighbourhood(self, placement: Arrangement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
        """A few nodes with all their pods, or some of them."""
        excess = self.node_cost(np.arange(self._problem.num_nodes), placement.usage)
        no_two_alike = np.arange(self._problem.num_pods)
        return choose_dear_nodes(placement, excess, rng, num_pods, first=np.empty(0, np.intp), kind=no_two_alike)

    def add_to(self, model: Model, placement: Arrangement, neighbourhood: Neighbourhood) -> None:
        """All but the group's costs."""
        costs, capacity = self._costs, self._problem.capacity
        loads = Loads(cast("NodeModel", model), placement, neighbourhood)
        for node in neighbourhood.nodes.tolist():
            for resource in np.flatnonzero(costs.weight).tolist():
                excess = loads.above({resource: 1}, int(costs.safety[node, resource]), node)
                model.minimise([int(costs.weight[resource])], [excess])
            for share in costs.proportions:
                free = share.target * int(capacity[node, share.per]) - int(capacity[node, share.wanted])
                short = loads.above({share.wanted: 1, share.per: -share.target}, -free, node)
                model.minimise([share.weight], [short])
        self._add_moves(model, neighbourhood)

    def _add_moves(self, model: Model, neighbourhood: Neighbourhood) -> None:
        price = self.move_cost(neighbourhood.pods[:, None], neighbourhood.nodes).astype(np.int64).tolist()
        for pod, prices in zip(neighbourhood.pods.tolist(), price, strict=True):
            for node, amount in zip(neighbourhood.nodes.tolist(), prices, strict=True):
                term = model.is_at(pod, node)
                if amount and term is not None:
                    model.minimise([amount], [term])
