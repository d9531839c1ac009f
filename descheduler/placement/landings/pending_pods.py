"""Pods that wait for a node: they compete with replacements for the room that evictions free.

What the scheduler would do with them is done here in its order: mostly by priority, then by age. Those that fit are
placed at once; those left are tried again as room is freed, before replacements of no higher priority.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, groupby
from operator import attrgetter
from typing import TypeGuard

from descheduler.model.pod import Pod
from descheduler.placement.framework.attempt import first_of_ties
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.scheduler_model import Unit, priority_of, queue_order
from descheduler.placement.landings.pending_groups import Competitor, DoubtfulPod, Group, UnitGroup
from descheduler.placement.schedulers.schedulers import Schedulers
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import PODS_ROW, Demand
from descheduler.placement.shadow.placement_class import PlacementClass, PlacementForms
from descheduler.placement.shadow.shadow_cluster import Cycle, Placed, ShadowCluster

_MOST_PASSES = 3
_turn = attrgetter("turn")


class PendingPods:
    """The pending pods of the cluster's snapshot whose schedulers are modelled in full.

    A ledger of its own: taking a pod off its node puts it back into the queue.

    Pods of the same priority are tried class by class. A nominated pod, for which others were preempted, holds its
    room on the nominated node whatever is there, where its scheduler holds it.
    """

    def __init__(self, cluster: ShadowCluster, schedulers: Schedulers, forms: PlacementForms) -> None:
        self._cluster = cluster
        self._schedulers = schedulers
        self._forms = forms
        self._groups: dict[PlacementClass, Group] = {}
        self._units: dict[str, UnitGroup] = {}
        self._groups_by_age: list[Group] = []
        self._known_order: Sequence[Group] | None = None
        self._reordered: set[int] = set()
        """The schedulers of groups that reorder, by identity."""
        self._turns = count()
        self.placed: list[Competitor] = []
        self.num_open = 0
        """How many of those that are placed have a scheduler whose choice is unknown."""
        self._doubts: dict[int, str] = {}
        self._doubtful: list[Pod] = []
        waiting = [pod for pod in (*cluster.snapshot.pods, *schedulers.queued_beside()) if _is_waiting(pod)]
        for pod in self._in_turn_of_schedulers(sorted(waiting, key=queue_order)):
            if doubt := schedulers.doubt(pod):
                self._doubts[id(pod)] = doubt
                self._doubtful.append(pod)
            elif pod.nominated_node_name in cluster.table.index and schedulers.scheduler_of(pod).holds_nominated:
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

    def doubtful(self, lowest_priority: int) -> Iterator[DoubtfulPod]:
        """The pods of at least `lowest_priority` of which it is unknown whether they are scheduled."""
        for pod in self._doubtful:
            form = self._forms.form_of(pod)
            if priority_of(form) >= lowest_priority:
                yield DoubtfulPod(pod, form, self._schedulers.scheduler_of(pod), self._doubts[id(pod)])
        for group in self._in_order:
            if group.doubt and group.priority >= lowest_priority:
                pods = (group.pods[seat] for seat in reversed(group.waiting))
                yield from (DoubtfulPod(pod, self._forms.form_of(pod), group.scheduler, group.doubt) for pod in pods)

    def tied(self) -> list[Competitor]:
        """The pods that are placed, and may as well get another node of the same score."""
        return [
            each for each in self.placed if len(each.ties) > 1 and each.group is not None and not each.group.is_open
        ]

    def add(self, pod: Pod) -> None:
        """Puts `pod` at the end of the queue of its priority."""
        form = self._forms.form_of(pod)
        placement_class = self._cluster.placement_class(form)
        group = self._groups.get(placement_class)
        if group is None:
            group = self._groups[placement_class] = self._group_for(form, placement_class.demand)
        if isinstance(group, UnitGroup):
            group.forms.append(form)
            group.classes.append(placement_class)
        group.add(pod)

    def withdraw(self, pods: Iterable[Pod]) -> None:
        """Takes `pods` out, none of which is placed."""
        for pod in pods:
            self._groups[self._cluster.placement_class(self._forms.form_of(pod))].withdraw(pod)

    def _group_for(self, form: Pod, demand: Demand) -> Group:
        """A new group for pods like `form`; for those that are placed together the one of the others, if any."""
        scheduler = self._schedulers.scheduler_of(form)
        key = scheduler.unit_of(form)
        if known := self._units.get(key):
            return known
        group = UnitGroup(key, form, scheduler, demand) if key else Group(form, scheduler, demand)
        if isinstance(group, UnitGroup):
            self._units[key] = group
        if scheduler.reorders:
            self._reordered.add(id(scheduler))
        self._groups_by_age.append(group)
        self._known_order = None
        return group

    @property
    def _in_order(self) -> Sequence[Group]:
        """All groups as their schedulers try them."""
        if self._known_order is None:
            groups = {id(group.form): group for group in self._groups_by_age}
            forms = self._in_turn_of_schedulers([group.form for group in self._groups_by_age])
            self._known_order = [groups[id(form)] for form in forms]
        return self._known_order

    def _in_turn_of_schedulers(self, pods: Iterable[Pod]) -> list[Pod]:
        return [unit.pods[0] for unit in self._schedulers.order([Unit((pod,)) for pod in pods])]

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
        seat = None if group is None or isinstance(group, UnitGroup) else group.seat_of(pod)
        if group is None or seat is None:
            return ""
        evaluation, node = group.scheduler.evaluate_binding(group.form), self._cluster.table.index.get(node_name)
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

    def lift(self, those: Iterable[Competitor]) -> None:
        """Takes `those` off their nodes, in this order. For what-ifs."""
        for placed in [each.placed for each in those]:
            if placed is not None:
                self._cluster.take_off(placed)

    def put_back(self, lifted: Iterable[Competitor]) -> bool:
        """Places pods that were lifted again, wherever they fit now; whether all of them have a node. For what-ifs."""
        pods = {id(each.pod) for each in lifted}
        groups = {id(each.group) for each in lifted}
        self._place([group for group in self._in_order if id(group) in groups])
        return pods <= {id(each.pod) for each in self.placed}

    def reserve(self, cycle: Cycle, node: int) -> Competitor:
        """Notes that the next pod of the cycle's class is placed on `node`."""
        group = self._groups[cycle.pod]
        seat = group.next_of(cycle.pod)
        competitor = Competitor(group.pods[seat], cycle.pod.pod, node, next(self._turns), group, seat)
        self.restore(competitor)
        return competitor

    def restore(self, taken: Competitor) -> None:
        if taken.group is not None:
            taken.group.seat(taken.seat)
            self.num_open += taken.group.is_open
        insort(self.placed, taken, key=_turn)

    def release(self, taken: Competitor) -> None:
        if taken.group is not None:
            taken.group.queue(taken.seat)
            self.num_open -= taken.group.is_open
        del self.placed[bisect_left(self.placed, taken.turn, key=_turn)]

    def fingerprint(self) -> object:
        return sorted((each.pod.key, each.pod.uid, each.node) for each in self.placed)

    def _nominate(self, pod: Pod) -> None:
        form, node = self._forms.form_of(pod), self._cluster.table.index[pod.nominated_node_name]
        competitor = Competitor(pod, form, node, next(self._turns))
        self.restore(competitor)
        self._cluster.add(form, node)
        competitor.placed = Placed(form, node, ((self, competitor),))

    def _place(self, groups: Iterable[Group]) -> None:
        """Of schedulers that reorder, any of their `groups` has its turn in the place of each."""
        left: dict[int, list[Group]] = {scheduler: [] for scheduler in self._reordered}
        if left:
            groups = list(groups)
            for group in groups:
                if group.waiting and (own := left.get(id(group.scheduler))) is not None:
                    own.append(group)
        for group in self._in_turn(groups):
            if (own := left.get(id(group.scheduler))) is not None:
                self._place_next(own)
            else:
                while group.waiting and self._place_one(group):
                    pass

    def _place_next(self, left: list[Group]) -> None:
        """Places pods of `left`, groups of one scheduler, as it takes them, until it is done with one of these."""
        by_form = {id(group.form): group for group in left}
        while left:
            unit = left[0].scheduler.next_of([Unit((group.form,)) for group in left])
            group = by_form[id(unit.pods[0])]
            has_placed = self._place_unit(group) if isinstance(group, UnitGroup) else self._place_one(group)
            if not (has_placed and group.waiting):
                left.remove(group)
                return

    def _in_turn(self, groups: Iterable[Group]) -> Iterator[Group]:
        """`groups` without the units among them, which are placed when their turn comes, those aside whose scheduler
        reorders.

        Once a unit has got what it waited for, those that are left of it are queued again behind all others of their
        priority.
        """
        if not self._units:
            yield from groups
            return
        for _, level in groupby(groups, key=attrgetter("priority")):
            turns = deque(sorted(level, key=lambda group: self._is_placed_here(group) and group.is_over))
            while turns:
                group = turns.popleft()
                if not self._is_placed_here(group):
                    yield group
                elif group.waiting and self._place_unit(group):
                    turns.append(group)

    def _is_placed_here(self, group: Group) -> TypeGuard[UnitGroup]:
        return isinstance(group, UnitGroup) and id(group.scheduler) not in self._reordered

    def _place_unit(self, group: UnitGroup) -> bool:
        """Places what may be bound together; whether it was anything."""
        num_placed = len(self.placed)
        for unit in group.units():
            attempts = group.scheduler.try_place(unit, first_of_ties, (self,)).attempts
            placements = [attempt.placement for attempt in attempts if attempt.placement is not None]
            for competitor, placement in zip(
                self.placed[len(self.placed) - len(placements) :], placements, strict=True
            ):
                competitor.placed = placement.placed
        group.num_tried = len(group.pods)
        return len(self.placed) > num_placed

    def _place_one(self, group: Group) -> bool:
        evaluation = group.scheduler.evaluate_binding(group.form)
        group.tried(evaluation)
        choice = None if evaluation.undecided else evaluation.choose()
        if choice is None:
            return False
        self._put(group, evaluation, choice.node, choice.ties)
        return True

    def _put(self, group: Group, evaluation: PodEvaluation, node: int, ties: tuple[int, ...] = ()) -> None:
        """Puts the next pod of `group` on `node`, one of `ties`."""
        placed = evaluation.place(node, self)
        competitor = self.placed[-1]  # noted there by `reserve`
        competitor.placed, competitor.ties = placed, ties

    def _may_gain(self, group: Group, victim: Pod) -> bool:
        """Whether pods of `group`, none of which fitted before, may fit now that `victim` is gone."""
        if not group.waiting:
            return False
        node = self._cluster.table.index.get(victim.node_name)
        if node is None or group.open_nodes is None or group.last_cycle is None or not group.is_local:
            return True
        # What is free is not all that a pod may use that has credit, or that does not see others.
        if group.last_cycle.credit or group.last_cycle.unseen or group.scheduler.is_felt_widely(victim):
            return True
        if not group.last_cycle.seen:
            return self._has_room(group, group.open_nodes, node)
        num_changes = group.scheduler.num_changes_seen()
        if num_changes is None or num_changes != group.num_changes:
            return True  # what it sees besides may have gone elsewhere
        with group.last_cycle.view():
            return self._has_room(group, group.open_nodes, node)

    def _has_room(self, group: Group, open_nodes: BoolMask, node: int) -> bool:
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
