"""How the pods of one node leave together as things are booked: in which order, and onto which nodes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.model.held_room import HeldRooms
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.order.waves import Reassignment
from descheduler.placement.framework.obstacle_counts import ObstacleCounts
from descheduler.planner.objectives.draining.closed_nodes import ClosedNodes
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.planner.search.asking import DEPENDS_ON_ORDER, Asking, Leaving, MovesTogether
from descheduler.planner.search.orders import FEW_PARTS, orders_of

_MOST_ORDERS = 24
"""So many orders are tried where the scheduler chooses the nodes, which are all orders of few pods."""
_MOST_ASKED = 300
"""So many times it is asked whether room can be held on a node."""


class LeavingTogether(NamedTuple):
    """The `group` of moves by which pods leave together, or else the `pod` that has to stay beside the others, and why.

    `is_proven` says that they leave in no order, and not only in none that was tried.
    """

    group: MovesTogether | None
    pod: Pod | None = None
    verdict: Verdict = ACCEPTED
    is_proven: bool = True


class LeavingNodes:
    """Looks for how pods leave their nodes, of which none or all do.

    Where the plan `chooses_nodes`, room is held for each of them on a node that is not `closed`; else in some order the
    scheduler finds one for each.
    """

    def __init__(
        self,
        asking: Asking,
        evictor: PluginEvictor,
        cluster: ClusterProblem,
        closed: ClosedNodes,
        *,
        chooses_nodes: bool,
    ) -> None:
        self._asking = asking
        self._evictor = evictor
        self._cluster = cluster
        self._chooses_nodes = chooses_nodes
        self._closed = closed
        self._num_asked = 0
        self._deepest: tuple[int, Pod, Verdict] | None = None

    def of(self, pods: Sequence[Pod]) -> LeavingTogether:
        """What comes of `pods` leaving together as things are booked, of which nothing is left."""
        return self._in_held_rooms(pods) if self._chooses_nodes else self._in_some_order(pods)

    def _in_some_order(self, pods: Sequence[Pod]) -> LeavingTogether:
        """In the given order or the one of the largest first, else in any other of a few."""
        asked = self._group([Leaving(pod) for pod in pods])
        pod, verdict = self._asking.refusal_of(asked)
        if verdict.is_accepted:
            return LeavingTogether(asked)
        are_few, depends_on_order = len(pods) <= FEW_PARTS, verdict.reason in DEPENDS_ON_ORDER
        for order in islice(orders_of(asked.leaving), _MOST_ORDERS if depends_on_order else 0):
            group = self._group(order)
            if self._asking.refusal_of(group)[1].is_accepted:
                return LeavingTogether(group)
        return LeavingTogether(None, pod, verdict, is_proven=are_few or not depends_on_order)

    def _in_held_rooms(self, pods: Sequence[Pod]) -> LeavingTogether:
        """On any nodes that have room one after the other, the largest pods first."""
        self._num_asked, self._deepest = 0, None
        in_order = sorted(pods, key=self._asking.size_of, reverse=True)
        found = self._held(in_order, [])
        if found is not None:
            return LeavingTogether(self._group(found))
        if self._deepest is None:
            return LeavingTogether(None)
        _, pod, verdict = self._deepest
        return LeavingTogether(None, pod, verdict, is_proven=self._num_asked < _MOST_ASKED)

    def _held(self, left: Sequence[Pod], leaving: Sequence[Leaving]) -> Sequence[Leaving] | None:
        """`leaving` with those of `left` that follow it in any order; None where there is no room for all of these."""
        if not left:
            return leaving
        for pod in left:
            others = [other for other in left if other is not pod]
            for node in self._nodes_for(pod, len(leaving)):
                if self._num_asked >= _MOST_ASKED:
                    return None
                self._num_asked += 1
                with self._evictor.what_if():
                    each = Leaving(pod, HeldRooms(node))
                    verdict = self._asking.ask(each)
                    found = self._held(others, [*leaving, each]) if verdict.is_accepted else None
                if found is not None:
                    return found
                if not verdict.is_accepted:
                    self._note(len(leaving), pod, verdict)
        return None

    def _nodes_for(self, pod: Pod, depth: int) -> Sequence[str]:
        """The nodes on which room can be held for the pod now, after so many others; "" where no pod comes for it."""
        openings = self._evictor.prover().openings()
        if openings.needs_no_node(pod):
            return [""]
        nodes, obstacles = openings.holding(pod)
        found = [node for node in nodes if self._may_hold(pod, node)]
        if not found:
            why_not = "" if obstacles is None else self._why_none_holds(pod, nodes, obstacles)
            message = "on no other node can room be held for its replacement pod while the pod runs"
            self._note(depth, pod, refuse(Reason.NO_LANDING, ": ".join(filter(None, (message, why_not)))))
        return found

    def _may_hold(self, pod: Pod, node: str) -> bool:
        """Whether the node is another one, which the policy selects, and no plan closes it to replacements."""
        is_other = node != pod.node_name and not self._closed.why(node)
        return is_other and bool(self._cluster.places_of(self._cluster.number_of(pod), node))

    def _why_none_holds(self, pod: Pod, available: Sequence[str], obstacles: ObstacleCounts) -> str:
        """Why the scheduler takes no node, or each of those that are `available` to it is none for the plan."""
        if not available:
            return obstacles.sentence()
        own = f"1 is the node of the pod itself ({pod.node_name})" if pod.node_name in available else ""
        others = [node for node in available if node != pod.node_name]
        receive = "receives" if len(others) == 1 else "receive"
        closed = f"{len(others):,} {receive} no replacement pods ({self._closed.named(others)})" if others else ""
        return ", ".join(filter(None, (obstacles.reasons, own, closed)))

    def _note(self, depth: int, pod: Pod, verdict: Verdict) -> None:
        """Keeps what was said when most of the others had room."""
        if self._deepest is None or depth > self._deepest[0]:
            self._deepest = depth, pod, verdict

    def _group(self, leaving: Sequence[Leaving]) -> MovesTogether:
        """The moves, which have to gain something where all pods of the node leave."""
        cluster, moves = self._cluster, list[Reassignment]()
        for each in leaving:
            number = cluster.number_of(each.pod)
            places = cluster.places_of(number, each.held.on) if each.held.on else [PENDING]
            moves.append(Reassignment(number, int(cluster.problem.assignment[number]), places[0]))
        is_whole = len(moves) == np.count_nonzero(cluster.problem.assignment == moves[0].source)
        group = MovesTogether(moves if is_whole else [], cluster, {} if self._chooses_nodes else None)
        group.pods, group.leaving = [each.pod for each in leaving], list(leaving)
        return group
