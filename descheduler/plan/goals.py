"""How near a planner came to what it was asked for."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from descheduler.model.pod import Pod

__all__ = ["Goal", "Level", "UnscheduledPod"]


class Level(msgspec.Struct, frozen=True):
    """One figure of an objective, the lower the better: what it counts, and what no plan is better than (`bound`).

    Figures are exact: `scale` of them make one of what is counted.
    """

    counts: str
    before: int
    after: int
    bound: int
    scale: int = 1


class UnscheduledPod(NamedTuple):
    """A pod that needs evictions to be scheduled, and its expected node after them; "" where it stays pending."""

    pod: Pod
    node: str


class Goal(msgspec.Struct, frozen=True):
    """What came of one objective. `levels` are its figures, the most important first; `evictions` those granted.

    `after` counts what is proven to land, where a scheduler may decide other than the plan has it. `bound` is how many
    evictions are needed at least to reach the bounds of all levels. `cost` is what the evictions cost, in thousandths
    of ordinary ones, and `cost_bound` the least that any plan costs which reaches these. `status` is `optimal` where no
    plan is better, also in cost, `feasible` where one may be, and `nothing` where nothing is to be done. `sentence`
    says all of it. `pending_pods` are those that room was looked for, if the objective is about pending pods.
    """

    objective: str
    levels: tuple[Level, ...]
    evictions: int
    bound: int
    cost: int
    cost_bound: int
    status: Literal["optimal", "feasible", "nothing"]
    seconds: float
    work: float
    sentence: str
    pending_pods: tuple[UnscheduledPod, ...] = ()

    @property
    def is_reached(self) -> bool:
        """Whether every figure is at its bound."""
        return all(level.after <= level.bound for level in self.levels)
