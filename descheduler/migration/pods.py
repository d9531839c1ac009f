"""Single pods as they are now."""

from __future__ import annotations

from typing import Any

import msgspec

from descheduler.cluster.decoding.decode import Decoding, pod_decoder
from descheduler.kube.objects import ObjectCalls, is_object_name
from descheduler.model.pod import Pod

_decode_object = msgspec.json.Decoder(dict[str, Any]).decode


def decode_pod(block: bytes) -> Pod:
    """The pod of these bytes. Decoders keep what they have seen, and are not for several threads: each pod has one."""
    return pod_decoder(Decoding())(block)


def read_pod(objects: ObjectCalls, namespace: str, name: str) -> Pod | None:
    """The pod that has the name now, None when none has, or none can have it. Raises ExchangeError."""
    if not (is_object_name(namespace) and is_object_name(name)):
        return None
    return objects.read(pod_path(namespace, name), decode_pod)


def read_whole_pod(objects: ObjectCalls, namespace: str, name: str) -> dict[str, Any] | None:
    """The same with all that it states, as JSON; an answer without UID or spec counts as a fault."""
    return objects.read(pod_path(namespace, name), _decode_whole)


def _decode_whole(block: bytes) -> dict[str, Any]:
    found = _decode_object(block)
    if not (found["metadata"]["uid"] and found["spec"]):
        raise ValueError("metadata.uid or spec is missing")
    return found


def pods_path(namespace: str) -> str:
    """Where the pods of a namespace are."""
    return f"/api/v1/namespaces/{namespace}/pods"


def pod_path(namespace: str, name: str) -> str:
    """Where the pod is."""
    return f"{pods_path(namespace)}/{name}"
