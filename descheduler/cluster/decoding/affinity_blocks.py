"""Selectors of labels and nodes, affinity and topology spread, from the bytes of the API to model values."""

from __future__ import annotations

import msgspec

from descheduler.cluster.decoding.wire import Int32
from descheduler.model.selection.affinity import (
    Affinity,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredNodeTerm,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from descheduler.model.selection.labels import (
    NOTHING,
    LabelError,
    LabelSelector,
    Requirement,
    make_requirement,
    selector_from_object,
)
from descheduler.model.selection.requirement_faults import field_faults, requirement_faults, selector_fault


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
    weight: Int32 | None = None
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
    weight: Int32 | None = None
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
    max_skew: Int32 | None = None
    topology_key: str | None = None
    when_unsatisfiable: str | None = None
    label_selector: _Selector | None = None
    match_label_keys: list[str] | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    min_domains: Int32 | None = None


_decode_affinity = msgspec.json.Decoder(_Affinity | None).decode
_decode_spread = msgspec.json.Decoder(list[_Spread] | None).decode
_decode_selector = msgspec.json.Decoder(_Selector | None).decode
_decode_node_required = msgspec.json.Decoder(_NodeRequired | None).decode


def decode_selector(block: bytes) -> tuple[LabelSelector, str]:
    """A structured selector and what is wrong with it; null selects nothing."""
    return _selector(_decode_selector(block))


def decode_nullable_selector(block: bytes, absent: LabelSelector) -> LabelSelector:
    """A structured selector; `absent` for null, nothing for one that Kubernetes would refuse."""
    wire = _decode_selector(block)
    return absent if wire is None else _selector(wire)[0]


def _selector(wire: _Selector | None) -> tuple[LabelSelector, str]:
    if wire is None:
        return NOTHING, ""
    expressions = [{"key": e.key, "operator": e.operator, "values": e.values} for e in wire.match_expressions or ()]
    try:
        return selector_from_object({"matchLabels": wire.match_labels, "matchExpressions": expressions}), ""
    except LabelError as error:
        parts = [(e.key or "", e.operator or "", e.values) for e in wire.match_expressions or ()]
        return NOTHING, selector_fault(wire.match_labels or {}, parts) or str(error)


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
        node_affinity_policy="Honor" if wire.node_affinity_policy is None else wire.node_affinity_policy,
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


def decode_node_affinity(block: bytes) -> tuple[NodeSelectorTerm, ...] | None:
    """A `NodeSelector`, such as the one that says where a volume can be reached; None when absent or null."""
    wire = _decode_node_required(block)
    return None if wire is None else tuple(_node_term(term) for term in wire.node_selector_terms or ())


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
    expressions, fields, faults = [], [], []
    for index, expression in enumerate(wire.match_expressions or ()):
        key, operator = expression.key or "", expression.operator or ""
        wrong = requirement_faults(key, operator, expression.values)
        faults += [f"matchExpressions[{index}].{fault}" for fault in wrong]
        if not wrong:
            expressions.append(make_requirement(key, operator, expression.values or ()))
    for index, field in enumerate(wire.match_fields or ()):
        operator = field.operator or ""
        wrong = field_faults(operator, field.values)
        faults += [f"matchFields[{index}].{fault}" for fault in wrong]
        if not wrong:
            fields.append(Requirement(field.key or "", operator, frozenset(field.values or ())))
    return NodeSelectorTerm(tuple(expressions), tuple(fields), "\n".join(faults))
