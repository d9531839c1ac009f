"""What the objectives have in common that make free capacity usable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted_about, text_about
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.optimizer.order.waves import Reassignment
from descheduler.planner.moves.connected_moves import connected_moves
from descheduler.planner.objectives.cluster_objective import ClusterObjective, Part
from descheduler.planner.problem.cluster_problem import ClusterProblem


class Fragmentation(ClusterObjective):
    """Units that are free and that pods cannot use: the mean over the sizes that pods request.

    The figure is the sum over sizes, each as often as it is requested; `scale` is the number of pods that request any.
    """

    name = "ReduceFragmentation"
    noun = "unusable unit"
    is_in_bundles = True  # so that what moves gain is asked once they are booked, of those together that gain together
    is_tried_in_orders = True
    larger: str
    """What an eviction is to gain, such as `larger slots of nvidia.com/gpu`."""
    node_names: Sequence[str]
    """The nodes that the policy selects."""
    stated_of: ClusterProblem
    """What the objective was stated over last."""

    def harm(self, pod: Pod, node: str) -> Verdict:
        """Nothing by itself: what is left is asked once the moves are granted that gain together."""
        return ACCEPTED

    def gain_of(self, moves: Sequence[Reassignment]) -> Callable[[], Verdict]:
        """That less is stranded where the replacements are scheduled."""
        before, pods = self.figure(), "replacement pod" if len(moves) == 1 else "replacement pods"

        def gain() -> Verdict:
            if self.figure() < before:
                return ACCEPTED
            message = f"no {self.larger} are left where the {pods} would be scheduled"
            return refuse(Reason.NO_GAIN, f"{message}; {self.hint}" if self.hint else message)

        return gain

    def groups(self, moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        """Each move alone that gains after those before it; of the others those together that share a node.

        Among the others are moves onto nodes that these leave, whose room they may take.
        """
        problem = self.stated_of.problem
        goal, assignment = self.stated_over(self.stated_of).prepare(problem), problem.assignment.copy()
        figure, found, others = goal.value(assignment)[0], list[Sequence[Reassignment]](), list[Reassignment]()
        on_hosts = {move: self._on_hosts(move) for move in moves}
        for move in moves:
            assignment[move.pod] = move.target
            after = goal.value(assignment)[0]
            if after < figure and all(on_hosts[move].target != on_hosts[other].source for other in others):
                figure = after
                found.append([move])
            else:
                assignment[move.pod] = move.source
                others.append(move)
        move_of = {on_hosts[move]: move for move in others}
        together = connected_moves(list(move_of), serves_others=lambda move: True)
        return [*found, *([move_of[each] for each in group] for group in together)]

    def _on_hosts(self, move: Reassignment) -> Reassignment:
        """The move between hosts, of which nodes are choices of parts."""
        parts = self.stated_of.problem.parts
        if parts is None:
            return move
        return Reassignment(move.pod, int(parts.machine[move.source]), int(parts.machine[move.target]))

    def split(self, moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        """Its moves, each alone, where there is more than one."""
        return [[move] for move in moves] if len(moves) > 1 else ()

    def text_of(self, number: int) -> str:
        """Such as `2.67 unusable units of free nvidia.com/gpu`."""
        return f"{counted_about(number / self.scale, self.noun)} {self.state}"

    def amount_of(self, number: int) -> str:
        """Such as `2.67`."""
        return text_about(number / self.scale)

    def change(self, before: int, after: int) -> str:
        """Such as `2.67 unusable units of free nvidia.com/gpu → 1`, with words for a change that no 2 decimals show."""
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
            return f"its eviction is not needed: {nothing}"
        return f"no plan found within the limits gets {self.larger} by its eviction"
