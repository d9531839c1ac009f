"""GangAtPermit: pods of a gang are held back at Permit until enough of them are placed."""

from __future__ import annotations

from collections import Counter

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin, own_node
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

GANG, MIN_AVAILABLE = "gang", "min-available"
"""Labels of a pod: its gang, and how many of it have to be placed before any is bound."""


class GangSizes:
    """A follower that counts the placed pods of each gang; those that are leaving do not count."""

    def __init__(self, cluster: ShadowCluster) -> None:
        del cluster
        self.placed: Counter[str] = Counter()

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """One more."""
        del node
        if GANG in pod.labels and not is_terminating:
            self.placed[pod.labels[GANG]] += 1

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """One less."""
        del node
        if GANG in pod.labels and not is_terminating:
            self.placed[pod.labels[GANG]] -= 1

    def fingerprint(self) -> object:
        """All numbers."""
        return sorted((gang, number) for gang, number in self.placed.items() if number)


class GangAtPermit:
    """Filters nothing."""

    name = "GangAtPermit"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        del profile
        self._sizes = cluster.follow(GangSizes)

    def permit(self, cycle: Cycle, node: int) -> Obstacle | None:
        """Waits for the others of the gang."""
        del node
        labels = cycle.pod.pod.labels
        if GANG not in labels:
            return None
        lacking = int(labels[MIN_AVAILABLE]) - self._sizes.placed[labels[GANG]] - 1
        if lacking <= 0:
            return None
        return Obstacle(self.name, Code.UNSCHEDULABLE, (f"gang {labels[GANG]} waits for {lacking} more of its pods",))


ROW = SchedulingPlugin(plugin=GangAtPermit, points=frozenset({"permit"}), interactions=own_node)
