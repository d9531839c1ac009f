"""The seam of objectives: what each is in arrays, and what it is in an operator's words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from descheduler.migration_planner.cluster_problem import ClusterProblem
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import Verdict
from descheduler.planner.objective import Objective
from descheduler.planner.waves import Move

__all__ = ["ClusterObjective", "Part"]


class Part(NamedTuple):
    """`moves` by which the figure falls by `gain`. Without them `pods` stay: no other moves of them gain more."""

    gain: int
    moves: Sequence[Move]
    pods: Sequence[Pod]


class ClusterObjective(ABC):
    """One objective in one run. Its figure is the lower the better; everything is counted as things are booked."""

    name: str
    """As reports call it."""
    noun: str
    """What the figure counts, such as `node`."""
    state: str
    """In which state these are, such as `over target`."""

    @abstractmethod
    def nothing_to_do(self) -> str:
        """The sentence that says why nothing is planned; empty where something is."""

    @abstractmethod
    def figure(self) -> int:
        """How many are in that state now."""

    @abstractmethod
    def stated_over(self, cluster: ClusterProblem) -> Objective:
        """The objective over the arrays of `cluster`."""

    @abstractmethod
    def reason(self, pod: Pod) -> str:
        """The sentence with which the eviction of `pod` is asked for."""

    @abstractmethod
    def harm(self, pod: Pod, node: str) -> Verdict:
        """What stands against it that the replacement of `pod` is scheduled onto `node`."""

    @abstractmethod
    def shortfall(self) -> str:
        """What is said where the figure stays above what it might be; empty where that goes without saying."""

    @abstractmethod
    def why_not(self, pod: Pod) -> str:
        """Why a pod stays that the plan does not move and that nothing was said against; asked after the run."""

    def groups(self, moves: Sequence[Move]) -> Sequence[Sequence[Move]]:
        """The moves in their order, those together that are of use only together; each alone if not overridden."""
        return [[move] for move in moves]

    def parts(self, cluster: ClusterProblem, moves: Sequence[Move]) -> Iterable[Part]:
        """What gains by itself: each group, by 1, if not overridden."""
        return [Part(1, group, [cluster.pods[move.pod] for move in group]) for group in self.groups(moves)]

    def text_of(self, number: int) -> str:
        """Such as `2 nodes over target`."""
        return f"{counted(number, self.noun)} {self.state}"
