"""Single pods as they are now."""

from __future__ import annotations

from descheduler.cluster.decoding.decode import Decoding, pod_decoder
from descheduler.kube.objects import ObjectCalls
from descheduler.model.pod import Pod

__all__ = ["decode_pod", "pod_path", "pods_path", "read_pod"]


def decode_pod(block: bytes) -> Pod:
    """The pod of these bytes. Decoders keep what they have seen, and are not for several threads: each pod has one."""
    return pod_decoder(Decoding())(block)


def read_pod(objects: ObjectCalls, namespace: str, name: str) -> Pod | None:
    """The pod that has the name now, None when none has. Raises KubeError."""
    return objects.read(pod_path(namespace, name), decode_pod)


def pods_path(namespace: str) -> str:
    """Where the pods of a namespace are."""
    return f"/api/v1/namespaces/{namespace}/pods"


def pod_path(namespace: str, name: str) -> str:
    """Where the pod is."""
    return f"{pods_path(namespace)}/{name}"
