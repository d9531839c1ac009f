"""PodGroups of Koordinator, scheduler-plugins and Kubernetes, from the bytes of the API to model values."""

from __future__ import annotations

import msgspec

from descheduler.cluster.decoding.blocks import AnnotationReader
from descheduler.cluster.decoding.wire import ABSENT, Int32, SpecReader, Wire, set_time
from descheduler.model.annotations import AnnotationKeys
from descheduler.model.koordinator.gang_settings import GANG_ANNOTATIONS, PodGroup

__all__ = ["decode_kubernetes_pod_group", "decode_pod_group", "decode_scheduler_plugins_pod_group"]


class _Spec(Wire):
    min_member: Int32 | None = None
    schedule_timeout_seconds: Int32 | None = None


class _GangPolicy(Wire):
    min_count: Int32 | None = None


class _Policy(Wire):
    gang: _GangPolicy | None = None


class _KubernetesSpec(Wire):
    scheduling_policy: _Policy | None = None
    disruption_mode: msgspec.Raw = ABSENT


class _DisruptionMode(Wire):
    all: msgspec.Raw = ABSENT


_read = SpecReader(_Spec)
_read_kubernetes = SpecReader(_KubernetesSpec)
_decode_mode = msgspec.json.Decoder(_DisruptionMode | str | None).decode
_annotations = AnnotationReader(AnnotationKeys(GANG_ANNOTATIONS))


def decode_pod_group(block: bytes) -> PodGroup:
    """One PodGroup of `scheduling.sigs.k8s.io`, Koordinator's."""
    return _pod_group(block, "scheduling.sigs.k8s.io")


def decode_scheduler_plugins_pod_group(block: bytes) -> PodGroup:
    """One PodGroup of `scheduling.x-k8s.io`."""
    return _pod_group(block, "scheduling.x-k8s.io")


def decode_kubernetes_pod_group(block: bytes) -> PodGroup:
    """One PodGroup of `scheduling.k8s.io`. A group of the policy `basic` needs no number of pods."""
    metadata, spec = _read_kubernetes(block)
    gang = None if spec.scheduling_policy is None else spec.scheduling_policy.gang
    return PodGroup(
        namespace=metadata.namespace or "",
        name=metadata.name or "",
        min_member=(gang.min_count or 0) if gang is not None else 0,
        created_at=set_time(metadata.creation_timestamp),
        api_group="scheduling.k8s.io",
        leaves_whole=_is_disrupted_whole(bytes(spec.disruption_mode)),
    )


def _is_disrupted_whole(block: bytes) -> bool:
    """Whether `disruptionMode` is `{all: {}}`, or `PodGroup` as Kubernetes 1.36 writes it."""
    mode = _decode_mode(block)
    return mode == "PodGroup" if mode is None or isinstance(mode, str) else mode.all is not ABSENT


def _pod_group(block: bytes, api_group: str) -> PodGroup:
    metadata, spec = _read(block)
    return PodGroup(
        namespace=metadata.namespace or "",
        name=metadata.name or "",
        min_member=spec.min_member or 0,
        schedule_timeout_seconds=spec.schedule_timeout_seconds,
        annotations=_annotations.read(metadata.annotations),
        created_at=set_time(metadata.creation_timestamp),
        api_group=api_group,
    )
