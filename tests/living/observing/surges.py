"""Workloads that the program scales up for a while: never below their replicas, and scaled back by who scaled up."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tests.living.acting.workloads import controller_uid
from tests.living.api.evictions import is_ready
from tests.living.observing.promises import Promise
from tests.living.store import Change, Object, Store

_KINDS = ("Deployment", "ReplicaSet")
Found = tuple[Promise, str]


@dataclass
class _Surge:
    """A workload that had `before` replicas. While `is_open` its replicas are those that the program has set."""

    name: str
    before: int
    is_open: bool = True
    is_below: bool = False


class Surges:
    """`agents` are the program. A workload that was scaled up once is watched to the end."""

    def __init__(self, store: Store, agents: Collection[str]) -> None:
        self._store = store
        self._agents = agents
        self._by_uid: dict[str, _Surge] = {}

    @property
    def names(self) -> list[str]:
        """What was scaled up, in order."""
        return [surge.name for surge in self._by_uid.values()]

    def note(self, change: Change) -> Iterator[Found]:
        """Takes a change of a workload or a pod into account, and tells what it breaks."""
        if change.resource.kind in _KINDS and change.before is not None and change.after is not None:
            yield from self._scaled(change, change.before, change.after)
        if change.resource.kind == "Pod":
            yield from self._served()

    def left_open(self) -> Iterator[Found]:
        """What has the replicas of the program to the end."""
        for surge in self._by_uid.values():
            if surge.is_open:
                yield Promise.SCALED_BACK, f"{surge.name} is still scaled up from {surge.before} replicas"

    def _scaled(self, change: Change, before: Object, after: Object) -> Iterator[Found]:
        was, now = before["spec"].get("replicas", 1), after["spec"].get("replicas", 1)
        if was == now:
            return
        uid = after["metadata"]["uid"]
        known = self._by_uid.get(uid)
        name = f"{after['kind']} {change.key[0]}/{change.key[1]}"
        if change.actor not in self._agents:
            if known is not None:
                known.is_open = False
        elif now > was:
            if known is not None and known.is_open:
                yield (
                    Promise.SCALED_BACK,
                    f"{name} was scaled up from {was} to {now} replicas, and was scaled up before",
                )
            self._by_uid[uid] = _Surge(name, was)
        elif known is None or not known.is_open or now != known.before:
            yield Promise.SCALED_BACK, f"{name} was scaled from {was} to {now} replicas, and others had set them"
        else:
            known.is_open = False

    def _served(self) -> Iterator[Found]:
        for uid, surge in self._by_uid.items():
            num_ready = sum(is_ready(pod) and "deletionTimestamp" not in pod["metadata"] for pod in self._pods(uid))
            if num_ready < surge.before and not surge.is_below:
                yield Promise.SERVED, f"{surge.name} has {num_ready} pods that serve, and had {surge.before} replicas"
            surge.is_below = num_ready < surge.before

    def _pods(self, uid: str) -> list[Object]:
        sets = self._store.grouped("replicasets.apps", controller_uid).get(uid, ())
        uids = [uid, *(found["metadata"]["uid"] for found in sets)]
        by_owner = self._store.grouped("pods", controller_uid)
        return [pod for owner in uids for pod in by_owner.get(owner, ())]
