"""A small live cluster in virtual time: pods that start and stop, a scheduler, and whoever owns pods.

A bound pod is ready a second later. An evicted one is terminating; it fails 2.5 s later with exit code 143, and its
object is gone 0.3 s after that. Pods of a node that is lost never stop. A pod without a node is gone at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

Object = dict[str, Any]
Template = Object

START_SECONDS, STOP_SECONDS, REMOVE_SECONDS = 1.0, 2.5, 0.3
_HOST = "metadata.name"


def milli(template: Template) -> int:
    """The CPU that a pod with this spec requests, in thousandths."""
    total = 0
    for container in template["spec"]["containers"]:
        text = str(container.get("resources", {}).get("requests", {}).get("cpu", "0"))
        total += int(text[:-1]) if text.endswith("m") else int(text) * 1000
    return total


@dataclass(eq=False)
class LivePod:
    """A pod; times are seconds after the dump. `ready_at` is None for one that never is."""

    name: str
    namespace: str
    owner: str
    spec: Object
    labels: dict[str, str]
    annotations: dict[str, str]
    node: str = ""
    phase: str = "Pending"
    ready_at: float | None = None
    deleting_at: float | None = None
    is_new: bool = False

    @property
    def is_finished(self) -> bool:
        """Whether it has a terminal phase."""
        return self.phase in ("Succeeded", "Failed")

    @property
    def is_active(self) -> bool:
        """Whether a controller counts it."""
        return not self.is_finished and self.deleting_at is None


@dataclass
class LiveNode:
    """A node with what counts here."""

    name: str
    cpu: int
    labels: dict[str, str]
    taints: Sequence[Object]
    is_cordoned: bool
    is_lost: bool


@dataclass
class Live:
    """The cluster. `admits` says whether a pod of this namespace and spec is created."""

    nodes: dict[str, LiveNode]
    pods: list[LivePod]
    random: Random
    now: float = 0.0
    controllers: list[Controller] = field(default_factory=list)
    admits: Callable[[Live, LivePod], bool] = lambda live, pod: True
    num_made: int = 0
    timers: set[float] = field(default_factory=set)

    def wake_at(self, time: float) -> None:
        """Something is to be looked at again then."""
        if time > self.now:
            self.timers.add(time)

    def of(self, owner: str) -> list[LivePod]:
        """The pods of the controller with this UID."""
        return [pod for pod in self.pods if pod.owner == owner]

    def evict(self, namespace: str, name: str) -> None:
        """What the Eviction API does once it has let the pod go."""
        pod = next(each for each in self.pods if (each.namespace, each.name) == (namespace, name))
        if not pod.node or pod.is_finished:
            self.pods.remove(pod)
            pod.deleting_at = self.now
            for controller in self.controllers:
                if controller.uid == pod.owner and not pod.is_finished:
                    controller.lost(self, pod)
            return
        self.delete(pod)

    def delete(self, pod: LivePod) -> None:
        """Begins the end of a pod that has a node."""
        if pod.deleting_at is None:
            pod.deleting_at = self.now
            self.wake_at(self.now + STOP_SECONDS)

    def create(self, pod: LivePod) -> bool:
        """Adds a pod, if it is admitted."""
        if not self.admits(self, pod):
            return False
        pod.is_new = True
        self.num_made += 1
        self.pods.append(pod)
        if pod.node:
            self._bind(pod, pod.node)
        return True

    def run(self, seconds: float) -> None:
        """Lets everything act until nothing more happens, at most for so long."""
        end = self.now + seconds
        while True:
            while self._kubelets() + sum(each.act(self) for each in self.controllers) + self._schedule():
                pass
            self.timers = {time for time in self.timers if time > self.now}
            if not self.timers or min(self.timers) > end:
                self.now = end
                return
            self.now = min(self.timers)

    def is_ready(self, pod: LivePod, for_seconds: float = 0.0) -> bool:
        """Whether a pod is ready, and has been for so long; looks again when that may be."""
        if pod.ready_at is None or not pod.is_active:
            return False
        self.wake_at(pod.ready_at + for_seconds)
        return self.now >= pod.ready_at + for_seconds

    def _kubelets(self) -> bool:
        changed = False
        for pod in list(self.pods):
            since, node = pod.deleting_at, self.nodes.get(pod.node)
            if since is None or node is None or node.is_lost:
                continue
            stops, goes = since + STOP_SECONDS, since + STOP_SECONDS + REMOVE_SECONDS
            if self.now >= stops and not pod.is_finished:
                pod.phase, changed = "Failed", True
                self.wake_at(goes)
            if self.now >= goes:
                self.pods.remove(pod)
                changed = True
        return changed

    def _schedule(self) -> bool:
        """Puts each pod that waits on a node that takes it, any of them."""
        changed = False
        for pod in self.pods:
            if pod.node or not pod.is_active:
                continue
            names = [name for name, node in self.nodes.items() if self._takes(node, pod)]
            if names:
                self._bind(pod, self.random.choice(names))
                changed = True
        return changed

    def _bind(self, pod: LivePod, node: str) -> None:
        pod.node, pod.phase, pod.ready_at = node, "Running", self.now + START_SECONDS
        self.wake_at(pod.ready_at)

    def _takes(self, node: LiveNode, pod: LivePod) -> bool:
        spec = pod.spec["spec"]
        if not matches_node(spec, node):
            return False
        taints = [taint for taint in node.taints if taint["effect"] != "PreferNoSchedule"]
        if node.is_cordoned:
            taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
        if not all(tolerates(spec, taint) for taint in taints):
            return False
        taken = sum(milli(each.spec) for each in self.pods if each.node == node.name and not each.is_finished)
        return taken + milli(pod.spec) <= node.cpu


class Controller:
    """Whoever owns pods; `uid` is that of the owner."""

    def __init__(self, item: Object) -> None:
        self.item = item
        self.uid: str = item["metadata"]["uid"]
        self.namespace: str = item["metadata"]["namespace"]
        self.spec: Object = item["spec"]
        self.is_deleting = "deletionTimestamp" in item["metadata"]

    def act(self, live: Live) -> bool:
        """Brings the cluster nearer to what should be, and says whether that changed anything."""
        raise NotImplementedError

    def lost(self, live: Live, pod: LivePod) -> None:
        """Is told of an evicted pod that is gone at once."""

    def made(self, live: Live, template: Template, *, name: str = "", node: str = "", **labels: str) -> LivePod:
        """A pod of this template that is not created yet."""
        metadata = template.get("metadata", {})
        return LivePod(
            name or f"{self.item['metadata']['name']}-new-{live.num_made}",
            self.namespace,
            self.uid,
            template,
            {**metadata.get("labels", {}), **labels},
            dict(metadata.get("annotations", {})),
            node or template["spec"].get("nodeName", ""),
        )


def matches_node(spec: Object, node: LiveNode) -> bool:
    """Whether node selector and required node affinity allow the node."""
    selector = spec.get("nodeSelector") or {}
    if any(node.labels.get(key) != value for key, value in selector.items()):
        return False
    affinity = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    return affinity is None or any(_meets(term, node) for term in affinity["nodeSelectorTerms"])


def _meets(term: Object, node: LiveNode) -> bool:
    fields: Iterable[Object] = term.get("matchFields", ())
    labels: Iterable[Object] = term.get("matchExpressions", ())
    return all(node.name in each["values"] for each in fields if each["key"] == _HOST) and all(
        node.labels.get(each["key"]) in each["values"] for each in labels
    )


def tolerates(spec: Object, taint: Object) -> bool:
    """Whether a pod of this spec tolerates the taint."""
    return any(_tolerates(each, taint) for each in spec.get("tolerations") or ())


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("key") not in (None, "", taint["key"]):
        return False
    return toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", "")
