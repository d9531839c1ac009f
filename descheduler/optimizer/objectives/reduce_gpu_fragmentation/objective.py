"""ReduceGpuFragmentation: the least idle capacity of devices that pods of the workload's own classes cannot use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.limits import Budget, Limits
from descheduler.optimizer.objective import Model, Neighbourhood, Value, eviction_cost
from descheduler.optimizer.objectives.reduce_gpu_fragmentation.descent import Descent
from descheduler.optimizer.objectives.reduce_gpu_fragmentation.exact import state_fragments
from descheduler.optimizer.objectives.reduce_gpu_fragmentation.fragments import Fragments, devices_of
from descheduler.optimizer.objectives.reduce_gpu_fragmentation.recreation import Recreation
from descheduler.optimizer.parts import Parts
from descheduler.optimizer.placement import Placement
from descheduler.optimizer.problem import Problem

__all__ = ["ReduceGpuFragmentation", "ReduceGpuFragmentationGoal"]

_FIRST_PLAN = Limits(work=5.0)


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

    @property
    def levels(self) -> tuple[str, ...]:
        """Fragments first, then evictions."""
        return ("device capacity stranded", "eviction cost")

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


class ReduceGpuFragmentationGoal:
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

    def hold(self, assignment: Ints) -> Problem:
        """Raises ValueError: a sum over machines is not kept by a constraint of the problem."""
        raise ValueError(
            "ReduceGpuFragmentation has to be the last objective: what it gains is not kept by those after it"
        )

    def node_cost(self, nodes: Ints, usage: Floats) -> Floats:
        """Nothing: the figure is no sum over parts."""
        return np.zeros(usage.shape[1:])

    def move_cost(self, pods: Ints, nodes: Ints) -> Floats:
        """The pod's own cost."""
        return eviction_cost(self._problem, pods, nodes)

    def first_plan(self, placement: Placement) -> None:
        """The best single move of all, again and again."""
        self.descent(placement).run(Budget(_FIRST_PLAN))

    def tidy(self, placement: Placement) -> None:
        """Nothing: each move pays for itself."""

    def annealing(self, placement: Placement, rng: np.random.Generator) -> Recreation:
        """Takes moves back and makes the best ones instead, again and again."""
        return Recreation(self.descent(placement), rng)

    def descent(self, placement: Placement) -> Descent:
        """The tables of what moves change."""
        return Descent(placement, self._parts, self._fragments, self._devices)

    def neighbourhood(self, placement: Placement, rng: np.random.Generator, num_pods: int) -> Neighbourhood | None:
        """None: models in which all classes look at all devices of a machine are large, and moves are found without."""
        return None

    def add_to(self, model: Model, placement: Placement, neighbourhood: Neighbourhood) -> None:
        """Minimises what each class strands, then cost."""
        problem, fragments = self._problem, self._fragments
        unit = 1 + int(problem.cost[neighbourhood.pods].sum())
        for machine in np.unique(self._parts.machine[neighbourhood.nodes]).tolist():
            devices = self._devices[machine][self._devices[machine] >= 0].tolist()
            for need, count, weight in fragments.classes():
                state_fragments(model, problem, fragments.resource, devices, need, count, unit * weight)
        pods = neighbourhood.pods.tolist()
        model.minimise(self._problem.cost[neighbourhood.pods].tolist(), [model.has_moved(pod) for pod in pods])
