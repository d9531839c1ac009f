"""ResourceSlices, DeviceClasses and DeviceTaintRules from the bytes of the API to model values."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from descheduler.cluster.decoding.affinity_blocks import decode_node_affinity
from descheduler.cluster.decoding.blocks import decode_quantity, decode_spelling
from descheduler.cluster.decoding.wire import ABSENT, Int64, SpecReader, TaintWire, Wire, set_time
from descheduler.model.resource_claims import (
    Attribute,
    CapacityPolicy,
    CounterSet,
    DeviceCapacity,
    DeviceClass,
    DeviceTaint,
    DeviceTaintRule,
    NodeReach,
    ResourceSlice,
    SliceDevice,
    VersionAttribute,
)


class _CelWire(Wire):
    expression: str | None = None


class SelectorWire(Wire):
    """One entry of `selectors`."""

    cel: _CelWire | None = None


class _AttributeWire(Wire):
    number: Int64 | None = msgspec.field(default=None, name="int")
    flag: bool | None = msgspec.field(default=None, name="bool")
    string: str | None = None
    version: str | None = None


class _RangeWire(Wire):
    min: msgspec.Raw = ABSENT
    max: msgspec.Raw = ABSENT
    step: msgspec.Raw = ABSENT


class _PolicyWire(Wire):
    default: msgspec.Raw = ABSENT
    valid_values: list[msgspec.Raw] | None = None
    valid_range: _RangeWire | None = None


class _CapacityWire(Wire):
    value: msgspec.Raw = ABSENT
    request_policy: _PolicyWire | None = None


class _CounterWire(Wire):
    value: msgspec.Raw = ABSENT


class _CounterSetWire(Wire):
    name: str | None = None
    counter_set: str | None = None
    counters: dict[str, _CounterWire | None] | None = None


class _DeviceTaintWire(TaintWire):
    time_added: datetime | None = None


class _DeviceBodyWire(Wire):
    """A device but for its name, which v1beta1 has under `basic`."""

    attributes: dict[str, _AttributeWire | None] | None = None
    capacity: dict[str, _CapacityWire | None] | None = None
    consumes_counters: list[_CounterSetWire] | None = None
    node_name: str | None = None
    node_selector: msgspec.Raw = ABSENT
    all_nodes: bool | None = None
    taints: list[_DeviceTaintWire] | None = None
    binds_to_node: bool | None = None
    binding_conditions: list[str] | None = None
    binding_failure_conditions: list[str] | None = None
    allow_multiple_allocations: bool | None = None


class _DeviceWire(_DeviceBodyWire):
    name: str | None = None
    basic: _DeviceBodyWire | None = None


class _PoolWire(Wire):
    name: str | None = None
    generation: Int64 | None = None
    resource_slice_count: Int64 | None = None


class _SliceSpecWire(Wire):
    driver: str | None = None
    pool: _PoolWire | None = None
    node_name: str | None = None
    node_selector: msgspec.Raw = ABSENT
    all_nodes: bool | None = None
    devices: list[_DeviceWire] | None = None
    per_device_node_selection: bool | None = None
    shared_counters: list[_CounterSetWire] | None = None


class _ClassSpecWire(Wire):
    selectors: list[SelectorWire] | None = None
    extended_resource_name: str | None = None


class _DeviceSelectorWire(Wire):
    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class _RuleSpecWire(Wire):
    device_selector: _DeviceSelectorWire | None = None
    taint: _DeviceTaintWire | None = None


_read_slice = SpecReader(_SliceSpecWire)
_read_class = SpecReader(_ClassSpecWire)
_read_rule = SpecReader(_RuleSpecWire)


def decode_resource_slice(block: bytes) -> ResourceSlice:
    metadata, spec = _read_slice(block)
    pool = spec.pool or _PoolWire()
    return ResourceSlice(
        name=metadata.name or "",
        driver=spec.driver or "",
        pool=pool.name or "",
        generation=pool.generation or 0,
        num_slices=pool.resource_slice_count or 0,
        reach=_reach(spec),
        is_per_device=bool(spec.per_device_node_selection),
        devices=tuple(map(_device, spec.devices or ())),
        shared_counters=tuple(CounterSet(each.name or "", _counters(each)) for each in spec.shared_counters or ()),
    )


def decode_device_class(block: bytes) -> DeviceClass:
    metadata, spec = _read_class(block)
    return DeviceClass(
        name=metadata.name or "",
        selectors=expressions(spec.selectors),
        extended_resource=spec.extended_resource_name or "",
        created_at=set_time(metadata.creation_timestamp),
    )


def decode_device_taint_rule(block: bytes) -> DeviceTaintRule:
    metadata, spec = _read_rule(block)
    selector = spec.device_selector or _DeviceSelectorWire()
    return DeviceTaintRule(
        name=metadata.name or "",
        taint=_taint(spec.taint or _DeviceTaintWire()),
        has_selector=spec.device_selector is not None,
        driver=selector.driver,
        pool=selector.pool,
        device=selector.device,
    )


def expressions(selectors: list[SelectorWire] | None) -> tuple[str, ...]:
    """The expressions of these selectors; one of another kind than CEL is an empty one."""
    return tuple((each.cel.expression or "") if each.cel is not None else "" for each in selectors or ())


def _device(wire: _DeviceWire) -> SliceDevice:
    body = wire.basic or wire
    return SliceDevice(
        name=wire.name or "",
        attributes={name: _attribute(each) for name, each in (body.attributes or {}).items() if each is not None},
        capacity={name: _capacity(each) for name, each in (body.capacity or {}).items() if each is not None},
        consumes=tuple(CounterSet(each.counter_set or "", _counters(each)) for each in body.consumes_counters or ()),
        allows_multiple=bool(body.allow_multiple_allocations),
        taints=tuple(map(_taint, body.taints or ())),
        binds_to_node=bool(body.binds_to_node),
        binding_conditions=tuple(body.binding_conditions or ()),
        binding_failures=tuple(body.binding_failure_conditions or ()),
        reach=_reach(body),
    )


def _reach(wire: _SliceSpecWire | _DeviceBodyWire) -> NodeReach:
    return NodeReach(wire.node_name or "", decode_node_affinity(bytes(wire.node_selector)), bool(wire.all_nodes))


def _taint(wire: _DeviceTaintWire) -> DeviceTaint:
    return DeviceTaint(wire.key or "", wire.value or "", wire.effect or "", set_time(wire.time_added))


def _attribute(wire: _AttributeWire) -> Attribute:
    if wire.version is not None:
        return VersionAttribute(wire.version)
    stated: tuple[str | int | bool | None, ...] = (wire.string, wire.flag, wire.number)
    return next((each for each in stated if each is not None), "")


def _capacity(wire: _CapacityWire) -> DeviceCapacity:
    policy = None if wire.request_policy is None else _policy(wire.request_policy)
    return DeviceCapacity(_amount(wire.value), decode_spelling(wire.value), policy)


def _policy(wire: _PolicyWire) -> CapacityPolicy:
    limits = wire.valid_range or _RangeWire()
    return CapacityPolicy(
        default=decode_quantity(bytes(wire.default)),
        valid_values=tuple(_amount(each) for each in wire.valid_values or ()),
        range_min=decode_quantity(bytes(limits.min)),
        range_max=decode_quantity(bytes(limits.max)),
        range_step=decode_quantity(bytes(limits.step)),
    )


def _counters(wire: _CounterSetWire) -> Mapping[str, int]:
    return {name: _amount(each.value) for name, each in (wire.counters or {}).items() if each is not None}


def _amount(block: msgspec.Raw) -> int:
    return decode_quantity(bytes(block)) or 0
