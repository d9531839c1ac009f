"""What runs as `LoadAwareScheduling`."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.koordinator.node_metric import NODE_METRIC_KIND, RAW_ALLOCATABLE_ANNOTATION
from descheduler.model.node import BATCH_RESOURCES
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.interactions import BY_REQUESTS, Interactions
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, Unread
from descheduler.placement.plugins.load_aware_scheduling.args import ARGS, LoadAwareSchedulingArgs
from descheduler.placement.plugins.load_aware_scheduling.filter import (
    EXPIRED,
    LimitInteractions,
    LoadAwareScheduling,
    OverLimit,
)
from descheduler.placement.plugins.load_aware_scheduling.node_loads import (
    AFTER_INITIALIZED_ANNOTATION,
    AFTER_SCHEDULED_ANNOTATION,
    THRESHOLDS_ANNOTATION,
)
from descheduler.placement.plugins.load_aware_scheduling.pod_estimate import FACTORS_ANNOTATION
from descheduler.placement.plugins.load_aware_scheduling.score import LoadAwareSchedulingScore

__all__ = ["ROW"]

_AGENT = "koordlet"
"""The DaemonSet whose pods report NodeMetrics; without it there are none, and every node has the score 0."""
_NOT_READ = "NodeMetrics of Koordinator were not read, so the measured usage of nodes is unknown"


def _interactions(profile: SchedulerProfile) -> Interactions:
    return LimitInteractions() if profile.args.of(LoadAwareSchedulingArgs).limits.are_any else BY_REQUESTS


def _unread(profile: SchedulerProfile, snapshot: Snapshot) -> Unread:
    """What is unknown of a cluster of which no NodeMetrics were read although there are some."""
    if not snapshot.kinds or NODE_METRIC_KIND in snapshot.kinds or not _has_agent(snapshot):
        return Unread()
    has_limits = LoadAwareScheduling.name in profile.filters
    has_limits &= profile.args.of(LoadAwareSchedulingArgs).limits.are_any
    is_scored = any(name == LoadAwareScheduling.name and weight for name, weight in profile.scores)
    return Unread(landing=_NOT_READ if has_limits else "", choice=_NOT_READ if is_scored else "")


def _has_agent(snapshot: Snapshot) -> bool:
    """Whether Koordinator's agent measures some node: batch resources are made of what it measures."""
    if any(node.allocatable.get(name) for node in snapshot.nodes for name in BATCH_RESOURCES):
        return True
    return any(owner.kind == "DaemonSet" and owner.name == _AGENT for pod in snapshot.pods for owner in pod.owners)


def _explain(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """The usage that the pod would make of the node, and the threshold."""
    del obstacle
    plugin = refused.cycle.scratch.get(LoadAwareScheduling.name)
    if isinstance(plugin, LoadAwareScheduling):
        yield from plugin.shares_of(refused.pod, refused.node_index)


ROW = SchedulingPlugin(
    plugin=LoadAwareScheduling,
    score=LoadAwareSchedulingScore,
    points=frozenset({"pre_filter", "filter", "score", "reserve"}),
    args=ARGS,
    interactions=_interactions,
    explain=_explain,
    unread=_unread,
    reads_annotations=(
        FACTORS_ANNOTATION,
        AFTER_SCHEDULED_ANNOTATION,
        AFTER_INITIALIZED_ANNOTATION,
        THRESHOLDS_ANNOTATION,
        RAW_ALLOCATABLE_ANNOTATION,
    ),
    reads_kinds=frozenset({NODE_METRIC_KIND}),
    about=About(
        check="The measured usage of a node, with the pod on it, must not be above a threshold. Koordinator's manifest"
        " sets none. What evicted pods used counts until the next report of their node.",
        preference="Nodes with less measured usage. Pods that came after the last report count with an estimate.",
        reasons=(
            EXPIRED.reason,
            *(OverLimit("<resource>", is_aggregated=each).reason for each in (False, True)),
        ),
    ),
)
