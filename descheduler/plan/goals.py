"""How near a planner came to what it was asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import msgspec

from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Verdict

GoalStatus = Literal["nothing", "optimal", "feasible", "infeasible"]
"""How a goal ended, each later one farther from it than the one before."""

SearchEnd = Literal["", "workLimit", "timeLimit", "interrupt"]
"""What ended a search, each later one less reproducible than the one before."""


class Level(msgspec.Struct, frozen=True):
    """One figure of an objective, the lower the better: what it counts, and what no plan is better than (`bound`).

    Figures are exact: `scale` of them make one of what is counted.
    """

    counts: str
    before: int
    after: int
    bound: int
    scale: int = 1


class SearchPoint(msgspec.Struct, frozen=True):
    """A moment of a search: the seconds since its start, the figure of the best plan so far, what no plan is better
    than, as far as that was known, and how many evictions the plan had; 0 where there was none yet."""

    seconds: float
    figure: int
    bound: int
    evictions: int


class UnscheduledPod(NamedTuple):
    """A pod that needs evictions to be scheduled, and its expected node after them; "" where it stays pending."""

    pod: Pod
    node: str


class BlockedNode(NamedTuple):
    """A node that is not drained, and the cause in words; where one `pod` is in the way, it and what keeps it."""

    node: str
    cause: str
    pod: Pod | None = None
    verdict: Verdict = ACCEPTED


class Goal(msgspec.Struct, frozen=True):
    """What came of one objective. `levels` are its figures, the most important first; `evictions` those granted.

    `after` counts what is proven to land, where a scheduler may decide other than the plan has it. `cost` is what the
    evictions cost, in thousandths of ordinary ones. `bound` is how many evictions a plan needs at least that reaches
    the same figures, and `cost_bound` what it costs at least; both are None where nothing is proven for these figures.
    `status` is `optimal` where no plan has better figures or fewer evictions, or costs less by more than tie-breaks,
    `feasible` where one may, `infeasible` where no plan can reach anything, and `nothing` where nothing is to be done.
    `sentence` says all of it. `pending_pods` are
    those that room was looked for, if the objective is about pending pods. `search_ended_by` is the limit that ended
    the search or a part of it, `interrupt` where a signal or the deadline did, and empty where it was done. `targets`
    are the shares in percent, by resource, that the objective brings nodes below, and `history` is how the search came
    there. `blocked_nodes` are the first of those that are to be drained and are not.
    """

    objective: str
    levels: tuple[Level, ...]
    evictions: int
    bound: int | None
    cost: int
    cost_bound: int | None
    status: GoalStatus
    seconds: float
    work: float
    sentence: str
    pending_pods: tuple[UnscheduledPod, ...] = ()
    search_ended_by: SearchEnd = ""
    targets: Mapping[str, float] = msgspec.field(default_factory=dict)
    history: tuple[SearchPoint, ...] = ()
    blocked_nodes: tuple[BlockedNode, ...] = ()


class ReachedGoal(msgspec.Struct, frozen=True):
    """What one objective of a planner came to in a run: its figure was `before`, and is `reached` by the evictions that
    were made, where their replacements are on the expected nodes; None where that is not known.

    `level` is that of the latest plan, whose `before` is what is left by the rounds of the run before it.
    """

    profile: str
    plugin: str
    objective: str
    before: int
    level: Level
    reached: int | None
