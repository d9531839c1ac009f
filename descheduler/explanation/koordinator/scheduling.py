"""What the schedulers of a cluster make of pods that wait, for those who ask about what these wait for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.placement_verification.landing_book import SchedulingSettings
from descheduler.explanation.moved_cluster import configuration_of
from descheduler.explanation.scheduling.analysis import analyse, obstacles_on
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.report.explanation.placement import NodeObstacle, PlacementAnalysis
from descheduler.report.explanation.waiting import WaitingPod
from descheduler.report.identities import reference

__all__ = ["Scheduling", "is_pending", "waiting_pods"]

_MOST = 20
"""Pods that are looked at: each is tried on every node."""


class Scheduling(NamedTuple):
    """A cluster as it is, and the schedulers of its pods."""

    cluster: ShadowCluster
    configuration: SchedulerConfiguration

    @classmethod
    def of(cls, snapshot: Snapshot, settings: SchedulingSettings) -> Scheduling:
        """That of `snapshot`, by `settings`."""
        return cls(shadow_cluster_of(snapshot, PLUGINS, settings.version), configuration_of(settings))

    def analyse(self, pod: Pod) -> PlacementAnalysis:
        """What the scheduler of `pod` makes of it now."""
        return analyse(self.cluster, self.configuration, pod)

    def why_pending(self, pod: Pod) -> str:
        """What the scheduler's event would say of `pod`, or how many nodes take it."""
        return self.analyse(pod).summary

    def why_not_on(self, pod: Pod, node_name: str) -> str:
        """What keeps `pod` from the node; that it fits where nothing does."""
        found = obstacles_on(self.cluster, self.configuration, pod, node_name)
        return "; ".join(map(_words, found)) or "fits on the node"


def is_pending(pod: Pod) -> bool:
    """Whether `pod` waits for a node."""
    return not (pod.node_name or pod.is_terminal or pod.is_terminating)


def waiting_pods(pods: Iterable[Pod], why: Callable[[Pod], str]) -> Iterator[WaitingPod]:
    """An entry for each of `pods`, with what `why` says of the first ones."""
    for place, pod in enumerate(pods):
        yield WaitingPod(pod=reference(pod), message=why(pod) if place < _MOST else "")


def _words(obstacle: NodeObstacle) -> str:
    return f"{obstacle.plugin}: {', '.join(obstacle.details) or ', '.join(obstacle.reasons)}"
