"""What runs as `LoadAwareScheduling`, and its score by measured usage.

Source of the score: koordinator-sh/koordinator 1.8 (`pkg/scheduler/plugins/loadaware/load_aware.go`).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.koordinator.classes import is_prod
from descheduler.model.koordinator.node_reports import NODE_METRIC_KIND, RAW_ALLOCATABLE_ANNOTATION
from descheduler.model.node import BATCH_RESOURCES
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import ScoreRange
from descheduler.placement.framework.interactions import BY_REQUESTS, Interactions
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, Unread
from descheduler.placement.framework.scoring import Amounts, OwnNodeScore
from descheduler.placement.plugins.helper.scores import MAX_SCORE, Ints, tdiv
from descheduler.placement.plugins.load_aware_scheduling.args import ARGS, FACTORS_ANNOTATION, LoadAwareSchedulingArgs
from descheduler.placement.plugins.load_aware_scheduling.filter import (
    EXPIRED,
    LimitInteractions,
    LoadAwareScheduling,
    OverLimit,
)
from descheduler.placement.plugins.load_aware_scheduling.node_loads import (
    AFTER_INITIALIZED_ANNOTATION,
    AFTER_SCHEDULED_ANNOTATION,
    PROD,
    THRESHOLDS_ANNOTATION,
    LoadsOf,
    Usage,
    resources_of,
)
from descheduler.placement.shadow.node_table import SomeNodes
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster

_OF_PROD = ("", 1)
"""Marks what a pod adds to the usage of prod pods, as no resource has this name."""


class LoadAwareSchedulingScore(OwnNodeScore):
    """The weighted mean of what is left of each resource, in percent, cut; 0 for a node without a current NodeMetric.

    Where pods are gone the score is that until the next report, and `ranges` has that after it. A StatefulSet's pod
    that is placed where the one before it was measured is between these two.
    """

    name = "LoadAwareScheduling"

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._args = args = profile.args.of(LoadAwareSchedulingArgs)
        self._resources = resources_of(args)
        self._loads = cluster.follow(LoadsOf(args, self._resources))
        weights = dict(args.weights)
        self._rows = np.array([row for row, name in enumerate(self._resources) if name in weights], dtype=np.intp)
        self._weights = np.array([weights[self._resources[row]] for row in self._rows], dtype=np.int64)
        self._total_weight = int(self._weights.sum()) + args.dominant_weight
        self._capacity = self._loads.capacity[self._rows]
        self._is_measured = bool(self._loads.is_current.any())

    def asked_by(self, pod: PlacementClass) -> Amounts | None:
        """What the pod is taken to use; None where nothing was measured."""
        if not self._is_measured:
            return None
        asked = tuple(zip(self._resources, self._loads.estimates.of(pod.pod), strict=True))
        return (*asked, _OF_PROD) if self._args.scores_prod and is_prod(pod.pod) else asked

    def of_nodes(self, asked: Amounts, some: SomeNodes) -> Ints:
        """The scores until the next report."""
        return self._scores(asked, some.nodes, self._used(asked, some.nodes))

    def ranges(self, cycle: Cycle) -> ScoreRange | None:
        """The nodes that pods are gone from, with their scores before and after the next report."""
        nodes, asked = self._loads.nodes_left, self.asked_by(cycle.pod)
        # Usage of prod pods leaves with them, and percentiles are taken over minutes.
        if not len(nodes) or asked is None or self._usage_of(asked) is not None:
            return None
        used = self._used(asked, nodes)
        left = self._loads.left[np.ix_(self._rows, nodes)]
        return ScoreRange(nodes, self._scores(asked, nodes, used), self._scores(asked, nodes, used - left))

    def _usage_of(self, asked: Amounts) -> Usage:
        return PROD if asked[-1] == _OF_PROD else self._args.scored

    def _used(self, asked: Amounts, nodes: NDArray[np.intp]) -> Ints:
        return self._loads.used(self._usage_of(asked), nodes)[self._rows]

    def _scores(self, asked: Amounts, nodes: NDArray[np.intp], used: Ints) -> Ints:
        added = np.array([amount for _, amount in asked], dtype=np.int64)[self._rows, np.newaxis]
        capacity = self._capacity.take(nodes, axis=1)
        left = np.maximum(capacity - used - added, 0)
        ratings = tdiv(left * MAX_SCORE, np.maximum(capacity, 1))
        totals = self._weights.dot(ratings) + self._args.dominant_weight * ratings.min(axis=0)
        scores: Ints = np.where(self._loads.is_current.take(nodes), tdiv(totals, self._total_weight), 0)
        return scores


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
    """The usage that the pod would make of the node, and the threshold, unless what was measured is too old."""
    plugin = refused.cycle.scratch.get(LoadAwareScheduling.name)
    if isinstance(plugin, LoadAwareScheduling) and EXPIRED not in obstacle.facts:
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
