"""ReplicaSets, StatefulSets and DaemonSets of the live cluster, by the recorded rules 9 to 22."""

from __future__ import annotations

from typing import Any

from tests.simulation.owners.live import Controller, Live, LiveNode, LivePod, matches_node, tolerates

Object = dict[str, Any]

_TOLERATED = {
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
}
_HASH = "controller-revision-hash"


class ReplicaSets(Controller):
    """A ReplicaSet, a ReplicationController, or a CloneSet: what is missing comes at once."""

    def act(self, live: Live) -> bool:
        active = sum(pod.is_active for pod in live.of(self.uid))
        if self.is_deleting or active >= self.spec["replicas"]:
            return False
        return live.create(self.made(live, self.spec["template"]))


class StatefulSets(Controller):
    """Pods by ordinal. `revisions` are the templates by name."""

    def __init__(self, item: Object, revisions: dict[str, Object]) -> None:
        super().__init__(item)
        self._revisions = revisions

    def act(self, live: Live) -> bool:
        if self.is_deleting:
            return False
        pods = {int(pod.name.rpartition("-")[2]): pod for pod in live.of(self.uid)}
        for ordinal in range(self._first, self._first + self.spec["replicas"]):
            pod = pods.get(ordinal)
            if pod is None:
                return self._create(live, ordinal)
            if self.is_ordered and not live.is_ready(pod, self.spec.get("minReadySeconds", 0)):
                return False
        return False

    @property
    def is_ordered(self) -> bool:
        """Whether it creates one pod after the other."""
        return str(self.spec.get("podManagementPolicy", "OrderedReady")) == "OrderedReady"

    def wants(self, name: str) -> bool:
        """Whether it is to have a pod of this name."""
        return int(name.rpartition("-")[2]) in range(self._first, self._first + self.spec["replicas"])

    @property
    def _first(self) -> int:
        return int(self.spec.get("ordinals", {}).get("start", 0))

    def _create(self, live: Live, ordinal: int) -> bool:
        strategy, status = self.spec.get("updateStrategy", {}), self.item["status"]
        partition = strategy.get("rollingUpdate", {}).get("partition", 0)
        keeps = strategy.get("type") != "OnDelete" and ordinal < self._first + partition
        revision = status["currentRevision" if keeps else "updateRevision"]
        name = f"{self.item['metadata']['name']}-{ordinal}"
        return live.create(self.made(live, self._revisions[revision], name=name, **{_HASH: revision}))


class DaemonSets(Controller):
    """A pod for each node that is to have one, when the last one has finished or is gone; with maxSurge at once."""

    def act(self, live: Live) -> bool:
        if self.is_deleting:
            return False
        surges = self.spec.get("updateStrategy", {}).get("rollingUpdate", {}).get("maxSurge", 0) > 0
        there = {node_of(pod) for pod in live.of(self.uid) if not pod.is_finished and (pod.is_active or not surges)}
        for node in live.nodes.values():
            if node.name not in there and is_for_node(self.spec["template"]["spec"], node):
                return live.create(self._pinned(live, node))
        return False

    def _pinned(self, live: Live, node: LiveNode) -> LivePod:
        template = self.spec["template"]
        spec = template["spec"]
        here = {"key": "metadata.name", "operator": "In", "values": [node.name]}
        terms = {"nodeSelectorTerms": [{"matchFields": [here]}]}
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
        added = [
            {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": effect} for key, effect in _TOLERATED
        ]
        tolerations = [*(spec.get("tolerations") or ()), *added]
        return self.made(live, {**template, "spec": {**spec, "affinity": affinity, "tolerations": tolerations}})


def node_of(pod: LivePod) -> str:
    """The node that a pod of a DaemonSet is for."""
    if pod.node:
        return pod.node
    required = pod.spec["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    return str(required["nodeSelectorTerms"][0]["matchFields"][0]["values"][0])


def is_for_node(spec: Object, node: LiveNode) -> bool:
    """Whether a DaemonSet with this pod spec has a pod for the node. Cordoning does not matter."""
    added = {(f"node.kubernetes.io/{key}", effect) for key, effect in _TOLERATED}
    taints = [each for each in node.taints if each["effect"] != "PreferNoSchedule"]
    return matches_node(spec, node) and all(
        (each["key"], each["effect"]) in added or tolerates(spec, each) for each in taints
    )
