"""Reservations of Koordinator from the bytes of the API to model values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache

import msgspec

from descheduler.cluster.decoding.affinity_blocks import decode_selector
from descheduler.cluster.decoding.blocks import decode_labels, decode_quantities, decode_text
from descheduler.cluster.decoding.decode import Decoding, PodDecoder
from descheduler.cluster.decoding.pods.defaults import TemplateSpecWire, set_pod_defaults
from descheduler.cluster.decoding.wire import ABSENT, MetadataWire, ObjectReader, PodWire, TaintWire, Wire, set_time
from descheduler.model.annotations import RESTRICTED_OPTIONS_ANNOTATION
from descheduler.model.koordinator.reservation import (
    PRIORITY_LABEL,
    RESERVATION_NAME_ANNOTATION,
    RESERVATION_NODE_ANNOTATION,
    RESERVE_POD_ANNOTATION,
    ObjectReference,
    Reservation,
    ReservationOwner,
)
from descheduler.model.pod import Owner, Pod
from descheduler.model.selection.labels import LabelSelector, parse_int64
from descheduler.model.selection.taints import Taint
from descheduler.model.text.duration import parse_duration

_HIGHEST_PRIORITY = 2**31 - 1
_DEFAULT_NAMESPACE = "default"
_MOST_TEXTS = 4096
_DEFAULT_TTL = timedelta(hours=24)


class _ReferenceWire(Wire):
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None
    api_version: str | None = None


class _ControllerWire(_ReferenceWire):
    kind: str | None = None
    controller: bool | None = None


class _OwnerWire(Wire):
    object: _ReferenceWire | None = None
    controller: _ControllerWire | None = None
    label_selector: msgspec.Raw = ABSENT


class _TemplateMetadataWire(Wire):
    namespace: str | None = None
    labels: msgspec.Raw = ABSENT
    annotations: dict[str, msgspec.Raw] | None = None


class _TemplateWire(Wire):
    metadata: _TemplateMetadataWire | None = None
    spec: TemplateSpecWire | None = None


class _SpecWire(Wire):
    template: _TemplateWire | None = None
    owners: list[_OwnerWire] | None = None
    ttl: str | None = None
    expires: datetime | None = None
    allocate_once: bool | None = None
    allocate_policy: str | None = None
    pre_allocation: bool | None = None
    unschedulable: bool | None = None
    taints: list[TaintWire] | None = None


class _StatusWire(Wire):
    phase: str | None = None
    node_name: str | None = None
    allocatable: msgspec.Raw = ABSENT
    allocated: msgspec.Raw = ABSENT
    current_owners: list[_ReferenceWire] | None = None


class _RestrictedOptionsWire(Wire):
    resources: list[str] | None = None


class _AllocatedWire(Wire):
    uid: str | None = None


_read_allocated = msgspec.json.Decoder(_AllocatedWire | None).decode
_read = ObjectReader(_SpecWire, _StatusWire)
_read_owners = msgspec.json.Decoder(list[_OwnerWire] | None).decode
_read_options = msgspec.json.Decoder(_RestrictedOptionsWire | None).decode


def reservation_decoder(decoding: Decoding) -> Callable[[bytes], Reservation]:
    """What makes a Reservation from its bytes, with its reserve pod."""
    return lambda block: _reservation(block, decoding.pods)


def _reservation(block: bytes, pods: PodDecoder) -> Reservation:
    metadata, spec, status = _read(block)
    labels = decode_labels(bytes(metadata.labels))
    owners, fault = _owners(spec.owners or ())
    restricted_to, options_fault = _restricted_to(metadata.annotations or {})
    reservation = Reservation(
        name=metadata.name or "",
        uid=metadata.uid or "",
        labels=labels,
        annotations={key: decode_text(raw) for key, raw in _known(metadata.annotations, pods).items()},
        pod=None if spec.template is None else _reserve_pod(spec.template, metadata, labels, pods),
        owners=owners,
        allocate_once=spec.allocate_once is not False,
        allocate_policy=spec.allocate_policy or "",
        pre_allocation=bool(spec.pre_allocation),
        unschedulable=bool(spec.unschedulable),
        taints=tuple(Taint(t.key or "", t.value or "", t.effect or "") for t in spec.taints or ()),
        ttl=_ttl(spec),
        expires_at=set_time(spec.expires),
        created_at=set_time(metadata.creation_timestamp),
        is_terminating=metadata.deletion_timestamp is not None,
        phase=status.phase or "",
        node_name=status.node_name or "",
        allocatable=decode_quantities(bytes(status.allocatable)),
        allocated=decode_quantities(bytes(status.allocated)),
        current_owners=tuple(_reference(each) for each in status.current_owners or ()),
        restricted_to=restricted_to,
        fault=fault or options_fault,
    )
    if not metadata.name:  # asked last, so that another fault stays the same without the name
        raise ValueError("metadata.name is missing")
    return reservation


def decode_owners(text: str) -> tuple[tuple[ReservationOwner, ...], str]:
    """The owners that an annotation lists, and what of them cannot be read. Raises ValueError."""
    return _owners(_read_owners(text) or ())


def _ttl(spec: _SpecWire) -> timedelta | None:
    """The CRD's default stands where none is stated."""
    return _DEFAULT_TTL if spec.ttl is None else parse_duration(spec.ttl)


def _known(found: Mapping[str, msgspec.Raw] | None, pods: PodDecoder) -> dict[str, msgspec.Raw]:
    return {key: raw for key, raw in (found or {}).items() if key in pods.annotation_keys}


def _reserve_pod(template: _TemplateWire, metadata: MetadataWire, labels: Mapping[str, str], pods: PodDecoder) -> Pod:
    """The pod that koord-scheduler makes of a Reservation (koordinator 1.8 `pkg/util/reservation`, NewReservePod)."""
    own, spec = template.metadata or _TemplateMetadataWire(), template.spec or TemplateSpecWire()
    wanted_node, spec.node_name = spec.node_name, None
    if spec.priority is None:
        spec.priority = _priority(labels)
    pod = pods.decode(
        PodWire(
            metadata=MetadataWire(
                name=metadata.name,
                namespace=own.namespace or _DEFAULT_NAMESPACE,
                uid=metadata.uid,
                creation_timestamp=metadata.creation_timestamp,
                labels=own.labels,
                annotations={**(own.annotations or {}), **(metadata.annotations or {})},
            ),
            spec=set_pod_defaults(spec),
        )
    )
    marks = {RESERVE_POD_ANNOTATION: "true", RESERVATION_NAME_ANNOTATION: metadata.name or ""}
    if wanted_node:
        marks[RESERVATION_NODE_ANNOTATION] = wanted_node
    return msgspec.structs.replace(
        pod, labels={**pod.labels, **labels} if labels else pod.labels, annotations={**pod.annotations, **marks}
    )


def _priority(labels: Mapping[str, str]) -> int:
    stated = parse_int64(labels.get(PRIORITY_LABEL, ""))
    return _HIGHEST_PRIORITY if stated is None else stated


def _owners(wires: list[_OwnerWire] | tuple[()]) -> tuple[tuple[ReservationOwner, ...], str]:
    owners, faults = [], []
    for wire in wires:
        selector: LabelSelector | None = None
        if wire.label_selector is not ABSENT and bytes(wire.label_selector) != b"null":
            selector, fault = decode_selector(bytes(wire.label_selector))
            faults += [fault] if fault else []
        owners.append(
            ReservationOwner(
                object=None if wire.object is None else _reference(wire.object),
                controller=None if wire.controller is None else _controller(wire.controller),
                controller_namespace=(wire.controller and wire.controller.namespace) or "",
                selector=selector,
            )
        )
    return tuple(owners), "; ".join(faults)


def _controller(wire: _ControllerWire) -> Owner:
    return Owner(wire.kind or "", wire.name or "", wire.uid or "", wire.api_version or "", bool(wire.controller))


def _reference(wire: _ReferenceWire) -> ObjectReference:
    return ObjectReference(wire.namespace or "", wire.name or "", wire.uid or "", wire.api_version or "")


def _restricted_to(annotations: Mapping[str, msgspec.Raw]) -> tuple[tuple[str, ...], str]:
    text = decode_text(annotations.get(RESTRICTED_OPTIONS_ANNOTATION, ABSENT))
    if not text:
        return (), ""
    try:
        options = _read_options(text)
    except (ValueError, RecursionError) as error:
        return (), f"annotation {RESTRICTED_OPTIONS_ANNOTATION}: {error}"
    return tuple((options.resources if options else None) or ()), ""


@lru_cache(maxsize=_MOST_TEXTS)
def allocated_reservation(text: str) -> str:
    """The uid of the Reservation that annotation `reservation-allocated` of a pod names; empty for none."""
    try:
        return (_read_allocated(text) or _AllocatedWire()).uid or ""
    except (ValueError, RecursionError):
        return ""
