"""What the objectives have in common that make free capacity usable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted_about, text_about
from descheduler.optimizer.order.waves import Reassignment
from descheduler.planner.objectives.cluster_objective import ClusterObjective, Part
from descheduler.planner.problem.cluster_problem import ClusterProblem

__all__ = ["Fragmentation"]


class Fragmentation(ClusterObjective):
    """Units that are free and that pods cannot use: the mean over the sizes that pods request.

    The figure is the sum over sizes, each as often as it is requested; `scale` is the number of pods that request any.
    """

    name = "ReduceFragmentation"
    noun = "unit"
    larger: str
    """What an eviction is to gain, such as `larger slots of nvidia.com/gpu`."""
    node_names: Sequence[str]
    """The nodes that the policy selects."""

    def text_of(self, number: int) -> str:
        """Such as `2.67 units of nvidia.com/gpu stranded`."""
        return f"{counted_about(number / self.scale, self.noun)} {self.state}"

    def amount_of(self, number: int) -> str:
        """Such as `2.67`."""
        return text_about(number / self.scale)

    def change(self, before: int, after: int) -> str:
        """Such as `2.67 units of nvidia.com/gpu stranded → 1`, with words for a change that no 2 decimals show."""
        was, text = self.amount_of(before), self.amount_of(after)
        if before != after and was == text:
            text = "slightly fewer" if after < before else "slightly more"
        return f"{self.text_of(before)} → {text}"

    def parts(self, cluster: ClusterProblem, moves: Sequence[Reassignment]) -> Iterable[Part]:
        """The plan as a whole: what a move gains depends on the others."""
        if not moves:
            return
        assignment = cluster.problem.assignment.copy()
        for move in moves:
            assignment[move.pod] = move.target
        goal = self.stated_over(cluster).prepare(cluster.problem)
        before, after = (goal.value(at)[0] for at in (cluster.problem.assignment, assignment))
        yield Part((before - after) / self.scale, moves, [cluster.pods[move.pod] for move in moves])

    def why_not(self, pod: Pod) -> str:
        """That its eviction would gain nothing."""
        if pod.node_name not in self.node_names:
            return f"node {pod.node_name} is not one of the nodes that the policy selects"
        if nothing := self.nothing_to_do():
            return nothing
        return f"no plan found within the limits gets {self.larger} by its eviction"
