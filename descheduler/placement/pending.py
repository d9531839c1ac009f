"""Pods that wait for a node: they compete with replacements for the room that evictions free.

What the scheduler would do with them is done here in its order: by priority, then by age. Those that fit already are
placed at once; those left are tried again as room is freed, before replacements of no higher priority.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from descheduler.model.pod import Pod
from descheduler.placement.framework import BoolMask, Cycle
from descheduler.placement.incoming import Incoming
from descheduler.placement.interplay import has_anti_affinity, is_local
from descheduler.placement.node_table import EPHEMERAL_ROW, PODS_ROW
from descheduler.placement.obstacles import open_for_good
from descheduler.placement.placement_forms import PlacementForms
from descheduler.placement.schedulers import Schedulers
from descheduler.placement.scheduling import Scheduler
from descheduler.placement.shadow_cluster import ShadowCluster

__all__ = ["Competitor", "PendingPods", "priority_of"]

_LAST = datetime.max.replace(tzinfo=UTC)
_MOST_PASSES = 3


def priority_of(pod: Pod) -> int:
    """The priority by which the scheduler orders its queue; none given is 0."""
    return pod.priority or 0


class Competitor(NamedTuple):
    """A pending pod, the form in which it was placed, and the index of its node."""

    pod: Pod
    form: Pod
    node: int


class _Group:
    """Pending pods of one placement class, of which the first `num_placed` are placed."""

    __slots__ = ("form", "is_local", "num_placed", "open_nodes", "pods", "priority", "scheduler")

    def __init__(self, form: Pod, scheduler: Scheduler) -> None:
        self.form = form
        self.scheduler = scheduler
        self.pods: list[Pod] = []
        self.num_placed = 0
        self.priority = priority_of(form)
        self.is_local = is_local(form)
        self.open_nodes: BoolMask | None = None


class PendingPods:
    """The pending pods of the cluster's snapshot that a known scheduler tries. A ReservePlugin of its own: rolling the
    cluster back puts those placed since back into the queue.

    Pods of the same priority are tried class by class. A nominated pod, for which others were preempted, holds its
    room on the nominated node whatever is there.
    """

    name = "PendingPods"

    def __init__(self, cluster: ShadowCluster, schedulers: Schedulers, forms: PlacementForms) -> None:
        self._cluster = cluster
        self._schedulers = schedulers
        self._forms = forms
        self._groups: dict[Incoming, _Group] = {}
        self._in_order: list[_Group] = []
        self.placed: list[Competitor] = []
        self.num_foreign = 0
        """Pending pods whose scheduler is not known, and which are left out."""
        waiting = [pod for pod in cluster.snapshot.pods if _is_waiting(pod)]
        for pod in sorted(waiting, key=_queue_order):
            if schedulers.doubt(pod):
                self.num_foreign += 1
            elif pod.nominated_node_name in cluster.table.index:
                self._nominate(pod)
            else:
                self.add(pod)

    def add(self, pod: Pod) -> None:
        """Puts `pod` at the end of the queue of its priority."""
        form = self._forms.form_of(pod)
        incoming = self._cluster.incoming(form)
        group = self._groups.get(incoming)
        if group is None:
            group = self._groups[incoming] = _Group(form, self._schedulers.scheduler_of(form))
            self._in_order.append(group)
            self._in_order.sort(key=lambda each: -each.priority)
        group.pods.append(pod)

    def withdraw(self, pods: Iterable[Pod]) -> None:
        """Takes back what was added last: `pods`, none of which is placed."""
        for pod in pods:
            group = self._groups[self._cluster.incoming(self._forms.form_of(pod))]
            group.pods.remove(pod)

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
        """Takes placed pods off `nodes`, the last ones first and no more than `most`. For what-ifs that roll back."""
        on_nodes = [competitor for competitor in reversed(self.placed) if nodes[competitor.node]]
        for competitor in on_nodes[:most]:
            self._cluster.remove(competitor.form, competitor.node)

    def reserve(self, cycle: Cycle, node: int) -> object:
        """Notes that the next pod of the cycle's class is placed on `node`."""
        group = self._groups[cycle.pod]
        self.placed.append(Competitor(group.pods[group.num_placed], cycle.pod.pod, node))
        group.num_placed += 1
        return group

    def unreserve(self, taken: object) -> None:
        """Puts that pod back into the queue."""
        assert isinstance(taken, _Group)  # noqa: S101 - what `reserve` gave
        taken.num_placed -= 1
        self.placed.pop()

    def _nominate(self, pod: Pod) -> None:
        form, node = self._forms.form_of(pod), self._cluster.table.index[pod.nominated_node_name]
        self._cluster.add(form, node)
        self.placed.append(Competitor(pod, form, node))

    def _place(self, groups: Iterable[_Group]) -> None:
        for group in groups:
            while group.num_placed < len(group.pods) and self._place_one(group):
                pass

    def _place_one(self, group: _Group) -> bool:
        evaluation = group.scheduler.evaluate(group.form)
        if group.open_nodes is None:
            group.open_nodes = open_for_good(group.scheduler, evaluation)
        choice = evaluation.choose()
        if choice is None:
            return False
        self._cluster.reserve(self, evaluation.cycle, choice.node)
        group.scheduler.place(evaluation, choice.node)
        return True

    def _may_gain(self, group: _Group, victim: Pod) -> bool:
        """Whether pods of `group`, none of which fitted before, may fit now that `victim` is gone."""
        if group.num_placed == len(group.pods):
            return False
        node = self._cluster.table.index.get(victim.node_name)
        if node is None or group.open_nodes is None or not group.is_local or has_anti_affinity(victim.spec):
            return True
        table = self._cluster.table
        if not group.open_nodes[node] or table.requested[PODS_ROW, node] >= table.allocatable[PODS_ROW, node]:
            return False
        demand = self._cluster.incoming(group.form).demand
        return all(
            table.requested[row, node] + amount <= table.allocatable[row, node]
            for row, amount in demand.amounts
            if row <= EPHEMERAL_ROW  # a scheduler may be told to ignore others
        )


def _is_waiting(pod: Pod) -> bool:
    return not (pod.node_name or pod.is_terminal or pod.is_terminating or pod.spec.scheduling_gates)


def _queue_order(pod: Pod) -> tuple[int, datetime, str]:
    return -priority_of(pod), pod.created_at or _LAST, pod.key
