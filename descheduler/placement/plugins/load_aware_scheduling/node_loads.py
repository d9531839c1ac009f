"""What nodes use, and what pods are taken to use that came since: koordinator-sh/koordinator 1.8
(`pkg/scheduler/plugins/loadaware/pod_assign_cache.go`).

koord-scheduler forgets a pod as soon as it is gone, and its usage is in the NodeMetric until the next report. Both are
told apart here: `used` is the usage until then, and `left` is how much less it is after that.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.cluster.decoding.blocks import decode_quantities
from descheduler.cluster.decoding.koordinator.node_metric import decode_aggregates
from descheduler.model.koordinator.classes import is_prod
from descheduler.model.koordinator.node_reports import RAW_ALLOCATABLE_ANNOTATION, NodeMetric, PodMetric
from descheduler.model.koordinator.reservation import is_reserve_pod
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY, ResourceList
from descheduler.placement.plugins.helper.scores import Ints
from descheduler.placement.plugins.load_aware_scheduling.args import (
    LoadAwareSchedulingArgs,
    Percentile,
    PodEstimates,
    units,
)
from descheduler.placement.shadow.follower import CountingFollower
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import NO_NODE, ShadowCluster

AFTER_SCHEDULED_ANNOTATION = "scheduling.koordinator.sh/load-estimated-seconds-after-pod-scheduled"
AFTER_INITIALIZED_ANNOTATION = "scheduling.koordinator.sh/load-estimated-seconds-after-initialized"
"""How long a pod is estimated although it is measured, by the pod's own annotation."""

THRESHOLDS_ANNOTATION = "scheduling.koordinator.sh/usage-thresholds"
"""Thresholds of a node's own, as JSON."""

WHOLE, PROD = None, "prod"
"""The usage of nodes, and that of their pods of class prod."""
Usage = Percentile | str | None
"""Which usage is meant: `WHOLE`, `PROD`, or a percentile."""


class LoadsOf(msgspec.Struct, frozen=True):
    """Makes the loads of a cluster; equal ones make one and the same follower."""

    args: LoadAwareSchedulingArgs
    resources: tuple[str, ...]

    def __call__(self, cluster: ShadowCluster) -> NodeLoads:
        return NodeLoads(cluster, self.args, self.resources)


class _Measured(NamedTuple):
    """A node with a NodeMetric. A pod that was assigned after `since` is estimated, whatever was measured of it."""

    metric: NodeMetric
    pods: Mapping[tuple[str, str], PodMetric]
    since: datetime | None


class NodeLoads(CountingFollower):
    """A follower. Columns are nodes, rows are `resources`; amounts are in the units of `args.units`.

    `is_measured` says which nodes have a NodeMetric of something measured, `is_current` which of these are not too old.
    """

    def __init__(self, cluster: ShadowCluster, args: LoadAwareSchedulingArgs, resources: tuple[str, ...]) -> None:
        nodes, snapshot = cluster.table.nodes, cluster.snapshot
        self.resources = resources
        self.estimates = PodEstimates(args, resources)
        self._args = args
        self._reads_all = _reads_all(args) or any(THRESHOLDS_ANNOTATION in node.annotations for node in nodes)
        self._names = cluster.table.names
        self._now = snapshot.taken_at
        found = [_measured(snapshot.node_metrics.get(node.name)) for node in nodes]
        self._measured = found
        self.is_measured: BoolMask = np.array([each is not None for each in found], dtype=bool)
        self.is_current: BoolMask = np.array([self._is_current(each) for each in found], dtype=bool)
        self.capacity = self._columns([_capacity(node) for node in nodes])
        self._usage = self._columns([{} if each is None else each.metric.node_usage for each in found])
        system = [(each and each.metric.system_usage) or {} for each in found]
        self._prod_usage = self._columns(system if args.counts_system else [{}] * len(found))
        self._delta, self._prod_delta, self._estimated, self._left = (np.zeros_like(self._usage) for _ in range(4))
        self._gone: dict[tuple[int, str], PodMetric] = {}
        self._aggregated: dict[Percentile, tuple[Ints, BoolMask]] = {}

    @property
    def left(self) -> Ints:
        """What pods use that are gone, which the next report leaves out: a row a resource, a column a node."""
        return self._left

    @property
    def nodes_left(self) -> NDArray[np.intp]:
        """The nodes that pods are gone from of which something was measured."""
        return np.array(sorted({node for node, _ in self._gone}), dtype=np.intp)

    def used(self, usage: Usage, nodes: NDArray[np.intp]) -> Ints:
        """The usage of `nodes` until the next report, with what pods are taken to use that came since the last one."""
        if usage == PROD:
            return self._prod_usage.take(nodes, axis=1) + self._prod_delta.take(nodes, axis=1)
        delta = self._delta.take(nodes, axis=1)
        if isinstance(usage, Percentile):
            measured, is_there = self._percentile(usage)
            # Where nothing was aggregated all pods are estimated.
            estimated = self._estimated.take(nodes, axis=1)
            return np.where(is_there.take(nodes), measured.take(nodes, axis=1) + delta, estimated)
        return self._usage.take(nodes, axis=1) + delta

    def fingerprint(self) -> object:
        """What was estimated, and who is gone."""
        columns = (self._delta, self._prod_delta, self._estimated)
        return [each.tobytes().hex() for each in columns], sorted(self._gone)

    def count(self, pod: Pod, node: int, sign: int, *, is_terminating: bool) -> None:
        """A pod is estimated, unless it was measured long enough.

        One that leaves is forgotten at once; what it used stays until the next report.
        """
        measured = None if node == NO_NODE else self._measured[node]
        if measured is None or is_reserve_pod(pod):
            return
        # A pod that was placed here has no node name, and no usage yet.
        is_here = pod.node_name == self._names[node]
        used = measured.pods.get((pod.namespace, pod.name)) if is_here else None
        if used is not None:
            self._note_gone(pod, node, used, sign)
        is_estimated = used is None or self._is_estimated(pod, measured)
        if not (is_estimated or self._reads_all):
            return
        estimate = np.array(self.estimates.of(pod), dtype=np.int64)
        usage = np.zeros_like(estimate) if used is None else self._column(used.usage)
        if is_estimated:
            self._delta[:, node] += sign * np.maximum(estimate - usage, 0)
        self._estimated[:, node] += sign * estimate
        if is_prod(pod):
            is_known = used is not None and used.is_prod
            self._prod_usage[:, node] += sign * usage * is_known
            if is_estimated or not is_known:
                self._prod_delta[:, node] += sign * np.maximum(estimate - usage * is_known, 0)

    def _note_gone(self, pod: Pod, node: int, used: PodMetric, sign: int) -> None:
        if sign == -1:
            self._gone[node, pod.uid] = used
        elif not self._gone or self._gone.pop((node, pod.uid), None) is None:
            return
        self._left[:, node] -= sign * self._column(used.usage)

    def _is_estimated(self, pod: Pod, measured: _Measured) -> bool:
        """Whether a measured pod came so late that its usage may not be all of it."""
        if measured.since is None:
            return True
        scheduled = _since(pod, "PodScheduled") or pod.started_at or self._now
        if scheduled is None or scheduled > measured.since:
            return True
        end, updated = self._estimated_until(pod, scheduled), measured.metric.updated_at
        return end is not None and updated is not None and end > updated

    def _estimated_until(self, pod: Pod, scheduled: datetime) -> datetime | None:
        args = self._args
        after_scheduled, after_initialized = args.seconds_after_scheduled, args.seconds_after_initialized
        if args.customizes:
            after_scheduled = _seconds(pod, AFTER_SCHEDULED_ANNOTATION, after_scheduled)
            after_initialized = _seconds(pod, AFTER_INITIALIZED_ANNOTATION, after_initialized)
        if after_initialized is not None and after_initialized > 0:
            initialized = _since(pod, "Initialized") or (pod.started_at if pod.conditions is None else None)
            if initialized is not None:
                return initialized + timedelta(seconds=after_initialized)
        if after_scheduled is not None and after_scheduled > 0:
            return scheduled + timedelta(seconds=after_scheduled)
        return None

    def _is_current(self, measured: _Measured | None) -> bool:
        if measured is None or measured.metric.updated_at is None:
            return False
        return self._now is None or self._now - measured.metric.updated_at < self._args.expiration

    def _percentile(self, percentile: Percentile) -> tuple[Ints, BoolMask]:
        known = self._aggregated.get(percentile)
        if known is None:
            found = [_aggregate(each, percentile) for each in self._measured]
            is_there = np.array([each is not None for each in found], dtype=bool)
            known = self._aggregated[percentile] = self._columns([each or {} for each in found]), is_there
        return known

    def _columns(self, amounts: list[ResourceList]) -> Ints:
        columns = [self._column(each) for each in amounts]
        return np.array(columns, dtype=np.int64).reshape(len(columns), len(self.resources)).T.copy()

    def _column(self, amounts: ResourceList) -> Ints:
        return np.array([units(name, amounts.get(name, 0)) for name in self.resources], dtype=np.int64)


def resources_of(args: LoadAwareSchedulingArgs) -> tuple[str, ...]:
    """All resources that the arguments speak of, in name order; cpu and memory whatever they say."""
    named = (*args.limits.whole, *args.limits.prod, *args.weights, *args.factors)
    return tuple(sorted({CPU, MEMORY, *args.supported, *(name for name, _ in named)}))


def _reads_all(args: LoadAwareSchedulingArgs) -> bool:
    """Whether pods count that were measured long enough, beside the usage of their nodes."""
    limits = args.limits
    return args.scores_prod or bool(limits.prod) or args.scored is not None or limits.percentile is not None


def _measured(metric: NodeMetric | None) -> _Measured | None:
    if metric is None or metric.system_usage is None:
        return None
    pods = {(each.namespace, each.name): each for each in metric.pods if each.resources}
    since = metric.updated_at and metric.updated_at - timedelta(seconds=metric.report_seconds)
    return _Measured(metric, pods, since)


def _capacity(node: Node) -> ResourceList:
    """What a node can give; where its allocatable resources are amplified, what they are without that."""
    text = node.annotations.get(RAW_ALLOCATABLE_ANNOTATION, "")
    if not text:
        return node.allocatable
    try:
        return {**node.allocatable, **decode_quantities(text.encode())}
    except (ValueError, RecursionError, msgspec.DecodeError):
        return node.allocatable


def _aggregate(measured: _Measured | None, percentile: Percentile) -> ResourceList | None:
    """The usage by `percentile`, None where the node has none."""
    if measured is None:
        return None
    try:
        found = decode_aggregates(measured.metric)
    except (ValueError, RecursionError, msgspec.DecodeError):
        found = {}
    if percentile.duration:
        return found.get((percentile.kind, percentile.duration))
    durations = [duration for kind, duration in found if kind == percentile.kind]
    return found[percentile.kind, max(durations)] if durations else measured.metric.node_usage


def _since(pod: Pod, condition: str) -> datetime | None:
    """Since when a condition of the pod is true; None where it is not, or where the snapshot has no conditions."""
    found = (each for each in pod.conditions or () if each.type == condition and each.status == "True")
    return next((each.transitioned_at for each in found), None)


def _seconds(pod: Pod, annotation: str, otherwise: int | None) -> int | None:
    text = pod.annotations.get(annotation, "")
    try:
        seconds = int(text)
    except ValueError:
        return otherwise
    return seconds if 0 <= seconds < 2**31 else otherwise
