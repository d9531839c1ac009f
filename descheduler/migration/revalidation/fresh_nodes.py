"""Single nodes and their pods as they are now, each read once a wave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from descheduler.cluster.decoding.decode import Decoding, node_decoder
from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.node_fit.node_fit import NodeFit
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.pods import decode_pod
from descheduler.migration.providers.labels import placeholder_name_of
from descheduler.model.node import Node
from descheduler.model.pod import Pod

__all__ = ["FreshNodes"]


class FreshNodes:
    """What is read for one wave: a list of the one node, for which the right to list nodes does, and one of its pods.

    `arriving` are pods that are on their way to the nodes of these names, and not listed there yet. Raises KubeError.
    """

    def __init__(self, objects: ObjectCalls, arriving: Mapping[str, Sequence[Pod]]) -> None:
        self._objects = objects
        self._nodes: dict[str, Node | None] = {}
        self._pods: dict[str, list[Pod]] = {}
        self._arriving = arriving

    def node(self, name: str) -> Node | None:
        """The node, None when it is gone."""
        if name not in self._nodes:
            decode = node_decoder(Decoding())
            found = self._objects.list("/api/v1/nodes", decode, field_selector=f"metadata.name={name}")
            self._nodes[name] = next(iter(found), None)
        return self._nodes[name]

    def obstacle(self, pod: Pod, name: str, *, job_uid: str = "") -> str | None:
        """What keeps a successor of `pod` off the node now, None for nothing.

        A placeholder that holds room for the job of this UID makes way for it.
        """
        node = self.node(name)
        if node is None:
            return "node does not exist any more"
        if not node.is_ready:
            return "node is not ready"
        placeholder = (pod.namespace, placeholder_name_of(job_uid)) if job_uid else None
        pods = tuple(other for other in self._pods_on(name) if (other.namespace, other.name) != placeholder)
        view = ClusterView(Snapshot(nodes=(node,), pods=pods), moves_take_effect=True)
        return NodeFit(view, spares_namesakes=False).obstacle(pod, node)

    def take(self, pod: Pod, name: str) -> None:
        """From now on the successor of `pod` takes room on the node."""
        self._pods_on(name).append(pod)

    def _pods_on(self, name: str) -> list[Pod]:
        if name not in self._pods:
            listed = self._objects.list("/api/v1/pods", decode_pod, field_selector=f"spec.nodeName={name}")
            self._pods[name] = [*listed, *self._arriving.get(name, ())]
        return self._pods[name]
