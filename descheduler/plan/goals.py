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

    `after` counts what is proven to land, where a scheduler may decide other than the plan has it. `cost` is what the
    evictions cost, in thousandths of ordinary ones. `bound` is how many evictions a plan needs at least that reaches
    the same figures, and `cost_bound` what it costs at least; both are None where nothing is proven for these figures.
    `status` is `optimal` where no plan has better figures or fewer evictions, or costs less by more than tie-breaks,
    `feasible` where one may, and `nothing` where nothing is to be done. `sentence` says all of it. `pending_pods` are
    those that room was looked for, if the objective is about pending pods.
    """

    objective: str
    levels: tuple[Level, ...]
    evictions: int
    bound: int | None
    cost: int
    cost_bound: int | None
    status: Literal["optimal", "feasible", "nothing"]
    seconds: float
    work: float
    sentence: str
    pending_pods: tuple[UnscheduledPod, ...] = ()
