"""ReduceGpuFragmentation: the least idle capacity of devices that pods of the workload's own classes cannot use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.limits import Budget, Limits
from descheduler.optimizer.objective import Model, Neighbourhood, PreparedObjective, Value
from descheduler.optimizer.objectives.reduce_gpu_fragmentation.descent import Descent
from descheduler.optimizer.objectives.reduce_gpu_fragmentation.fragments import Fragments, devices_of
from descheduler.optimizer.parts import Parts
from descheduler.optimizer.problem import Problem

_FIRST_PLAN = Limits(work=5.0)
_LEAST_TAKEN, _MOST_TAKEN = 2, 24
_LEAST_GAIN = 1e-6
_PATIENCE = 500
"""Tries in a row that better nothing, after which small clusters are taken to be done."""


class Recreation:
    """Ruin and recreate (Schrimpf et al., 2000): takes some moves back, makes the best ones, and keeps no worse plan.

    Implements `objective.Annealer`.
    """

    share = 1.0

    def __init__(self, descent: Descent, rng: np.random.Generator) -> None:
        self._descent, self._rng = descent, rng
        self._in_vain = 0

    def run(self, budget: Budget, whole: Budget, until: float) -> None:
        """Goes on until `budget` is over, `whole` is at the share `until`, or nothing is bettered for long."""
        while not budget.is_over and whole.progress < until and self._in_vain < _PATIENCE:
            self._try_once(budget)

    def _try_once(self, budget: Budget) -> None:
        descent = self._descent
        placement = descent.placement
        before, stranded = placement.at.copy(), descent.stranded
        moved = placement.problem.moved(placement.at)
        size = int(self._rng.integers(_LEAST_TAKEN, _MOST_TAKEN + 1))
        for pod in self._rng.permutation(moved)[:size].tolist():
            home = int(placement.origins[pod])
            if placement.is_open(pod, home):
                descent.move(pod, home)
        descent.run(budget)
        budget.spend_evaluations(0)
        self._in_vain = 0 if descent.stranded < stranded - _LEAST_GAIN else self._in_vain + 1
        if descent.stranded > stranded:
            self._take_back(before)

    def _take_back(self, before: Ints) -> None:
        descent = self._descent
        changed = np.flatnonzero(descent.placement.at != before)
        touched = set(self._descent.machine[descent.placement.at[changed]].tolist())
        touched.update(self._descent.machine[before[changed]].tolist())
        descent.placement.reset(before)
        descent.refresh(touched)


@dataclass(frozen=True, slots=True, eq=False)
class ReduceGpuFragmentation:
    """Idle capacity of `resource`, over all devices, that further pods of the classes cannot use: FGD's fragmentation.

    classes:     int64[M, R], what a pod of each class needs, of devices and in shares as in `Problem.need`.
    num_devices: int64[M], how many devices it takes, each to its need; 0: none.
    weight:      int64[M], how often each class is asked for. Keep rare large classes: without them nothing keeps
                 whole machines open.

    A machine strands for a class all that is idle on its devices where such a pod cannot run there (devices or the
    host's own resources are short) or takes none, else what is idle on devices that have less than the pod takes of
    one. Weng et al., "Beware of Fragmentation", USENIX ATC 2023. A value is (sum over machines and classes, each times
    its weight; cost of the moves). The problem is made of `Parts`.
    """

    resource: int
    classes: Ints
    num_devices: Ints
    weight: Ints

    def prepare(self, problem: Problem) -> ReduceGpuFragmentationGoal:
        """Raises ValueError for classes of other resources than the problem's, and for a problem without parts."""
        if self.classes.shape[1:] != (problem.num_resources,):
            raise ValueError(f"classes: shape {self.classes.shape}, expected ('classes', {problem.num_resources})")
        for name, values in (("num_devices", self.num_devices), ("weight", self.weight)):
            if values.shape != (len(self.classes),):
                raise ValueError(f"{name}: shape {values.shape}, expected {(len(self.classes),)}")
        if problem.parts is None:
            raise ValueError("ReduceGpuFragmentation needs a problem whose nodes are made of parts")
        fragments = Fragments(self.resource, self.classes, self.num_devices, self.weight)
        return ReduceGpuFragmentationGoal(problem, problem.parts, fragments, devices_of(problem.parts, self.resource))


class ReduceGpuFragmentationGoal(PreparedObjective):
    """`ReduceGpuFragmentation` over one problem."""

    def __init__(self, problem: Problem, parts: Parts, fragments: Fragments, devices: Ints) -> None:
        self._problem, self._parts, self._fragments, self._devices = problem, parts, fragments, devices

    def value(self, assignment: Ints) -> Value:
        """(capacity stranded, cost of the moves)."""
        problem = self._problem
        moved = problem.moved(assignment)
        return int(self._fragments.of(self._free(problem.usage(assignment))).sum()), int(problem.cost[moved].sum())

    def _free(self, usage: Ints) -> Floats:
        free = self._parts.least(self._parts.capacity - usage).T.astype(np.float64)
        return np.where(self._devices >= 0, free[:, self._devices], -1.0)

    def bound(self) -> Value:
        """What classes that take no device strand, which is all that is idle; the others strand nothing at best."""
        return self._fragments.least(self._free(self._problem.usage(self._problem.assignment))), 0

    def first_plan(self, placement: Arrangement, rng: np.random.Generator, budget: Budget) -> None:
        """The best single move of all, again and again."""
        self.descent(placement).run(Budget(_FIRST_PLAN))

    def tidy(self, placement: Arrangement) -> None:
        """Nothing: each move pays for itself."""

    def annealing(self, placement: Arrangement, rng: np.random.Generator) -> Recreation:
        """Takes moves back and makes the best ones instead, again and again."""
        return Recreation(self.descent(placement), rng)

    def descent(self, placement: Arrangement) -> Descent:
        """The tables of what moves change."""
        return Descent(placement, self._parts, self._fragments, self._devices)

    def neighbourhood(self, placement: Arrangement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
        """None: models in which all classes look at all devices of a machine are large, and moves are found without."""
        return None

    def add_to(self, model: Model, placement: Arrangement, neighbourhood: Neighbourhood) -> None:
        """Minimises what each class strands, then cost."""
        problem, fragments = self._problem, self._fragments
        unit = 1 + int(problem.cost[neighbourhood.pods].sum())
        for machine in np.unique(self._parts.machine[neighbourhood.nodes]).tolist():
            devices = self._devices[machine][self._devices[machine] >= 0].tolist()
            for need, count, weight in fragments.classes():
                _state_fragments(model, problem, fragments.resource, devices, need, count, unit * weight)
        model.charge_moves(problem.cost[neighbourhood.pods], neighbourhood.pods)


def _state_fragments(
    model: Model, problem: Problem, resource: int, devices: Sequence[int], need: Ints, num_devices: int, weight: int
) -> None:
    """Minimises `weight` times what one class strands on one machine, whose devices are those nodes.

    An idle device counts unless it is used, for which the class must run on the machine and find room on the device.
    """
    on_device = [int(amount) if index == resource else 0 for index, amount in enumerate(need)]
    runs = model.new_bool()
    model.require([model.has_room(problem.parts_at(node), need.tolist()) for node in devices], num_devices, runs)
    for node in devices:
        part = _device(problem, node, resource)
        is_used = model.new_bool()
        model.require([runs], 1, is_used)
        model.require([model.has_room([part], on_device)], 1, is_used)
        model.minimise([weight], [model.free_unless(part, resource, is_used)])


def _device(problem: Problem, node: int, resource: int) -> int:
    """The one part of the node that has an own capacity of the resource."""
    return min(problem.parts_at(node), key=lambda part: int(problem.part_capacity[part, resource]))
