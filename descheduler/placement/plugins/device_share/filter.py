"""DeviceShare: refuses nodes without the devices that a pod asks for, scores the others, and takes the devices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from descheduler.model.annotations import DEVICES_ALLOCATED_ANNOTATION
from descheduler.model.koordinator.devices import GPU, AllocatedDevice, AllocatedDevices, Amounts, allocation_text
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP, PreFilterResult, ReasonBits, Scores
from descheduler.placement.framework.matched_reservations import (
    Allocation,
    MatchedReservation,
    nominated_reservations,
    taken_devices,
)
from descheduler.placement.framework.obstacle import Code, Obstacle, Said
from descheduler.placement.plugins.device_share.allocation import Allocated
from descheduler.placement.plugins.device_share.answers import KnownAnswers, PodOnNodes
from descheduler.placement.plugins.device_share.args import DeviceShareArgs
from descheduler.placement.plugins.device_share.device_state import DeviceAmounts, DeviceCache
from descheduler.placement.plugins.device_share.pod_devices import UnknownTemplatesError
from descheduler.placement.plugins.device_share.reasons import DeviceReason, reasons_in
from descheduler.placement.plugins.device_share.requests import (
    GPU_MEMORY,
    GPU_MEMORY_RATIO,
    WHOLE,
    RequestError,
    device_requests,
)
from descheduler.placement.plugins.helper.scores import MAX_SCORE, NormalizedScores
from descheduler.placement.shadow.follower import CountingFollower
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import NO_NODE, Cycle, ShadowCluster, Takings, taken_from

NAME = "DeviceShare"


class _TakenDevices(NamedTuple):
    """What a pod got of the devices of a node."""

    node: int
    devices: AllocatedDevices


class DeviceLedger:
    """Takes devices out of the cache, and gives them back."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self.cache = cluster.follow(DeviceCache)

    def reserve(self, cycle: Cycle, node: int) -> _TakenDevices | None:
        """Takes the devices that the scheduler would choose on `node`.

        Nothing is taken for a pod that DeviceShare did not look at in the same cycle, nor for a Reservation, which is
        to hold its devices itself. Where Reserve fails after Filter has passed the node, as with joint allocation,
        `cycle.notes` says so.
        """
        reserving = cycle.scratch.get(NAME)
        found = reserving.reserve(node) if isinstance(reserving, PodOnNodes) else None
        if isinstance(found, DeviceReason):
            cycle.notes.append(f"{NAME} must find devices on node {cycle.cluster.table.names[node]} ({found.short})")
        if found is None or isinstance(found, DeviceReason):
            return None
        filled = _with_gpu_memory(found, self.cache.state(node).total.get(GPU, {}))
        taken = _TakenDevices(node, {name: tuple(self._with_ids(node, name, each)) for name, each in filled.items()})
        taken_devices(cycle).update(taken.devices)
        if cycle.keeper is not None:
            return None
        self.restore(taken)
        return taken

    def restore(self, taken: _TakenDevices) -> None:
        self.cache.change(taken.node, taken.devices, 1)

    def release(self, taken: _TakenDevices) -> None:
        self.cache.change(taken.node, taken.devices, -1)

    def allocations(self, taken: _TakenDevices) -> tuple[Allocation, ...]:
        """Each device by its minor."""
        return tuple(
            Allocation(
                NAME, device_type, str(entry.minor), {n: amount for n, amount in entry.resources.items() if amount}
            )
            for device_type, entries in taken.devices.items()
            for entry in entries
        )

    def fingerprint(self) -> object:
        return self.cache.fingerprint()

    def _with_ids(self, node: int, device_type: str, devices: Iterable[AllocatedDevice]) -> Iterator[AllocatedDevice]:
        for each in devices:
            yield msgspec.structs.replace(each, id=self.cache.id_of(node, device_type, each.minor))


def _with_gpu_memory(allocated: Allocated, total: DeviceAmounts) -> Allocated:
    """`allocated` with memory in bytes and in percent on each GPU; `total` is what each GPU has.

    A pod requests one of the two. Source: `fillGPUTotalMem` of `pkg/scheduler/plugins/deviceshare/devicehandler_gpu.go`
    (koordinator 1.8).
    """
    if GPU not in allocated:
        return allocated
    return {**allocated, GPU: tuple(_filled(each, total.get(each.minor, {})) for each in allocated[GPU])}


def _filled(device: AllocatedDevice, total: Amounts) -> AllocatedDevice:
    amounts, memory = device.resources, total.get(GPU_MEMORY, 0)
    if GPU_MEMORY in amounts:
        # In floating point, as there; a card without memory has nothing to share.
        ratio = int(amounts[GPU_MEMORY] / memory * WHOLE) if memory else 0
        amounts = {**amounts, GPU_MEMORY_RATIO: ratio}
    else:
        amounts = {**amounts, GPU_MEMORY: amounts.get(GPU_MEMORY_RATIO, 0) * memory // WHOLE}
    return AllocatedDevice(device.minor, amounts, functions=device.functions, template=device.template)


_NO_TEMPLATES = Said("the GPU shared resource templates are not known", "unknown GPU shared resource templates")


class UnnamedDevices(CountingFollower):
    """A follower of bound pods that request GPUs and have no annotation, by node: their devices count as free."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._on: dict[int, dict[str, int]] = {}
        self._asking: dict[int, tuple[object, bool]] = {}

    def on(self, node: int) -> str:
        """The first such pod on a node by name, empty without one."""
        return min(self._on.get(node, ()), default="")

    def count(self, pod: Pod, node: int, sign: int, *, is_terminating: bool) -> None:
        """A pod that counts may use any device of the node."""
        if node != NO_NODE and self._is_unnamed(pod):
            names = self._on.setdefault(node, {})
            names[pod.key] = names.get(pod.key, 0) + sign
            if not names[pod.key]:
                del names[pod.key]

    def fingerprint(self) -> object:
        return sorted((node, sorted(names)) for node, names in self._on.items() if names)

    def _is_unnamed(self, pod: Pod) -> bool:
        return bool(pod.node_name) and DEVICES_ALLOCATED_ANNOTATION not in pod.annotations and self._asks(pod)

    def _asks(self, pod: Pod) -> bool:
        spec = pod.spec
        known = self._asking.get(id(spec))
        if known is None:
            try:
                asks = GPU in device_requests(spec.requests)
            except RequestError:
                asks = False
            known = self._asking[id(spec)] = (spec, asks)
        return known[1]


class DeviceShare:
    """Refuses nodes whose free devices do not do."""

    name = NAME
    is_static = False

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self.ledger = cluster.ledger(DeviceLedger)
        self._cluster = cluster
        self._answers = KnownAnswers(self.ledger.cache, profile.args.of(DeviceShareArgs))

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Leaves pods alone that ask for no devices, and refuses requests that no node can meet."""
        try:
            answers = self._answers.of(cycle.pod)
        except RequestError as error:
            return PreFilterResult(Obstacle.of(NAME, Code.UNRESOLVABLE, Said.alike(str(error))))
        except UnknownTemplatesError:
            return PreFilterResult(Obstacle.of(NAME, Code.UNDECIDED, _NO_TEMPLATES))
        if answers is None:
            return SKIP
        cycle.scratch[NAME] = PodOnNodes(answers, self.ledger.cache, cycle)
        return PASS

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """The first thing that keeps the pod from getting devices on each node."""
        found = _pod_of(cycle)
        bits = None if found is None else found.bits()
        return bits if bits is not None and bits.any() else None

    def filter_reservation(self, cycle: Cycle, node: int, reservation: MatchedReservation) -> bool:
        """Whether the pod gets its devices with those of the Reservation."""
        found = _pod_of(cycle)
        return found is None or found.gets(node, reservation)

    def score_reservations(self, cycle: Cycle, node: int, reservations: Sequence[MatchedReservation]) -> Sequence[int]:
        """In proportion to the highest one."""
        found = _pod_of(cycle)
        scores = [0 if found is None else found.score(node, each) for each in reservations]
        highest = max(scores, default=0)
        return [MAX_SCORE * score // highest for score in scores] if highest else scores

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The reason, with the model of the GPUs where it is that."""
        reason = reasons_in(bits)[0]
        if reason is DeviceReason.UNSUPPORTED_MODEL:
            traits = self.ledger.cache.state(node).hardware.traits
            said = f'model "{traits.model}" of vendor "{traits.vendor}" does not support GPU Share'
            return Obstacle.of(NAME, reason.code, Said(said, reason.short))
        return Obstacle.of(NAME, reason.code, reason)

    def patch(self, cycle: Cycle, node: int, takings: Takings) -> Mapping[str, str]:
        """The devices that the pod has."""
        taken = taken_from(takings, self.ledger)
        return {} if taken is None else {DEVICES_ALLOCATED_ANNOTATION: allocation_text(taken.devices)}

    def pre_bind(self, cycle: Cycle, node: int) -> tuple[str, ...]:
        """What the scheduler does not see, and what makes it give up although nodes are free."""
        found = _pod_of(cycle)
        if found is None:
            return ()
        return tuple(self._conditions(found, node))

    def _conditions(self, found: PodOnNodes, node: int) -> Iterator[str]:
        names = self._cluster.table.names
        unknown = self._cluster.follow(UnnamedDevices).on(node)
        if unknown and self.ledger.cache.state(node).hardware.is_listed:
            yield f"pod {unknown} on node {names[node]} must not use these devices; no annotation says which it has"
        other = next(found.answers.isolated(), None)
        if other is not None:
            yield f"{NAME} must not look at node {names[other]}, whose GPU isolation provider differs; that is an error"


class DeviceShareScore:
    """Scores nodes by how full the devices of the types asked for are."""

    name = NAME

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._cache = cluster.ledger(DeviceLedger).cache
        self._answers = KnownAnswers(self._cache, profile.args.of(DeviceShareArgs))

    def score(self, cycle: Cycle, feasible: BoolMask) -> Scores | None:
        """Sums over types, in proportion to the highest one.

        Where a Reservation is nominated, it and what nothing holds are scored alone: one without devices gets nothing.
        """
        try:
            answers = self._answers.of(cycle.pod)
        except (RequestError, UnknownTemplatesError):
            return None
        if answers is None:
            return None
        scores = answers.scores()
        nominated = nominated_reservations(cycle)
        if nominated:
            pod = PodOnNodes(answers, self._cache, cycle)
            for node, reservation in nominated.items():
                scores[node] = pod.score(node, reservation)
        return NormalizedScores(scores).among(feasible)


def _pod_of(cycle: Cycle) -> PodOnNodes | None:
    """What PreFilter found out about the pod; None for one that asks for no devices."""
    found = cycle.scratch.get(NAME)
    return found if isinstance(found, PodOnNodes) else None
