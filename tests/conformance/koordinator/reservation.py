"""Cases about Reservations: koord-scheduler placed one pod after another beside Reservations, on simulated nodes."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.needs import landing_annotations
from descheduler.placement.plugins.reservation.holdings import HeldReservation, Holdings
from descheduler.placement.plugins.reservation.ledgers import Use, state_of
from descheduler.placement.plugins.reservation.plugin import ReservationReason
from descheduler.placement.plugins.reservation.pod_protocol import OwnerMatch
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.koord_scheduler import KOORD_KUBE_VERSION, MANIFEST
from descheduler.placement.shadow.shadow_cluster import NO_NODE, Cycle

_REQUEST = SnapshotRequest(annotations=landing_annotations())
_NO_MATCH = ReservationReason.NO_MATCH.reason


def _profile() -> SchedulerProfile:
    """The manifest's, with Reservation as the first plugin of `reserve`, as in the recorded runs."""
    document = copy.deepcopy(dict(MANIFEST))
    document["profiles"][0]["plugins"]["reserve"]["enabled"].insert(0, {"name": "Reservation"})
    return load_scheduler_configuration(document, version=KOORD_KUBE_VERSION, plugins=PLUGINS).profiles[0]


def check(case: Mapping[str, Any]) -> str | None:
    """What differs in the pods' nodes, the Reservations that they use, the messages and the Reservations at the end."""
    return next(_Play(case).differences(), None)


class _Play:
    def __init__(self, case: Mapping[str, Any]) -> None:
        self._case = case
        placed = case["expect"]["placed"]
        reservations = [_with_status(each, placed[each["metadata"]["name"]]) for each in case["reservations"]]
        snapshot = snapshot_from_objects([*case["nodes"], *reservations, *case["pods"]], _REQUEST)
        self._pods = {pod.key: pod for pod in snapshot.pods}
        self._cluster = shadow_cluster_of(snapshot, PLUGINS, KOORD_KUBE_VERSION)
        self._scheduler = Scheduler(self._cluster, _profile(), plugins=PLUGINS)
        self._held: Sequence[HeldReservation] = self._cluster.follow(Holdings).held
        self._owners: dict[str, list[Pod]] = {}

    def differences(self) -> Iterator[str]:
        for expected in self._case["expect"]["pods"]:
            if found := self._placed(self._pods[expected["pod"]], expected):
                yield f"pod {expected['pod']}: {found}"
                return
            # A Reservation that waits is tried again when something was bound.
            for held in self._held:
                if held.node == NO_NODE:
                    self._place_reserve_pod(held)
        for held in self._held:
            if found := self._at_the_end(held, self._case["expect"]["reservations"][held.name]):
                yield f"Reservation {held.name}: {found}"

    def _placed(self, pod: Pod, expected: Mapping[str, Any]) -> str:
        names = self._cluster.table.names
        evaluation = self._scheduler.evaluate(pod)
        choice = evaluation.choose()
        if choice is None or expected["node"] is None:
            if choice is not None:
                return f"placed on {names[choice.node]}, expected none: {expected['message']}"
            if expected["node"] is not None:
                return f"not placed ({_message(evaluation)}), expected {expected['node']}"
            missing = _parts(expected["message"]) ^ _parts(_message(evaluation))
            return f"message {_message(evaluation)!r}, expected {expected['message']!r}" if missing else ""
        ties = [names[node] for node in choice.ties]
        if expected["node"] not in ties:
            return f"placed on one of {ties}, expected {expected['node']}"
        _take_as_recorded(evaluation, names.index(expected["node"]), expected["reservation"])
        placed = put_on_node(evaluation, names.index(expected["node"])).placed
        used = [taken.held.name for _, taken in placed.takings if isinstance(taken, Use)]
        for name in used:
            self._owners.setdefault(name, []).append(pod)
        return "" if used == [each for each in [expected["reservation"]] if each] else f"uses {used}"

    def _place_reserve_pod(self, held: HeldReservation) -> None:
        evaluation = self._scheduler.evaluate(held.pod)
        choice = evaluation.choose()
        if choice is not None:
            put_on_node(evaluation, choice.node)

    def _at_the_end(self, held: HeldReservation, expected: Mapping[str, Any]) -> str:
        owners = sorted(pod.name for pod in self._owners.get(held.name, ()))
        node = "" if held.node == NO_NODE else self._cluster.table.names[held.node]
        phase = "Pending" if held.node == NO_NODE else "Available" if held.is_active else "Succeeded"
        found = {"node": node, "phase": phase, "owners": owners}
        wanted = {**{name: expected[name] for name in found}, "owners": sorted(expected["owners"])}
        return "" if found == wanted else f"{found}, expected {wanted}"


def _take_as_recorded(evaluation: PodEvaluation, node: int, name: str | None) -> None:
    """Of equally good Reservations the recorded one is used."""
    state = state_of(evaluation.cycle)
    if state is not None and node in state.nominated:
        state.nominated[node] = tuple(sorted(state.nominated[node], key=lambda each: each.name != name))


def _with_status(reservation: Mapping[str, Any], placed: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = {"uid": f"uid of {reservation['metadata']['name']}", **reservation["metadata"]}
    status = {"phase": placed["phase"], "nodeName": placed["node"], "allocatable": placed["allocatable"]}
    return {**reservation, "metadata": metadata, "status": status}


def _message(evaluation: PodEvaluation) -> str:
    """koord-scheduler's event, without how many nodes there are."""
    against = [evaluation.obstacles_on(node) for node in range(len(evaluation.feasible))]
    details = ", ".join(diagnosis(evaluation.cycle))
    if evaluation.refusals or all(_NO_MATCH in _reasons(obstacles) for obstacles in against):
        return f"{_NO_MATCH}. {details}"  # PreFilter refuses the pod, so that no filter is asked
    counts = Counter(reason for obstacles in against for reason in obstacles[0].reasons)
    return ", ".join([*sorted(f"{number} {reason}" for reason, number in counts.items()), details])


def _reasons(obstacles: Iterable[Obstacle]) -> set[str]:
    return {reason for obstacle in obstacles for reason in obstacle.reasons}


def _parts(message: str) -> set[str]:
    """What is compared: after filters the recorder kept what is short and how many Reservations are for the pod."""
    if message.startswith(_NO_MATCH):
        return set(message.replace(". ", ", ").split(", "))
    parts = message.split(", ")
    return {part for part in parts if "matched owner total" in part or re.match(r"[0-9]+ Insufficient", part)}


def diagnosis(cycle: Cycle) -> tuple[str, ...]:
    """What koord-scheduler adds to its event about a pod that fits nowhere (`plugin.go`, makePostFilterReasons).

    That is how many Reservations are for the pod, and what is against these; empty where none is and it needs none.
    """
    state = state_of(cycle)
    if state is None:
        return ()
    owned = [found for _, found in state.matches if found.is_owned]
    if not owned and state.request.affinity is None:
        return ()
    against = (
        OwnerMatch.OTHER_NAME,
        OwnerMatch.AFFINITY,
        OwnerMatch.UNSCHEDULABLE,
        OwnerMatch.NOT_EXACT,
        OwnerMatch.UNTOLERATED,
    )
    counts = ((owned.count(each), each.value) for each in against)
    found = [f"{number} Reservation(s) {words}" for number, words in counts if number]
    return (*found, f"{len(owned)} Reservation(s) matched owner total")
