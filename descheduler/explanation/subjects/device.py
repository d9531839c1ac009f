"""The devices of a node, of which Koordinator's Device tells: who has them, and which pods wait for such devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.explanation.asked import Answer, Explained
from descheduler.explanation.finding import UnknownSubjectError, find_key
from descheduler.explanation.scheduling.waiting import Scheduling, WaitingPod, is_pending, waiting_pods, waiting_table
from descheduler.model.koordinator.devices import AllocatedDevices, Amounts, DeviceInfo
from descheduler.model.pod import Pod
from descheduler.model.resource_claims import SLICE_KIND
from descheduler.model.text.amounts import short_amounts_text
from descheduler.model.text.printable import printable
from descheduler.placement.plugins.device_share.device_state import DeviceCache, DeviceState
from descheduler.placement.plugins.device_share.requests import RequestError, device_requests
from descheduler.placement.plugins.reservation.holdings import Holdings
from descheduler.report.document import PodReference
from descheduler.report.identities import reference
from descheduler.report.tables.table_style import TableStyle


class DeviceUser(Fields, frozen=True):
    """Who has a part of a device, by annotation: a pod, or the Reservation of this name; the other one is null."""

    pod: PodReference | None
    reservation: str | None
    resources: Mapping[str, int]


class DeviceFacts(Fields, frozen=True):
    """One device: percent of a device, bytes of `koordinator.sh/gpu-memory`, else pieces.

    `total` is empty for an unhealthy device, and for one that only pods name, which is not `is_listed`. `numa_node`
    and `pcie` are null where they are not stated.
    """

    type: str
    minor: int
    id: str
    is_listed: bool = msgspec.field(name="listed")
    is_healthy: bool = msgspec.field(name="healthy")
    numa_node: int | None
    pcie: str | None
    total: Mapping[str, int]
    free: Mapping[str, int]
    users: tuple[DeviceUser, ...]


class DeviceExplanation(Fields, frozen=True):
    """The devices of the node `node`, by type and minor.

    `waiting` are pending pods that request devices of such a type; their `message` says why they do not fit on this
    node, or that they do. `notes` say what is unusual about the devices.
    """

    node: str
    devices: tuple[DeviceFacts, ...]
    waiting: tuple[WaitingPod, ...]
    notes: tuple[str, ...]


_Users = Mapping[tuple[str, int], list[DeviceUser]]
"""Device type and minor → who has a part of it."""


def _explain(name: str, snapshot: Snapshot, scheduling: Scheduling) -> DeviceExplanation:
    """The devices of the node called `name`, as the cluster is. Raises UnknownSubjectError."""
    cluster = scheduling.cluster
    cache, index = cluster.follow(DeviceCache), cluster.table.index
    with_devices = [node for node in index if cache.state(index[node]).hardware.is_listed]
    known = {*snapshot.devices, *with_devices}
    if name in index and name not in known and snapshot.objects.get(SLICE_KIND):
        text = f"no Device of node {name} in {snapshot.source or 'the snapshot'}"
        raise UnknownSubjectError(f"{text}; devices of resource claims: descheduler explain node/{name}")
    node = find_key("Device or node with devices", snapshot, name, known)
    state = cache.state(index[node]) if node in index else None
    users = _users(node, snapshot, scheduling, cache)
    infos = () if (device := snapshot.devices.get(node)) is None else device.devices
    found = tuple(_devices(infos, state, users))
    types = {each.type for each in found}
    wants = [] if state is None else [pod for pod in snapshot.pods if is_pending(pod) and types & _types_of(pod)]
    return DeviceExplanation(
        node=node,
        devices=found,
        waiting=tuple(waiting_pods(wants, lambda pod: scheduling.why_not_on(pod, node))),
        notes=tuple(_notes(node, infos, state, found)),
    )


def _users(node: str, snapshot: Snapshot, scheduling: Scheduling, cache: DeviceCache) -> _Users:
    users: dict[tuple[str, int], list[DeviceUser]] = {}
    for pod in snapshot.pods_by_node.get(node, ()):
        if not pod.is_terminal:
            for key, resources in _each(cache.held_by(pod)):
                users.setdefault(key, []).append(DeviceUser(pod=reference(pod), reservation=None, resources=resources))
    index = scheduling.cluster.table.index.get(node)
    for held in scheduling.cluster.follow(Holdings).held:
        if held.is_active and held.node == index and held.devices:
            for name, by_minor in held.devices.remaining().items():
                for minor, left in by_minor.items():
                    if any(left.values()):
                        user = DeviceUser(pod=None, reservation=held.name, resources=left)
                        users.setdefault((name, minor), []).append(user)
    return users


def _each(held: AllocatedDevices) -> Iterator[tuple[tuple[str, int], Amounts]]:
    for device_type, entries in held.items():
        for entry in entries:
            yield (device_type, entry.minor), entry.resources


def _devices(infos: Iterable[DeviceInfo], state: DeviceState | None, users: _Users) -> Iterator[DeviceFacts]:
    """The devices of the Device, the last one of a minor, and the devices that only pods name."""
    listed = {(info.type, info.minor): info for info in infos}
    named = set() if state is None else {(kind, minor) for kind, each in state.total.items() for minor in each}
    for device_type, minor in sorted({*listed, *named, *users}):
        info = listed.get((device_type, minor))
        place = None if info is None else info.topology
        own = users.get((device_type, minor), [])
        total = {} if state is None else state.total.get(device_type, {}).get(minor, {})
        yield DeviceFacts(
            type=device_type,
            minor=minor,
            id="" if info is None else info.id,
            is_listed=info is not None,
            is_healthy=info is not None and info.is_healthy,
            numa_node=None if place is None else place.numa_node,
            pcie=None if place is None else place.pcie,
            total=total,
            free=_free(total, state, device_type, minor, own),
            users=tuple(own),
        )


def _free(
    total: Amounts, state: DeviceState | None, device_type: str, minor: int, users: Iterable[DeviceUser]
) -> Amounts:
    """What is left for pods that use none of the Reservations that hold a part."""
    left = {} if state is None else state.free.get(device_type, {}).get(minor, {})
    held: Counter[str] = Counter()
    for user in users:
        if user.reservation is not None:
            held.update(user.resources)
    return {name: max(0, left.get(name, 0) - held[name]) for name in total}


def _types_of(pod: Pod) -> set[str]:
    """The types of devices that `pod` requests; none where its request makes no sense."""
    try:
        return set(device_requests(pod.spec.requests))
    except RequestError:
        return set()


def _notes(
    node: str, infos: tuple[DeviceInfo, ...], state: DeviceState | None, found: Iterable[DeviceFacts]
) -> Iterator[str]:
    if state is None:
        yield f"node {node} does not exist, so that no pod gets these devices"
    elif not infos:
        yield "there is no Device of this name: its devices are those that pods name in their annotations"
    for (device_type, minor), number in Counter((info.type, info.minor) for info in infos).items():
        if number > 1:
            yield f"{device_type} {minor} is listed {number} times; the last entry counts"
    for each in found:
        if infos and not each.is_listed:
            yield f"{each.type} {each.minor} is not in the Device; a pod names it in its annotation"
    if state is not None and state.hardware.honors_partitions and state.hardware.partitions is not None:
        yield f"GPUs are given out in partitions of {', '.join(map(str, sorted(state.hardware.partitions)))} alone"


def _table(explanation: DeviceExplanation, style: TableStyle) -> Iterator[str]:
    """Each device with what is free of it, who has the rest, and which pods wait for such devices."""
    yield from style.heading(printable(f"Devices of node {explanation.node}"))
    rows = [_device(each, style) for each in explanation.devices]
    header = ["DEVICE", "MINOR", *(["ID"] if style.is_wide else []), "STATE", "NUMA", "PCIE", "TOTAL", "FREE"]
    yield from style.table(header, rows)
    rows = [
        [each.type, str(each.minor), _user(user), short_amounts_text(user.resources)]
        for each in explanation.devices
        for user in each.users
    ]
    yield from style.table(["DEVICE", "MINOR", "USED BY", "AMOUNTS"], rows)
    yield from waiting_table(explanation.waiting, style)
    yield from style.notes(explanation.notes)


def _device(each: DeviceFacts, style: TableStyle) -> list[str]:
    return [
        each.type,
        str(each.minor),
        *([each.id] if style.is_wide else []),
        "not listed" if not each.is_listed else "healthy" if each.is_healthy else "unhealthy",
        "" if each.numa_node is None else str(each.numa_node),
        each.pcie or "",
        short_amounts_text(each.total),
        short_amounts_text(each.free),
    ]


def _user(user: DeviceUser) -> str:
    if user.pod is not None:
        return f"{user.pod.namespace}/{user.pod.name}"
    return f"Reservation {user.reservation}, for its owners"


SUBJECT = Explained(
    DeviceExplanation, lambda asked: Answer(_explain(asked.name, asked.snapshot, asked.scheduling())), _table
)
