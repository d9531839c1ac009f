"""Pending pods that are alike, or placed together, and those of them that have a node by now."""

from __future__ import annotations

from bisect import insort
from operator import neg
from typing import NamedTuple

import msgspec

from descheduler.model.koordinator.reservation import RESERVATION_NAME_ANNOTATION
from descheduler.model.pod import Pod
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.scheduler_model import SchedulerModel, Unit, priority_of
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import EPHEMERAL_ROW, Demand
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle, Placed


class Competitor(msgspec.Struct, eq=False):
    """A pending pod, the form in which it was placed, and the index of its node.

    `turn` tells the order in which pods were placed, `seat` the place of this one in its group; a nominated pod has
    neither group nor seat. `placed` is what takes it off its node again. `ties` are the nodes of which any is as likely
    as its own; of pods that are placed together they are not known.
    """

    pod: Pod
    form: Pod
    node: int
    turn: int
    group: Group | None = None
    seat: int = 0
    placed: Placed | None = None
    ties: tuple[int, ...] = ()

    @property
    def priority(self) -> int:
        """The priority by which it is queued."""
        return priority_of(self.form)

    @property
    def label(self) -> str:
        """What operators call it."""
        reservation = self.pod.annotations.get(RESERVATION_NAME_ANNOTATION)
        return f"pending pod {self.pod.key}" if reservation is None else f"pending Reservation {reservation}"

    @property
    def condition(self) -> str:
        """What a landing hangs on where the pod may be in its way."""
        return f"{self.label} may be scheduled there first"

    @property
    def is_nominated(self) -> bool:
        """Whether its scheduler has named its node already, after it preempted others there."""
        return self.group is None


class DoubtfulPod(NamedTuple):
    """A pending pod, the form in which it would be placed, who would place it, and what is not modelled of that."""

    pod: Pod
    form: Pod
    scheduler: SchedulerModel
    doubt: str

    @property
    def condition(self) -> str:
        """What a landing hangs on where the pod may be in its way."""
        return f"pending pod {self.pod.key} may be scheduled there first ({self.doubt})"


class Group:
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
        self.is_local = scheduler.is_local(form)
        self.is_open = scheduler.leaves_open(form)
        self.open_nodes: BoolMask | None = None
        self.last_cycle: Cycle | None = None
        self.num_changes: int | None = None
        self.doubt = ""

    def tried(self, evaluation: PodEvaluation) -> None:
        """Notes what the first of those that wait was told."""
        self.doubt = evaluation.cause if evaluation.fits else self._doubt_of_refusal(evaluation)
        if self.open_nodes is None:
            self.open_nodes = evaluation.open_for_good()
        cycle = evaluation.cycle
        self.last_cycle = Cycle(cycle.pod, cycle.cluster, cycle.credit, seen=cycle.seen, unseen=cycle.unseen)
        self.num_changes = self.scheduler.num_changes_seen()

    def _doubt_of_refusal(self, evaluation: PodEvaluation) -> str:
        """Why some node may take them all the same, in seconds; empty where none does."""
        obstacles = self.scheduler.obstacles(evaluation) if evaluation.has_brief else None
        return obstacles.cause if obstacles is not None and obstacles.is_undecided else ""

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
        return self.waiting[-1]

    def seat(self, seat: int) -> None:
        """Notes that the pod of this seat is placed."""
        self.waiting.remove(seat)

    def queue(self, seat: int) -> None:
        """Puts the pod of this seat back into the queue, in its old place."""
        insort(self.waiting, seat, key=neg)


class UnitGroup(Group):
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
