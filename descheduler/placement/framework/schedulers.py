"""The schedulers of a cluster, by the name that pods give, and the pods whose placement they leave in doubt."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import (
    DEFAULT_SCHEDULER_NAME,
    SchedulerConfiguration,
)
from descheduler.placement.framework.doubts import doubt_about
from descheduler.placement.framework.evaluation import SchedulerModel
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["MakeScheduler", "Schedulers"]

MakeScheduler = Callable[[ShadowCluster], SchedulerModel]
"""Makes a scheduler over a shadow cluster."""


class Schedulers:
    """A scheduler for each profile of `configuration`, and for each of `others` by name, all over one shadow cluster.

    Pods whose name both have are those of the other one.
    """

    def __init__(
        self,
        cluster: ShadowCluster,
        configuration: SchedulerConfiguration,
        *,
        plugins: Mapping[str, SchedulingPlugin],
        others: Mapping[str, MakeScheduler] | None = None,
    ) -> None:
        self._cluster = cluster
        self._configuration = configuration
        self._plugins = plugins
        self._made: dict[str, SchedulerModel] = {name: make(cluster) for name, make in (others or {}).items()}
        self._others = frozenset(self._made)

    def scheduler_of(self, pod: Pod) -> SchedulerModel:
        """The scheduler of a pod that there is no doubt about. Raises KeyError when there is none of its name."""
        name = pod.spec.scheduler_name or DEFAULT_SCHEDULER_NAME
        known = self._made.get(name)
        if known is None:
            profile = self._configuration.profile_for(name)
            if profile is None:
                raise KeyError(name)
            known = self._made[name] = Scheduler(
                self._cluster, profile, plugins=self._plugins, configuration=self._configuration
            )
        return known

    def doubt(self, pod: Pod) -> str:
        """Why it cannot be told where `pod` is placed, or an empty string."""
        name = pod.spec.scheduler_name or DEFAULT_SCHEDULER_NAME
        if name in self._others:
            return self._made[name].doubt(pod)
        profile = self._configuration.profile_for(name)
        if profile is None:
            return f"its scheduler {name} has no profile in the scheduler configuration"
        return doubt_about(pod, profile, self._configuration)
