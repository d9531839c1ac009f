"""The part of a plan about what a planner was asked for, and how near it came."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import get_args

import msgspec

from descheduler.documents.fields import Fields
from descheduler.plan import goals
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import GoalStatus, Level, SearchEnd, SearchPoint
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.report.document import PodReference
from descheduler.report.identities import reference

_WORST: Sequence[GoalStatus] = get_args(GoalStatus)
_ENDS: Sequence[SearchEnd] = get_args(SearchEnd)
_MILLION = 10**6


class GoalLevel(Fields, frozen=True):
    """One figure of an objective, the lower the better: what it `counts`, and `bound`, which no plan is below.

    What is not whole is rounded down to millionths.
    """

    counts: str
    before: int | float
    after: int | float
    bound: int | float


class SearchMoment(Fields, frozen=True):
    """The best plan so far at one moment of a search: its figure, what no plan is better than, as far as that was known
    then, and its evictions, 0 without a plan."""

    seconds: float
    figure: int | float
    bound: int | float
    evictions: int


class PendingPod(Fields, frozen=True):
    """A pending pod that fits on no node without evictions. After them it can be scheduled onto `to_node`.

    `to_node` is null where it stays pending. With `holds_target` the plan has chosen that node, and a Reservation holds
    room for the pod there; without, another pod may take the room first.
    """

    pod: PodReference
    to_node: str | None = msgspec.field(name="to")
    holds_target: bool


class BlockedNode(Fields, frozen=True):
    """A node that was to be drained and is not, and the `cause` as the sentence of the objective has it.

    `pod` is the first one in the way, null where the cause is not a pod of the node.
    """

    node: str
    pod: PodReference | None
    cause: str


class PlannedObjective(Fields, frozen=True):
    """One objective of a planner, in the order of the policy. `sentence` says what came of it.

    `cost` is that of the evictions in thousandths of ordinary ones. A plan that reaches the same figures needs at least
    `bound` evictions and costs at least `cost_bound`, beside the evictions for earlier objectives; both are null where
    nothing is proven for these figures. So is the bound of each level one of plans on top of these evictions.
    `pending_pods` are those of makeRoom, empty for other objectives. `targets` are the shares in percent, by resource,
    that nodes are brought below, empty for objectives without any. `history` has the moments at which the search got
    further; their seconds and number differ from run to run. `blocked_nodes` are those of drainNodes.
    """

    profile: str
    plugin: str
    objective: str
    levels: tuple[GoalLevel, ...]
    evictions: int
    bound: int | None
    cost: int
    cost_bound: int | None
    sentence: str
    pending_pods: tuple[PendingPod, ...]
    targets: Mapping[str, int | float]
    history: tuple[SearchMoment, ...]
    blocked_nodes: tuple[BlockedNode, ...]


class PlannedGoal(Fields, frozen=True):
    """What planners were asked for, and how near the plan comes.

    A plan that reaches the figures of all `levels` needs at least `bound` evictions, by proof, and `gap` is the share
    of that by which `evictions` are more. Both are null where nothing is proven for these figures, and where there are
    evictions for several objectives: what is proven of one counts on the evictions for those before it.
    `status` is `optimal` where no plan has better figures or fewer evictions, or costs less by more than tie-breaks,
    `feasible` where one may, or where an objective is planned after evictions for another one, `infeasible` where no
    plan can reach anything, and `nothing` where nothing was to be done.
    `seconds` is how long was searched, and `work` the same in units that are equal on every machine. `search_ended_by`
    is the limit that ended the search or a part of it, and empty where it was done. All but `seconds` and the `history`
    of objectives is the same for equal input unless that is `timeLimit`, or `interrupt`: a signal or the deadline.
    """

    objectives: tuple[PlannedObjective, ...]
    evictions: int
    bound: int | None
    gap: float | None
    status: GoalStatus
    seconds: float
    work: float
    search_ended_by: SearchEnd


def objective_title(goal: PlannedGoal, objective: PlannedObjective) -> str:
    """The name of an objective of `goal`, with its profile if there are several."""
    return (
        f"{objective.objective} (profile {objective.profile})" if _has_several_profiles(goal) else objective.objective
    )


def goal_texts(goal: PlannedGoal) -> Sequence[str]:
    """What came of each objective, with its profile in front if there are several."""
    several = _has_several_profiles(goal)
    return [f"profile {each.profile}: {each.sentence}" if several else each.sentence for each in goal.objectives]


def pending_of(goal: PlannedGoal | None) -> Sequence[PendingPod]:
    """The pods that evictions are to make room for, each once."""
    objectives = () if goal is None else goal.objectives
    return list({each.pod: each for objective in objectives for each in objective.pending_pods}.values())


def pending_title(pods: Sequence[PendingPod]) -> str:
    """What a list of `pods` is, and how many of them the evictions help."""
    num_placed = sum(each.to_node is not None for each in pods)
    return f"Pending pods that need evictions: {num_placed:,} of {len(pods):,} can be scheduled after them"


def _has_several_profiles(goal: PlannedGoal) -> bool:
    return len({objective.profile for objective in goal.objectives}) > 1


def goal_of(decisions: Decisions) -> PlannedGoal | None:
    """What the planners of a cycle were asked for; None where none ran."""
    found = [(profile, plugin, goal) for (profile, plugin), facts in decisions.facts.items() for goal in facts.goals]
    if not found:
        return None
    held = {identity_of(room.pod) for move in decisions.moves for room in move.rooms}
    each_goal = [goal for *_, goal in found]
    evictions, bound = sum(goal.evictions for goal in each_goal), _bound(each_goal)
    return PlannedGoal(
        objectives=tuple(
            PlannedObjective(
                profile=profile,
                plugin=plugin,
                objective=goal.objective,
                levels=tuple(map(_level, goal.levels)),
                evictions=goal.evictions,
                bound=goal.bound,
                cost=goal.cost,
                cost_bound=goal.cost_bound,
                sentence=goal.sentence,
                pending_pods=tuple(_pending_pod(each, held) for each in goal.pending_pods),
                targets=goal.targets,
                history=tuple(_moment(point, goal.levels[0].scale) for point in goal.history),
                blocked_nodes=tuple(map(_blocked_node, goal.blocked_nodes)),
            )
            for profile, plugin, goal in found
        ),
        evictions=evictions,
        bound=bound,
        gap=None if bound is None else round((evictions - bound) / max(bound, 1), 6),
        status=_status(each_goal),
        seconds=round(sum(goal.seconds for *_, goal in found), 3),
        work=round(sum(goal.work for *_, goal in found), 6),
        search_ended_by=max((goal.search_ended_by for *_, goal in found), key=_ENDS.index),
    )


def _blocked_node(blocked: goals.BlockedNode) -> BlockedNode:
    pod = None if blocked.pod is None else reference(blocked.pod)
    return BlockedNode(node=blocked.node, pod=pod, cause=blocked.cause)


def _level(level: Level) -> GoalLevel:
    before, after, bound = (in_units(figure, level.scale) for figure in (level.before, level.after, level.bound))
    return GoalLevel(counts=level.counts, before=before, after=after, bound=bound)


def _moment(point: SearchPoint, scale: int) -> SearchMoment:
    return SearchMoment(
        seconds=round(point.seconds, 3),
        figure=in_units(point.figure, scale),
        bound=in_units(point.bound, scale),
        evictions=point.evictions,
    )


def _pending_pod(each: goals.UnscheduledPod, held: Container[PodIdentity]) -> PendingPod:
    return PendingPod(pod=reference(each.pod), to_node=each.node or None, holds_target=identity_of(each.pod) in held)


def in_units(figure: int, scale: int) -> int | float:
    """`figure`, of which `scale` make one of what is counted.

    Rounded down, all alike, so that a bound stays one and what is at it is seen to be.
    """
    whole, rest = divmod(figure, scale)
    return figure * _MILLION // scale / _MILLION if rest else whole


def _bound(found: Sequence[goals.Goal]) -> int | None:
    """How many evictions all figures need at least; None where that is not proven.

    What is proven for an objective counts on the evictions for those before it, so that two bounds are not added.
    """
    bounds = [goal.bound for goal in found]
    return None if None in bounds or sum(goal.evictions > 0 for goal in found) > 1 else sum(filter(None, bounds))


def _status(found: Sequence[goals.Goal]) -> GoalStatus:
    """The worst status; `feasible` in place of `optimal` where an objective was planned after evictions for another."""
    worst = max((goal.status for goal in found), key=_WORST.index)
    evicting = next((number for number, goal in enumerate(found) if goal.evictions), len(found))
    is_on_top = any(goal.status != "nothing" for goal in found[evicting + 1 :])
    return "feasible" if worst == "optimal" and is_on_top else worst
