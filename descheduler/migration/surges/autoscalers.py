"""Which HorizontalPodAutoscaler sets the replicas of a workload: what it sets, nobody else may."""

from __future__ import annotations

import msgspec

from descheduler.kube.errors import KindAbsent
from descheduler.kube.objects import ObjectCalls

__all__ = ["autoscaler_of"]


class _Metadata(msgspec.Struct):
    name: str


class _Target(msgspec.Struct):
    kind: str
    name: str


class _Spec(msgspec.Struct, rename="camel"):
    scale_target_ref: _Target


class _Autoscaler(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec


_decode = msgspec.json.Decoder(_Autoscaler).decode


def autoscaler_of(objects: ObjectCalls, namespace: str, kind: str, name: str) -> str:
    """The name of a HorizontalPodAutoscaler of this workload, "" where it has none. Raises KubeError.

    Other autoscalers, such as KEDA's, work through these.
    """
    path = f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers"
    try:
        found = objects.list(path, _decode)
    except KindAbsent:
        return ""
    names = (each.metadata.name for each in found if each.spec.scale_target_ref == _Target(kind, name))
    return next(names, "")
