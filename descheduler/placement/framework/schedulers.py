"""The schedulers of a cluster, by the name that pods give, and the pods whose placement they leave in doubt."""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import (
    DEFAULT_SCHEDULER_NAME,
    SchedulerConfiguration,
)
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.koordinator_features import koordinator_feature
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["Schedulers"]


class Schedulers:
    """One scheduler for each profile of `configuration`, all over one shadow cluster."""

    def __init__(
        self,
        cluster: ShadowCluster,
        configuration: SchedulerConfiguration,
        *,
        plugins: Mapping[str, SchedulingPlugin],
    ) -> None:
        self._cluster = cluster
        self._configuration = configuration
        self._plugins = plugins
        self._made: dict[str, Scheduler] = {}

    def scheduler_of(self, pod: Pod) -> Scheduler:
        """The scheduler of a pod that there is no doubt about. Raises KeyError when no profile has its name."""
        profile = self._profile_of(pod)
        if profile is None:
            raise KeyError(pod.spec.scheduler_name)
        known = self._made.get(profile.scheduler_name)
        if known is None:
            known = self._made[profile.scheduler_name] = Scheduler(self._cluster, profile, plugins=self._plugins)
            known.num_nodes_to_find = self._configuration.nodes_to_find(profile, len(self._cluster.table))
        return known

    def doubt(self, pod: Pod) -> str:
        """Why it cannot be told where `pod` is placed, or an empty string."""
        profile = self._profile_of(pod)
        if profile is None:
            name = pod.spec.scheduler_name or DEFAULT_SCHEDULER_NAME
            return f"its scheduler {name} has no profile in the scheduler configuration"
        unknown = [name for name in profile.unknown_plugins if name not in profile.unknown_scorers]
        if unknown:
            return f"its scheduler runs plugins that are not known: {', '.join(unknown)}"
        for extender in self._configuration.extenders:
            if extender.filters and extender.is_interested(pod.spec.requests):
                return f"the scheduler extender {extender.url_prefix} may refuse nodes"
        if feature := koordinator_feature(pod):
            return f"it uses {feature}, which Koordinator's scheduler judges"
        if pod.spec.has_scheduling_group:
            return "it waits for the other pods of its scheduling group"
        return ""

    def _profile_of(self, pod: Pod) -> SchedulerProfile | None:
        return self._configuration.profile_for(pod.spec.scheduler_name)
