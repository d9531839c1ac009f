"""The CPUs that a pod is pinned to, as koord-scheduler notes them on it, or as the kubelet has chosen them."""

from __future__ import annotations

from descheduler.cluster.decoding.koordinator.cpu_annotations import decode_pinned_cpus
from descheduler.model.annotations import RESOURCE_STATUS_ANNOTATION
from descheduler.model.koordinator.node_topology import NodeTopology
from descheduler.model.pod import Pod

__all__ = ["pinned_cpus"]


def pinned_cpus(pod: Pod, topology: NodeTopology) -> frozenset[int]:
    """The CPUs of annotation `scheduling.koordinator.sh/resource-status`, or else those that the kubelet, by `topology`
    of the node, has pinned `pod` to; none for a pod that shares CPUs."""
    text = pod.annotations.get(RESOURCE_STATUS_ANNOTATION)
    noted = decode_pinned_cpus(text) if text else frozenset[int]()
    return noted or topology.kubelet_pods.get(pod.uid, noted)
