"""The live cluster: a control plane with koord-scheduler alone, and words for waiting until it has spoken."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.binaries import Binaries
from tests.e2e.control_plane import STORE, ControlPlane, running
from tests.e2e.judge.ruling import is_bound, read_ruling
from tests.e2e.judge.watch import Watch
from tests.e2e.kube_api import Object, collection_path
from tests.e2e.objects import namespace
from tests.e2e.peers import koordinator
from tests.e2e.peers.koord_landings.engine import Engine, Said, Taken
from tests.e2e.peers.koord_landings.world import NAMESPACE, World

_DEVICES = "scheduling.koordinator.sh/device-allocated"
_RESERVATION = "scheduling.koordinator.sh/reservation-allocated"
_CPUS = "scheduling.koordinator.sh/resource-status"
_API = "/apis/scheduling.koordinator.sh/v1alpha1"
_RULING_SECONDS = 25
_SILENCE_SECONDS = 3
"""How long pods are watched that nobody is expected to say anything about."""


class Outcome:
    """What became of one pod: its `node`, empty for one that stayed Pending, and what it took there.

    One that `is_untried` was put aside before the scheduler looked for a node.
    """

    def __init__(self, pod: Object) -> None:
        ruling = read_ruling(pod)
        self.node: str = pod["spec"].get("nodeName", "")
        self.is_untried = ruling is None
        self.message = "" if ruling is None else ruling.message
        self.taken = _taken(pod)


class Arena:
    """The cluster of one world. The scheduler has seen all of the world before the first pod."""

    def __init__(self, plane: ControlPlane, world: World) -> None:
        self._api = plane.api
        koordinator.install_koordinator(plane)
        self._api.create(namespace(NAMESPACE))
        for node in world.nodes:
            self._api.patch(self._api.create(node), {"spec": {"taints": None}})
        for obj in world.objects:
            self._api.create(obj)
        koordinator.start_scheduler(plane)
        self._pods = Watch(self._api, f"/api/v1/namespaces/{NAMESPACE}/pods")
        self._reservations = Watch(self._api, f"{_API}/reservations")
        self._place(world.reservations)
        self.engine = Engine(plane.kubeconfig, plane.folder / "koord-scheduler.json")

    def admitted(self, pods: Sequence[Object]) -> list[Object]:
        """The pods as the API server would store them."""
        return [self._api.request("POST", f"{collection_path(pod)}?dryRun=All", pod) for pod in pods]

    def create(self, objects: Sequence[Object]) -> list[Object]:
        """The stored objects."""
        return [self._api.create(obj) for obj in objects]

    def outcomes(self, stored: Sequence[Object], expected: Sequence[Said]) -> list[Outcome]:
        """What became of pods, once the scheduler has come to what is expected of each, or does not do so in time.

        A pod that is expected to land may be refused first: the scheduler counts what a quota is asked for on a stream
        of its own, and may look at a pod before it has been counted.
        """
        latest = {pod["metadata"]["uid"]: pod for pod in stored}
        lands = {pod["metadata"]["uid"]: bool(said.node) for pod, said in zip(stored, expected, strict=True)}
        seconds = _RULING_SECONDS if any(said.is_queued for said in expected) else _SILENCE_SECONDS

        def are_ruled() -> bool:
            return all(is_bound(pod) or (_is_refused(pod) and not lands[uid]) for uid, pod in latest.items())

        self._follow(self._pods, latest, are_ruled, seconds)
        self._await_owners(list(latest.values()))
        return [Outcome(pod) for pod in latest.values()]

    def bound_since(self, stored: Sequence[Object]) -> list[str]:
        """The names of those of the pods that have a node now."""
        names = {pod["metadata"]["name"] for pod in stored}
        pods = self._api.pods(NAMESPACE)
        return [
            pod["metadata"]["name"] for pod in pods if pod["metadata"]["name"] in names and pod["spec"].get("nodeName")
        ]

    def delete(self, objects: Sequence[Object]) -> None:
        """Deletes pods at once."""
        for obj in objects:
            self._api.delete(obj, grace_seconds=0)

    def _place(self, reservations: Sequence[Object]) -> None:
        """Creates Reservations and waits until the scheduler has spoken on each."""
        made = {each["metadata"]["uid"]: each for each in self.create(reservations)}
        self._follow(self._reservations, made, lambda: all(_is_settled(each) for each in made.values()), 60)
        self.reservations = made

    def _await_owners(self, pods: Sequence[Object]) -> None:
        """Waits until each Reservation that is used knows of it: the scheduler frees or keeps its room by that."""
        users = {
            pod["metadata"]["uid"]: json.loads(pod["metadata"]["annotations"][_RESERVATION])["uid"]
            for pod in pods
            if _RESERVATION in pod["metadata"].get("annotations", {})
        }

        def are_known() -> bool:
            return all(user in _owners(self.reservations[used]) for user, used in users.items())

        self._follow(self._reservations, self.reservations, are_known, _RULING_SECONDS)

    def _follow(self, watch: Watch, latest: dict[str, Object], is_done: Callable[[], bool], seconds: int) -> None:
        """Keeps the objects in `latest` (by uid) up to date until `is_done`, for as long as that."""
        if is_done():
            return
        for _, obj in watch.changes_within(seconds):
            uid = obj["metadata"]["uid"]
            if uid in latest:
                latest[uid] = obj
                if is_done():
                    return


@contextmanager
def arena(folder: Path, binaries: Binaries, world: World) -> Iterator[Arena]:
    """An arena on a control plane of its own in `folder`, which ends with it.

    No controller runs beside the scheduler: they would taint nodes without leases and delete pods without owners.
    """
    with running(folder, binaries, parts=STORE) as plane:
        yield Arena(plane, world)


def _is_settled(reservation: Object) -> bool:
    status = reservation.get("status", {})
    refused = any(each.get("reason") == "Unschedulable" for each in status.get("conditions") or [])
    return status.get("phase") == "Available" or refused


def _is_refused(pod: Object) -> bool:
    ruling = read_ruling(pod)
    return ruling is not None and ruling.node is None


def _owners(reservation: Object) -> set[str]:
    return {each["uid"] for each in reservation.get("status", {}).get("currentOwners") or []}


def _taken(pod: Object) -> Taken:
    annotations = pod["metadata"].get("annotations", {})
    taken = {
        kind: [str(entry["minor"]) for entry in entries]
        for kind, entries in json.loads(annotations.get(_DEVICES, "{}")).items()
    }
    if cpus := json.loads(annotations.get(_CPUS, "{}")).get("cpuset"):
        taken["cpus"] = [cpus]
    if _RESERVATION in annotations:
        taken["reservation"] = [json.loads(annotations[_RESERVATION])["name"]]
    return taken
