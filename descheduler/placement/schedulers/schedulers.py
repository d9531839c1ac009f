"""The schedulers of a cluster, by the name that pods give, and what they check that is not modelled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from descheduler.model.koordinator.scheduler_name import scheduler_name_of
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import (
    SchedulerConfiguration,
    default_configuration,
)
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduler_model import SchedulerModel, Unit
from descheduler.placement.framework.scheduling_plugin import Preference, SchedulingPlugin
from descheduler.placement.schedulers.row import SchedulerRow
from descheduler.placement.schedulers.table import SCHEDULERS
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

_RESOURCES = "NodeResourcesFit"


class Schedulers:
    """A scheduler for each profile of `configuration`, and for each of its `others`, all over one shadow cluster.

    `rows` is the table of those that are modelled.
    """

    def __init__(
        self,
        cluster: ShadowCluster,
        configuration: SchedulerConfiguration,
        *,
        plugins: Mapping[str, SchedulingPlugin],
        rows: Mapping[str, SchedulerRow] = SCHEDULERS,
    ) -> None:
        self._cluster = cluster
        self._configuration = configuration
        self._plugins = plugins
        self._rows = rows
        self._made: dict[str, SchedulerModel] = {}
        self._profiles: dict[str, SchedulerProfile | None] = {}
        self._optional_filters = frozenset(name for name, row in plugins.items() if row.is_optional)
        self._listed = frozenset(name for node in cluster.snapshot.nodes for name in node.allocatable)

    def scheduler_of(self, pod: Pod) -> SchedulerModel:
        """The scheduler of a pod. For one that is not modelled kube-scheduler as it comes stands in."""
        return self._scheduler(scheduler_name_of(pod))

    def of_another_kind(self, name: str) -> SchedulerModel | None:
        """The scheduler called `name`, where it has a model that is not made of kube-scheduler; else None."""
        return self._scheduler(name) if self._is_of_another_kind(name) else None

    def doubt(self, pod: Pod) -> str:
        """What the scheduler checks of `pod` that is not modelled, or an empty string."""
        name = scheduler_name_of(pod)
        return self._scheduler(name).doubt(pod) if self._is_known(name) else f"scheduler {name} is not modelled"

    def assumed(self) -> tuple[str, ...]:
        """What the answers of those that were asked take for granted, each a sentence."""
        return tuple(chain.from_iterable(scheduler.assumed() for scheduler in self._made.values()))

    def queued_beside(self) -> Iterator[Pod]:
        """What waits for a node beside the pods of the snapshot, where the scheduler that it names places it."""
        for name, row in self._plugins.items():
            for pod in () if row.queues is None else row.queues(self._cluster.snapshot):
                if not self.is_foreign(pod) and self.scheduler_of(pod).runs(name):
                    yield pod

    def is_foreign(self, pod: Pod) -> bool:
        """Whether the scheduler of `pod` is not modelled at all."""
        return not self._is_known(scheduler_name_of(pod))

    def order(self, units: Sequence[Unit]) -> Sequence[Unit]:
        """`units` by priority, and in the places of its own each scheduler's as it tries them; equal ones as given."""
        by_priority = sorted(units, key=lambda unit: -unit.priority)
        places: dict[str, list[int]] = {}
        for place, unit in enumerate(by_priority):
            places.setdefault(scheduler_name_of(unit.pods[0]), []).append(place)
        ordered = [*by_priority]
        for name, own in places.items():
            if self._is_known(name):
                for place, unit in zip(own, self._scheduler(name).order([by_priority[p] for p in own]), strict=True):
                    ordered[place] = unit
        return ordered

    def preference(self, pods: Iterable[Pod]) -> Preference:
        """Which nodes the scheduler of most of `pods` prefers; that of the first profile where none is modelled."""
        names = Counter(map(scheduler_name_of, pods))
        known = [name for name, _ in names.most_common() if self._is_known(name)]
        return self._scheduler(known[0] if known else self._configuration.profiles[0].scheduler_name).preference()

    def optional_filters(self, pod: Pod) -> frozenset[str]:
        """Plugins whose refusals of `pod` may mean nothing to a scheduler that is not modelled; none for others.

        An extended resource that no node lists may be shared out by an extender of that scheduler: the kubelet does not
        count those either (kubernetes 1.36 `pkg/kubelet/lifecycle/predicate.go`, removeMissingExtendedResources).
        """
        if not self.is_foreign(pod):
            return frozenset()
        is_unlisted = any("/" in name and name not in self._listed for name in pod.spec.requests)
        return self._optional_filters | {_RESOURCES} if is_unlisted else self._optional_filters

    def _scheduler(self, name: str) -> SchedulerModel:
        known = self._made.get(name)
        if known is None:
            known = self._made[name] = self._make(name)
        return known

    def _is_known(self, name: str) -> bool:
        return self._is_of_another_kind(name) or self._profile_for(name) is not None

    def _is_of_another_kind(self, name: str) -> bool:
        """Whether it has a model that is not made of kube-scheduler, and the cluster has objects by which that goes."""
        if name not in self._configuration.others:
            return False
        row = self._rows.get(name)
        objects = self._cluster.snapshot.objects
        return row is None or not row.reads_kinds or any(objects.get(kind) for kind in row.reads_kinds)

    def _profile_for(self, name: str) -> SchedulerProfile | None:
        if name not in self._profiles:
            self._profiles[name] = self._configuration.profile_for(name)
        return self._profiles[name]

    def _make(self, name: str) -> SchedulerModel:
        configuration, row = self._configuration, self._rows.get(name)
        if row is not None and row.model is not None and self._is_of_another_kind(name):
            return row.model(self._cluster, configuration.others[name])
        profile = configuration.profile_for(name)
        if profile is None:
            configuration = default_configuration(self._cluster.version, self._plugins)
            profile = configuration.profiles[0]
        return Scheduler(self._cluster, profile, plugins=self._plugins, configuration=configuration)
