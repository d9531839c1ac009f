"""Single nodes and their pods as they are now, each read once a wave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence

from descheduler.cluster.decoding.decode import Decoding, node_decoder
from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.node_fit import NodeFit
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.pods import decode_pod
from descheduler.migration.room.labels import placeholder_name_of
from descheduler.model.node import Node
from descheduler.model.pod import Pod

__all__ = ["FreshNodes"]


class FreshNodes:
    """What is read for one wave: a list of the one node, for which the right to list nodes does, and one of its pods.

    `arriving` are pods that are on their way to the nodes of these names, and not listed there yet: where a pod that is
    not `known` by its UID has come of the same owner, that is the one. What is `leaving` takes no room. Raises
    ExchangeError.
    """

    def __init__(
        self,
        objects: ObjectCalls,
        arriving: Mapping[str, Sequence[Pod]],
        leaving: Container[str],
        known: Container[str],
    ) -> None:
        self._objects = objects
        self._nodes: dict[str, Node | None] = {}
        self._pods: dict[str, list[Pod]] = {}
        self._arriving = arriving
        self._leaving = leaving
        self._known = known
        self._newcomers = Counter[str]()
        """How many pods of each controller have come since the plan, on the nodes that were read."""

    def node(self, name: str) -> Node | None:
        """The node, None when it is gone."""
        if name not in self._nodes:
            decode = node_decoder(Decoding())
            found = self._objects.list("/api/v1/nodes", decode, field_selector=f"metadata.name={name}")
            self._nodes[name] = next(iter(found), None)
        return self._nodes[name]

    def obstacle(self, pod: Pod, name: str, *, job_uid: str = "", without: Container[str] = ()) -> str | None:
        """What keeps a successor of `pod` off the node now, None for nothing.

        A placeholder that holds room for the job of this UID makes way for it; pods of UIDs in `without` count as gone.
        """
        node = self.node(name)
        if node is None:
            return "node does not exist any more"
        if not node.is_ready:
            return "node is not ready"
        placeholder = (pod.namespace, placeholder_name_of(job_uid)) if job_uid else None
        pods = tuple(
            other
            for other in self._pods_on(name)
            if (other.namespace, other.name) != placeholder and other.uid not in without
        )
        view = ClusterView(Snapshot(nodes=(node,), pods=pods), moves_take_effect=True)
        return NodeFit(view, spares_namesakes=False).obstacle(pod, node)

    def take(self, pod: Pod, name: str) -> None:
        """From now on the successor of `pod` takes room on the node."""
        self._pods_on(name).append(pod)

    def _pods_on(self, name: str) -> list[Pod]:
        if name not in self._pods:
            listed = self._objects.list("/api/v1/pods", decode_pod, field_selector=f"spec.nodeName={name}")
            self._newcomers.update(_owner(pod) for pod in listed if pod.uid not in self._known)
            arriving = [pod for pod in self._arriving.get(name, ()) if not self._has_come(pod)]
            self._pods[name] = [pod for pod in (*listed, *arriving) if pod.uid not in self._leaving]
        return self._pods[name]

    def _has_come(self, pod: Pod) -> bool:
        """Whether one of the newcomers is `pod`, which is none for another then."""
        owner = _owner(pod)
        if not owner or not self._newcomers[owner]:
            return False
        self._newcomers[owner] -= 1
        return True


def _owner(pod: Pod) -> str:
    return "" if pod.controller is None else pod.controller.uid
