"""What the API server fills into a pod that is made from a template (`pkg/apis/core/v1/defaults.go`, 1.36)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from descheduler.cluster.decoding.blocks import decode_quantities, decode_resources
from descheduler.cluster.decoding.wire import ABSENT, SIDECAR, ContainerWire, PodSpecWire, Wire
from descheduler.model.quantity import format_quantity
from descheduler.model.requests import ContainerResources, pod_level_requests, pod_requests


class TemplateSpecWire(PodSpecWire):
    """`spec` of a pod template."""

    runtime_class_name: str | None = None


class _ResourcesWire(Wire):
    limits: dict[str, msgspec.Raw] | None = None
    requests: dict[str, msgspec.Raw] | None = None
    claims: msgspec.Raw = ABSENT


_read_resources = msgspec.json.Decoder(_ResourcesWire | None).decode
_read_ports = msgspec.json.Decoder(list[dict[str, object]] | None).decode
_encode = msgspec.json.Encoder().encode


def set_pod_defaults(spec: TemplateSpecWire) -> PodSpecWire:
    """`spec` with requests that follow from limits and, on the host's network, with host ports; changes it in place.

    Raises ValueError on malformed resources or ports.
    """
    containers = [*(spec.containers or ()), *(spec.init_containers or ())]
    for container in containers:
        container.resources = _with_requests(container.resources)
        if spec.host_network:
            container.ports = _with_host_ports(container.ports)
    if spec.resources is not ABSENT:
        spec.resources = _with_pod_level_requests(spec)
    return spec


def _with_requests(raw: msgspec.Raw) -> msgspec.Raw:
    resources = None if raw is ABSENT else _read_resources(bytes(raw))
    if resources is None or not resources.limits:
        return raw
    requests = resources.requests or {}
    missing = {name: quantity for name, quantity in resources.limits.items() if name not in requests}
    return _encoded(resources, {**requests, **missing}) if missing else raw


def _with_host_ports(raw: msgspec.Raw) -> msgspec.Raw:
    ports = None if raw is ABSENT else _read_ports(bytes(raw))
    if not ports:
        return raw
    return msgspec.Raw(
        _encode([port | {"hostPort": port.get("hostPort") or port.get("containerPort")} for port in ports])
    )


def _with_pod_level_requests(spec: PodSpecWire) -> msgspec.Raw:
    """The pod's own resources: once a limit is stated, what is not asked for follows from the containers, or it."""
    resources = _read_resources(bytes(spec.resources))
    if resources is None or not resources.limits:
        return spec.resources
    requests = dict(resources.requests or {})
    asked = pod_requests(_resources(spec.containers), _init_resources(spec.init_containers), pod_level={}, overhead={})
    for name, nano in pod_level_requests(asked).items():
        if not name.startswith("hugepages-"):  # these must not be overcommitted, so they follow from limits alone
            requests.setdefault(name, msgspec.Raw(_encode(format_quantity(nano))))
    limits = {name: decode_quantities(_encode({name: raw}))[name] for name, raw in resources.limits.items()}
    for name in pod_level_requests(limits):
        requests.setdefault(name, resources.limits[name])
    return _encoded(resources, requests)


def _resources(containers: Iterable[ContainerWire] | None) -> list[ContainerResources]:
    return [decode_resources(bytes(container.resources)) for container in containers or ()]


def _init_resources(containers: Iterable[ContainerWire] | None) -> list[ContainerResources]:
    return [
        msgspec.structs.replace(decode_resources(bytes(c.resources)), is_sidecar=c.restart_policy == SIDECAR)
        for c in containers or ()
    ]


def _encoded(resources: _ResourcesWire, requests: dict[str, msgspec.Raw]) -> msgspec.Raw:
    """In the order in which the API server writes it, so that a template shares the value of its pods."""
    fields: dict[str, object] = {"limits": resources.limits, "requests": dict(sorted(requests.items()))}
    if resources.claims is not ABSENT:
        fields["claims"] = resources.claims
    return msgspec.Raw(_encode(fields))
