"""Pods that wait for a node: they compete with replacements for the room that evictions free.

What the scheduler would do with them is done here in its order: by priority, then by age. Those that fit already are
placed at once; those left are tried again as room is freed, before replacements of no higher priority.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from operator import attrgetter, neg

from descheduler.model.pod import Pod
from descheduler.placement.framework.evaluation import SchedulerModel
from descheduler.placement.framework.obstacle_counts import open_for_good
from descheduler.placement.framework.schedulers import Schedulers
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import EPHEMERAL_ROW, PODS_ROW
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.placement_forms import PlacementForms
from descheduler.placement.shadow.shadow_cluster import Cycle, Placed, ShadowCluster

__all__ = ["Competitor", "PendingPods", "priority_of"]

_LAST = datetime.max.replace(tzinfo=UTC)
_MOST_PASSES = 3
_turn = attrgetter("turn")


def priority_of(pod: Pod) -> int:
    """The priority by which the scheduler orders its queue; none given is 0."""
    return pod.priority or 0


@dataclass(eq=False, slots=True)
class Competitor:
    """A pending pod, the form in which it was placed, and the index of its node.

    `turn` tells the order in which pods were placed, `seat` the place of this one in its group; a nominated pod has
    neither group nor seat. `placed` is what takes it off its node again.
    """

    pod: Pod
    form: Pod
    node: int
    turn: int
    group: _Group | None = None
    seat: int = 0
    placed: Placed | None = None


class _Group:
    """Pending pods of one placement class. `waiting` are the places in `pods` of those that are not placed, the next
    one last."""

    __slots__ = ("form", "gets_credit", "is_local", "open_nodes", "pods", "priority", "scheduler", "waiting")

    def __init__(self, form: Pod, scheduler: SchedulerModel) -> None:
        self.form = form
        self.scheduler = scheduler
        self.pods: list[Pod] = []
        self.waiting: list[int] = []
        self.priority = priority_of(form)
        self.is_local = scheduler.interactions.is_local(form)
        self.open_nodes: BoolMask | None = None
        self.gets_credit = False

    def add(self, pod: Pod) -> None:
        """Puts `pod` last."""
        self.waiting.insert(0, len(self.pods))
        self.pods.append(pod)

    def withdraw(self) -> None:
        """Takes out the pod that came last, which waits."""
        del self.waiting[0]
        del self.pods[-1]

    def seat(self, seat: int) -> None:
        """Notes that the pod of this seat is placed."""
        self.waiting.remove(seat)

    def queue(self, seat: int) -> None:
        """Puts the pod of this seat back into the queue, in its old place."""
        insort(self.waiting, seat, key=neg)


class PendingPods:
    """The pending pods of the cluster's snapshot whose schedulers are modelled in full.

    A ledger of its own: taking a pod off its node puts it back into the queue.

    Pods of the same priority are tried class by class. A nominated pod, for which others were preempted, holds its
    room on the nominated node whatever is there.
    """

    def __init__(self, cluster: ShadowCluster, schedulers: Schedulers, forms: PlacementForms) -> None:
        self._cluster = cluster
        self._schedulers = schedulers
        self._forms = forms
        self._groups: dict[PlacementClass, _Group] = {}
        self._in_order: list[_Group] = []
        self._turns = count()
        self.placed: list[Competitor] = []
        self.left_out: Counter[str] = Counter()
        """How many pending pods are left out, by what their scheduler checks that is not modelled."""
        waiting = [pod for pod in cluster.snapshot.pods if _is_waiting(pod)]
        for pod in sorted(waiting, key=_queue_order):
            if doubt := schedulers.doubt(pod):
                self.left_out[doubt] += 1
            elif pod.nominated_node_name in cluster.table.index:
                self._nominate(pod)
            else:
                self.add(pod)

    def add(self, pod: Pod) -> None:
        """Puts `pod` at the end of the queue of its priority."""
        form = self._forms.form_of(pod)
        placement_class = self._cluster.placement_class(form)
        group = self._groups.get(placement_class)
        if group is None:
            group = self._groups[placement_class] = _Group(form, self._schedulers.scheduler_of(form))
            self._in_order.append(group)
            self._in_order.sort(key=lambda each: -each.priority)
        group.add(pod)

    def withdraw(self, pods: Iterable[Pod]) -> None:
        """Takes back what was added last: `pods`, none of which is placed."""
        for pod in pods:
            self._groups[self._cluster.placement_class(self._forms.form_of(pod))].withdraw()

    def place_all(self) -> None:
        """Places every pod that fits."""
        for _ in range(_MOST_PASSES):
            num_placed = len(self.placed)
            self._place(self._in_order)
            if len(self.placed) == num_placed:
                return

    def place_after(self, victim: Pod | None, lowest_priority: int) -> None:
        """Places the pods of at least `lowest_priority` that fit now that `victim` is gone; None stands for several."""
        groups = (group for group in self._in_order if group.priority >= lowest_priority)
        self._place(group for group in groups if victim is None or self._may_gain(group, victim))

    def lift(self, nodes: BoolMask, most: int | None = None) -> None:
        """Takes placed pods off `nodes`, the last ones first and no more than `most`. For what-ifs."""
        on_nodes = [competitor.placed for competitor in reversed(self.placed) if nodes[competitor.node]]
        for placed in on_nodes[:most]:
            if placed is not None:
                self._cluster.take_off(placed)

    def reserve(self, cycle: Cycle, node: int) -> Competitor:
        """Notes that the next pod of the cycle's class is placed on `node`."""
        group = self._groups[cycle.pod]
        seat = group.waiting[-1]
        competitor = Competitor(group.pods[seat], cycle.pod.pod, node, next(self._turns), group, seat)
        self.restore(competitor)
        return competitor

    def restore(self, taken: Competitor) -> None:
        """Notes that `taken` is placed, in its turn."""
        if taken.group is not None:
            taken.group.seat(taken.seat)
        insort(self.placed, taken, key=_turn)

    def release(self, taken: Competitor) -> None:
        """Puts that pod back into the queue."""
        if taken.group is not None:
            taken.group.queue(taken.seat)
        del self.placed[bisect_left(self.placed, taken.turn, key=_turn)]

    def fingerprint(self) -> object:
        """Who is placed where."""
        return sorted((each.pod.key, each.pod.uid, each.node) for each in self.placed)

    def _nominate(self, pod: Pod) -> None:
        form, node = self._forms.form_of(pod), self._cluster.table.index[pod.nominated_node_name]
        competitor = Competitor(pod, form, node, next(self._turns))
        self.restore(competitor)
        self._cluster.add(form, node)
        competitor.placed = Placed(form, node, ((self, competitor),))

    def _place(self, groups: Iterable[_Group]) -> None:
        for group in groups:
            while group.waiting and self._place_one(group):
                pass

    def _place_one(self, group: _Group) -> bool:
        evaluation = group.scheduler.evaluate(group.form)
        if group.open_nodes is None:
            group.open_nodes = open_for_good(group.scheduler, evaluation)
        group.gets_credit = bool(evaluation.cycle.credit or evaluation.cycle.seen)
        choice = None if evaluation.undecided else evaluation.choose()
        if choice is None:
            return False
        placed = group.scheduler.place(evaluation, choice.node, self)
        self.placed[-1].placed = placed
        return True

    def _may_gain(self, group: _Group, victim: Pod) -> bool:
        """Whether pods of `group`, none of which fitted before, may fit now that `victim` is gone."""
        if not group.waiting:
            return False
        node = self._cluster.table.index.get(victim.node_name)
        if node is None or group.open_nodes is None or not group.is_local:
            return True
        # What is free is not all that a pod with credit may use, and what it sees besides may have gone elsewhere.
        if group.gets_credit or group.scheduler.interactions.is_felt_widely(victim):
            return True
        table = self._cluster.table
        if not group.open_nodes[node] or table.requested[PODS_ROW, node] >= table.allocatable[PODS_ROW, node]:
            return False
        demand = self._cluster.placement_class(group.form).demand
        return all(
            table.requested[row, node] + amount <= table.allocatable[row, node]
            for row, amount in demand.amounts
            if row <= EPHEMERAL_ROW  # a scheduler may be told to ignore others
        )


def _is_waiting(pod: Pod) -> bool:
    return not (pod.node_name or pod.is_terminal or pod.is_terminating or pod.spec.scheduling_gates)


def _queue_order(pod: Pod) -> tuple[int, datetime, str]:
    return -priority_of(pod), pod.created_at or _LAST, pod.key
