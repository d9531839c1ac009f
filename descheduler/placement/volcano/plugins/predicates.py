"""Plugin predicates: the filters of kube-scheduler, and the plugin that keeps the nodes' pods up to date."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from descheduler.model.pod import Pod
from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.configuration.volcano_arguments import Arguments
from descheduler.placement.shadow.views import SeenPod
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.plugins.kube_scheduler import KubeFilters, has_pod_affinity
from descheduler.placement.volcano.plugins.resource_strategy_fit import ScarceResource, proportional_codes
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import OPEN, Callbacks, NodeCodes, as_before

__all__ = ["start"]

_SWITCHED = {
    "NodeAffinity": "NodeAffinity",
    "TaintToleration": "TaintToleration",
    "NodePorts": "NodePorts",
    "PodAffinity": "InterPodAffinity",
    "NodeVolumeLimits": "NodeVolumeLimits",
    "VolumeZone": "VolumeZone",
    "PodTopologySpread": "PodTopologySpread",
}
"""Switch of the plugin's arguments → filter, in the order in which they run."""


def start(session: Session, option: PluginOption) -> Callbacks:
    """The filters that the arguments leave, and NodeUnschedulable."""
    arguments = option.arguments
    enabled = (name for key, name in _SWITCHED.items() if arguments.switch(f"predicate.{key}Enable", default=True))
    names = ("NodeUnschedulable", *enabled)
    scarce = list(_scarce(arguments)) if arguments.switch("predicate.ProportionalEnable", default=False) else []
    filters = session.kept(names, lambda: KubeFilters(session.cluster, names, is_proportional=bool(scarce)))
    session.accounts["predicates"] = filters

    def predicate(task: Task) -> NodeCodes:
        codes = filters.codes(task)
        return np.where(codes == OPEN, proportional_codes(session, task, scarce), codes).astype(np.int8)

    if session.is_following:
        return Callbacks(predicate=predicate, reopen=as_before)
    company = _Company(session)
    return Callbacks(predicate=predicate, allocated=company.add, deallocated=company.remove)


class _Company:
    """Keeps the pods on nodes up to date for the filters and scores.

    Volcano lists the nodes with pods that have affinity, and with those that have required anti-affinity, when a
    session opens, and looks at no others: the terms of a pod that is placed elsewhere count from the next cycle on.
    """

    def __init__(self, session: Session) -> None:
        self._cluster = session.cluster
        self._unlisted = session.unlisted
        placed = session.cluster.placed_pods
        self._nodes_with_affinity = {node for pod, node in placed if has_pod_affinity(pod)}
        self._listed = {node for pod, node in placed if _anti_affinity(pod)}
        self._seen: dict[str, Pod] = {}

    def add(self, task: Task) -> None:
        """`task` is on its node, with the terms that count."""
        pod, affinity = task.pod, task.pod.spec.affinity
        if affinity is not None and _anti_affinity(pod) and task.node not in self._listed:
            spec = replace(pod.spec, affinity=replace(affinity, anti_required=()))
            pod = self._seen[task.uid] = replace(pod, spec=spec)
        self._cluster.add(pod, task.node)
        if has_pod_affinity(task.pod) and task.node not in self._nodes_with_affinity:
            self._unlisted[task.uid] = SeenPod(pod, task.node)

    def remove(self, task: Task) -> None:
        """It is so no longer."""
        self._unlisted.pop(task.uid, None)
        self._cluster.remove(self._seen.pop(task.uid, task.pod), task.node)


def _anti_affinity(pod: Pod) -> bool:
    return pod.spec.affinity is not None and bool(pod.spec.affinity.anti_required)


def _scarce(arguments: Arguments) -> Iterator[ScarceResource]:
    for name in arguments.names("predicate.resources"):
        prefix = f"predicate.resources.{name}"
        yield ScarceResource.of(name, arguments.number(f"{prefix}.cpu", 1), arguments.number(f"{prefix}.memory", 1))
