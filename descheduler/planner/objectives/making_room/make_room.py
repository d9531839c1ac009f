"""MakeRoom over a cluster: the most pending pods that can be scheduled, by the fewest evictions."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.held_room import HeldRoom
from descheduler.model.koordinator.gang_settings import gang_id_of
from descheduler.model.koordinator.scheduler_name import scheduler_name_of
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.requests import ceil_amount
from descheduler.model.text.amounts import amount_of, amount_text
from descheduler.model.text.counted import counted
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.objectives.make_room import MakeRoom
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.problem import Problem
from descheduler.plan.moves import PodIdentity, identity_of
from descheduler.planner.moves.connected_moves import connected_moves
from descheduler.planner.moves.room_chains import room_chains
from descheduler.planner.moves.room_levels import held_after
from descheduler.planner.objective_args import MakeRoomArgs
from descheduler.planner.objectives.cluster_objective import ClusterObjective, Part
from descheduler.planner.objectives.making_room.room_obstacles import RoomObstacles
from descheduler.planner.objectives.making_room.selected_pods import SelectedPods
from descheduler.planner.problem.cluster_problem import ClusterProblem

_MOST_NAMED = 3
"""Pending pods up to which it is said which node takes each."""


class MakeRoomObjective(ClusterObjective):
    """The fewest pending pods that no node takes. What the scheduler is predicted to place counts, not the plan."""

    name = "MakeRoom"
    noun, state = "pod", "pending"
    is_in_bundles = is_planned_further = lets_go_nowhere = explains_rest = True

    def __init__(self, args: MakeRoomArgs, handle: StrategyHandle, nodes: Sequence[Node]) -> None:
        self._evictor = handle.evictor
        self.hint = self.packing_hint(handle.evictor.prover().preference())
        self._nodes = frozenset(node.name for node in nodes)
        self._selection = SelectedPods(args, handle.view.snapshot.pods)
        self._selected = self._selection.pods
        self._is_first = not self._evictor.arrivals()
        fitting = self._nodes_of_pending()
        self._fitting = {key: fitting[key] for key in self._selected if key in fitting}
        """The selected pods that some node takes as things are booked before the plan, each with that node."""
        left = set(map(identity_of, self.pending()))
        self._waiting = [pod for key, pod in self._selected.items() if key in left]
        """The selected pods that no node takes then."""
        self._obstacles = RoomObstacles(handle, self._nodes, self._in_vain_text, lambda: self.closed)
        self._cluster: ClusterProblem
        self._is_choosing = False
        self._returning: dict[PodIdentity, bool] = {}
        self._gangs: dict[PodIdentity, str] = {}
        self._served_by: dict[PodIdentity, Sequence[Pod]] = {}
        """By pod that the plan evicts, the pods that it makes room for."""

    def pending(self) -> Sequence[Pod]:
        """The selected pods that no node takes as things are booked."""
        return [pod for pod in self._evictor.prover().still_pending() if identity_of(pod) in self._selected]

    def nothing_to_do(self) -> str:
        """That no pod is pending, or that all of them can be scheduled as they are; and which names select no pod."""
        if not self._selected:
            if fault := self._selection.fault:
                return f"no pending pod is selected ({fault})"
            return self._selection.unmatched or "no pod is pending"
        if self.pending():
            return ""
        return "; ".join(filter(None, (self._all_have_room(), self._selection.fault)))

    def hopeless(self) -> str:
        """That every pending pod requests more than any node has."""
        texts = list(map(self._too_large, self.pending()))
        if not all(texts):
            return ""
        more = len(texts) - _MOST_NAMED
        others = [f"{counted(more, 'more pod')} {'requests' if more == 1 else 'request'} more than any node has"]
        return "; ".join((*texts[:_MOST_NAMED], *(others if more > 0 else ())))

    def _too_large(self, pod: Pod) -> str:
        """What no node has as much of as the pod requests; empty where some node is large enough."""
        openings = self._evictor.prover().openings()
        need = openings.need(pod.spec)
        capacity = openings.capacity[:, [openings.place_of(node) for node in sorted(self._nodes)]]
        most = capacity.max(axis=1, initial=0)
        for row, resource in enumerate(openings.resources):
            if need[row] > most[row]:
                largest = f"the largest node has {amount_text(resource, int(most[row]))}"
                has = largest if most[row] else f"no node has {resource}"
                stated = ceil_amount(resource, pod.spec.requests.get(resource, 0))
                requested = max(int(need[row]), stated)  # absurd needs are cut
                return f"no room: pod {pod.key} requests {amount_of(resource, requested)}, {has}"
        return ""

    def _all_have_room(self) -> str:
        """By what all selected pods can be scheduled, as far as that is known."""
        if not self._is_first and not self._doubts():
            return f"all pending pods {self._can_be_scheduled}"
        found = ", ".join(f"{number:,} {text}" for number, text in self._beside())
        return f"{counted(len(self._selected), 'pod')} pending: {found}"

    def figure(self) -> int:
        """Selected pods that no node takes."""
        return len(self.pending())

    @property
    def tells_gpus_apart(self) -> bool:
        """Whether some selected pod asks for GPUs, and Devices list those of some node."""
        openings = self._evictor.prover().openings()
        if not any(openings.parts.need_of(pod, 0) for pod in self._selected.values()):
            return False
        return any(openings.parts.free(openings.place_of(node)) for node in self._nodes)

    def stated_over(self, cluster: ClusterProblem) -> MakeRoom:
        """The gangs of pending pods, and the jobs that wait for all of them, which are placed whole."""
        self._cluster = cluster
        self._gangs.clear()
        known: dict[str, int] = {}
        gang: Ints = np.full(len(cluster.pods), PENDING, dtype=np.int64)
        for number in np.flatnonzero(cluster.problem.assignment == PENDING).tolist():
            if gang_id := self._gang(cluster.pods[number]):
                gang[number] = known.setdefault(gang_id, len(known))
        return MakeRoom(gang=gang)

    def promising(self, cluster: ClusterProblem, problem: Problem) -> Problem:
        """Without pods whose nodes the scheduler prefers for their replacements to others that have room."""
        found = problem.evictable.copy()
        for number in np.flatnonzero(found & (problem.assignment != PENDING)).tolist():
            found[number] = not self._returns(cluster.pods[number])
        self.leaves_out_returning |= bool((found != problem.evictable).any())
        return dataclasses.replace(problem, evictable=found)

    def _returns(self, pod: Pod) -> bool:
        """As it was when first asked, which takes a third of a millisecond."""
        key = identity_of(pod)
        if key not in self._returning:
            landing = self._evictor.predicted(pod)
            self._returning[key] = landing.returns_to_source and landing.margin is not None
        return self._returning[key]

    def change(self, before: int, after: int) -> str:
        """With the nodes of the pods that room is made for."""
        return f"{super().change(before, after)}{_onto(self._waiting, self._nodes_of_pending())}"

    def remarks(self, against: Mapping[PodIdentity, str]) -> Sequence[str]:
        """Why no room helps pods; how many need none, and of how many that is unknown; which names select no pod."""
        beside = self._beside()
        found = [f"{counted(number, 'more pod')} {text}" for number, text in beside[:1]]
        found += [f"{number:,} more {text}" for number, text in beside[1:]]
        return tuple(filter(None, (*self._refusals(), ", ".join(found), self._selection.fault)))

    def _refusals(self) -> Iterator[str]:
        """Why schedulers look at no node for pods that are pending, with the number of such pods."""
        pending, openings = self.pending(), self._evictor.prover().openings()
        found = Counter(openings.refusal_of_pending(pod, pending) for pod in pending)
        del found[""]
        for text, number in found.most_common():
            yield f"{counted(number, 'pod')} {'is' if number == 1 else 'are'} not scheduled onto any node: {text}"

    def groups(self, moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        """Chains of moves, each for one pending pod or gang.

        Where the plan chooses nodes, chains that share one that some pod leaves are together: room is held there for
        all of them.
        """
        found = self._groups(moves)
        for group in found:
            self._note_served(group, self._placed_by(group))
        return found

    def choose_nodes(self) -> None:
        """See the base class."""
        super().choose_nodes()
        self._is_choosing = True

    def _groups(self, moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        chains = self._chains(moves)
        if not self._is_choosing:
            return chains
        useful = {move for chain in chains for move in chain}
        return connected_moves([move for move in moves if move in useful], serves_others=lambda _: True)

    def _chains(self, moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        return room_chains(self._cluster.problem, moves, self._gang_of)

    def split(self, moves: Sequence[Reassignment]) -> Sequence[Sequence[Reassignment]]:
        """Its chains, where there is more than one."""
        chains = self._chains(moves)
        return chains if len(chains) > 1 else ()

    def rooms(self, moves: Sequence[Reassignment]) -> Mapping[Reassignment, tuple[HeldRoom, ...]]:
        """Room for the pods of `moves`, pending or not, each as soon as those before it leave enough on its node.

        None is held for pending pods of gangs, which their scheduler places together, nor for those of another
        scheduler than that of the pods that leave, which is known to support Reservations.
        """
        problem, nodes = self._cluster.problem, self._cluster.nodes
        found: dict[Reassignment, tuple[HeldRoom, ...]] = {}
        for move, leaving in held_after(problem, moves, nodes).items():
            pod = self._cluster.pods[move.pod]
            if nodes[move.target] and (move.source != PENDING or self._is_reserved_for(pod, leaving)):
                found[leaving] = (*found.get(leaving, ()), HeldRoom(pod, nodes[move.target]))
        return found

    def _is_reserved_for(self, pod: Pod, leaving: Reassignment) -> bool:
        scheduler = scheduler_name_of(self._cluster.pods[leaving.pod])
        return not self._gang(pod) and scheduler_name_of(pod) == scheduler

    def parts(self, cluster: ClusterProblem, moves: Sequence[Reassignment]) -> Iterable[Part]:
        """Each group, by the pods that it makes room for."""
        for group in self.groups(moves):
            evictions = [move for move in group if move.source != PENDING]
            if evictions:
                yield Part(len(group) - len(evictions), evictions, [cluster.pods[move.pod] for move in evictions])

    def gain_of(self, moves: Sequence[Reassignment]) -> Callable[[], Verdict]:
        """That as many pods fewer are pending as the moves are for, whichever the scheduler takes: it goes by priority.

        Those that it takes are the pods that the evictions make room for.
        """
        planned, before = self._placed_by(moves), self.pending()

        def gain() -> Verdict:
            left = set(map(identity_of, self.pending()))
            if len(before) - len(left) < max(len(planned), 1):
                still = [pod for pod in planned if identity_of(pod) in left] or planned
                return refuse(Reason.NO_GAIN, f"{_names(still)} would still be pending after the evictions")
            self._note_served(moves, [pod for pod in before if identity_of(pod) not in left])
            return ACCEPTED

        return gain

    def _note_served(self, moves: Iterable[Reassignment], pods: Sequence[Pod]) -> None:
        leaving = [move.pod for move in moves if move.source != PENDING]
        self._served_by |= {identity_of(self._cluster.pods[number]): pods for number in leaving}

    def reason(self, pod: Pod) -> str:
        """Which pods it makes room for."""
        return f"makes room for pending {_names(self.served_by(pod))}"

    def served_by(self, pod: Pod) -> Sequence[Pod]:
        """The pending pods that its group makes room for, as far as that is known: first those of the plan."""
        return self._served_by.get(identity_of(pod), ())

    def harm(self, pod: Pod, node: str) -> Verdict:
        """Nothing by itself: whether the room is left for the pending pods is asked once all are granted."""
        return ACCEPTED

    def obstacles(self, against: Mapping[PodIdentity, str]) -> str:
        """What keeps the node with the least short from having room, for one pod of each owner that is pending.

        What is said against pods is of no help: that others would still be pending.
        """
        owners = {pod.controller.uid if pod.controller else pod.key: pod for pod in reversed(self.pending())}
        found = ((pod, self._obstacles.of(pod)) for pod in islice(reversed(owners.values()), _MOST_NAMED))
        return "; ".join(f"pod {pod.key}: {text}" for pod, text in found if text)

    def obstacle_of(self, pod: Pod) -> str:
        """What keeps the node with the least short from having room for `pod`."""
        return self._obstacles.of(pod)

    def why_not(self, pod: Pod) -> str:
        """That its eviction is not needed, or does not help."""
        if pod.node_name not in self._nodes:
            return f"node {pod.node_name} is not one of the nodes that the policy selects"
        if not self.pending():
            return "other pods make room for the pending pods" if self._waiting else self.nothing_to_do()
        if text := self._in_vain_text(pod):
            return text
        if text := self._obstacles.why_kept(pod):
            return f"the pod cannot be evicted: {text}"
        return "no plan found within the limits makes room for a pending pod by its eviction"

    def _in_vain_text(self, pod: Pod) -> str:
        """That the scheduler would take the node of `pod` again, as far as the search has asked."""
        if not self._returning.get(identity_of(pod)):
            return ""
        text = f"the replacement pod would be scheduled onto {pod.node_name} again"
        return f"{text}; {self.hint}" if self.hint else text

    def why_no_room(self, pod: Pod) -> str:
        """Where it can be scheduled as it is, or that this is unknown."""
        if node := self._fitting.get(identity_of(pod)):
            return f"{self._can_be_scheduled} onto {node}"
        selected = self._selected.get(identity_of(pod))
        doubt = selected and self._evictor.prover().pending_doubt(selected)
        return f"unknown: {doubt}" if doubt else ""

    def why_unselected(self, pod: Pod) -> str:
        """See `SelectedPods`."""
        why = self._selection.why_not(pod)
        return f"the pod {why}" if why else ""

    def _beside(self) -> Sequence[tuple[int, str]]:
        """How many of the selected pods the figure does not count, and what is said of them."""
        pods = [self._selected[key] for key in self._fitting]
        text = f"{self._can_be_scheduled}{_onto(pods, self._fitting)}"
        unknown = ((number, f"unknown ({cause})") for cause, number in self._doubts().most_common())
        return [*([(len(pods), text)] if pods else []), *unknown]

    @property
    def _can_be_scheduled(self) -> str:
        """What is said of pods that need no room; what is planned before may have made it."""
        return f"can be scheduled without {'evictions' if self._is_first else 'further evictions'}"

    def _nodes_of_pending(self) -> Mapping[PodIdentity, str]:
        """The pending pods that some node takes as things are booked, each with that node."""
        return {identity_of(pod): node for pod, node in self._evictor.prover().pending_nodes()}

    def _doubts(self) -> Counter[str]:
        """Of how many selected pods it is unknown whether they can be scheduled, by cause."""
        return Counter(filter(None, map(self._evictor.prover().pending_doubt, self._selected.values())))

    def _gang_of(self, number: int) -> str | None:
        is_pending = self._cluster.problem.assignment[number] == PENDING
        return self._gang(self._cluster.pods[number]) or None if is_pending else None

    def _gang(self, pod: Pod) -> str:
        """What a pending pod is placed together with, or not at all; empty for one that is placed alone."""
        key = identity_of(pod)
        if key not in self._gangs:
            openings = self._evictor.prover().openings()
            self._gangs[key] = gang_id_of(pod) or openings.unit_of_pending(pod)
        return self._gangs[key]

    def _placed_by(self, moves: Iterable[Reassignment]) -> Sequence[Pod]:
        return [self._cluster.pods[move.pod] for move in moves if move.source == PENDING]


def _onto(pods: Sequence[Pod], nodes: Mapping[PodIdentity, str]) -> str:
    """Such as ` (shop/cart-0 onto node-7)`, of each that has one of `nodes`; nothing where there are many pods."""
    found = [f"{pod.key} onto {nodes[identity_of(pod)]}" for pod in pods if identity_of(pod) in nodes]
    return f" ({', '.join(found)})" if found and len(pods) <= _MOST_NAMED else ""


def _names(pods: Sequence[Pod]) -> str:
    """Such as `pod shop/cart-0 and 2 others`."""
    if not pods:
        return "pods"
    others = f" and {counted(len(pods) - 1, 'other')}" if len(pods) > 1 else ""
    return f"pod {pods[0].key}{others}"
