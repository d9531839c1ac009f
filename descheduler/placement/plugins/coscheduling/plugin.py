"""PreEnqueue and Permit of Coscheduling, as far as they decide which pods are bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import length_hint

from descheduler.model.koordinator.gang_settings import GANG_ANNOTATIONS, GangSettings, MatchPolicy, gang_id_of
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, by_requests
from descheduler.placement.plugins.coscheduling.members import GangLedger, GangMembers, Tally
from descheduler.placement.plugins.coscheduling.obstacles import GangReason, GangShortage, MissingMembers
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.policy.shared_args import Args, WithoutEffect

_MOST_NAMED = 100
"""Gangs that a group waits for, of those that are named; it may list thousands."""
_NOT_QUEUED = (GangReason.NO_GANG, GangReason.NO_SETTINGS, GangReason.TOO_FEW_PODS)


class Coscheduling:
    """Keeps pods of a gang from being bound before enough of them can be.

    Pods of a gang that counts no pod any more are scheduled one by one. Where others of its group do count, pods of
    both that come together are bound or wait for good, whichever are created first: that was measured, and nothing is
    decided here.
    Both modes come to the same: the scheduler rejects all waiting members when it has tried every one of them, also
    those of a gang that is not strict.
    """

    name = "Coscheduling"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._cluster = cluster
        self._members = cluster.follow(GangMembers)
        self._gangs = self._members.gangs
        self.ledger = cluster.ledger(GangLedger)

    def unit_of(self, pod: Pod) -> str:
        """The group that `pod` waits for; empty for a pod without a gang, or whose gang counts no pod any more."""
        if not gang_id_of(pod):
            return ""
        settings = self._gangs.settings_for(pod)
        if settings is None:
            return gang_id_of(pod)
        gangs = [self._gangs.settings(gang_id) for gang_id in settings.group]
        waits_for_nobody = all(gang is not None and self._counts_nobody(gang, Tally(())) for gang in gangs)
        return "" if waits_for_nobody else settings.group_id

    def holds_back(self, pods: Sequence[Pod]) -> Obstacle | None:
        """What keeps members of one group from being bound if each finds a node: they are counted in their order."""
        if by_order := self._by_order(pods):
            return by_order
        left, unplaced = list(pods), Counter[str]()
        while left:
            tally = Tally(left, unplaced)
            if incomplete := self._incomplete(left[0], tally):
                return incomplete
            waits: Obstacle | None = None
            for place, pod in enumerate(left):
                waits = self._waits(pod, tally)
                tally.imagine_held(gang_id_of(pod))
                if waits is None:
                    left = left[place + 1 :]
                    break
            if waits is not None:
                return waits
        return None

    def pre_enqueue(self, cycle: Cycle) -> Obstacle | None:
        """Refuses a pod while a gang of its group is unknown, or has fewer pods than it needs, of whatever phase."""
        pod = cycle.pod.pod
        return self._incomplete(pod, Tally.of(cycle)) if gang_id_of(pod) else None

    def permit(self, cycle: Cycle, node: int) -> Obstacle | None:
        """Holds a pod back until every gang of its group has as many pods as its match policy asks for."""
        pod = cycle.pod.pod
        return self._waits(pod, Tally.of(cycle)) if gang_id_of(pod) else None

    def _by_order(self, pods: Sequence[Pod]) -> Obstacle | None:
        """The unknown of pods of which some wait for the others, and the others do not wait for them."""
        found = filter(None, map(self._gangs.settings_for, pods))
        gangs = {gang.gang_id: gang for gang in found}
        if len({self._counts_nobody(gang, Tally(())) for gang in gangs.values()}) < 2:
            return None
        current = next(iter(gangs.values()))
        shortages = tuple(GangShortage(gang_id, 0, 0) for gang_id in current.group)
        missing = MissingMembers(GangReason.BY_ORDER, current.group, current.gang_id, shortages)
        return Obstacle.of(self.name, Code.UNDECIDED, missing)

    def _incomplete(self, pod: Pod, tally: Tally) -> Obstacle | None:
        """Why a pod of a gang is not queued."""
        gang_id = gang_id_of(pod)
        settings = self._gangs.settings_for(pod)
        if settings is None:
            shortage = (GangShortage(gang_id, 0, 0),)
            return _obstacle(MissingMembers(GangReason.NO_SETTINGS, (gang_id,), gang_id, shortage))
        if self._counts_nobody(settings, tally):
            return None
        found = list(self._lacking(settings, tally))
        for why in _NOT_QUEUED:
            if gangs := tuple(gang for reason, gang in found if reason is why):
                return _obstacle(MissingMembers(why, settings.group, gang_id, gangs))
        return None

    def _waits(self, pod: Pod, tally: Tally) -> Obstacle | None:
        """What a pod of a gang waits for once it has found a node itself."""
        settings = self._gangs.settings_for(pod)
        if settings is None:
            return None
        group = iter(settings.group)
        gangs = tuple(islice(self._short(group, tally, settings), _MOST_NAMED))
        if not gangs:
            return None
        was_let_go = self._was_let_go(settings, tally)
        why = GangReason.SURPLUS if was_let_go else GangReason.TOO_FEW_WAITING
        missing = MissingMembers(why, settings.group, settings.gang_id, gangs, length_hint(group))
        return Obstacle.of(self.name, Code.UNDECIDED, missing) if was_let_go else _obstacle(missing)

    def _counts_nobody(self, settings: GangSettings, tally: Tally) -> bool:
        return settings.match_policy is MatchPolicy.ONCE_SATISFIED and self._is_satisfied(settings, tally)

    def _is_satisfied(self, settings: GangSettings, tally: Tally) -> bool:
        """Whether a pod of the group was bound at any time, of which the snapshot or the shadow cluster knows."""
        if not self._members.bound_at_first.isdisjoint(settings.group):
            return True
        return self._was_let_go(settings, tally)

    def _was_let_go(self, settings: GangSettings, tally: Tally) -> bool:
        """Whether a pod of the group was bound since the snapshot, as far as the shadow cluster goes."""
        num_held, num_unplaced = tally.of_group(settings.group)
        return self.ledger.placed[settings.group_id] + num_unplaced > num_held

    def _lacking(self, settings: GangSettings, tally: Tally) -> Iterator[tuple[GangReason, GangShortage]]:
        """The gangs of the group that are not complete, in its order."""
        for gang_id in settings.group:
            gang = self._gangs.settings(gang_id)
            if gang is None:
                is_known = gang_id in self._gangs.members or tally.pods[gang_id] > 0
                yield GangReason.NO_SETTINGS if is_known else GangReason.NO_GANG, GangShortage(gang_id, 0, 0)
                continue
            num_existing = self._bound(gang_id, tally) + tally.pods[gang_id]
            if num_existing < gang.min_available:
                yield GangReason.TOO_FEW_PODS, GangShortage(gang_id, num_existing, gang.min_available)

    def _short(self, group: Iterable[str], tally: Tally, settings: GangSettings) -> Iterator[GangShortage]:
        """The gangs of the group that wait for more pods, once the pod of `settings` is placed as well."""
        for gang_id in group:
            gang = self._gangs.settings(gang_id)
            if gang is None:
                yield GangShortage(gang_id, 0, 0)
                continue
            if self._counts_nobody(gang, tally):
                continue
            num_counted = tally.held[gang_id] + (gang_id == settings.gang_id)
            if gang.match_policy is MatchPolicy.WAITING_AND_RUNNING:
                num_counted += self._bound(gang_id, tally)
            if num_counted < gang.min_available:
                yield GangShortage(gang_id, num_counted, gang.min_available)

    def _bound(self, gang_id: str, tally: Tally) -> int:
        return self._cluster.follow(GangMembers).placed[gang_id] + tally.unplaced[gang_id] - tally.held[gang_id]


def _obstacle(missing: MissingMembers) -> Obstacle:
    return Obstacle.of(Coscheduling.name, Code.UNRESOLVABLE, missing)


class _CoschedulingArgsSection(Args, frozen=True):
    """`CoschedulingArgs`."""

    default_timeout: str | None = None
    """How long pods wait for others of their gang, `600s` by default; without effect here."""
    controller_workers: WithoutEffect[int | None] = None
    skip_check_schedule_cycle: WithoutEffect[bool | None] = None
    enable_preemption: bool | None = None
    """Whether a gang evicts pods of lower priority, off by default; without effect here."""
    aware_network_topology: bool | None = None
    """Whether gangs are kept in one part of the network, off by default; not modelled."""
    permit_waiting_time_seconds: int | None = None
    """The argument of kubernetes-sigs/scheduler-plugins, whose plugin has the same name; without effect here."""
    pod_group_backoff_seconds: int | None = None
    """The same."""


def _read(block: ArgsBlock, section: _CoschedulingArgsSection) -> None:
    """Nothing of it is in use."""


ROW = SchedulingPlugin(
    plugin=Coscheduling,
    # Releases before 1.6 sort the queue as well, as do those of kubernetes-sigs/scheduler-plugins under this name.
    points=frozenset(
        {"pre_enqueue", "queue_sort", "pre_filter", "post_filter", "pre_score", "score"}
        | {"reserve", "permit", "pre_bind", "post_bind"}
    ),
    args=ArgsKind(_CoschedulingArgsSection, _read),
    # What pods of a group do for each other they do as a unit; it is not on this or that node that they are refused.
    interactions=by_requests,
    reads_annotations=GANG_ANNOTATIONS,
    reads_kinds=frozenset({"PodGroup.scheduling.sigs.k8s.io"}),
    about=About(
        check="The pods of a gang, and of all gangs of its group, are bound together: at least minMember of each.",
        reasons=(
            "gangGroup [<gangs>] basic check: memberGangs [<gangs>] child pod not collect enough, current gang: <gang>",
            'GangGroup "<gangs>" gets rejected: too few pods of gang <gang> (<number> of <minMember>) can be scheduled'
            " together",
        ),
    ),
)
