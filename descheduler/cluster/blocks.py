"""Blocks of objects that many objects share, decoded once each.

A block is known by its bytes: replicas of a workload state their labels, tolerations, affinity and resources in the
same words, so a dictionary look-up replaces decoding, and all of them hold one shared, read-only value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from descheduler.cluster.wire import ABSENT
from descheduler.model.affinity import (
    Affinity,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredNodeTerm,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from descheduler.model.labels import (
    NOTHING,
    LabelError,
    LabelSelector,
    Requirement,
    make_requirement,
    selector_from_object,
)
from descheduler.model.pod import Owner
from descheduler.model.quantity import parse_quantity
from descheduler.model.requests import ContainerResources, ResourceList
from descheduler.model.taints import Toleration

__all__ = [
    "BlockCache",
    "decode_affinity",
    "decode_annotations",
    "decode_labels",
    "decode_owners",
    "decode_quantities",
    "decode_resources",
    "decode_selector",
    "decode_tolerations",
    "decode_topology_spread",
]

Value = TypeVar("Value")


class BlockCache(dict[bytes, Value]):
    """Block of bytes → its value: decoded at its first sight by `cache[bytes(raw)]`, the same value ever after.

    Raises what the decoder raises on malformed content; nothing is kept then.
    """

    __slots__ = ("_decode",)

    def __init__(self, decode: Callable[[bytes], Value]) -> None:
        super().__init__()
        self._decode = decode

    def __missing__(self, block: bytes) -> Value:
        value = self[block] = self._decode(block)
        return value


class _Selector(msgspec.Struct, gc=False, rename="camel"):
    match_labels: dict[str, str] | None = None
    match_expressions: list[_Expression] | None = None


class _Expression(msgspec.Struct, gc=False):
    key: str | None = None
    operator: str | None = None
    values: list[str] | None = None


class _NodeTerm(msgspec.Struct, rename="camel"):
    match_expressions: list[_Expression] | None = None
    match_fields: list[_Expression] | None = None


class _NodeRequired(msgspec.Struct, rename="camel"):
    node_selector_terms: list[_NodeTerm] | None = None


class _NodePreferred(msgspec.Struct):
    weight: int | None = None
    preference: _NodeTerm | None = None


class _NodeAffinity(
    msgspec.Struct,
    rename={
        "required": "requiredDuringSchedulingIgnoredDuringExecution",
        "preferred": "preferredDuringSchedulingIgnoredDuringExecution",
    },
):
    required: _NodeRequired | None = None
    preferred: list[_NodePreferred] | None = None


class _PodTerm(msgspec.Struct, rename="camel"):
    topology_key: str | None = None
    label_selector: _Selector | None = None
    namespaces: list[str] | None = None
    namespace_selector: _Selector | None = None
    match_label_keys: list[str] | None = None
    mismatch_label_keys: list[str] | None = None


class _WeightedPodTerm(msgspec.Struct, rename="camel"):
    weight: int | None = None
    pod_affinity_term: _PodTerm | None = None


class _PodAffinity(
    msgspec.Struct,
    rename={
        "required": "requiredDuringSchedulingIgnoredDuringExecution",
        "preferred": "preferredDuringSchedulingIgnoredDuringExecution",
    },
):
    required: list[_PodTerm] | None = None
    preferred: list[_WeightedPodTerm] | None = None


class _Affinity(msgspec.Struct, rename="camel"):
    node_affinity: _NodeAffinity | None = None
    pod_affinity: _PodAffinity | None = None
    pod_anti_affinity: _PodAffinity | None = None


class _Spread(msgspec.Struct, rename="camel"):
    max_skew: int | None = None
    topology_key: str | None = None
    when_unsatisfiable: str | None = None
    label_selector: _Selector | None = None
    match_label_keys: list[str] | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    min_domains: int | None = None


class _Toleration(msgspec.Struct, rename="camel"):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: int | None = None


class _Owner(msgspec.Struct, rename="camel"):
    kind: str | None = None
    name: str | None = None
    uid: str | None = None
    api_version: str | None = None
    controller: bool | None = None


class _Resources(msgspec.Struct):
    requests: msgspec.Raw = ABSENT
    limits: msgspec.Raw = ABSENT


_decode_strings = msgspec.json.Decoder(dict[str, str | None] | None).decode
_decode_raw_quantities = msgspec.json.Decoder(dict[str, msgspec.Raw] | None).decode
_decode_affinity = msgspec.json.Decoder(_Affinity | None).decode
_decode_spread = msgspec.json.Decoder(list[_Spread] | None).decode
_decode_tolerations = msgspec.json.Decoder(list[_Toleration] | None).decode
_decode_owners = msgspec.json.Decoder(list[_Owner] | None).decode
_decode_resources = msgspec.json.Decoder(_Resources | None).decode
_decode_selector = msgspec.json.Decoder(_Selector | None).decode


def decode_labels(block: bytes) -> Mapping[str, str]:
    """A map of strings; null values read as empty, as Kubernetes reads them."""
    return {key: value or "" for key, value in (_decode_strings(block) or {}).items()}


_WANTED = re.compile(
    rb"descheduler\.alpha\.kubernetes\.io/|kubernetes\.io/config\.|koordinator\.sh|volcano\.sh|scheduling\.k8s\.io"
    rb"|pod-deletion-cost|\\u"
)


def decode_annotations(raw: msgspec.Raw) -> Mapping[str, str]:
    """The annotations that some rule reads; all others are dropped, since pods carry many and most are unique."""
    if raw is ABSENT:
        return _NO_LABELS
    block = bytes(raw)
    if not _WANTED.search(block):
        return _NO_LABELS
    return {key: value for key, value in decode_labels(block).items() if _WANTED.search(key.encode())}


_NO_LABELS: Mapping[str, str] = {}


def decode_quantities(block: bytes) -> ResourceList:
    """Resource name → nano units. Raises QuantityError."""
    return {name: parse_quantity(_spelling(raw)) for name, raw in (_decode_raw_quantities(block) or {}).items()}


def _spelling(raw: msgspec.Raw) -> str:
    text = bytes(raw).decode()
    if text.startswith('"'):
        return msgspec.json.decode(text, type=str).strip()
    return "0" if text == "null" else text


def decode_resources(block: bytes) -> ContainerResources:
    """Requests and limits of one container."""
    resources = _decode_resources(block) or _Resources()
    return ContainerResources(decode_quantities(bytes(resources.requests)), decode_quantities(bytes(resources.limits)))


def decode_owners(block: bytes) -> tuple[Owner, ...]:
    """`metadata.ownerReferences`."""
    return tuple(
        Owner(o.kind or "", o.name or "", o.uid or "", o.api_version or "", bool(o.controller))
        for o in _decode_owners(block) or ()
    )


def decode_tolerations(block: bytes) -> tuple[Toleration, ...]:
    """`spec.tolerations`."""
    return tuple(
        Toleration(t.key or "", t.operator or "", t.value or "", t.effect or "", t.toleration_seconds)
        for t in _decode_tolerations(block) or ()
    )


def decode_selector(block: bytes) -> tuple[LabelSelector, str]:
    """A structured selector and what is wrong with it; null selects nothing."""
    return _selector(_decode_selector(block))


def _selector(wire: _Selector | None) -> tuple[LabelSelector, str]:
    if wire is None:
        return NOTHING, ""
    expressions = [{"key": e.key, "operator": e.operator, "values": e.values} for e in wire.match_expressions or ()]
    try:
        return selector_from_object({"matchLabels": wire.match_labels, "matchExpressions": expressions}), ""
    except LabelError as error:
        return NOTHING, str(error)


def decode_topology_spread(block: bytes) -> tuple[TopologySpreadConstraint, ...]:
    """`spec.topologySpreadConstraints`, with the defaults of the two inclusion policies."""
    return tuple(_spread(wire) for wire in _decode_spread(block) or ())


def _spread(wire: _Spread) -> TopologySpreadConstraint:
    selector, error = _selector(wire.label_selector)
    return TopologySpreadConstraint(
        max_skew=wire.max_skew or 0,
        topology_key=wire.topology_key or "",
        when_unsatisfiable=wire.when_unsatisfiable or "",
        selector=selector,
        match_label_keys=tuple(wire.match_label_keys or ()),
        node_affinity_policy=wire.node_affinity_policy or "Honor",
        node_taints_policy=wire.node_taints_policy or "Ignore",
        min_domains=wire.min_domains,
        error=error,
    )


def decode_affinity(block: bytes) -> Affinity | None:
    """`spec.affinity`; None when absent or null."""
    wire = _decode_affinity(block)
    if wire is None:
        return None
    node = wire.node_affinity
    pod = wire.pod_affinity or _PodAffinity()
    anti = wire.pod_anti_affinity or _PodAffinity()
    required = node.required if node else None
    return Affinity(
        has_node_affinity=node is not None,
        node_required=None
        if required is None
        else tuple(_node_term(term) for term in required.node_selector_terms or ()),
        node_preferred=tuple(
            PreferredNodeTerm(p.weight or 0, _node_term(p.preference or _NodeTerm()))
            for p in (node.preferred if node else None) or ()
        ),
        pod_required=tuple(_pod_term(term) for term in pod.required or ()),
        pod_preferred=tuple(_weighted(term) for term in pod.preferred or ()),
        anti_required=tuple(_pod_term(term) for term in anti.required or ()),
        anti_preferred=tuple(_weighted(term) for term in anti.preferred or ()),
    )


def _weighted(wire: _WeightedPodTerm) -> WeightedPodAffinityTerm:
    return WeightedPodAffinityTerm(wire.weight or 0, _pod_term(wire.pod_affinity_term or _PodTerm()))


def _pod_term(wire: _PodTerm) -> PodAffinityTerm:
    selector, error = _selector(wire.label_selector)
    namespace_selector, namespace_error = _selector(wire.namespace_selector)
    return PodAffinityTerm(
        topology_key=wire.topology_key or "",
        selector=selector,
        namespaces=frozenset(wire.namespaces or ()),
        namespace_selector=None if wire.namespace_selector is None else namespace_selector,
        match_label_keys=tuple(wire.match_label_keys or ()),
        mismatch_label_keys=tuple(wire.mismatch_label_keys or ()),
        error=error or namespace_error,
    )


def _node_term(wire: _NodeTerm) -> NodeSelectorTerm:
    try:
        expressions = tuple(
            make_requirement(e.key or "", e.operator or "", e.values or []) for e in wire.match_expressions or ()
        )
        fields = tuple(_field_requirement(e) for e in wire.match_fields or ())
    except LabelError as error:
        return NodeSelectorTerm(error=str(error))
    return NodeSelectorTerm(expressions, fields)


def _field_requirement(wire: _Expression) -> Requirement:
    values = wire.values or []
    if wire.operator not in ("In", "NotIn") or len(values) != 1:
        raise LabelError(f"matchFields takes In or NotIn with one value, not {wire.operator!r} with {len(values)}")
    return Requirement(wire.key or "", wire.operator, frozenset(values))
