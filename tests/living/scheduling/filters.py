"""Why a pod cannot be placed on a node, in kube-scheduler's words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.living.scheduling.amounts import Amounts, pod_requests
from tests.living.scheduling.rooms import NodeRoom
from tests.living.selectors import matches, requirement_holds
from tests.living.store import Object

_AFFINITY = "node(s) didn't match Pod's node affinity/selector"
_UNSCHEDULABLE = "node(s) were unschedulable"
_ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
_EXISTING_ANTI_AFFINITY = "node(s) didn't satisfy existing pods anti-affinity rules"
_PORTS = "node(s) didn't have free ports for the requested pod ports"
_TAINT = "node(s) had untolerated taint"

UNRESOLVABLE = (_AFFINITY, _UNSCHEDULABLE, _TAINT)
"""The beginnings of obstacles that no preemption takes away."""

_HOSTNAME = "kubernetes.io/hostname"


def obstacles(pod: Object, room: NodeRoom, rooms: Sequence[NodeRoom], *, relief: Amounts | None = None) -> list[str]:
    """All that keeps `pod` from the node; `relief` is what is free for it beyond what the node's sums say."""
    return [*_of_node(pod, room.node), *_of_pods(pod, room, rooms), *_of_resources(pod, room, relief or {})]


def _of_node(pod: Object, node: Object) -> Iterator[str]:
    spec, labels = pod["spec"], node["metadata"].get("labels") or {}
    if node.get("spec", {}).get("unschedulable") and not _tolerated(_CORDON, spec):
        yield _UNSCHEDULABLE
    selected = all(labels.get(key) == value for key, value in (spec.get("nodeSelector") or {}).items())
    if not selected or not _affinity_holds(spec, node):
        yield _AFFINITY
    for taint in node.get("spec", {}).get("taints") or ():
        if taint["effect"] != "PreferNoSchedule" and not _tolerated(taint, spec):
            yield f"{_TAINT} {{{taint['key']}: {taint.get('value', '')}}}"
            return


_CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def _affinity_holds(spec: Object, node: Object) -> bool:
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if required is None:
        return True
    return any(_term_holds(term, node) for term in required["nodeSelectorTerms"])


def _term_holds(term: Object, node: Object) -> bool:
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    labels, names = node["metadata"].get("labels") or {}, {"metadata.name": node["metadata"]["name"]}
    return all(requirement_holds(found, labels) for found in expressions) and all(
        requirement_holds(found, names) for found in fields
    )


def _tolerated(taint: Object, spec: Object) -> bool:
    return any(_tolerates(toleration, taint) for toleration in spec.get("tolerations") or ())


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("key") not in (None, "", taint["key"]):
        return False
    return toleration.get("operator") == "Exists" or (toleration.get("value") or "") == (taint.get("value") or "")


def _of_pods(pod: Object, room: NodeRoom, rooms: Sequence[NodeRoom]) -> Iterator[str]:
    mine = set(_host_ports(pod))
    if any(mine & set(_host_ports(other)) for other in room.pods):
        yield _PORTS
    if any(_keeps_from(pod, other, term, room, where) for term in _terms(pod) for where, other in _all(room, rooms)):
        yield _ANTI_AFFINITY
    holders = [(where, other) for where, other in _all(room, rooms) if "affinity" in other["spec"]]
    if any(_keeps_from(other, pod, term, room, where) for where, other in holders for term in _terms(other)):
        yield _EXISTING_ANTI_AFFINITY


def _all(room: NodeRoom, rooms: Sequence[NodeRoom]) -> Iterator[tuple[NodeRoom, Object]]:
    """All pods and where they are; `room` stands in for the one of its name."""
    for other in rooms:
        where = room if other.name == room.name else other
        for pod in where.pods:
            yield where, pod


def _terms(pod: Object) -> list[Any]:
    affinity = (pod["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
    return affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or []


def _keeps_from(holder: Object, other: Object, term: Object, room: NodeRoom, where: NodeRoom) -> bool:
    """Whether the term of `holder` speaks of `other`, and the two would be in one domain."""
    key = term.get("topologyKey", _HOSTNAME)
    here, there = (_domain(found.node, key) for found in (room, where))
    if here is None or here != there:
        return False
    namespaces = term.get("namespaces") or [holder["metadata"]["namespace"]]
    metadata = other["metadata"]
    return metadata["namespace"] in namespaces and matches(term.get("labelSelector"), metadata.get("labels"))


def _domain(node: Object, key: str) -> str | None:
    default = node["metadata"]["name"] if key == _HOSTNAME else None
    found = (node["metadata"].get("labels") or {}).get(key, default)
    return None if found is None else str(found)


def _host_ports(pod: Object) -> Iterator[tuple[str, int]]:
    for container in pod["spec"].get("containers") or ():
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                yield port.get("protocol", "TCP"), port["hostPort"]


def _of_resources(pod: Object, room: NodeRoom, relief: Amounts) -> Iterator[str]:
    has, taken = room.allocatable, room.requested
    for name, needed in sorted(pod_requests(pod).items()):
        if needed > has.get(name, 0) - taken.get(name, 0) + relief.get(name, 0) and needed > 0:
            yield "Too many pods" if name == "pods" else f"Insufficient {name}"
