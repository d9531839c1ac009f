"""What becomes of one victim: where its replacement lands, on the node of the scheduler's choice or of another's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from msgspec.structs import replace

from descheduler.model.held_room import HeldRoom
from descheduler.model.pod import Pod
from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.framework.evaluation import Choice, PodEvaluation
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.scheduler_model import priority_of
from descheduler.placement.landings.candidates import Decision, LandingCandidate
from descheduler.placement.landings.competitors import CompetitorFinder, forestalled, rival_condition
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.landings.open_choices import FreePod, OpenNodes, choices_beside, is_kept_out_by
from descheduler.placement.landings.openings import EarlyRooms
from descheduler.placement.landings.pending_pods import PendingPods
from descheduler.placement.landings.unplaced import UnplacedReplacement, first_priority
from descheduler.placement.landings.verdicts import (
    as_likely,
    as_unknown,
    landed,
    not_landed,
    of_live_size,
    of_template_size,
    on_any,
    verdict_of,
)
from descheduler.placement.shadow.follower import WhatIf
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

_NO_NODE = "node is not in the snapshot"


class Decider:
    """Decides about one victim after the other, over a cluster in which everything before it has settled.

    Victims whose landing is one of `unbooked` stay in the cluster. `unplaced_of` gives the replacement of a pod that is
    to leave later, None where it has left or where nothing looks for a node. `placed_beside` gives the replacements
    that are there; None where the nodes of these and of all pending pods are known.
    """

    def __init__(
        self,
        cluster: ShadowCluster,
        pending: PendingPods,
        unplaced_of: Callable[[Pod], UnplacedReplacement | None],
        unbooked: Collection[LandingVerdict],
        placed_beside: Callable[[], Sequence[FreePod] | None],
    ) -> None:
        self._cluster = cluster
        self._pending = pending
        self._competitors = CompetitorFinder(cluster, pending)
        self._early_rooms = cluster.ledger(EarlyRooms)
        self._unplaced_of = unplaced_of
        self._unbooked = unbooked
        self._placed_beside = placed_beside

    def decide(self, candidate: LandingCandidate) -> Decision:
        """The landing of one victim. The cluster is left as it is once that has happened.

        A victim whose landing is unknown, or not proven, stays where it is, in the place of a replacement that takes
        room somewhere.
        """
        with self._cluster.what_if() as trial:
            self._early_rooms.give_up(candidate.victim)
            decision = self._beside_doubtful(candidate, self._settle(candidate, trial))
            decision = self._beside_others(candidate, decision)
            if decision.landing.verdict not in self._unbooked:
                trial.keep()
            return decision

    def _beside_doubtful(self, candidate: LandingCandidate, decision: Decision) -> Decision:
        """`decision` under the condition that no pending pod takes the room of which it is unknown whether it is
        scheduled, or where. One for a replacement that waits hangs on a pending pod as it is."""
        landing, unplaced = decision.landing, candidate.unplaced
        if (
            unplaced is None
            or decision.homeless is not None
            or unplaced.held_on
            or landing.verdict not in (LandingVerdict.LANDS, LandingVerdict.LANDS_IF)
        ):
            return decision
        pods = list(self._pending.doubtful(first_priority(unplaced)))
        condition = rival_condition(pods, self._pending.tied(), unplaced, landing.node or "", self._cluster)
        return replace(decision, landing=landing.under(condition)) if condition else decision

    def _beside_others(self, candidate: LandingCandidate, decision: Decision) -> Decision:
        """`decision`, which is likely at best where it depends on unknown nodes of other pods."""
        landing, unplaced = decision.landing, candidate.unplaced
        if unplaced is None or landing.cause or unplaced.held_on:
            return decision
        placed = self._placed_beside()
        if placed is None:
            return decision
        others = [*placed, *free_pods(self._pending)]
        if landing.node is None:
            cause = is_kept_out_by(others, unplaced, self._cluster)
            return Decision(as_unknown(landing, cause)) if cause else decision
        choices = choices_beside(others, unplaced, landing.node, self._cluster)
        return decision if choices is None else replace(decision, landing=self._open(landing, choices))

    def _open(self, landing: Landing, choices: OpenNodes) -> Landing:
        """`landing` on an unknown one of several nodes; likely at best unless it is certain to have one of them."""
        names = [self._cluster.table.names[node] for node in choices.nodes]
        landing = on_any(landing, names, choices.cause)
        return landing if choices.is_certain else as_likely(landing, choices.cause)

    def _settle(self, candidate: LandingCandidate, trial: WhatIf) -> Decision:
        unplaced = candidate.unplaced
        if unplaced is not None and unplaced.held_on:
            return self._settle_held(unplaced, candidate.rooms)
        if unplaced is not None:
            return self._settle_free(unplaced, trial)
        if candidate.leaves:
            self._cluster.remove(candidate.victim)
        assert candidate.landing is not None  # noqa: S101 - it is one or the other
        return Decision(candidate.landing)

    def _settle_free(self, unplaced: UnplacedReplacement, trial: WhatIf) -> Decision:
        """Where the scheduler chooses the node: once the victim is gone, and those have chosen who go first."""
        looks_first = _hinders_elsewhere(unplaced)
        cold = self._cold(unplaced) if looks_first else None
        self._cluster.remove(unplaced.victim)
        num_placed = len(self._pending.placed)
        self._pending.place_after(unplaced.victim, first_priority(unplaced))
        other = None if unplaced.alternative is None else unplaced.alternative.evaluate()
        attempt = unplaced.place()
        placement = attempt.placement
        if unplaced.returns_at_once and not looks_first:
            is_clear = len(self._pending.placed) == num_placed and _fits_elsewhere(unplaced, attempt.evaluation)
            cold = verdict_of(unplaced, attempt.evaluation) if is_clear else self._cold_in_hindsight(unplaced, trial)
        conditions = (of_template_size(unplaced.victim),) if other is not None and not other.fits else ()
        if placement is None and other is not None and other.fits and unplaced.alternative is not None:
            placement = unplaced.alternative.place().placement
            conditions = (of_live_size(unplaced.victim),)
        if placement is not None:
            looked_at = attempt.evaluation if placement is attempt.placement else None
            return Decision(
                landed(unplaced, placement, self._cluster, cold=cold, conditions=conditions, evaluation=looked_at)
            )
        return self._without_node(unplaced, attempt.evaluation, cold)

    def _without_node(
        self, unplaced: UnplacedReplacement, evaluation: PodEvaluation, cold: LandingVerdict | None
    ) -> Decision:
        """No node takes it; one may where pending pods are in its way that do not go first in any case."""
        competition = self._competitors.competition(unplaced, evaluation)
        if competition is None or competition.placement is None:
            behind = "" if competition is None else forestalled(competition.competitor, unplaced, self._cluster.table)
            landing = not_landed(unplaced, evaluation, cold=cold, behind=behind)
            waits = landing.verdict is LandingVerdict.NO and not unplaced.doubt
            return Decision(landing, unplaced.pod if waits else None)
        conditions = (competition.competitor.condition,)
        landing = landed(unplaced, competition.placement, self._cluster, cold=cold, conditions=conditions)
        return Decision(landing, None if unplaced.doubt else unplaced.pod)

    def _settle_held(self, unplaced: UnplacedReplacement, rooms: Sequence[HeldRoom]) -> Decision:
        """Where room is held for it on a chosen node: it is there before pending pods take what the victim leaves.

        The Reservation of each of `rooms` goes before pods of the same priority, and after those of a higher one.
        """
        with self._cluster.what_if() as trial:
            landing = _land_in_held_room(unplaced, self._cluster)
            if landing.node is None:
                return Decision(landing)
            for room in sorted(rooms, key=lambda each: -priority_of(each.pod)):
                self._pending.place_after(unplaced.victim, priority_of(room.pod) + 1)
                if room.pod is not unplaced.victim and (cause := self._hold(room)):
                    return Decision(_no_room_for(unplaced, room, cause))
            self._pending.place_after(unplaced.victim, unplaced.priority)
            trial.keep()
        return Decision(landing)

    def _hold(self, room: HeldRoom) -> str:
        """Holds `room` from now on: what is in the way of its pending pod, if that is known.

        For a pod that leaves later nothing is in the way here: whether it lands is asked when it leaves.
        """
        if not room.pod.node_name:
            return self._pending.place_on(room.pod, room.node)
        unplaced = self._unplaced_of(room.pod)
        if unplaced is not None:
            self._early_rooms.hold(unplaced, room.node)
        return ""

    def _cold(self, unplaced: UnplacedReplacement) -> LandingVerdict | None:
        """What is said while the victim is terminating; None for a replacement that comes only when it is gone.

        The victim is left terminating.
        """
        if not unplaced.returns_at_once:
            return None
        self._cluster.terminate(unplaced.victim)
        return verdict_of(unplaced, unplaced.evaluate())

    def _cold_in_hindsight(self, unplaced: UnplacedReplacement, trial: WhatIf) -> LandingVerdict | None:
        """The same after the changes of `trial`, which are taken back for that question alone."""
        changes = trial.changes
        trial.take_back()
        with self._cluster.what_if():
            verdict = self._cold(unplaced)
        self._cluster.repeat(changes)
        return verdict


def _hinders_elsewhere(unplaced: UnplacedReplacement) -> bool:
    """Whether the victim, as long as it is terminating, may keep the replacement off other nodes than its own."""
    return unplaced.scheduler.hinders_while_ending(unplaced.victim, unplaced.pod)


def _fits_elsewhere(unplaced: UnplacedReplacement, evaluation: PodEvaluation) -> bool:
    """Whether a node other than the victim's takes the replacement, by `evaluation`."""
    source = evaluation.cycle.cluster.table.index.get(unplaced.victim.node_name)
    takes_it = source is not None and bool(evaluation.feasible[source])
    return evaluation.num_nodes > takes_it


def free_pods(pending: PendingPods) -> list[FreePod]:
    """The pending pods that got a node which their scheduler chose."""
    found = ((each, each.group) for each in pending.placed)
    return [
        FreePod(each.form, each.node, group.scheduler, each.pod, is_pending=True, ties=each.ties)
        for each, group in found
        if group is not None
    ]


def _land_in_held_room(unplaced: UnplacedReplacement, cluster: ShadowCluster) -> Landing:
    """The landing of `unplaced` where room is held for it; its victim is gone then, and stays if nothing lands.

    What holds the room is a pod like the replacement to the scheduler, while the victim is still there: the node has to
    take it then, and the replacement of either revision once the victim is gone. (`reserve pod` of koordinator 1.8
    `pkg/scheduler/plugins/reservation`, which passes all filters.)
    """
    node = cluster.table.index.get(unplaced.held_on)
    if node is None:
        return _not_held(unplaced, _NO_NODE)
    holding = unplaced.evaluate()
    if not holding.feasible[node]:
        return _refused(unplaced, holding, node)
    with cluster.what_if() as trial:
        cluster.remove(unplaced.victim)
        for each in filter(None, (unplaced.alternative, unplaced)):
            evaluation = each.evaluate()
            if not evaluation.feasible[node]:
                return _refused(unplaced, evaluation, node)
        placement = put_on_node(evaluation, node, _only(node, evaluation))
        trial.keep()
    return landed(unplaced, placement, cluster, cold=None)


def _only(node: int, evaluation: PodEvaluation) -> Choice:
    """No choice: it is that node. A scheduler that does not look at all nodes may still miss it."""
    return Choice(node, 0, (node,), None, is_sampled=evaluation.is_sampled)


def _refused(unplaced: UnplacedReplacement, evaluation: PodEvaluation, node: int) -> Landing:
    causes = ", ".join(evaluation.first_obstacle_on(node).short)
    return _not_held(unplaced, causes, next(iter(evaluation.refusals), None))


def _not_held(unplaced: UnplacedReplacement, causes: str, refusal: Obstacle | None = None) -> Landing:
    message = f"no room can be held for the replacement pod on {unplaced.held_on}: {causes}"
    return _nowhere(unplaced, message, refusal)


def _no_room_for(unplaced: UnplacedReplacement, room: HeldRoom, causes: str) -> Landing:
    """The landing of a replacement that is not created: a pending pod has no `room` where its victim would leave."""
    message = f"pending pod {room.pod.key} would not fit on {room.node} after the eviction: {causes}"
    return _nowhere(unplaced, message)


def _nowhere(unplaced: UnplacedReplacement, message: str, refusal: Obstacle | None = None) -> Landing:
    no = LandingVerdict.NO
    return Landing(unplaced.victim, unplaced.replacement, no, no, message=message, refusal=refusal)
