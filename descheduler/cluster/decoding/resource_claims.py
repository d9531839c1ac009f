"""ResourceClaims and ResourceClaimTemplates from the bytes of the API to model values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from descheduler.cluster.decoding.affinity_blocks import decode_node_affinity
from descheduler.cluster.decoding.blocks import decode_owners, decode_quantities, decode_text, decode_tolerations
from descheduler.cluster.decoding.resource_slices import SelectorWire, expressions
from descheduler.cluster.decoding.wire import ABSENT, ConditionWire, Int64, ObjectReader, SpecReader, Wire, set_time
from descheduler.model.annotations import EXTENDED_CLAIM_ANNOTATION
from descheduler.model.resource_claims import (
    AllocationResult,
    AttributeConstraint,
    ClaimAllocation,
    ClaimSpec,
    Consumer,
    DeviceId,
    DeviceRequest,
    DeviceStatus,
    RequestedDevices,
    ResourceClaim,
    ResourceClaimTemplate,
)


class _CapacityWire(Wire):
    requests: msgspec.Raw = ABSENT


class _RequestedWire(Wire):
    """`exactly` or an alternative; v1beta1 has the fields of `exactly` in the request itself."""

    name: str | None = None
    device_class_name: str | None = None
    selectors: list[SelectorWire] | None = None
    allocation_mode: str | None = None
    count: Int64 | None = None
    admin_access: bool | None = None
    tolerations: msgspec.Raw = ABSENT
    capacity: _CapacityWire | None = None


class _RequestWire(_RequestedWire):
    exactly: _RequestedWire | None = None
    first_available: list[_RequestedWire] | None = None


class _ConstraintWire(Wire):
    requests: list[str] | None = None
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class _DevicesWire(Wire):
    requests: list[_RequestWire] | None = None
    constraints: list[_ConstraintWire] | None = None


class _SpecWire(Wire):
    devices: _DevicesWire | None = None


class _ResultWire(Wire):
    request: str | None = None
    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    admin_access: bool | None = None
    tolerations: msgspec.Raw = ABSENT
    binding_conditions: list[str] | None = None
    binding_failure_conditions: list[str] | None = None
    share_id: str | None = msgspec.field(default=None, name="shareID")
    consumed_capacity: msgspec.Raw = ABSENT


class _ResultsWire(Wire):
    results: list[_ResultWire] | None = None


class _AllocationWire(Wire):
    devices: _ResultsWire | None = None
    node_selector: msgspec.Raw = ABSENT
    allocation_timestamp: datetime | None = None


class _ConsumerWire(Wire):
    resource: str | None = None
    name: str | None = None
    uid: str | None = None


class _DeviceStatusWire(Wire):
    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    conditions: list[ConditionWire] | None = None


class _StatusWire(Wire):
    allocation: _AllocationWire | None = None
    reserved_for: list[_ConsumerWire] | None = None
    devices: list[_DeviceStatusWire] | None = None


class _TemplateSpecWire(Wire):
    spec: _SpecWire | None = None


_read_claim = ObjectReader(_SpecWire, _StatusWire)
_read_template = SpecReader(_TemplateSpecWire)


def decode_resource_claim(block: bytes) -> ResourceClaim:
    metadata, spec, status = _read_claim(block)
    mark = (metadata.annotations or {}).get(EXTENDED_CLAIM_ANNOTATION)
    return ResourceClaim(
        name=metadata.name or "",
        namespace=metadata.namespace or "",
        uid=metadata.uid or "",
        spec=_spec(spec),
        owners=decode_owners(bytes(metadata.owner_references)),
        is_terminating=metadata.deletion_timestamp is not None,
        is_of_extended_resource=mark is not None and decode_text(mark) == "true",
        allocation=None if status.allocation is None else _allocation(status.allocation),
        consumers=tuple(
            Consumer(each.resource or "", each.name or "", each.uid or "") for each in status.reserved_for or ()
        ),
        statuses=tuple(
            DeviceStatus(_device_id(each), {c.type or "": c.status or "" for c in each.conditions or ()})
            for each in status.devices or ()
        ),
    )


def decode_resource_claim_template(block: bytes) -> ResourceClaimTemplate:
    metadata, spec = _read_template(block)
    return ResourceClaimTemplate(metadata.name or "", metadata.namespace or "", _spec(spec.spec))


def _spec(wire: _SpecWire | None) -> ClaimSpec:
    devices = (wire or _SpecWire()).devices or _DevicesWire()
    return ClaimSpec(tuple(map(_request, devices.requests or ())), tuple(map(_constraint, devices.constraints or ())))


def _request(wire: _RequestWire) -> DeviceRequest:
    if wire.first_available:
        alternatives = tuple(_requested(each, each.name or "") for each in wire.first_available)
        return DeviceRequest(wire.name or "", alternatives, is_first_available=True)
    return DeviceRequest(wire.name or "", (_requested(wire.exactly or wire, ""),))


def _requested(wire: _RequestedWire, name: str) -> RequestedDevices:
    asked = _CapacityWire() if wire.capacity is None else wire.capacity
    return RequestedDevices(
        name=name,
        device_class=wire.device_class_name or "",
        selectors=expressions(wire.selectors),
        is_all=wire.allocation_mode == "All",
        number=max(1, wire.count or 1),
        has_admin_access=bool(wire.admin_access),
        tolerations=decode_tolerations(bytes(wire.tolerations)),
        capacity=decode_quantities(bytes(asked.requests)),
    )


def _constraint(wire: _ConstraintWire) -> AttributeConstraint:
    attribute = wire.distinct_attribute or wire.match_attribute or ""
    return AttributeConstraint(attribute, tuple(wire.requests or ()), is_distinct=bool(wire.distinct_attribute))


def _allocation(wire: _AllocationWire) -> ClaimAllocation:
    devices = wire.devices or _ResultsWire()
    return ClaimAllocation(
        results=tuple(map(_result, devices.results or ())),
        terms=decode_node_affinity(bytes(wire.node_selector)),
        allocated_at=set_time(wire.allocation_timestamp),
    )


def _result(wire: _ResultWire) -> AllocationResult:
    return AllocationResult(
        request=wire.request or "",
        device=_device_id(wire),
        has_admin_access=bool(wire.admin_access),
        is_shared=wire.share_id is not None,
        consumed=_consumed(bytes(wire.consumed_capacity)),
        tolerations=decode_tolerations(bytes(wire.tolerations)),
        binding_conditions=tuple(wire.binding_conditions or ()),
        binding_failures=tuple(wire.binding_failure_conditions or ()),
    )


def _consumed(block: bytes) -> Mapping[str, int] | None:
    return decode_quantities(block) or None


def _device_id(wire: _ResultWire | _DeviceStatusWire) -> DeviceId:
    return DeviceId(wire.driver or "", wire.pool or "", wire.device or "")
