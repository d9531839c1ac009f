"""A Reservation of Koordinator: what it holds, who uses it and who may, and which pods wait for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

import msgspec

from descheduler.cluster.decoding.koordinator.reservations import allocated_reservation
from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.explanation.asked import Answer, Explained
from descheduler.explanation.finding import find_key
from descheduler.explanation.scheduling.placement import PlacementAnalysis, placement_table
from descheduler.explanation.scheduling.waiting import Scheduling, WaitingPod, is_pending, waiting_pods, waiting_table
from descheduler.model.annotations import RESERVATION_ALLOCATED_ANNOTATION
from descheduler.model.koordinator.reservation import ObjectReference, Reservation, ReservationOwner, is_reserve_pod
from descheduler.model.koordinator.scheduler_name import scheduler_name_of
from descheduler.model.pod import Owner, Pod
from descheduler.model.selection.labels import LabelSelector
from descheduler.model.text.amounts import amount_text, amounts_text, short_amounts_text
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import printable
from descheduler.placement.plugins.helper.node_selector_words import requirement_text
from descheduler.placement.plugins.reservation.held_devices import devices_of
from descheduler.placement.plugins.reservation.holdings import HeldReservation, Holdings
from descheduler.placement.plugins.reservation.ledgers import RESERVATION
from descheduler.placement.plugins.reservation.pod_protocol import OwnerMatch, match, request_of
from descheduler.placement.plugins.taint_toleration import taint_text
from descheduler.placement.shadow.node_table import amount
from descheduler.report.document import PodReference
from descheduler.report.identities import reference
from descheduler.report.tables.table_style import TableStyle


class ReservedResource(Fields, frozen=True):
    """One resource that is reserved: cpu in milli cores, all else in whole units.

    `used` is what the pods that use the Reservation request of it, 0 for a resource that it does not count; `free` is
    the rest that it holds on its node, below zero where its pods request more, and null where it holds nothing.
    """

    resource: str
    reserved: int
    used: int
    free: int | None


class ReservedDevice(Fields, frozen=True):
    """A device of the node that the Reservation holds, and what its pods leave of it. `type` is such as `gpu`."""

    type: str
    minor: int
    reserved: Mapping[str, int]
    free: Mapping[str, int]


class ReservationUser(Fields, frozen=True):
    """A pod that uses the Reservation: by its annotation, or `is_listed` in `status.currentOwners` alone.

    `node` is null for a pod that does not exist any more.
    """

    pod: PodReference
    node: str | None
    requests: Mapping[str, int]
    is_listed: bool = msgspec.field(name="listed")


class ReservationFacts(Fields, frozen=True):
    """The Reservation as the snapshot has it. `node` is null while it has none, `ends_at` where it never expires.

    `owners` say in words who may use it, one entry each, none where no pod may. `num_owned_pods` counts the running and
    pending pods that these match. `allocate_policy` is empty for the default.
    """

    name: str
    phase: str
    node: str | None
    scheduler: str
    allocate_once: bool
    allocate_policy: str
    is_pre_allocating: bool = msgspec.field(name="preAllocation")
    is_unschedulable: bool = msgspec.field(name="unschedulable")
    is_terminating: bool = msgspec.field(name="terminating")
    taints: tuple[str, ...]
    ends_at: datetime | None
    owners: tuple[str, ...]
    num_owned_pods: int = msgspec.field(name="ownedPods")


class ReservationExplanation(Fields, frozen=True):
    """Everything about one Reservation. `devices` are those that it holds.

    `waiting` are pending pods that its owners match or that name it. `placement` says of a pending Reservation why it
    is pending, as of a pod; it is null for others. `notes` say why pods cannot use it.
    """

    facts: ReservationFacts
    resources: tuple[ReservedResource, ...]
    devices: tuple[ReservedDevice, ...]
    users: tuple[ReservationUser, ...]
    waiting: tuple[WaitingPod, ...]
    placement: PlacementAnalysis | None
    notes: tuple[str, ...]


_PHASES = ("", "Pending", "Available", "Waiting", "Succeeded", "Failed")


def _explain(name: str, snapshot: Snapshot, scheduling: Scheduling) -> ReservationExplanation:
    """The Reservation called `name`, as the cluster is. Raises UnknownSubjectError."""
    known = {each.name: each for each in snapshot.reservations}
    found = known[find_key("Reservation", snapshot, name, known)]
    held = next((each for each in scheduling.cluster.follow(Holdings).held if each.reservation is found), None)
    wants = [pod for pod in snapshot.pods if is_pending(pod) and _is_for(found, pod)]
    is_waiting_for_node = found.is_pending and found.pod is not None and not found.is_terminating
    return ReservationExplanation(
        facts=_facts(found, snapshot),
        resources=tuple(_resources(found, held, snapshot, scheduling)),
        devices=tuple(_devices(found, held)),
        users=tuple(_users(found, snapshot)),
        waiting=tuple(waiting_pods(wants, lambda pod: _why(pod, found, snapshot, scheduling))),
        placement=scheduling.analyse(found.pod) if is_waiting_for_node and found.pod is not None else None,
        notes=tuple(_notes(found, held, snapshot, scheduling)),
    )


def _facts(found: Reservation, snapshot: Snapshot) -> ReservationFacts:
    pods = (pod for pod in snapshot.pods if not (pod.is_terminal or is_reserve_pod(pod)))
    return ReservationFacts(
        name=found.name,
        phase=found.phase or "Pending",
        node=found.node_name or None,
        scheduler="" if found.pod is None else scheduler_name_of(found.pod),
        allocate_once=found.allocate_once,
        allocate_policy=found.allocate_policy,
        is_pre_allocating=found.pre_allocation,
        is_unschedulable=found.unschedulable,
        is_terminating=found.is_terminating,
        taints=tuple(map(taint_text, found.taints)),
        ends_at=found.ends_at,
        owners=tuple(dict.fromkeys(map(owner_text, found.owners))),
        num_owned_pods=sum(_is_owner(found, pod) for pod in pods),
    )


def _resources(
    found: Reservation, held: HeldReservation | None, snapshot: Snapshot, scheduling: Scheduling
) -> Iterator[ReservedResource]:
    """What a Reservation holds by the engine's own figures; of one that holds nothing any more by its pods."""
    if held is None:
        users = [pod for pod in snapshot.pods if _uses(pod, found)]
        for name, nano in sorted(found.amounts.items()):
            counted = users if name in found.limited_resources else ()
            used = sum(amount(name, pod.spec.requests.get(name, 0)) for pod in counted)
            yield ReservedResource(resource=name, reserved=amount(name, nano), used=used, free=None)
        return
    names = scheduling.cluster.table.resources
    for row, reserved in sorted(held.allocatable.items(), key=lambda item: names[item[0]]):
        free = held.gap(row) if held.is_active else None
        yield ReservedResource(resource=names[row], reserved=reserved, used=held.allocated(row), free=free)


def _devices(found: Reservation, held: HeldReservation | None) -> Iterator[ReservedDevice]:
    left = held.devices.remaining() if held is not None and held.is_active else {}
    for device_type, entries in devices_of(found.annotations).items() if left else ():
        for each in entries:
            free = left[device_type][each.minor]
            yield ReservedDevice(type=device_type, minor=each.minor, reserved=each.resources, free=free)


def _users(found: Reservation, snapshot: Snapshot) -> Iterator[ReservationUser]:
    by_uid = {pod.uid: pod for pod in snapshot.pods}
    users = {pod.uid: pod for pod in snapshot.pods if _uses(pod, found)}
    for pod in users.values():
        yield _user(pod, is_listed=False)
    for owner in found.current_owners:
        if owner.uid in users:
            continue
        listed = by_uid.get(owner.uid)
        if listed is not None:
            yield _user(listed, is_listed=True)
        else:
            yield ReservationUser(pod=reference(owner), node=None, requests={}, is_listed=True)


def _user(pod: Pod, *, is_listed: bool) -> ReservationUser:
    requests = {name: amount(name, nano) for name, nano in sorted(pod.spec.requests.items())}
    return ReservationUser(pod=reference(pod), node=pod.node_name or None, requests=requests, is_listed=is_listed)


def _uses(pod: Pod, found: Reservation) -> bool:
    """Whether `pod` has room of it, by the annotation that koord-scheduler writes when it binds the pod."""
    text = pod.annotations.get(RESERVATION_ALLOCATED_ANNOTATION, "")
    if not text or not found.uid or pod.is_terminal or is_reserve_pod(pod):
        return False
    return bool(pod.node_name) and pod.node_name == found.node_name and allocated_reservation(text) == found.uid


def _is_owner(found: Reservation, pod: Pod) -> bool:
    return any(owner.matches(pod) for owner in found.owners)


def _is_for(found: Reservation, pod: Pod) -> bool:
    """Whether `pod` could use it, or asks for it by name."""
    affinity = request_of(pod).affinity
    return _is_owner(found, pod) or (affinity is not None and affinity.name == found.name)


def _why(pod: Pod, found: Reservation, snapshot: Snapshot, scheduling: Scheduling) -> str:
    """What comes of the pod and the Reservation, and what keeps the pod pending."""
    name = scheduler_name_of(pod)
    profile = scheduling.configuration.profile_for(name)
    if profile is None or RESERVATION not in profile.pre_filters:
        return f"scheduler {name} does not know Reservations; {scheduling.why_pending(pod)}"
    node = {each.name: each for each in snapshot.nodes}.get(found.node_name)
    of = None if node is None or not found.is_available else match(pod, request_of(pod), found, node)
    said = "" if of is None else f"the Reservation {of.value}"
    if of is OwnerMatch.MATCHED:
        said = "can use the Reservation"
    return "; ".join(filter(None, (said, scheduling.why_pending(pod))))


def _notes(
    found: Reservation, held: HeldReservation | None, snapshot: Snapshot, scheduling: Scheduling
) -> Iterator[str]:
    if found.fault:
        yield f"no pod can use it, as its owners or options cannot be read: {found.fault}"
    if found.pod is None:
        yield "it has no spec.template, so that koord-scheduler ignores it"
    if found.is_terminating:
        yield "it is being deleted; until it is gone, only pods that name it in reservation-affinity use it"
    elif found.unschedulable:
        yield "it is unschedulable: only pods that name it in reservation-affinity use it"
    yield from _notes_on_room(found, held, snapshot.taken_at, {node.name for node in snapshot.nodes})
    yield from _notes_on_scheduler(found, scheduling)


def _notes_on_room(
    found: Reservation, held: HeldReservation | None, now: datetime | None, nodes: set[str]
) -> Iterator[str]:
    if found.phase in ("Succeeded", "Failed"):
        yield f"it has ended ({found.phase}) and holds nothing any more"
    elif found.phase not in _PHASES:
        yield f"koord-scheduler does not know its phase {found.phase}: it holds nothing"
    elif found.node_name and found.node_name not in nodes:
        yield f"its node {found.node_name} does not exist, so that it holds nothing"
    elif found.is_active and now is not None and found.has_expired(now):
        yield "it has expired and holds nothing any more"
    elif found.is_waiting:
        yield "it waits for room that other pods of its node still have (preAllocation)"
    elif found.is_available and held is not None and not held.is_active:
        yield "a pod uses it up (allocateOnce): what that pod leaves of it is free for all pods"


def _notes_on_scheduler(found: Reservation, scheduling: Scheduling) -> Iterator[str]:
    name = "" if found.pod is None else scheduler_name_of(found.pod)
    profile = scheduling.configuration.profile_for(name) if name else None
    if profile is None:
        return
    if RESERVATION not in profile.pre_filters and RESERVATION not in profile.reserves:
        yield f"{name} does not run the plugin Reservation: it treats the Reservation as nothing"
    elif RESERVATION not in profile.reserves:
        yield (
            f"the configuration of {name} does not enable Reservation under reserve: pods get its room, and it is never"
            " marked as used"
        )


def owner_text(owner: ReservationOwner) -> str:
    """Such as `pods with app in (ranker)`, or `pods of ReplicaSet shop/web-1`: all that is stated is required."""
    parts = [
        "" if owner.object is None else _object_text(owner.object),
        "" if owner.controller is None else _controller_text(owner.controller, owner.controller_namespace),
        "" if owner.selector is None else _selector_text(owner.selector),
    ]
    return ", and ".join(filter(None, parts)) or "all pods"


def _object_text(stated: ObjectReference) -> str:
    if stated.api_version:
        return f"no pod (object.apiVersion {stated.api_version} matches none)"
    name = "/".join(filter(None, (stated.namespace, stated.name)))
    uid = f"uid {stated.uid}" if stated.uid else ""
    where = f"pods of namespace {stated.namespace}" if stated.namespace and not stated.name else f"pod {name}".strip()
    return " with ".join(filter(None, (where, uid))) if name or uid else "all pods"


def _controller_text(stated: Owner, namespace: str) -> str:
    name = "/".join(filter(None, (namespace, stated.name)))
    lead = "pods controlled by" if stated.controller else "pods of"
    uid = f"with uid {stated.uid}" if stated.uid else ""
    return " ".join(filter(None, (lead, stated.kind or "owner", name, uid)))


def _selector_text(selector: LabelSelector) -> str:
    if selector.nothing:
        return "no pod (the labelSelector cannot be read)"
    if selector.is_empty:
        return "all pods"
    return f"pods with {' and '.join(map(requirement_text, selector.requirements))}"


_MOST_OWNERS = 10


def _table(explanation: ReservationExplanation, style: TableStyle) -> Iterator[str]:
    """What it holds, who may use it, who uses it, which pods wait for it, and why it is pending."""
    facts = explanation.facts
    yield from _facts_table(facts, style)
    rows = [_resource(each) for each in explanation.resources]
    yield from style.table(["RESOURCE", "RESERVED", "USED", "FREE FOR OWNERS"], rows)
    rows = [
        [each.type, str(each.minor), short_amounts_text(each.reserved), short_amounts_text(each.free)]
        for each in explanation.devices
    ]
    yield from style.table(["DEVICE", "MINOR", "RESERVED", "FREE FOR OWNERS"], rows)
    rows = [
        [
            each.pod.namespace,
            each.pod.name,
            each.node or "does not exist",
            "status.currentOwners alone" if each.is_listed else "its annotation",
            amounts_text(each.requests.items()),
        ]
        for each in explanation.users
    ]
    yield from style.table(["NAMESPACE", "POD THAT USES IT", "NODE", "BY", "REQUESTS"], rows)
    yield from waiting_table(explanation.waiting, style)
    yield from style.notes(explanation.notes)
    if explanation.placement is not None:
        yield from placement_table(explanation.placement, style, f"the Reservation {facts.name}")


def _facts_table(facts: ReservationFacts, style: TableStyle) -> Iterator[str]:
    yield from style.heading(printable(f"Reservation {facts.name}"))
    policy = facts.allocate_policy or "default"
    once = "true" if facts.allocate_once else "false"
    ends = "never" if facts.ends_at is None else f"{facts.ends_at:%Y-%m-%dT%H:%M:%SZ}"
    row = [facts.phase, facts.node or "", facts.scheduler, once, policy, ends, ", ".join(facts.taints) or "none"]
    yield from style.table(["PHASE", "NODE", "SCHEDULER", "ALLOCATE ONCE", "POLICY", "EXPIRES", "TAINTS"], [row])
    owned = f" ({counted(facts.num_owned_pods, 'pod')})"
    more = [f"{len(facts.owners) - _MOST_OWNERS:,} more"] if len(facts.owners) > _MOST_OWNERS else []
    named = "; or ".join([*facts.owners[:_MOST_OWNERS], *more])
    who = named + owned if named else "no pod (spec.owners is empty)"
    yield from style.labelled({"For": printable(who)})
    yield ""


def _resource(each: ReservedResource) -> list[str]:
    left = "holds nothing" if each.free is None else amount_text(each.resource, each.free)
    return [each.resource, amount_text(each.resource, each.reserved), amount_text(each.resource, each.used), left]


SUBJECT = Explained(
    ReservationExplanation, lambda asked: Answer(_explain(asked.name, asked.snapshot, asked.scheduling())), _table
)
