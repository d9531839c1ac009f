"""Namespaces, budgets, quotas, measured usage and other small objects, from the bytes of the API to model values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from descheduler.cluster.decoding.affinity_blocks import decode_selector
from descheduler.cluster.decoding.blocks import decode_labels, decode_quantities, decode_tolerations
from descheduler.cluster.decoding.wire import ABSENT, Int32, Int64, MetadataWire, Wire
from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.groups.resource_quota import QuotaScope, ResourceQuota
from descheduler.model.objects import (
    AdmittedRange,
    LimitRange,
    Namespace,
    NodeUsage,
    PodUsage,
    PriorityClass,
    RuntimeClass,
    Service,
)
from descheduler.model.requests import ResourceList


class _LimitWire(Wire):
    type: str | None = None
    max: msgspec.Raw = ABSENT
    min: msgspec.Raw = ABSENT
    default: msgspec.Raw = ABSENT
    default_request: msgspec.Raw = ABSENT
    max_limit_request_ratio: msgspec.Raw = ABSENT


class _ScopeWire(Wire):
    scope_name: str | None = None
    operator: str | None = None
    values: list[str] | None = None


class _ScopeSelectorWire(Wire):
    match_expressions: list[_ScopeWire] | None = None


class _Spec(Wire):
    selector: msgspec.Raw = ABSENT
    unhealthy_pod_eviction_policy: str | None = None
    min_available: Int32 | str | None = None
    max_unavailable: Int32 | str | None = None
    hard: msgspec.Raw = ABSENT
    scopes: list[str] | None = None
    scope_selector: _ScopeSelectorWire | None = None
    limits: list[_LimitWire] | None = None


class _ConditionWire(Wire):
    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None


class _Status(Wire):
    phase: str | None = None
    observed_generation: Int64 | None = None
    disruptions_allowed: Int32 | None = None
    current_healthy: Int32 | None = None
    desired_healthy: Int32 | None = None
    expected_pods: Int32 | None = None
    disrupted_pods: dict[str, msgspec.Raw] | None = None
    conditions: list[_ConditionWire] | None = None
    hard: msgspec.Raw = ABSENT
    used: msgspec.Raw = ABSENT


class _ContainerUsage(Wire):
    usage: msgspec.Raw = ABSENT


class _OverheadWire(Wire):
    pod_fixed: msgspec.Raw = ABSENT


class _SchedulingWire(Wire):
    node_selector: msgspec.Raw = ABSENT
    tolerations: msgspec.Raw = ABSENT


class _Small(Wire):
    """Any small object: the fields of the kinds below do not clash."""

    metadata: MetadataWire | None = None
    value: Int32 | None = None
    preemption_policy: str | None = None
    global_default: bool | None = None
    usage: msgspec.Raw = ABSENT
    containers: list[_ContainerUsage] | None = None
    overhead: _OverheadWire | None = None
    scheduling: _SchedulingWire | None = None
    spec: _Spec | None = None
    status: _Status | None = None


_decode_small = msgspec.json.Decoder(_Small).decode


def _named(block: bytes) -> tuple[_Small, MetadataWire, _Spec, _Status]:
    wire = _decode_small(block)
    return wire, wire.metadata or MetadataWire(), wire.spec or _Spec(), wire.status or _Status()


def decode_namespace(block: bytes) -> Namespace:
    _, metadata, _, status = _named(block)
    is_terminating = status.phase == "Terminating" or metadata.deletion_timestamp is not None
    return Namespace(metadata.name or "", decode_labels(bytes(metadata.labels)), is_terminating)


def decode_priority_class(block: bytes) -> PriorityClass:
    wire, metadata, _, _ = _named(block)
    is_default = bool(wire.global_default)
    return PriorityClass(metadata.name or "", wire.value or 0, wire.preemption_policy or "", is_default)


def decode_budget(block: bytes) -> DisruptionBudget:
    wire, metadata, spec, status = _named(block)
    selector, error = decode_selector(bytes(spec.selector))
    # Until its controller has looked at this generation, a budget's status says nothing about it.
    is_current = status.observed_generation is not None and status.observed_generation >= (metadata.generation or 0)
    return DisruptionBudget(
        namespace=metadata.namespace or "",
        name=metadata.name or "",
        selector=selector,
        selector_error=error,
        disruptions_allowed=(status.disruptions_allowed or 0) if is_current else None,
        current_healthy=status.current_healthy or 0,
        desired_healthy=status.desired_healthy or 0,
        expected_pods=status.expected_pods,
        unhealthy_policy=spec.unhealthy_pod_eviction_policy or "",
        min_available=spec.min_available,
        max_unavailable=spec.max_unavailable,
        has_status=wire.status is not None,
        sync_failure=_sync_failure(status),
        num_disrupted=len(status.disrupted_pods or ()),
        stated_allowed=status.disruptions_allowed or 0,
    )


def _sync_failure(status: _Status) -> str:
    """Why the disruption controller cannot count the pods of a budget; empty where it can."""
    for each in status.conditions or ():
        if each.type == "DisruptionAllowed" and each.status == "False" and each.reason == "SyncFailed":
            return each.message or "the disruption controller gives no cause"
    return ""


def decode_service(block: bytes) -> Service:
    _, metadata, spec, _ = _named(block)
    return Service(metadata.namespace or "", metadata.name or "", decode_labels(bytes(spec.selector)))


def decode_quota(block: bytes) -> ResourceQuota:
    """One ResourceQuota; what is enforced is in its status once its controller has seen it."""
    _, metadata, spec, status = _named(block)
    hard = decode_quantities(bytes(status.hard)) or decode_quantities(bytes(spec.hard))
    selector = spec.scope_selector or _ScopeSelectorWire()
    stated = (
        QuotaScope(each.scope_name or "", each.operator or "", frozenset(each.values or ()))
        for each in selector.match_expressions or ()
    )
    return ResourceQuota(
        namespace=metadata.namespace or "",
        name=metadata.name or "",
        hard=hard,
        used=decode_quantities(bytes(status.used)),
        scopes=(*map(QuotaScope, spec.scopes or ()), *stated),
    )


def decode_limit_range(block: bytes) -> LimitRange:
    """One LimitRange, as far as it is about pods and their containers."""
    _, metadata, spec, _ = _named(block)
    of_containers = [limit for limit in spec.limits or () if limit.type == "Container"]
    of_pods = [limit for limit in spec.limits or () if limit.type == "Pod"]
    return LimitRange(
        namespace=metadata.namespace or "",
        name=metadata.name or "",
        default_requests=_together(limit.default_request for limit in of_containers),
        default_limits=_together(limit.default for limit in of_containers),
        of_containers=_range(of_containers),
        of_pods=_range(of_pods),
    )


def _range(limits: Sequence[_LimitWire]) -> AdmittedRange:
    return AdmittedRange(
        least=_together(limit.min for limit in limits),
        most=_together(limit.max for limit in limits),
        ratio=_together(limit.max_limit_request_ratio for limit in limits),
    )


def _together(blocks: Iterable[msgspec.Raw]) -> ResourceList:
    return {name: nano for block in blocks for name, nano in decode_quantities(bytes(block)).items()}


def decode_runtime_class(block: bytes) -> RuntimeClass:
    wire, metadata, _, _ = _named(block)
    scheduling = wire.scheduling or _SchedulingWire()
    return RuntimeClass(
        name=metadata.name or "",
        overhead=decode_quantities(bytes(wire.overhead.pod_fixed)) if wire.overhead else {},
        node_selector=decode_labels(bytes(scheduling.node_selector)),
        tolerations=decode_tolerations(bytes(scheduling.tolerations)),
    )


def decode_node_usage(block: bytes) -> NodeUsage:
    """One NodeMetrics of metrics-server."""
    wire, metadata, _, _ = _named(block)
    return NodeUsage(metadata.name or "", decode_quantities(bytes(wire.usage)))


def decode_pod_usage(block: bytes) -> PodUsage:
    """One PodMetrics of metrics-server."""
    wire, metadata, _, _ = _named(block)
    containers = tuple(decode_quantities(bytes(c.usage)) for c in wire.containers or ())
    return PodUsage(metadata.namespace or "", metadata.name or "", containers)
