"""Claims of devices and what they are met from (`resource.k8s.io`), as far as placement goes by them.

Names of attributes and capacities are qualified, `domain/id`; one without a domain stands for that of its driver.
Quantities are in nano units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, TypeAlias

import msgspec

from descheduler.model.pod import Owner
from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.taints import Taint, Toleration

CLAIM_KIND = "ResourceClaim.resource.k8s.io"
CLAIM_TEMPLATE_KIND = "ResourceClaimTemplate.resource.k8s.io"
DEVICE_CLASS_KIND = "DeviceClass.resource.k8s.io"
SLICE_KIND = "ResourceSlice.resource.k8s.io"
TAINT_RULE_KIND = "DeviceTaintRule.resource.k8s.io"
DEVICE_KINDS = frozenset({CLAIM_KIND, CLAIM_TEMPLATE_KIND, DEVICE_CLASS_KIND, SLICE_KIND, TAINT_RULE_KIND})
"""All kinds that tell which devices there are, and who has them."""

MOST_CONSUMERS = 256
"""Entries of `status.reservedFor` that the API server accepts."""


class VersionAttribute(NamedTuple):
    """An attribute of type version, as it is written."""

    text: str


Attribute: TypeAlias = "str | int | bool | VersionAttribute"


class DeviceId(NamedTuple):
    """What identifies a device in the cluster."""

    driver: str
    pool: str
    device: str


class CapacityPolicy(msgspec.Struct, frozen=True, gc=False):
    """How much of a capacity one allocation consumes: `requestPolicy`."""

    default: int | None = None
    valid_values: tuple[int, ...] = ()
    range_min: int | None = None
    range_max: int | None = None
    range_step: int | None = None


class DeviceCapacity(msgspec.Struct, frozen=True, gc=False):
    """One capacity of a device; `text` is the spelling of its value."""

    value: int
    text: str
    policy: CapacityPolicy | None = None


class NodeReach(msgspec.Struct, frozen=True, gc=False):
    """The nodes from which a slice or a device can be used; `terms` is a node selector, None for none."""

    node_name: str = ""
    terms: tuple[NodeSelectorTerm, ...] | None = None
    is_everywhere: bool = False

    def holds(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a node of this name and these labels is among them."""
        if self.node_name:
            return self.node_name == name
        if self.terms is not None:
            return any(not term.is_empty and not term.error and term.matches(name, labels) for term in self.terms)
        return self.is_everywhere


class CounterSet(msgspec.Struct, frozen=True, gc=False):
    """A set of counters that devices of a pool share, or what one device consumes of it."""

    name: str
    counters: Mapping[str, int]


class DeviceTaint(Taint, frozen=True, gc=False):
    """A mark on a device, and since when."""

    added_at: datetime | None = None


class SliceDevice(msgspec.Struct, frozen=True):
    """A device as its driver publishes it. `reach` counts only in a slice with `perDeviceNodeSelection`."""

    name: str
    attributes: Mapping[str, Attribute] = {}
    capacity: Mapping[str, DeviceCapacity] = {}
    consumes: tuple[CounterSet, ...] = ()
    allows_multiple: bool = False
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: bool = False
    binding_conditions: tuple[str, ...] = ()
    binding_failures: tuple[str, ...] = ()
    reach: NodeReach = NodeReach()


class ResourceSlice(msgspec.Struct, frozen=True):
    """A part of a pool of devices; `num_slices` is how many parts the pool has in this generation."""

    name: str
    driver: str
    pool: str
    generation: int
    num_slices: int
    reach: NodeReach
    is_per_device: bool = False
    devices: tuple[SliceDevice, ...] = ()
    shared_counters: tuple[CounterSet, ...] = ()


class DeviceClass(msgspec.Struct, frozen=True):
    """A class of devices: `selectors` are expressions, all of which have to hold."""

    name: str
    selectors: tuple[str, ...] = ()
    extended_resource: str = ""
    created_at: datetime | None = None


class DeviceTaintRule(msgspec.Struct, frozen=True):
    """A taint on all devices that it selects. None of a field stands for any; without a selector none is selected."""

    name: str
    taint: DeviceTaint
    has_selector: bool = False
    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class RequestedDevices(msgspec.Struct, frozen=True):
    """Devices of one class: `exactly`, or one alternative of `firstAvailable`, which then has the name `name`."""

    name: str
    device_class: str
    selectors: tuple[str, ...] = ()
    is_all: bool = False
    number: int = 1
    has_admin_access: bool = False
    tolerations: tuple[Toleration, ...] = ()
    capacity: Mapping[str, int] = {}


class DeviceRequest(msgspec.Struct, frozen=True):
    """One request of a claim: it has one choice, or `is_first_available` of several."""

    name: str
    choices: tuple[RequestedDevices, ...]
    is_first_available: bool = False


class AttributeConstraint(msgspec.Struct, frozen=True, gc=False):
    """Devices of the named requests, or of all, have to agree in an attribute, or with `is_distinct` to differ."""

    attribute: str
    requests: tuple[str, ...] = ()
    is_distinct: bool = False

    def concerns(self, request: str, choice: str) -> bool:
        """Whether it is about devices of this request, or of this alternative of it."""
        return (
            not self.requests or request in self.requests or (choice != "" and f"{request}/{choice}" in self.requests)
        )


class ClaimSpec(msgspec.Struct, frozen=True):
    """`spec.devices` of a claim."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[AttributeConstraint, ...] = ()


class AllocationResult(msgspec.Struct, frozen=True):
    """One device of an allocation. `consumed` is None where the status names no amounts."""

    request: str
    device: DeviceId
    has_admin_access: bool = False
    is_shared: bool = False
    consumed: Mapping[str, int] | None = None
    tolerations: tuple[Toleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failures: tuple[str, ...] = ()


class ClaimAllocation(msgspec.Struct, frozen=True):
    """The devices of a claim, and the nodes from which all of them can be used; None for all nodes."""

    results: tuple[AllocationResult, ...] = ()
    terms: tuple[NodeSelectorTerm, ...] | None = None
    allocated_at: datetime | None = None

    def holds(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a node of this name and these labels is among them."""
        return self.terms is None or NodeReach(terms=self.terms).holds(name, labels)


class Consumer(msgspec.Struct, frozen=True, gc=False):
    """One entry of `status.reservedFor`."""

    resource: str
    name: str
    uid: str


class DeviceStatus(msgspec.Struct, frozen=True):
    """What a driver says of an allocated device: condition → status."""

    device: DeviceId
    conditions: Mapping[str, str] = {}


class ResourceClaim(msgspec.Struct, frozen=True):
    """A claim of devices. `is_of_extended_resource` marks one that the scheduler itself made for a pod."""

    name: str
    namespace: str
    uid: str = ""
    spec: ClaimSpec = ClaimSpec()
    owners: tuple[Owner, ...] = ()
    is_terminating: bool = False
    is_of_extended_resource: bool = False
    allocation: ClaimAllocation | None = None
    consumers: tuple[Consumer, ...] = ()
    statuses: tuple[DeviceStatus, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name

    def is_controlled_by(self, uid: str) -> bool:
        """Whether the pod of this uid owns it."""
        return any(owner.controller and owner.uid == uid for owner in self.owners)


class ResourceClaimTemplate(msgspec.Struct, frozen=True):
    """What the claims look like that are made for pods which name it."""

    name: str
    namespace: str
    spec: ClaimSpec = ClaimSpec()


_Selected: TypeAlias = tuple[str | None, ...]
"""Driver, pool and device; None stands for any."""


class TaintRules:
    """DeviceTaintRules by what they select: a cluster may have one for each device."""

    def __init__(self, rules: Iterable[DeviceTaintRule]) -> None:
        self._taints: dict[_Selected, list[tuple[int, DeviceTaint]]] = {}
        for place, rule in enumerate(rules):
            if rule.has_selector:
                selected = rule.driver, rule.pool, rule.device
                self._taints.setdefault(selected, []).append((place, rule.taint))
        self._forms = {tuple(each is not None for each in selected) for selected in self._taints}

    def on(self, device: DeviceId) -> Sequence[DeviceTaint]:
        """The taints that rules put on `device`, in the order of the rules."""
        selecting = (
            tuple(name if is_given else None for name, is_given in zip(device, form, strict=True))
            for form in self._forms
        )
        found = [each for selected in selecting for each in self._taints.get(selected, ())]
        return [taint for _, taint in sorted(found, key=lambda each: each[0])]


def listed_taints(slices: Sequence[ResourceSlice]) -> Mapping[DeviceId, Sequence[DeviceTaint]]:
    """Each device that slices list → its own taints, by the newest generation of its pool.

    Slices of older generations are being replaced, and tell nothing any more.
    """
    newest: dict[tuple[str, str], int] = {}
    for each in slices:
        pool = each.driver, each.pool
        newest[pool] = max(each.generation, newest.get(pool, each.generation))
    return {
        DeviceId(each.driver, each.pool, device.name): device.taints
        for each in slices
        if each.generation == newest[each.driver, each.pool]
        for device in each.devices
    }
