"""The observer: it looks after every API call and after all that happens by itself, and judges by the objects alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tests.faults.faults import Answer
from tests.living.api.server import Call
from tests.living.cluster import LivingCluster
from tests.living.observing.departures import Departures
from tests.living.observing.leftovers import leftovers
from tests.living.observing.promises import Broken, Departure, Limits, Promise
from tests.living.observing.surges import Surges
from tests.living.observing.workloads import LostPods
from tests.living.scheduling.amounts import amounts, as_text
from tests.living.scheduling.quotas import quota_of, used_of
from tests.living.scheduling.rooms import NodeRoom, is_finished
from tests.living.store import Change, Object


class Observer:
    """Watches `cluster` from now on. Only what `agents` do counts against limits, budgets and the like; what a node
    holds, and what a quota, counts whoever is to blame. Two programs at once are two agents."""

    def __init__(
        self,
        cluster: LivingCluster,
        limits: Limits | None = None,
        *,
        patience_seconds: float = 120.0,
        agents: Collection[str] = ("us",),
    ) -> None:
        self.broken: list[Broken] = []
        self._cluster = cluster
        self._store = cluster.store
        self._agents = agents
        self._departures = Departures(cluster.store, limits or Limits(), agents)
        self._surges = Surges(cluster.store, agents)
        self._lost = LostPods(cluster.store, cluster.schedulers, patience_seconds)
        cluster.store.listeners.append(self._see)
        cluster.api.after_call.append(self._look_after)
        cluster.clock.on_tick.append(self._look)

    @property
    def departures(self) -> tuple[Departure, ...]:
        """The pods that the program had leave, in order."""
        return tuple(self._departures.all)

    @property
    def surged(self) -> list[str]:
        """The workloads that the program has scaled up."""
        return self._surges.names

    def next_round(self) -> None:
        """Begins another run on purpose: limits count anew, and replacements may be moved."""
        self._departures.next_round()

    def finish(self, *, settle_seconds: float = 60.0) -> list[Broken]:
        """All broken promises, once `settle_seconds` have passed and nothing may be left over or missing any more."""
        self._cluster.clock.sleep(settle_seconds)
        self._note(self._lost.look(self._departures.owners, is_patient=False), 0)
        self._note(leftovers(self._store), 0)
        self._note(self._surges.left_open(), 0)
        return self.broken

    def assert_kept(self, *, settle_seconds: float = 60.0) -> None:
        """Raises AssertionError with a line for each broken promise."""
        broken = self.finish(settle_seconds=settle_seconds)
        assert not broken, "\n".join(map(str, broken))

    def _see(self, change: Change) -> None:
        self._note(self._surges.note(change), change.call)
        if change.resource.kind != "Pod":
            return
        self._note(self._departures.note(change), change.call)
        pod = change.after
        if pod is not None and pod["spec"].get("nodeName") and not is_finished(pod):
            is_new = change.before is None or not change.before["spec"].get("nodeName")
            if is_new:
                self._look_at_node(pod["spec"]["nodeName"], change.call)
                self._look_at_quota(pod, change.call)

    def _look_after(self, call: Call, answer: Answer) -> None:
        parts = call.request.path.strip("/").split("/")
        if call.request.agent in self._agents and parts[-1] == "eviction" and answer.code == 201:
            pod = self._store.get("pods", parts[-2], parts[-4])
            if pod is not None and "deletionTimestamp" in pod["metadata"]:
                self._note(self._departures.repeated(pod, call.number, self._was_told), call.number)
        self._look()

    def _look(self) -> None:
        self._note(self._lost.look(self._departures.owners), 0)

    def _was_told(self, call: int) -> bool:
        return 200 <= self._cluster.api.delivered.get(call, 0) < 300

    def _look_at_node(self, name: str, call: int) -> None:
        node = self._store.get("nodes", name)
        if node is None:
            self._note([(Promise.CAPACITY, f"a pod was bound to node {name}, which is not there")], call)
            return
        pods = [pod for pod in self._store.all("pods") if pod["spec"].get("nodeName") == name and not is_finished(pod)]
        room = NodeRoom(node, tuple(pods))
        has = room.allocatable
        for resource, nano in sorted(room.requested.items()):
            if nano > has.get(resource, 0) and nano:
                text = f"the pods on node {name} request {as_text(nano)} {resource}"
                self._note([(Promise.CAPACITY, f"{text}, and it has {as_text(has.get(resource, 0))}")], call)

    def _look_at_quota(self, pod: Object, call: int) -> None:
        """The quota of a pod that was bound, and those above it; whether a quota is full to begin with is no matter."""
        quotas: Object = {
            found["metadata"]["name"]: found for found in self._store.all("elasticquotas.scheduling.sigs.k8s.io")
        }
        name = quota_of(pod)
        while name in quotas:
            limit, used = amounts(quotas[name]["spec"].get("max")), used_of(self._store, name)
            for resource in sorted(limit):
                if used.get(resource, 0) > limit[resource]:
                    text = f"the pods of ElasticQuota {name} request {as_text(used[resource])} {resource}"
                    self._note([(Promise.QUOTA, f"{text}, and its max is {as_text(limit[resource])}")], call)
            labels = quotas[name]["metadata"].get("labels") or {}
            name = labels.get("quota.scheduling.koordinator.sh/parent", "")

    def _note(self, found: Iterable[tuple[Promise, str]], call: int) -> None:
        at = self._store.clock.monotonic()
        self.broken.extend(Broken(promise, text, call, at) for promise, text in found)
