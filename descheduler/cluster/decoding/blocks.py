"""Labels, quantities, owners and other parts that objects of many kinds have, from bytes to model values.

A block is known by its bytes: replicas of a workload state their labels, tolerations, affinity and resources in the
same words, so a dictionary look-up replaces decoding, and all of them hold one shared, read-only value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

import msgspec

from descheduler.cluster.decoding.wire import ABSENT, Int64, Wire
from descheduler.model.annotations import AnnotationKeys
from descheduler.model.node import NodeReservation
from descheduler.model.pod import Owner
from descheduler.model.quantity import NANO, QuantityError, format_quantity, parse_quantity
from descheduler.model.requests import CPU, ContainerResources, ResourceList
from descheduler.model.selection.taints import Toleration
from descheduler.model.text.numbers import parse_cpu_list

Value = TypeVar("Value")

_NULL = b"null"


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


class BlockNumbers(dict[bytes, int]):
    """Block of bytes → a number of its own, from 1."""

    def __missing__(self, block: bytes) -> int:
        number = self[block] = len(self) + 1
        return number


class LastBlock(Generic[Value]):
    """Looks blocks up in a cache, the one of the object before first.

    Lists are in name order, so that the replicas of a workload follow each other: comparing bytes where they lie is far
    cheaper than copying and hashing them.
    """

    __slots__ = ("_cache", "_last", "_value")

    def __init__(self, cache: BlockCache[Value]) -> None:
        self._cache = cache
        self._last = ABSENT
        self._value = cache[_NULL]

    def value(self, raw: msgspec.Raw) -> Value:
        """The value of `raw`; keeps the bytes that it is part of until `forget` or the next one that differs."""
        if raw != self._last:
            self._value = self._cache[bytes(raw)]
            self._last = raw
        return self._value

    def forget(self) -> None:
        """Frees the bytes of the last block."""
        self._last, self._value = ABSENT, self._cache[_NULL]


class _Toleration(msgspec.Struct, rename="camel"):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: Int64 | None = None


class _Owner(msgspec.Struct, rename="camel"):
    kind: str | None = None
    name: str | None = None
    uid: str | None = None
    api_version: str | None = None
    controller: bool | None = None


class _Resources(msgspec.Struct):
    requests: msgspec.Raw = ABSENT
    limits: msgspec.Raw = ABSENT


class _Image(msgspec.Struct, gc=False, rename="camel"):
    names: list[str] | None = None
    size_bytes: Int64 | None = None


_decode_strings = msgspec.json.Decoder(dict[str, str | None] | None).decode
_decode_string = msgspec.json.Decoder(str | None).decode
_decode_spelling = msgspec.json.Decoder(str).decode
_decode_raw_quantities = msgspec.json.Decoder(dict[str, msgspec.Raw] | None).decode
_decode_tolerations = msgspec.json.Decoder(list[_Toleration] | None).decode
_decode_owners = msgspec.json.Decoder(list[_Owner] | None).decode
_decode_resources = msgspec.json.Decoder(_Resources | None).decode
_decode_images = msgspec.json.Decoder(list[_Image] | None).decode
_decode_features = msgspec.json.Decoder(list[str] | None).decode


def decode_labels(block: bytes) -> Mapping[str, str]:
    """A map of strings; null values read as empty, as Kubernetes reads them."""
    return {key: value or "" for key, value in (_decode_strings(block) or {}).items()}


def decode_text(raw: msgspec.Raw) -> str:
    """One string; null reads as empty."""
    return _decode_string(raw) or ""


def decode_quantities(block: bytes) -> ResourceList:
    """Resource name → nano units. Raises QuantityError."""
    return {name: parse_quantity(decode_spelling(raw)) for name, raw in (_decode_raw_quantities(block) or {}).items()}


def decode_amounts(block: bytes) -> ResourceList:
    """The same for what no API server stores below zero. Raises QuantityError."""
    amounts = decode_quantities(block)
    for name, nano in amounts.items():
        if nano < 0:
            raise QuantityError(f"{name} is {format_quantity(nano)}, and a quantity of a resource is not below zero")
    return amounts


def decode_quantity(block: bytes) -> int | None:
    """One quantity in nano units, None for null. Raises QuantityError."""
    return None if block == _NULL else parse_quantity(decode_spelling(msgspec.Raw(block)))


def decode_spelling(raw: msgspec.Raw) -> str:
    """The text of a quantity, which may be written as a number."""
    text = bytes(raw).decode()
    if text.startswith('"'):
        return _decode_spelling(text).strip()
    return "0" if text == "null" else text


def decode_images(block: bytes) -> Mapping[str, int]:
    """Every name of every image → its size in bytes."""
    return {name: image.size_bytes or 0 for image in _decode_images(block) or () for name in image.names or ()}


def decode_features(block: bytes) -> frozenset[str]:
    """`status.declaredFeatures` of a node."""
    return frozenset(_decode_features(block) or ())


def decode_resources(block: bytes) -> ContainerResources:
    """Requests and limits of one container."""
    resources = _decode_resources(block) or _Resources()
    return ContainerResources(decode_quantities(bytes(resources.requests)), decode_quantities(bytes(resources.limits)))


def decode_stored_resources(block: bytes) -> ContainerResources:
    """The same, with no amount below zero. Raises QuantityError."""
    resources = _decode_resources(block) or _Resources()
    return ContainerResources(decode_amounts(bytes(resources.requests)), decode_amounts(bytes(resources.limits)))


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


_NONE: Mapping[str, str] = {}
_MAX_IDLE = 10_000
"""No cluster has so many names of annotations, unless something makes one up for each pod."""
_WITHHOLDING_POLICIES = (None, "", "Default")


class _ReservationWire(Wire):
    resources: msgspec.Raw = ABSENT
    reserved_cpus: str | None = msgspec.field(default=None, name="reservedCPUs")
    apply_policy: str | None = None


_decode_reservation = msgspec.json.Decoder(_ReservationWire | None).decode


class AnnotationReader:
    """Keeps the annotations of `keys`, which some rule reads, and drops all others."""

    def __init__(self, keys: AnnotationKeys) -> None:
        self._keys = keys
        self._idle: set[str] = set()

    def read(self, found: dict[str, msgspec.Raw] | None) -> Mapping[str, str]:
        """The annotations that some rule reads, mostly none. Raises ValueError for one that is not a string."""
        if not found or found.keys() <= self._idle:
            return _NONE
        return self._sort_out(found) or _NONE

    def _sort_out(self, found: dict[str, msgspec.Raw]) -> dict[str, str]:
        wanted: dict[str, str] = {}
        for key, raw in found.items():
            if key in self._keys:
                wanted[key] = decode_text(raw)
            elif len(self._idle) < _MAX_IDLE:
                self._idle.add(key)
        return wanted


def decode_reservation(text: str) -> NodeReservation | None:
    """The reservation that the annotation states; None without one, and where it is invalid or all of it is zero.

    Source: koordinator 1.8 `apis/extension/node_reservation.go` and `pkg/util/node.go`.
    """
    if not text:
        return None
    try:
        wire = _decode_reservation(text) or _ReservationWire()
        amounts = dict(decode_quantities(bytes(wire.resources)))
        cpus = parse_cpu_list(wire.reserved_cpus or "")
    except (ValueError, RecursionError):
        return None
    if cpus:
        amounts[CPU] = len(cpus) * NANO
    if not any(amounts.values()):
        return None
    return NodeReservation(amounts, cpus, withholds_amounts=wire.apply_policy in _WITHHOLDING_POLICIES)
