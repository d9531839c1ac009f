"""One objective over a cluster: what is asked for of the best plan that was found, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted, counted_about
from descheduler.plan.goals import Goal, Level, SearchPoint, UnscheduledPod
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.plan.search_watch import SearchState
from descheduler.planner.args import MigrationPlannerArgs
from descheduler.planner.gpus.uncounted import Uncounted
from descheduler.planner.moves.move_waves import MoveWaves
from descheduler.planner.objectives.cluster_objective import ClusterObjective
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.planner.problem.disruption_cost import ORDINARY
from descheduler.planner.search.asking import MovesTogether
from descheduler.planner.search.last_plan import PlannedTargets
from descheduler.planner.search.plan_search import PlanSearch
from descheduler.planner.search.stopping_limits import used_up
from descheduler.planner.search.trials import Trial, Trials
from descheduler.planner.unmovable_pods import why_none_can_leave

_NO_BETTER, _NONE_BETTER = "no better plan was found within the limits", "no plan does better"
_NO_BETTER_IN_TIME = "no better plan was found before the search was interrupted"
_UNTOLD = (_NO_BETTER, _NO_BETTER_IN_TIME, _NONE_BETTER)
"""Why some are left, without anything that is in the way of them."""


class Planning:
    """What comes of one objective in one run, on top of `num_before` evictions for the objectives before it.

    Evictions by plugins that ran before count as well. `last` is what the run before planned for it.
    """

    def __init__(
        self,
        objective: ClusterObjective,
        args: MigrationPlannerArgs,
        handle: StrategyHandle,
        nodes: Sequence[Node],
        last: PlannedTargets,
        *,
        num_before: int = 0,
    ) -> None:
        self._objective = objective
        self._args = args
        self._handle = handle
        self._evictor = handle.evictor
        self._nodes = nodes
        self._last = last
        self._num_before = num_before
        self._num_of_others = handle.evictor.num_leaving_for_others
        self._cluster: ClusterProblem
        self._best_left_gain = 0.0
        self._search: PlanSearch
        self._uncounted: Uncounted
        self._history: list[SearchPoint] = []
        self._none_can_leave = ""
        self._why_left = ""
        self._waiting: Sequence[Pod] = ()
        self._asked: set[PodIdentity] = set()
        self._against: dict[PodIdentity, str] = {}
        self._before = objective.figure()
        self.num_pods = sum(len(handle.view.active_pods_on(node.name)) for node in nodes)
        self.goal = self._nothing()
        self.targets: PlannedTargets = {}
        """Where its replacements are expected."""

    @property
    def num_asked(self) -> int:
        """How many pods the plan moves."""
        return len(self._asked)

    def run(self) -> None:
        """Plans and asks; nothing, where nothing is to be done."""
        if self._objective.nothing_to_do():
            return
        if hopeless := self._objective.hopeless():
            self.goal = self._infeasible(hopeless)
            return
        watch = self._handle.search
        watch.note(SearchState(f"{self._objective.name}: searching, no plan yet"))
        self._waiting = self._objective.pending()
        search = PlanSearch(
            self._objective, self._args, self._handle, self._nodes, poor=self._poor, on_progress=self._note
        )
        self._search = search
        self._objective.closed = search.closed.names
        self._none_can_leave = why_none_can_leave(search.all_moves, self._evictor)
        counting = search.all_moves.pods if self._objective.tells_gpus_apart else self._waiting
        self._uncounted = Uncounted(counting, self._evictor.prover().openings())
        search.run(self._last)
        self._against = self._refused_in(search)
        watch.note(None)
        self._cluster = search.best.cluster
        trials = search.trials_over(self._cluster)
        good = self._chosen(search.best, trials)
        self._asked = {identity_of(pod) for group in good for pod in group.pods}
        objective = self._objective
        waves = MoveWaves(self._cluster, self._evictor.last_wave + 1, objective.nodes_at_once, objective.zone_of)
        num_before = self._evictor.num_leaving
        granted = [pod for group in good for pod in trials.asking.ask_whole(group, waves)]
        granted += self._left_over(trials, waves)
        self._asked.update(map(identity_of, granted))
        self.targets = waves.targets
        self.goal = self._reached(trials, granted, self._evictor.num_leaving - num_before, waves.text)

    def _left_over(self, trials: Trials, waves: MoveWaves) -> Iterator[Pod]:
        """The pods that a plan leaves although they can leave together as things are booked, once others have left."""
        found = self._objective.figure() > self._search.bound[0]
        while found:
            found = False
            for pods in self._objective.left_over():
                group = trials.together(pods).group if self._is_worth(pods) else None
                granted = () if group is None else trials.asking.ask_whole(group, waves)
                found |= bool(granted)
                yield from granted

    def _is_worth(self, pods: Sequence[Pod]) -> bool:
        """Whether a gain of 1 is enough for the eviction of `pods`."""
        cost = sum(map(self._cluster.cost_of, pods))
        return self._args.min_gain_per_disruption * cost <= ORDINARY

    def look_again(self, whose: str) -> None:
        """Has the goal tell the figure after the evictions that follow, where that is another one.

        `whose` says of which these are, such as `for later objectives`.
        """
        level, after = self.goal.levels[0], self._objective.figure()
        if after == level.after:
            return
        clause = f"{self._objective.text_of(after)} after the evictions {whose}"
        self.goal = replace(
            self.goal,
            levels=(replace(level, after=after, bound=min(level.bound, after)),),
            bound=None,
            cost_bound=None,
            status="infeasible" if self.goal.status == "infeasible" else "feasible",
            sentence=f"{self.goal.sentence}; {clause}",
            pending_pods=self._pending_pods(),
        )

    def _refused_in(self, search: PlanSearch) -> dict[PodIdentity, str]:
        """What was said against pods of plans; where more might be reached, also of plans that were bettered since."""
        is_reached = search.best.figure <= search.bound[0]
        bettered = {} if is_reached else {uid: text for trial in search.trials for uid, text in trial.refused.items()}
        stay = {identity_of(pod): why for pod, why in self._uncounted.placed}
        return {**stay, **bettered, **search.against}

    def _chosen(self, best: Trial, trials: Trials) -> Sequence[MovesTogether]:
        """The groups whose moves gain enough for what they disrupt; none where no plan gains anything."""
        poor, groups = self._poor(best), best.groups if best.figure < self._before else ()
        good = [group for group in groups if not any(identity_of(pod) in poor for pod in group.pods)]
        moves = [move for group in good for move in group.moves]
        for group in good:  # its sentences are about the groups that it made last
            self._objective.groups(group.moves)
        is_whole = len(moves) == len(best.plan.moves) and not best.has_in_vain
        return good if is_whole else trials.useful(good)

    @property
    def key(self) -> str:
        """The key of the objective in the policy, such as `drainNodes`."""
        return f"{self._objective.name[0].lower()}{self._objective.name[1:]}"

    def why_not(self, pod: Pod) -> str:
        """Why the plan leaves `pod` where it is; empty for one that it moves."""
        if identity_of(pod) in self._asked:
            return ""
        return self._against.get(identity_of(pod)) or self._objective.why_not(pod)

    def room_made(self, pod: Pod) -> str:
        """Where the plan makes room for `pod`, which is pending; empty where it makes none for it."""
        node = next((each.node for each in self.goal.pending_pods if identity_of(each.pod) == identity_of(pod)), "")
        return f"evictions of other pods make room for the pod on {node}" if node else ""

    def why_no_room(self, pod: Pod) -> str:
        """Why the plan makes no room for `pod`, which is pending; empty where it is not for such pods."""
        if identity_of(pod) in map(identity_of, self._waiting):
            (level,) = self.goal.levels
            change = f"{self._objective.text_of(level.before)} → {level.after:,}"
            in_the_way = self._objective.obstacle_of(pod) if self._why_left in _UNTOLD else ""
            why = "; ".join(filter(None, (self._why_left, in_the_way or self._hint_for_left())))
            return f"makes no room for the pod ({change}; {why})"
        return self._objective.why_no_room(pod)

    def why_unselected(self, pod: Pod) -> str:
        """Why the objective, which is for pending pods, is not for `pod`; empty for other objectives."""
        return self._objective.why_unselected(pod)

    def _note(self, figure: int, num_evictions: int) -> None:
        """Tells whoever looks on of the best plan so far."""
        search = self._search
        best, least = search.bound[0], search.least_evictions
        self._remember(SearchPoint(search.seconds, figure, best, num_evictions))
        is_reached = figure <= best and least
        bound = f"at least {least:,}" if is_reached else f"best possible: {self._objective.amount_of(best)}"
        change = f"{self._objective.text_of(self._before)} → {self._objective.amount_of(figure)}"
        worth = f"{change} with {counted(num_evictions, 'eviction')}"
        text = f"Best plan so far: {worth} ({bound})" if num_evictions else "no plan yet that is better than none"
        self._handle.search.note(SearchState(text, bool(num_evictions), search.most_seconds))

    def _remember(self, point: SearchPoint) -> None:
        """Keeps what is new of the search."""
        last = self._history[-1] if self._history else None
        if last is None or (last.figure, last.bound, last.evictions) != (point.figure, point.bound, point.evictions):
            self._history.append(point)

    def _poor(self, trial: Trial) -> dict[PodIdentity, str]:
        """What is said against pods, whose moves gain too little for what they disrupt."""
        least, found = self._args.min_gain_per_disruption, dict[PodIdentity, str]()
        moves = [move for group in trial.groups for move in group.moves]
        for part in self._objective.parts(trial.cluster, moves) if least else ():
            cost = int(trial.cluster.problem.cost[[move.pod for move in part.moves]].sum())
            gain = part.gain * ORDINARY / cost
            if gain < least:
                self._best_left_gain = max(self._best_left_gain, gain)
                text = f"its part of the plan gains {gain:.2g} for {_each_of(cost)} (minGainPerDisruption: {least:g})"
                found.update((identity_of(pod), text) for pod in part.pods)
        return found

    def _nothing(self) -> Goal:
        level = self._level(self._before, self._before)
        return Goal(self._objective.name, (level,), 0, 0, 0, 0, "nothing", 0.0, 0.0, self._idle_text)

    @property
    def _idle_text(self) -> str:
        """Why nothing is to be done; empty where something is."""
        why, number = self._objective.nothing_to_do(), self._num_of_others
        return f"{why}; counted after {counted(number, 'eviction')} by earlier plugins" if why and number else why

    def _infeasible(self, why: str) -> Goal:
        self._waiting, self._why_left = self._objective.pending(), why
        change = f"{self._objective.change(self._before, self._before)} with 0 evictions"
        sentence = "; ".join((change, why, *self._objective.remarks({})))
        level = self._level(self._before, self._before)
        return Goal(
            self._objective.name, (level,), 0, None, 0, None, "infeasible", 0.0, 0.0, sentence, self._pending_pods()
        )

    def _level(self, after: int, bound: int) -> Level:
        return Level(self._objective.counts, self._before, after, bound, self._objective.scale)

    def _reached(self, trials: Trials, granted: Sequence[Pod], num_evictions: int, waves: str) -> Goal:
        """What came of it, beside the bounds; `num_evictions` are those of `granted` and of pods that come along."""
        search = self._search
        after, cost = self._objective.figure(), sum(self._cluster.cost_of(pod) for pod in granted)
        figure_bound, cost_bound = search.bound
        is_reached, least = after <= figure_bound, search.least_evictions
        is_proven = search.is_proven(after, cost, len(granted))
        sentence = f"{self._objective.change(self._before, after)} with {counted(num_evictions, 'eviction')}"
        if after:
            if not is_reached and figure_bound:
                sentence += f" (best possible: {self._objective.amount_of(figure_bound)})"
            self._why_left = self._left_text(granted, is_proven=is_reached, num_evictions=num_evictions)
            sentence = "; ".join(filter(None, (sentence, self._why_left, self._in_the_way(num_evictions))))
        elif granted and least:
            sentence += f" (at least {least:,} {'is' if least == 1 else 'are'} needed)"
        blocked = tuple(self._objective.blocked_nodes(self._against, trials.refusal_of))
        beside = [*self._beside(num_evictions, is_proven=is_proven)] if after else []
        beside += [f"node {each.node} cannot be drained: {each.cause}" for each in blocked]
        if blocked and after > len(blocked):
            beside.append(f"{counted(after - len(blocked), 'more node')} cannot be drained")
        beside += self._objective.remarks(self._against)
        if search.unproven:
            untold = "best possible: unknown" if after else "fewest possible evictions: unknown"
            beside.append(f"{untold}, because {search.unproven}")
        sentence = "; ".join(filter(None, (sentence, waves, self._before_text, *beside)))
        return Goal(
            self._objective.name,
            (self._level(after, figure_bound),),
            num_evictions,
            least if is_reached and (least or not granted) else None,
            cost,
            cost_bound if is_reached and (cost_bound or not granted) else None,
            "optimal" if is_proven else "feasible",
            search.seconds,
            search.work,
            sentence,
            self._pending_pods(),
            search.ended_by,
            self._objective.targets(),
            tuple(self._history),
            blocked,
        )

    @property
    def _before_text(self) -> str:
        """On top of what it is planned and proven, if anything was evicted before."""
        found = {"by earlier plugins": self._num_of_others, "for earlier objectives": self._num_before}
        texts = [f"{counted(number, 'eviction')} {whose}" for whose, number in found.items() if number]
        return f"planned after {' and '.join(texts)}" if texts else ""

    def _beside(self, num_evictions: int, *, is_proven: bool) -> Iterator[str]:
        """What the search has not counted, or not had the time for, where some are left."""
        search = self._search
        if search.ended_by == "interrupt" and not is_proven and self._why_left != _NO_BETTER_IN_TIME:
            yield "the search was interrupted"
        yield from self._uncounted.texts()
        # One without evictions has said so of each pod.
        if num_evictions and (number := len(search.all_moves.unasked)):
            yield f"no time was left to ask which nodes are open to {number:,} of the pods"
        if not self._objective.says_why_each_is_left:
            yield search.closed.text

    def _pending_pods(self) -> tuple[UnscheduledPod, ...]:
        """The pods that were looked for room, as things are booked."""
        nodes = (
            {identity_of(pod): node for pod, node in self._evictor.prover().pending_nodes()} if self._waiting else {}
        )
        return tuple(UnscheduledPod(pod, nodes.get(identity_of(pod), "")) for pod in self._waiting)

    def _left_text(self, granted: Sequence[Pod], *, is_proven: bool, num_evictions: int) -> str:
        """Why some are left; `is_proven` tells that no plan does better."""
        if self._none_can_leave:
            return self._none_can_leave
        stopping = self._search.stopping
        if stopping is not None and (is_proven or not self._best_left_gain):
            text = f"{'proven best for' if is_proven else 'stopped by'} {stopping.text}"
            return "; ".join(filter(None, (text, stopping.rest(num_evictions, self._objective.needs_more_than))))
        if is_proven:
            return _NONE_BETTER
        cluster = self._search.all_moves
        if limit := used_up(cluster.problem, num_evictions, np.array([*map(cluster.number_of, granted)], np.int64)):
            return f"stopped by {limit}"
        if not self._best_left_gain:
            return _NO_BETTER_IN_TIME if self._search.ended_by == "interrupt" else _NO_BETTER
        least = self._args.min_gain_per_disruption
        best = self._best_left_gain
        text = f"the best of what is left gains {best:.2g} for an eviction (minGainPerDisruption: {least:g})"
        return text if stopping is None else f"{text}; also stopped by {stopping.text}"

    def _in_the_way(self, num_evictions: int) -> str:
        """What is in the way of what is left, or what helps; empty where the reason says it all."""
        objective, hint = self._objective, self._hint_for_left()
        if self._none_can_leave or self._best_left_gain:
            return ""
        if objective.explains_rest:
            is_open = self._why_left in _UNTOLD
            return (objective.obstacles(self._against) or hint) if is_open else ""
        return hint or ("" if num_evictions else self._obstacles())

    def _obstacles(self) -> str:
        """What is in the way where nothing is evicted; empty where that is the limit that is named as the reason."""
        stopping, text = self._search.stopping, self._objective.obstacles(self._against)
        limits = [self._why_left.removeprefix("stopped by ")] if stopping is None else stopping.names
        return "" if any(f"{limit} reached" in text for limit in limits) else text

    def _hint_for_left(self) -> str:
        """What helps where replacements would be scheduled onto the wrong nodes, if such a node is in the way."""
        hint, objective = self._objective.hint, self._objective
        is_of_use = objective.leaves_out_returning or any(hint in text for text in self._against.values())
        return hint if is_of_use and self._why_left in (_NO_BETTER, _NO_BETTER_IN_TIME) else ""


def _each_of(cost: int) -> str:
    """Such as `1 eviction` or `each of 3 evictions`; `each of 3.5 evictions` where some are dearer than others."""
    text = counted_about(round(cost / ORDINARY, 1), "eviction")
    return text if text == counted(1, "eviction") else f"each of {text}"
