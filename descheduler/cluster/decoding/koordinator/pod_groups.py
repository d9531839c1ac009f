"""PodGroups of Koordinator, scheduler-plugins and Kubernetes, and ElasticQuotas, from the bytes of the API to model
values.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.cluster.decoding.blocks import AnnotationReader, decode_labels, decode_quantities, decode_text
from descheduler.cluster.decoding.wire import ABSENT, Int32, SpecReader, Wire, set_time
from descheduler.model.annotations import AnnotationKeys
from descheduler.model.koordinator.elastic_quota import QUOTA_DOMAIN, ROOT_QUOTA, ElasticQuota
from descheduler.model.koordinator.gang_settings import GANG_ANNOTATIONS, PodGroup
from descheduler.model.requests import ResourceList


class _QuotaSpec(Wire):
    min: msgspec.Raw = ABSENT
    max: msgspec.Raw = ABSENT


_read_quota = SpecReader(_QuotaSpec)
_decode_names = msgspec.json.Decoder(list[str | None] | None).decode


def decode_elastic_quota(block: bytes) -> ElasticQuota:
    """One ElasticQuota. As in koord-scheduler, an annotation that is no valid JSON counts as missing."""
    metadata, spec = _read_quota(block)
    labels = decode_labels(bytes(metadata.labels))
    annotations = metadata.annotations or {}
    most = decode_quantities(bytes(spec.max))
    name = metadata.name or ""
    return ElasticQuota(
        name=name,
        namespace=metadata.namespace or "",
        min=decode_quantities(bytes(spec.min)),
        max=most,
        shared_weight=_shared_weight(_annotation(annotations, "shared-weight"), most),
        parent=_label(labels, "parent") or ("" if name == ROOT_QUOTA else ROOT_QUOTA),
        is_parent=_label(labels, "is-parent") == "true",
        lends=_label(labels, "allow-lent-resource") != "false",
        tree_id=_label(labels, "tree-id"),
        is_tree_root=_label(labels, "is-root") == "true",
        ignores_default_tree=_label(labels, "ignore-default-tree") == "true",
        namespaces=_names(_annotation(annotations, "namespaces")),
        total=_amounts(_annotation(annotations, "total-resource")),
        is_deleted=metadata.deletion_timestamp is not None,
    )


def _label(labels: Mapping[str, str], key: str) -> str:
    return labels.get(f"{QUOTA_DOMAIN}/{key}", "")


def _annotation(annotations: Mapping[str, msgspec.Raw], key: str) -> str:
    raw = annotations.get(f"{QUOTA_DOMAIN}/{key}")
    return "" if raw is None else decode_text(raw)


def _amounts(text: str) -> ResourceList | None:
    if not text:
        return None
    try:
        return decode_quantities(text.encode())
    except (ValueError, RecursionError):
        return None


def _shared_weight(text: str, most: ResourceList) -> ResourceList:
    weight = _amounts(text)
    return weight if weight and any(weight.values()) else most


def _names(text: str) -> tuple[str, ...]:
    try:
        names = _decode_names(text) if text else None
    except (ValueError, RecursionError):
        return ()
    return tuple(name or "" for name in names or ())


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
