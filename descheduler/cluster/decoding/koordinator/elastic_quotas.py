"""ElasticQuotas of Koordinator, from the bytes of the API to model values."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.cluster.decoding.blocks import decode_labels, decode_quantities, decode_text
from descheduler.cluster.decoding.wire import ABSENT, SpecReader, Wire
from descheduler.model.koordinator.elastic_quota import QUOTA_DOMAIN, ROOT_QUOTA, ElasticQuota
from descheduler.model.requests import ResourceList

__all__ = ["decode_elastic_quota"]


class _Spec(Wire):
    min: msgspec.Raw = ABSENT
    max: msgspec.Raw = ABSENT


_read = SpecReader(_Spec)
_decode_names = msgspec.json.Decoder(list[str | None] | None).decode


def decode_elastic_quota(block: bytes) -> ElasticQuota:
    """One ElasticQuota. As in koord-scheduler, an annotation that is no valid JSON counts as missing."""
    metadata, spec = _read(block)
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
