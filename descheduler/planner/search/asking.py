"""Asks the evictor for moves that hang together: all of a group or none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.model.held_room import NOTHING_HELD, HeldRoom, HeldRooms
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.order.waves import Reassignment
from descheduler.placement.landings.landing import Landing
from descheduler.plan.bundles import Candidate
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.moves.move_waves import MoveWaves
from descheduler.planner.objectives.cluster_objective import ClusterObjective
from descheduler.planner.objectives.draining.closed_nodes import ClosedNodes
from descheduler.planner.problem.cluster_problem import ClusterProblem

DEPENDS_ON_ORDER = (Reason.NO_LANDING, Reason.RETURNS_TO_SOURCE)
"""Refusals of a bundle's pod that may be granted where it is asked for earlier: it has more nodes with room then."""


class Leaving(NamedTuple):
    """A pod that is to leave, and the room that is held for its replacement, where the scheduler does not choose.

    Where it leaves, room is held for pending pods, and for the replacements of pods that leave later.
    """

    pod: Pod
    held: HeldRooms = NOTHING_HELD


class MovesTogether:
    """Moves of `cluster` that are asked for together, and the pods that are evicted for them.

    With `rooms` the plan chooses nodes: room is held on that of each move for the replacement, and `rooms` by the move
    after which they are there. Without, the scheduler chooses. Pods are asked for in the order of `leaving`, which
    becomes another one where that is granted.
    """

    def __init__(
        self,
        moves: Sequence[Reassignment],
        cluster: ClusterProblem,
        rooms: Mapping[Reassignment, tuple[HeldRoom, ...]] | None,
    ) -> None:
        self.moves = moves
        self.chooses_nodes = rooms is not None
        evictions = [move for move in moves if move.source != PENDING]
        self.pods = [cluster.pods[move.pod] for move in evictions]
        self.leaving = [
            Leaving(pod) if rooms is None else Leaving(pod, HeldRooms(cluster.nodes[move.target], rooms.get(move, ())))
            for pod, move in zip(self.pods, evictions, strict=True)
        ]


class Asking:
    """Asks for groups of moves over `cluster`, as far as replacements land where they do no harm to the objective.

    Those that are disposable need not land. None lands on `closed` nodes.

    No more than `most` pods leave, those included that have to leave with others of their gang; None: any number.
    """

    def __init__(
        self,
        objective: ClusterObjective,
        evictor: PluginEvictor,
        cluster: ClusterProblem,
        most: int | None,
        is_disposable: Callable[[Pod], bool],
        closed: ClosedNodes,
    ) -> None:
        self._objective = objective
        self._evictor = evictor
        self._cluster = cluster
        self._most = most
        self._is_disposable = is_disposable
        self._closed = closed
        self.companions: set[PodIdentity] = set()
        """Pods that were refused because another one has to stay, with which alone they would leave."""

    def ask_whole(self, group: MovesTogether, waves: MoveWaves) -> Sequence[Pod]:
        """The pods of `group` that were granted: all or none."""
        if self._objective.is_in_bundles:
            _, verdict = self._ask_together(group, waves)
            if verdict.is_accepted:
                return group.pods
        else:
            refusal = self._first_refusal(group) if len(group.pods) > 1 else None
            if refusal is None:
                return [each.pod for each in group.leaving if self.ask(each, waves).is_accepted]
            verdict = refusal[1]
        for pod in group.pods:
            self._evictor.keep(pod, verdict, self._objective.reason(pod))
        return ()

    def against(self, group: MovesTogether) -> dict[PodIdentity, str]:
        """Nothing where all of `group` is granted, which is booked then; else what blocks it.

        Of a group that is no bundle the first that is refused: without it another pod may make the room.
        """
        if self._objective.is_in_bundles:
            return self._against_bundle(group)
        if len(group.pods) == 1:
            verdict = self.ask(group.leaving[0])
            return {} if verdict.is_accepted else {identity_of(group.pods[0]): verdict.message}
        refusal = self._first_refusal(group)
        if refusal is None:
            for each in group.leaving:
                self.ask(each)
            return {}
        culprit, verdict = refusal
        return {identity_of(culprit): verdict.message}

    def _first_refusal(self, group: MovesTogether) -> tuple[Pod, Verdict] | None:
        with self._evictor.what_if():
            answers = ((each.pod, self.ask(each)) for each in group.leaving)
            return next((answer for answer in answers if not answer[1].is_accepted), None)

    def _against_bundle(self, group: MovesTogether) -> dict[PodIdentity, str]:
        """The same of pods that are asked for as one bundle."""
        culprit, verdict = self._ask_together(group)
        if verdict.is_accepted:
            return {}
        if culprit is not None:
            self.companions.discard(identity_of(culprit))
            self.companions.update(identity_of(pod) for pod in group.pods if pod is not culprit)
        return _against_all(group, culprit, verdict)

    def _ask_together(self, group: MovesTogether, waves: MoveWaves | None = None) -> tuple[Pod | None, Verdict]:
        """Asks for all of `group` or none, as one bundle; with the refusal the pod that has to stay."""
        refusals = list[tuple[Pod | None, Verdict]]()
        for order in self._orders(group):
            culprit, verdict, nodes = self._tried(order, self._objective.gain_of(group.moves))
            if verdict.is_accepted:
                group.leaving = order
                asked = zip(order, nodes, strict=True)
                return None, self._request([self._candidate(each, node, waves) for each, node in asked])
            refusals.append((culprit, verdict))
            if verdict.reason not in DEPENDS_ON_ORDER:
                break
        return refusals[0]

    def _orders(self, group: MovesTogether) -> Iterator[list[Leaving]]:
        """The order of `group`, and where the scheduler chooses the nodes the largest pods first, if that is another.

        What is placed late has fewer nodes with room.
        """
        yield group.leaving
        if not group.chooses_nodes:
            largest = sorted(group.leaving, key=lambda each: self.size_of(each.pod), reverse=True)
            if largest != group.leaving:
                yield largest

    def size_of(self, pod: Pod) -> float:
        """What the pod needs, as a share of the node that has most of the resource of which it needs most."""
        need = self._cluster.problem.need[self._cluster.number_of(pod)]
        return float((need / np.maximum(self._cluster.problem.capacity.max(axis=0), 1)).max())

    def _tried(
        self, order: Sequence[Leaving], gain: Callable[[], Verdict] = lambda: ACCEPTED
    ) -> tuple[Pod | None, Verdict, Sequence[str | None]]:
        """What comes of asking for pods in this order, of which nothing is left: with a refusal the pod that has to
        stay, else where their replacements are expected."""
        nodes = list[str | None]()
        with self._evictor.what_if():
            for each in order:
                nodes.append(self._evictor.predicted(*each).node)
                verdict = self.ask(each)
                if not verdict.is_accepted:
                    return each.pod, verdict, ()
            return None, gain(), nodes

    def refusal_of(self, group: MovesTogether) -> tuple[Pod | None, Verdict]:
        """What is said against `group` as one bundle as things are booked, and the pod that has to stay: `AskTogether`.

        Where that is granted in another order, the group has that one.
        """
        with self._evictor.what_if():
            return self._ask_together(group)

    def ask(self, leaving: Leaving, waves: MoveWaves | None = None) -> Verdict:
        """Asks for the eviction of a pod that lands where it does no harm; `waves` takes note of where."""
        landing = self._evictor.predicted(*leaving)
        harm = self._harm(leaving.pod, landing)
        if harm.is_accepted:
            return self._request((self._candidate(leaving, landing.node, waves),))
        self._evictor.keep(leaving.pod, harm, self._objective.reason(leaving.pod))
        return harm

    def _request(self, candidates: Sequence[Candidate]) -> Verdict:
        """Asks for all of `candidates` or none, within the limit of the planner."""
        if self._most is not None and self._evictor.num_leaving_with(candidates) > self._most:
            return refuse(Reason.LIMIT_REACHED, f"maxEvictions ({self._most:,}) reached")
        return self._evictor.request_all(candidates)

    def _candidate(self, leaving: Leaving, node: str | None, waves: MoveWaves | None) -> Candidate:
        """The pod, whose replacement is expected on `node`."""
        pod = leaving.pod
        wave, reason = 1 if waves is None else waves.of(pod, node), self._objective.reason(pod)
        cost, serves = self._cluster.cost_of(pod), tuple(self._objective.served_by(pod))
        return Candidate(pod, reason, wave=wave, cost=cost, serves=serves).holding(leaving.held)

    def _harm(self, pod: Pod, landing: Landing) -> Verdict:
        """The harm of the node where `pod` lands, or that this node is unknown."""
        node = landing.node
        if landing.replacement.pod is None:
            return ACCEPTED
        if node is None and self._is_disposable(pod):
            return ACCEPTED
        if node is None or landing.cause:
            return refuse(Reason.NO_LANDING if node is None else Reason.UNKNOWN_LANDING, landing.message)
        if node == pod.node_name:
            message = f"the replacement pod would be scheduled onto {node} again"
            if landing.only_return:
                message = f"{message}; {landing.only_return}"
            return self._hinted(refuse(Reason.RETURNS_TO_SOURCE, message, node))
        harm = self._hinted(self._objective.harm(pod, node))
        return harm if not harm.is_accepted else self._closed.harm(node)

    def _hinted(self, verdict: Verdict) -> Verdict:
        """With what helps, where the scheduler chooses another node."""
        hint = self._objective.hint
        if verdict.is_accepted or not hint:
            return verdict
        return msgspec.structs.replace(verdict, message=f"{verdict.message}; {hint}")


def _against_all(group: MovesTogether, culprit: Pod | None, verdict: Verdict) -> dict[PodIdentity, str]:
    """What is said against each pod of a group because of one of them, or of all together."""
    text = verdict.message
    if culprit is not None:
        text = f"it would leave only together with pod {culprit.key}, which has to stay: {text}"
    return {identity_of(pod): verdict.message if pod is culprit else text for pod in group.pods}
