"""The living cluster: its objects, its API, its clock, and everything in it that acts by itself."""

from __future__ import annotations

from collections.abc import Iterable

from descheduler.kube.client import KubeClient
from descheduler.kube.retry import RetryPolicy
from tests.living.acting.actor import Actor
from tests.living.acting.budgets import DisruptionController
from tests.living.acting.kubelet import Kubelets
from tests.living.acting.workloads import DeploymentController, ReplicaSetController, StatefulSetController
from tests.living.api.admission import admitted_priority
from tests.living.api.server import LivingApi
from tests.living.clock import VirtualClock
from tests.living.resources import KOORDINATOR_GROUPS, Resource, by_plural
from tests.living.scheduling.koordinator import KoordScheduler, ReservationController
from tests.living.scheduling.scheduler import Scheduler
from tests.living.store import Object, Store
from tests.living.transport import LivingTransport, Passage


class LivingCluster:
    """A cluster on a virtual clock. Without `has_koordinator` there are neither its CRDs nor koord-scheduler.

    Pods are ready `ready_seconds` after they were bound, and gone `stop_seconds` after they were deleted. Without
    `has_default_scheduler` pods of the default scheduler wait; without `has_reserve_line` koord-scheduler is configured
    as its shipped manifest has it, and nothing uses a Reservation up. Without `acts` nothing happens by itself.
    """

    def __init__(
        self,
        objects: Iterable[Object] = (),
        *,
        seed: int = 0,
        has_koordinator: bool = True,
        has_default_scheduler: bool = True,
        has_reserve_line: bool = True,
        latency_seconds: float = 0.01,
        ready_seconds: float = 2.0,
        stop_seconds: float = 1.0,
        acts: bool = True,
        clock: VirtualClock | None = None,
    ) -> None:
        self.clock = clock or VirtualClock()
        self.store = Store(self.clock, seed)
        absent = frozenset() if has_koordinator else KOORDINATOR_GROUPS
        self.api = LivingApi(self.store, absent=absent, latency_seconds=latency_seconds)
        for name in ("default", "kube-system"):
            self.add({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {}}})
        for item in objects:
            self.add(item)
        self.actors: list[Actor] = []
        self.schedulers: list[Scheduler] = []
        if acts:
            Kubelets(self.store, ready_seconds=ready_seconds, stop_seconds=stop_seconds)
            kinds = (DeploymentController, ReplicaSetController, StatefulSetController, DisruptionController)
            self.actors = [kind(self.store) for kind in kinds]
        if acts and has_default_scheduler:
            self.schedulers.append(Scheduler(self.store, "default-scheduler"))
        if acts and has_koordinator:
            self.actors.append(ReservationController(self.store))
            self.schedulers.append(KoordScheduler(self.store, writes_allocations=has_reserve_line))

    def add(self, item: Object) -> Object:
        """Puts an object into the store as it is, status included, as if it had always been there.

        A pod has the priority of its class, unless it states one.
        """
        namespace = item["metadata"].get("namespace")
        if namespace and self.store.get("namespaces", namespace) is None:
            self.add({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": {}}})
        if item["kind"] == "Pod" and "priority" not in item["spec"]:
            priority = admitted_priority(self.store, item["metadata"]["name"], item["spec"])
            item = {**item, "spec": {**item["spec"], **priority}}
        return self.store.add(_resource_of(item), item)

    def remove(self, item: Object) -> None:
        """Takes the object with this kind and name away."""
        metadata = item["metadata"]
        self.store.remove(_resource_of(item), (metadata.get("namespace", ""), metadata["name"]))

    def get(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """The object, None when there is none; `kind` is a plural such as `pods` or `reservations.scheduling…`."""
        return self.store.get(kind, name, namespace)

    def all(self, kind: str) -> list[Object]:
        """The objects of a kind by namespace and name."""
        return self.store.all(kind)

    def pods(self, app: str = "", *, node: str | None = None) -> list[Object]:
        """The pods by namespace and name: those with the label `app`, if one is given, on the node, if one is given."""
        return [
            pod
            for pod in self.all("pods")
            if app in ("", (pod["metadata"].get("labels") or {}).get("app"))
            and node in (None, pod["spec"].get("nodeName", ""))
        ]

    def nodes_of(self, app: str) -> list[str]:
        """Where the pods with the label `app` are, sorted; "" for a pod without a node."""
        return sorted(pod["spec"].get("nodeName", "") for pod in self.pods(app))

    def set_ready(self, node: str, *, is_ready: bool) -> None:
        """Has a node fail, or come back: its condition, and the taint that the node controller sets."""
        value, taint = str(is_ready), {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}

        def change(found: Object) -> None:
            kept = [known for known in found["spec"].get("taints", ()) if known["key"] != taint["key"]]
            found["spec"]["taints"] = kept if is_ready else [*kept, taint]
            found["status"]["conditions"] = [{"type": "Ready", "status": value}]

        with self.store.acting("node controller"):
            self.store.edit("nodes", node, "", change)

    def pause_scheduling(self, *, is_paused: bool = True) -> None:
        """Has the schedulers stop, or go on."""
        for scheduler in self.schedulers:
            scheduler.is_paused = is_paused
            scheduler.wake(0.0)

    def transport(self, *, agent: str = "us", passage: Passage | None = None) -> LivingTransport:
        """A way to the API for `agent`; what goes through `passage` may meet faults."""
        return LivingTransport(self.api, agent=agent, passage=passage)

    def client(self, *, agent: str = "us", passage: Passage | None = None) -> KubeClient:
        """A client on such a transport, whose waits let time pass."""
        retry = RetryPolicy(sleep=self.clock.sleep)
        return KubeClient(self.transport(agent=agent, passage=passage), retry=retry)


def _resource_of(item: Object) -> Resource:
    version, kind = item["apiVersion"], item["kind"]
    group = version.rpartition("/")[0]
    plural = {"PodDisruptionBudget": "poddisruptionbudgets", "PriorityClass": "priorityclasses"}.get(kind)
    plural = plural or f"{kind.lower()}{'es' if kind.endswith('s') else 's'}"
    return by_plural(f"{plural}.{group}" if group else plural)
