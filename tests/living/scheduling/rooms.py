"""The nodes with the pods on them, as one attempt to place a pod sees them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tests.living.scheduling.amounts import Amounts, allocatable, pod_requests, summed
from tests.living.store import Object, Store


@dataclass(frozen=True, slots=True)
class NodeRoom:
    """One node. `held` is what something else than pods holds of it."""

    node: Object
    pods: tuple[Object, ...] = ()
    held: Amounts = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The node's name."""
        return str(self.node["metadata"]["name"])

    @property
    def requested(self) -> Amounts:
        """What is taken of the node."""
        return summed([self.held, *map(pod_requests, self.pods)])

    @property
    def allocatable(self) -> Amounts:
        """What the node has."""
        return allocatable(self.node)

    def without(self, pods: Iterable[Object]) -> NodeRoom:
        """The same without some pods."""
        uids = {pod["metadata"]["uid"] for pod in pods}
        return replace(self, pods=tuple(pod for pod in self.pods if pod["metadata"]["uid"] not in uids))

    def with_pods(self, pods: Iterable[Object]) -> NodeRoom:
        """The same with more pods."""
        return replace(self, pods=(*self.pods, *pods))


def is_finished(pod: Object) -> bool:
    """Whether a pod takes nothing any more."""
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def rooms_of(store: Store) -> list[NodeRoom]:
    """The nodes by name, with the pods that are bound to them."""
    pods: dict[str, list[Object]] = {}
    for pod in store.all("pods"):
        if pod["spec"].get("nodeName") and not is_finished(pod):
            pods.setdefault(pod["spec"]["nodeName"], []).append(pod)
    return [NodeRoom(node, tuple(pods.get(node["metadata"]["name"], ()))) for node in store.all("nodes")]
