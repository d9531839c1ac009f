"""Plugin predicates: the filters of kube-scheduler, and the plugin that keeps the nodes' pods up to date."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY
from descheduler.placement.configuration.volcano import Arguments, PluginOption
from descheduler.placement.shadow.views import SeenPod
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.plugins.kube_scheduler import KubeFilters, has_pod_affinity
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import OPEN, UNRESOLVABLE, Callbacks, NodeCodes, as_before

__all__ = ["start"]

_MEGA = 10**6
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
    proportions = _Proportions(session, arguments)
    is_proportional = bool(proportions.rates)
    filters = session.kept(names, lambda: KubeFilters(session.cluster, names, is_proportional=is_proportional))
    session.accounts["predicates"] = filters

    def predicate(task: Task) -> NodeCodes:
        codes = filters.codes(task)
        return np.where(codes == OPEN, proportions.codes(task), codes).astype(np.int8)

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


class _Proportions:
    """Keeps cpu and memory beside a scarce resource that is idle, for tasks that ask for it."""

    def __init__(self, session: Session, arguments: Arguments) -> None:
        self._session = session
        self.rates = list(_rates(arguments)) if arguments.switch("predicate.ProportionalEnable", default=False) else []

    def codes(self, task: Task) -> NodeCodes:
        """The nodes on which a task that does not ask for a scarce resource leaves too little beside it."""
        nodes = self._session.nodes
        codes: NodeCodes = np.full(len(nodes.is_there), OPEN, dtype=np.int8)
        if any(task.request.get(name, 0.0) for name, _, _ in self.rates):
            return codes
        cpu, memory = (nodes.idle[nodes.rows[name]] - task.request[name] for name in (CPU, MEMORY))
        for name, cpu_rate, memory_rate in self.rates:
            if name in nodes.rows:
                scarce = nodes.idle[nodes.rows[name]]
                is_short = (cpu < scarce * cpu_rate) | (memory < scarce * memory_rate * _MEGA)
                codes[is_short] = UNRESOLVABLE
        return codes


def _rates(arguments: Arguments) -> Iterator[tuple[str, float, float]]:
    """Scarce resource, cpu and memory a piece of it."""
    for entry in arguments.text("predicate.resources").split(","):
        name = entry.strip()
        if name:
            prefix = f"predicate.resources.{name}"
            yield name, arguments.number(f"{prefix}.cpu", 1), arguments.number(f"{prefix}.memory", 1)
