"""Pods that wait for a node: they compete with replacements for the room that evictions free.

What the scheduler would do with them is done here in its order: by priority, then by age. Those that fit already are
placed at once; those left are tried again as room is freed, before replacements of no higher priority.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import count, groupby
from operator import attrgetter, neg

import msgspec

from descheduler.model.pod import Pod
from descheduler.placement.framework.evaluation import Evaluation, SchedulerModel
from descheduler.placement.framework.feasibility import first_of_ties
from descheduler.placement.framework.obstacle_counts import open_for_good
from descheduler.placement.framework.schedulers import Schedulers
from descheduler.placement.framework.units import Unit, place_unit, priority_of, queue_order
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import EPHEMERAL_ROW, PODS_ROW, Demand
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.placement_forms import PlacementForms
from descheduler.placement.shadow.shadow_cluster import Cycle, Placed, ShadowCluster

__all__ = ["Competitor", "PendingPods"]

_MOST_PASSES = 3
_turn = attrgetter("turn")


class Competitor(msgspec.Struct, eq=False):
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
    one last.

    `last_cycle` is the one in which they were tried last, after so many changes of what decides what it sees; None as
    well where nodes are taken for others. `doubt` says why it is unknown whether a node takes them.
    """

    def __init__(self, form: Pod, scheduler: SchedulerModel, demand: Demand) -> None:
        self.form = form
        # A scheduler may be told to ignore other resources.
        self.asked = tuple([(row, amount) for row, amount in demand.amounts if row <= EPHEMERAL_ROW])
        self.scheduler = scheduler
        self.pods: list[Pod] = []
        self.waiting: list[int] = []
        self.priority = priority_of(form)
        self.is_local = scheduler.interactions.is_local(form)
        self.open_nodes: BoolMask | None = None
        self.last_cycle: Cycle | None = None
        self.num_changes: int | None = None
        self.doubt = ""

    def tried(self, evaluation: Evaluation) -> None:
        """Notes what the first of those that wait was told."""
        self.doubt = evaluation.cause if evaluation.fits else ""
        if self.open_nodes is None:
            self.open_nodes = open_for_good(self.scheduler, evaluation)
        cycle = evaluation.cycle
        without_notes = Cycle(cycle.pod, cycle.cluster, cycle.credit, seen=cycle.seen, unseen=cycle.unseen)
        self.last_cycle = None if evaluation.is_rewritable else without_notes
        self.num_changes = self.scheduler.num_transformer_changes()

    def add(self, pod: Pod) -> None:
        """Puts `pod` last."""
        self.waiting.insert(0, len(self.pods))
        self.pods.append(pod)

    def withdraw(self, pod: Pod) -> None:
        """Takes out a pod that waits. Its seat stays empty, unless it is the last one."""
        seat = next(seat for seat in self.waiting if self.pods[seat] is pod)
        self.waiting.remove(seat)
        if seat == len(self.pods) - 1:
            self.drop_last()

    def drop_last(self) -> None:
        """Takes the last seat away."""
        del self.pods[-1]

    def seat_of(self, pod: Pod) -> int | None:
        """The seat of `pod`, if it waits."""
        return next((seat for seat in self.waiting if self.pods[seat] is pod), None)

    def call_up(self, seat: int) -> None:
        """Makes the pod of this seat the next one, which is to be placed now."""
        self.waiting.remove(seat)
        self.waiting.append(seat)

    def next_of(self, placement_class: PlacementClass) -> int:
        """The seat of the next pod of this class."""
        del placement_class
        return self.waiting[-1]

    def seat(self, seat: int) -> None:
        """Notes that the pod of this seat is placed."""
        self.waiting.remove(seat)

    def queue(self, seat: int) -> None:
        """Puts the pod of this seat back into the queue, in its old place."""
        insort(self.waiting, seat, key=neg)


class _UnitGroup(_Group):
    """Pending pods that are placed together, whatever their classes. `key` is what they share, by their scheduler.

    `num_tried` are those at the front of `pods` that have been tried already.
    """

    def __init__(self, key: str, form: Pod, scheduler: SchedulerModel, demand: Demand) -> None:
        super().__init__(form, scheduler, demand)
        self.key = key
        self.is_local = False
        self.forms: list[Pod] = []
        self.classes: list[PlacementClass] = []
        self.num_tried = 0

    def drop_last(self) -> None:
        """Takes the last seat away."""
        super().drop_last()
        del self.forms[-1], self.classes[-1]

    @property
    def is_over(self) -> bool:
        """Whether these pods do not wait for each other any more."""
        return not self.scheduler.unit_of(self.form)

    def next_of(self, placement_class: PlacementClass) -> int:
        """The seat of the next pod of this class."""
        return next(seat for seat in self._seats() if self.classes[seat] is placement_class)

    def units(self) -> list[Unit]:
        """Those that wait, as they are tried: together, or each alone once they do not wait for each other any more."""
        forms = tuple(self.forms[seat] for seat in self._seats())
        return [Unit((form,)) for form in forms] if self.is_over else [Unit(forms)]

    def _seats(self) -> list[int]:
        """Those that wait, in order: new pods go before others, which wait out a backoff."""
        return sorted(self.waiting, key=lambda seat: (seat < self.num_tried, seat))


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
        self._units: dict[str, _UnitGroup] = {}
        self._in_order: list[_Group] = []
        self._turns = count()
        self.placed: list[Competitor] = []
        self._doubts: dict[int, str] = {}
        waiting = [pod for pod in (*cluster.snapshot.pods, *schedulers.queued_beside()) if _is_waiting(pod)]
        for pod in sorted(waiting, key=queue_order):
            if doubt := schedulers.doubt(pod):
                self._doubts[id(pod)] = doubt
            elif pod.nominated_node_name in cluster.table.index:
                self._nominate(pod)
            else:
                self.add(pod)

    @property
    def left_out(self) -> Counter[str]:
        """How many pending pods are left out, by what their scheduler checks that is not modelled."""
        in_groups = (group.doubt for group in self._in_order for _ in group.waiting)
        return Counter(filter(None, (*self._doubts.values(), *in_groups)))

    def doubt(self, pod: Pod) -> str:
        """Why a pending pod of the snapshot is left out; empty for one that is not."""
        group = self._groups.get(self._cluster.placement_class(self._forms.form_of(pod)))
        return self._doubts.get(id(pod), "") or ("" if group is None or group.seat_of(pod) is None else group.doubt)

    def add(self, pod: Pod) -> None:
        """Puts `pod` at the end of the queue of its priority."""
        form = self._forms.form_of(pod)
        placement_class = self._cluster.placement_class(form)
        group = self._groups.get(placement_class)
        if group is None:
            group = self._groups[placement_class] = self._group_for(form, placement_class.demand)
        if isinstance(group, _UnitGroup):
            group.forms.append(form)
            group.classes.append(placement_class)
        group.add(pod)

    def withdraw(self, pods: Iterable[Pod]) -> None:
        """Takes `pods` out, none of which is placed."""
        for pod in pods:
            self._groups[self._cluster.placement_class(self._forms.form_of(pod))].withdraw(pod)

    def _group_for(self, form: Pod, demand: Demand) -> _Group:
        """A new group for pods like `form`; for those that are placed together the one of the others, if any."""
        scheduler = self._schedulers.scheduler_of(form)
        key = scheduler.unit_of(form)
        if known := self._units.get(key):
            return known
        group = _UnitGroup(key, form, scheduler, demand) if key else _Group(form, scheduler, demand)
        if isinstance(group, _UnitGroup):
            self._units[key] = group
        self._in_order.append(group)
        self._in_order.sort(key=lambda each: -each.priority)
        return group

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

    def place_on(self, pod: Pod, node_name: str) -> str:
        """Places `pod`, if it waits, on this node, before those that wait longer; what is in the way, "" for nothing.

        Nothing is, and nothing is done, for one that is placed by now or only together with others, or whose scheduler
        is not modelled.
        """
        group = self._groups.get(self._cluster.placement_class(self._forms.form_of(pod)))
        seat = None if group is None or isinstance(group, _UnitGroup) else group.seat_of(pod)
        if group is None or seat is None:
            return ""
        evaluation, node = group.scheduler.evaluate(group.form), self._cluster.table.index.get(node_name)
        if node is None:
            return "node is not in the snapshot"
        if evaluation.undecided:
            return "it is unknown whether it fits"
        if not evaluation.feasible[node]:
            return ", ".join(evaluation.first_obstacle_on(node).short)
        group.call_up(seat)
        self._put(group, evaluation, node)
        return ""

    def waiting(self) -> list[Pod]:
        """The pods that no node takes, by priority."""
        return [group.pods[seat] for group in self._in_order if not group.doubt for seat in reversed(group.waiting)]

    def lift(self, nodes: BoolMask, most: int | None = None) -> None:
        """Takes placed pods off `nodes`, the last ones first and no more than `most`. For what-ifs."""
        on_nodes = [competitor.placed for competitor in reversed(self.placed) if nodes[competitor.node]]
        for placed in on_nodes[:most]:
            if placed is not None:
                self._cluster.take_off(placed)

    def reserve(self, cycle: Cycle, node: int) -> Competitor:
        """Notes that the next pod of the cycle's class is placed on `node`."""
        group = self._groups[cycle.pod]
        seat = group.next_of(cycle.pod)
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
        for group in self._in_turn(groups):
            while group.waiting and self._place_one(group):
                pass

    def _in_turn(self, groups: Iterable[_Group]) -> Iterator[_Group]:
        """`groups` without the units among them, which are placed when their turn comes.

        Once a unit has got what it waited for, those that are left of it are queued again behind all others of their
        priority.
        """
        if not self._units:
            yield from groups
            return
        for _, level in groupby(groups, key=attrgetter("priority")):
            turns = deque(sorted(level, key=lambda group: isinstance(group, _UnitGroup) and group.is_over))
            while turns:
                group = turns.popleft()
                if not isinstance(group, _UnitGroup):
                    yield group
                elif group.waiting and self._place_unit(group):
                    turns.append(group)

    def _place_unit(self, group: _UnitGroup) -> bool:
        """Places what may be bound together; whether it was anything."""
        num_placed = len(self.placed)
        for unit in group.units():
            attempts = place_unit(group.scheduler, self._cluster, unit, first_of_ties, (self,)).attempts
            placements = [attempt.placement for attempt in attempts if attempt.placement is not None]
            for competitor, placement in zip(
                self.placed[len(self.placed) - len(placements) :], placements, strict=True
            ):
                competitor.placed = placement.placed
        group.num_tried = len(group.pods)
        return len(self.placed) > num_placed

    def _place_one(self, group: _Group) -> bool:
        evaluation = group.scheduler.evaluate(group.form)
        group.tried(evaluation)
        choice = None if evaluation.undecided else evaluation.choose()
        if choice is None:
            return False
        self._put(group, evaluation, choice.node)
        return True

    def _put(self, group: _Group, evaluation: Evaluation, node: int) -> None:
        """Puts the next pod of `group` on `node`."""
        placed = group.scheduler.place(evaluation, node, self)
        self.placed[-1].placed = placed  # noted there by `reserve`

    def _may_gain(self, group: _Group, victim: Pod) -> bool:
        """Whether pods of `group`, none of which fitted before, may fit now that `victim` is gone."""
        if not group.waiting:
            return False
        node = self._cluster.table.index.get(victim.node_name)
        if node is None or group.open_nodes is None or group.last_cycle is None or not group.is_local:
            return True
        # What is free is not all that a pod may use that has credit, or that does not see others.
        if group.last_cycle.credit or group.last_cycle.unseen or group.scheduler.interactions.is_felt_widely(victim):
            return True
        if not group.last_cycle.seen:
            return self._has_room(group, group.open_nodes, node)
        num_changes = group.scheduler.num_transformer_changes()
        if num_changes is None or num_changes != group.num_changes:
            return True  # what it sees besides may have gone elsewhere
        with group.last_cycle.view():
            return self._has_room(group, group.open_nodes, node)

    def _has_room(self, group: _Group, open_nodes: BoolMask, node: int) -> bool:
        """Whether `node` is one of `open_nodes` and has what a pod of `group` asks for."""
        table = self._cluster.table
        if not open_nodes[node] or table.requested[PODS_ROW, node] >= table.allocatable[PODS_ROW, node]:
            return False
        requested, allocatable = table.requested, table.allocatable
        for row, amount in group.asked:
            if requested[row, node] + amount > allocatable[row, node]:
                return False
        return True


def _is_waiting(pod: Pod) -> bool:
    return not (pod.node_name or pod.is_terminal or pod.is_terminating or pod.spec.scheduling_gates)
