"""Pods that wait for what is explained, and what their schedulers make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.explanation.scheduling.analysis import analyse, obstacles_on
from descheduler.explanation.scheduling.placement import NodeObstacle, PlacementAnalysis
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.report.document import PodReference
from descheduler.report.identities import reference
from descheduler.report.tables.table_style import TableStyle


class WaitingPod(Fields, frozen=True):
    """A pending pod that what is explained could help, and why it is pending.

    `message` is empty for pods after the first 20, which are not looked at.
    """

    pod: PodReference
    message: str


_MOST_TRIED = 20
"""Pods that are looked at: each is tried on every node."""


class Scheduling(NamedTuple):
    """A cluster as it is, and the schedulers of its pods."""

    cluster: ShadowCluster
    configuration: SchedulerConfiguration

    @classmethod
    def of(cls, snapshot: Snapshot, settings: SchedulingSettings) -> Scheduling:
        """The scheduling of `snapshot`, by `settings`."""
        return cls(shadow_cluster_of(snapshot, PLUGINS, settings.version), settings.resolved())

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
        yield WaitingPod(pod=reference(pod), message=why(pod) if place < _MOST_TRIED else "")


def _words(obstacle: NodeObstacle) -> str:
    return f"{obstacle.plugin}: {', '.join(obstacle.details) or ', '.join(obstacle.reasons)}"


def waiting_table(waiting: Sequence[WaitingPod], style: TableStyle) -> Iterator[str]:
    """The pods that were looked at, and how many others there are."""
    looked_at = [each for each in waiting if each.message]
    rows = [[each.pod.namespace, each.pod.name, each.message] for each in looked_at]
    yield from style.table(["NAMESPACE", "PENDING POD", "REASON"], rows)
    if len(looked_at) < len(waiting):
        more = counted(len(waiting) - len(looked_at), "more pod waits", "more pods wait")
        yield f"{more}; explain pod says why"
        yield ""
