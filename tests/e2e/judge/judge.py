"""Asks a live scheduler where pods go, one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path

from tests.e2e.binaries import Binaries
from tests.e2e.control_plane import STORE, ControlPlane, running
from tests.e2e.judge.fence import Fence
from tests.e2e.judge.ruling import Ruling, is_bound, read_ruling
from tests.e2e.judge.seats import SchedulerKind
from tests.e2e.judge.store import LiveStore, key_of
from tests.e2e.judge.volume_binder import VolumeBinder
from tests.e2e.judge.watch import Change, Watch, WatchFailedError
from tests.e2e.judge.world import World
from tests.e2e.kube_api import ApiError, Object

_RULING_SECONDS = 60.0
_WORLD_SECONDS = 60.0
_RETRY_SECONDS = 0.01
_FENCED = frozenset(
    {"Node", "Pod", "Namespace", "PersistentVolume", "PersistentVolumeClaim", "StorageClass", "RuntimeClass"}
)
_UNFENCED_SECONDS = 0.3
"""What is allowed for kinds that no pod can prove to have been seen: Service, CSINode and the like."""


class JudgeError(Exception):
    """The scheduler did not rule, or did something that makes its rulings worthless."""


class Judge:
    """A scheduler that is asked about one world at a time (`enter`, then `rule` for each candidate).

    Worlds are written into etcd and candidates go through the API server, with its defaults, admission and validation.
    """

    def __init__(self, plane: ControlPlane, seat: SchedulerKind) -> None:
        self._plane = plane
        self._seat = seat
        self._watch = Watch(plane.api, "/api/v1/pods")
        self._tokens = count(1)
        self._store = LiveStore(plane.etcd_url)
        self._present: list[str] = []
        self._volume_binder = VolumeBinder(plane.api)
        self._binding: dict[str, tuple[Ruling, frozenset[str]]] = {}

    def enter(self, world: World) -> None:
        """Replaces the current world and returns when the scheduler knows the new one.

        Raises JudgeError when it does not in a minute.
        """
        self.settle()
        fence = Fence(f"w{next(self._tokens)}")
        self._store.delete(self._present)
        objects = [*world.stored(), *fence.lasting]
        self._present = [key_of(obj) for obj in objects]
        self._store.write(objects)
        self._store.write(fence.passing)
        self._insist(fence.first_pod, lambda ruling: ruling.node is not None)
        self._store.delete(map(key_of, fence.passing))
        self._insist(fence.second_pod, lambda ruling: ruling.num_nodes == len(world.nodes))
        if any(obj["kind"] not in _FENCED for obj in world.objects):
            time.sleep(_UNFENCED_SECONDS)

    def rule(self, candidate: Object, *, keep: bool = True) -> tuple[Ruling, Object]:
        """The ruling on one pod, and the pod as it was stored.

        A refused pod is deleted before this returns, or it would be tried again. One that landed stays if `keep`.
        Raises ApiError when the API server refuses the pod, JudgeError when there is no ruling in a minute.
        """
        if _claims(candidate) & frozenset().union(*(claims for _, claims in self._binding.values())):
            self.settle()  # whether a claim is bound already must not depend on how fast its volumes are
        dressed = self._seat.dress(candidate)
        for companion in dressed.companions:
            self._plane.api.create(companion)
        started = time.perf_counter()
        stored = self._plane.api.create(dressed.pod)
        ruling, told = self._await(stored)
        if ruling.node is None or not keep:
            for obj in (stored, *dressed.companions):
                self._delete(obj)
            return replace(ruling, seconds=time.perf_counter() - started), stored
        self._present += [key_of(obj) for obj in (stored, *dressed.companions)]
        if not is_bound(told):
            self._binding[stored["metadata"]["uid"]] = (ruling, _claims(candidate))
        return replace(ruling, seconds=time.perf_counter() - started), stored

    def settle(self) -> None:
        """Waits until pods whose volumes are being bound are on their nodes.

        Raises JudgeError when one of them went elsewhere.
        """
        while self._binding:
            kind, pod = self._next_change(", ".join(ruling.pod for ruling, _ in self._binding.values()))
            expected = self._binding.get(pod["metadata"]["uid"])
            if expected is None:
                continue
            if kind == "DELETED" or is_bound(pod):
                self._confirm(kind, pod, expected[0])
                del self._binding[pod["metadata"]["uid"]]

    def rule_all(self, world: World, candidates: Iterable[Object], *, keep: bool = True) -> list[tuple[Ruling, Object]]:
        """Enters the world, rules on the candidates in order, and waits until all that landed are bound."""
        self.enter(world)
        rulings = [self.rule(candidate, keep=keep) for candidate in candidates]
        self.settle()
        return rulings

    def storage(self) -> list[Object]:
        """Claims and volumes as they are now."""
        paths = ("/api/v1/persistentvolumeclaims", "/api/v1/persistentvolumes")
        return [obj for path in paths for obj in self._plane.api.items(path)]

    def close(self) -> None:
        """Ends the judge's connections; the control plane stays."""
        self._watch.close()
        self._volume_binder.close()

    def _confirm(self, kind: str, pod: Object, ruling: Ruling) -> None:
        node = pod["spec"].get("nodeName")
        if kind == "DELETED" or node != ruling.node:
            raise JudgeError(f"{ruling.pod} was to land on {ruling.node} and is {kind.lower()} on {node}")

    def _insist(self, pod: Object, accept: Callable[[Ruling], bool]) -> None:
        deadline = time.monotonic() + _WORLD_SECONDS
        while True:
            ruling, _ = self.rule(pod, keep=False)
            if accept(ruling):
                return
            if time.monotonic() > deadline:
                raise JudgeError(f"{self._seat.name} does not see the world; its last answer: {ruling}")
            time.sleep(_RETRY_SECONDS)

    def _await(self, stored: Object) -> tuple[Ruling, Object]:
        meta = stored["metadata"]
        deadline = time.monotonic() + _RULING_SECONDS
        while time.monotonic() < deadline:
            kind, pod = self._next_change(f"{meta['namespace']}/{meta['name']}")
            changed = pod["metadata"]["uid"]
            if changed in self._binding and is_bound(pod):
                self._confirm(kind, pod, self._binding.pop(changed)[0])
            ruling = read_ruling(pod) if changed == meta["uid"] else None
            if ruling is not None:
                return ruling, pod
        raise JudgeError(f"{self._seat.name} did not rule on {meta['namespace']}/{meta['name']}")

    def _next_change(self, awaited: str) -> Change:
        try:
            return self._watch.next_change()
        except WatchFailedError as error:
            raise JudgeError(f"{self._seat.name} is silent about {awaited}: {error}") from error

    def _delete(self, pod: Object) -> None:
        try:
            self._plane.api.delete(pod, grace_seconds=0)
        except ApiError as error:
            if error.status != 404:
                raise


@contextmanager
def judging(folder: Path, binaries: Binaries, seat: SchedulerKind) -> Iterator[Judge]:
    """A judge on a control plane of its own in `folder`, which ends with it.

    No controller runs beside the scheduler: they would taint nodes without leases and delete pods without owners.
    """
    with running(folder, binaries, parts=STORE) as plane:
        seat.start(plane)
        with closing(Judge(plane, seat)) as judge:
            yield judge


def _claims(pod: Object) -> frozenset[str]:
    namespace = pod["metadata"]["namespace"]
    volumes = pod["spec"].get("volumes", ())
    claims = (volume.get("persistentVolumeClaim") for volume in volumes)
    return frozenset(f"{namespace}/{claim['claimName']}" for claim in claims if claim)
