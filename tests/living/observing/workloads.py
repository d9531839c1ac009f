"""Whether workloads that were touched get their pods back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tests.living.acting.workloads import controller_uid, is_active
from tests.living.observing.promises import Promise
from tests.living.scheduling.scheduler import Placement, Scheduler
from tests.living.store import Object, Store

_KINDS = ("replicasets.apps", "statefulsets.apps")


class LostPods:
    """A workload that has fewer pods on nodes than replicas, for longer than `patience_seconds`, while nothing of it
    is pending that could be placed, has lost pods. Told once a workload, until it is whole again."""

    def __init__(self, store: Store, schedulers: Sequence[Scheduler], patience_seconds: float) -> None:
        self._store = store
        self._schedulers = schedulers
        self._patience_seconds = patience_seconds
        self._since: dict[str, float] = {}
        self._told: set[str] = set()

    def look(self, owners: Iterable[str], *, is_patient: bool = True) -> Iterator[tuple[Promise, str]]:
        """What the controllers with these uids have lost."""
        wanted, now = set(owners), self._store.clock.monotonic()
        for kind in _KINDS if wanted else ():
            for workload in self._store.all(kind):
                uid = workload["metadata"]["uid"]
                if uid in wanted and (text := self._lack(workload)):
                    seconds = now - self._since.setdefault(uid, now)
                    is_over = seconds > self._patience_seconds or not is_patient
                    if is_over and uid not in self._told and not self._could_land(workload):
                        self._told.add(uid)
                        yield Promise.NOTHING_LOST, f"{text} for {seconds:.0f} s, and none that could be placed"
                elif uid in wanted:
                    self._since.pop(uid, None)
                    self._told.discard(uid)

    def _lack(self, workload: Object) -> str:
        replicas = workload["spec"].get("replicas", 1)
        bound = sum(1 for pod in self._pods(workload) if pod["spec"].get("nodeName"))
        metadata = workload["metadata"]
        name = f"{workload['kind']} {metadata['namespace']}/{metadata['name']}"
        return f"{name} has {bound} of {replicas} pods on nodes" if bound < replicas else ""

    def _could_land(self, workload: Object) -> bool:
        pending = [pod for pod in self._pods(workload) if not pod["spec"].get("nodeName")]
        return any(self._finds_node(pod) for pod in pending)

    def _finds_node(self, pod: Object) -> bool:
        uid = pod["metadata"]["uid"]
        for scheduler in self._schedulers:
            if any(other["metadata"]["uid"] == uid for other in scheduler.pending()):
                return isinstance(scheduler.find(pod), Placement)
        return False

    def _pods(self, workload: Object) -> list[Object]:
        owned = self._store.grouped("pods", controller_uid).get(workload["metadata"]["uid"], ())
        return [pod for pod in owned if is_active(pod)]
