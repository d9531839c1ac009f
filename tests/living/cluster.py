"""The living cluster: its objects, its API, its clock, and everything in it that acts by itself."""

from __future__ import annotations

from collections.abc import Iterable

from descheduler.kube.client import KubeClient
from descheduler.kube.retry import RetryPolicy
from tests.living.api.server import LivingApi
from tests.living.clock import VirtualClock
from tests.living.resources import KOORDINATOR_GROUPS, Resource, by_plural
from tests.living.store import Object, Store
from tests.living.transport import LivingTransport, Passage

__all__ = ["LivingCluster"]


class LivingCluster:
    """A cluster on a virtual clock. Without `has_koordinator` its CRDs are not served.

    `api_only` leaves the controllers, kubelets and schedulers out: objects stay as they are written.
    """

    def __init__(
        self,
        objects: Iterable[Object] = (),
        *,
        seed: int = 0,
        has_koordinator: bool = True,
        latency_seconds: float = 0.01,
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

    def add(self, item: Object) -> Object:
        """Puts an object into the store as it is, status included, as if it had always been there."""
        namespace = item["metadata"].get("namespace")
        if namespace and self.store.get("namespaces", namespace) is None:
            self.add({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": {}}})
        return self.store.add(_resource_of(item), item)

    def get(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """The object, None when there is none; `kind` is a plural such as `pods` or `reservations.scheduling…`."""
        return self.store.get(kind, name, namespace)

    def all(self, kind: str) -> list[Object]:
        """The objects of a kind by namespace and name."""
        return self.store.all(kind)

    def transport(self, *, agent: str = "us", passage: Passage | None = None) -> LivingTransport:
        """A way to the API for `agent`; what goes through `passage` may meet faults."""
        if passage is None:
            return LivingTransport(self.api, agent=agent)
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
