"""DeviceShare: refuses nodes without the devices that a pod asks for, scores the others, and takes the devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from descheduler.model.annotations import DEVICES_ALLOCATED_ANNOTATION
from descheduler.model.koordinator.devices import GPU, allocation_text
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import PASS, SKIP, PreFilterResult, ReasonBits, Scores
from descheduler.placement.framework.koordinator.matched_reservations import MatchedReservation, nominated_reservations
from descheduler.placement.framework.obstacle import Code, Obstacle, Unchecked
from descheduler.placement.plugins.device_share.answers import KnownAnswers
from descheduler.placement.plugins.device_share.args import DeviceShareArgs
from descheduler.placement.plugins.device_share.device_ledger import NAME, DeviceLedger
from descheduler.placement.plugins.device_share.pod_devices import UnknownTemplatesError
from descheduler.placement.plugins.device_share.pod_on_nodes import PodOnNodes
from descheduler.placement.plugins.device_share.reasons import (
    DeviceReason,
    InvalidRequest,
    UnsupportedModel,
    reasons_in,
)
from descheduler.placement.plugins.device_share.requests import RequestError, device_requests
from descheduler.placement.plugins.helper.normalized_scores import NormalizedScores
from descheduler.placement.plugins.helper.score_arithmetic import MAX_SCORE
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import NO_NODE, Cycle, ShadowCluster, Takings, taken_from

__all__ = ["DeviceShare", "DeviceShareScore", "UnnamedDevices"]

_NO_TEMPLATES = Unchecked("the GPU shared resource templates are not known", "unknown GPU shared resource templates")


class UnnamedDevices:
    """A follower of bound pods that request GPUs and have no annotation, by node: their devices count as free."""

    def __init__(self, cluster: ShadowCluster) -> None:
        del cluster
        self._on: dict[int, dict[str, int]] = {}
        self._asking: dict[int, tuple[object, bool]] = {}

    def on(self, node: int) -> str:
        """The first such pod on a node by name, empty without one."""
        return min(self._on.get(node, ()), default="")

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """It may use any device of the node."""
        del is_terminating
        if node != NO_NODE and self._is_unnamed(pod):
            names = self._on.setdefault(node, {})
            names[pod.key] = names.get(pod.key, 0) + 1

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """It no longer does."""
        del is_terminating
        if node != NO_NODE and self._is_unnamed(pod):
            names = self._on[node]
            names[pod.key] -= 1
            if not names[pod.key]:
                del names[pod.key]

    def fingerprint(self) -> object:
        """All of them."""
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
            return PreFilterResult(Obstacle.of(NAME, Code.UNRESOLVABLE, InvalidRequest(str(error))))
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
            return Obstacle.of(NAME, reason.code, UnsupportedModel(traits.vendor, traits.model))
        return Obstacle.of(NAME, reason.code, reason)

    def patch(self, cycle: Cycle, node: int, takings: Takings) -> Mapping[str, str]:
        """The devices that the pod has."""
        del cycle, node
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
