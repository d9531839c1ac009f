"""What the objectives have in common that make free capacity usable."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

from descheduler.migration_planner.objectives.cluster_objective import ClusterObjective, Part
from descheduler.migration_planner.problem.cluster_problem import ClusterProblem
from descheduler.model.pod import Pod
from descheduler.planner.waves import Move

__all__ = ["Fragmentation"]


class Fragmentation(ClusterObjective):
    """Units that are free and that pods cannot use: the mean over the sizes that pods request."""

    name = "ReduceFragmentation"
    noun = "unit"
    larger: str
    """What an eviction is to gain, such as `larger slots of nvidia.com/gpu`."""
    node_names: Sequence[str]
    """The nodes that the policy selects."""

    @abstractmethod
    def mean_of(self, total: float) -> float:
        """Units of a pod of the mean size, of a sum over all sizes."""

    def parts(self, cluster: ClusterProblem, moves: Sequence[Move]) -> Iterable[Part]:
        """The plan as a whole: what a move gains depends on the others."""
        if not moves:
            return
        assignment = cluster.problem.assignment.copy()
        for move in moves:
            assignment[move.pod] = move.target
        goal = self.stated_over(cluster).prepare(cluster.problem)
        before, after = (goal.value(at)[0] for at in (cluster.problem.assignment, assignment))
        yield Part(self.mean_of(before - after), moves, [cluster.pods[move.pod] for move in moves])

    def shortfall(self) -> str:
        """That no more is gained."""
        return "no plan that was found within the limits makes more of it usable"

    def why_not(self, pod: Pod) -> str:
        """That its eviction would gain nothing."""
        if pod.node_name not in self.node_names:
            return f"node {pod.node_name} is not one of the nodes that the policy selects"
        if nothing := self.nothing_to_do():
            return nothing
        return f"no plan that was found within the limits gets {self.larger} by its eviction"
