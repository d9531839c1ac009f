"""Rivals of the living cluster, which are at once where they want to be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.living.builders import budget, pod
from tests.living.cluster import LivingCluster
from tests.migration.rivals.world import APP, SOURCE

Object = dict[str, Any]


@dataclass(frozen=True)
class LivingRival:
    """What a rival does in `cluster`, whose clock goes on for as long as it takes controllers to react."""

    cluster: LivingCluster

    def run_pod(self, name: str, cpu: str, node: str) -> None:
        """As `RivalWorld`."""
        self.cluster.add(pod(name, cpu=cpu, on=node))

    def schedule_pod(self, name: str, cpu: str, node: str) -> None:
        """As `RivalWorld`."""
        self.cluster.add(pod(name, cpu=cpu, nodeSelector={"kubernetes.io/hostname": node}))
        self.cluster.clock.sleep(1)

    def edit_node(self, name: str, change: Callable[[Object], object]) -> None:
        """As `RivalWorld`."""
        self._edit("nodes", name, "", change)

    def delete_node(self, name: str) -> None:
        """As `RivalWorld`."""
        self._send("DELETE", f"/api/v1/nodes/{name}")

    def fail_node(self, name: str) -> None:
        """As `RivalWorld`."""
        self.cluster.set_ready(name, is_ready=False)

    def label_pods(self, key: str, value: str) -> None:
        """As `RivalWorld`."""
        for name in self._pods():
            self._edit("pods", name, "shop", lambda found: found["metadata"]["labels"].update({key: value}))

    def delete_pods(self) -> None:
        """As `RivalWorld`."""
        for name in self._pods():
            self._send("DELETE", f"/api/v1/namespaces/shop/pods/{name}")

    def evict_pods(self) -> None:
        """As `RivalWorld`."""
        for name in self._pods():
            self._send("POST", f"/api/v1/namespaces/shop/pods/{name}/eviction")

    def scale(self, replicas: int) -> None:
        """As `RivalWorld`."""
        self._edit("deployments.apps", APP, "shop", lambda found: found["spec"].update(replicas=replicas))
        self.cluster.clock.sleep(2)

    def protect(self, min_available: int) -> None:
        """As `RivalWorld`."""
        self.cluster.add(budget(APP, minAvailable=min_available))
        self.cluster.clock.sleep(1)

    def _pods(self) -> Iterator[str]:
        for found in self.cluster.pods(APP, node=SOURCE):
            yield found["metadata"]["name"]

    def _edit(self, kind: str, name: str, namespace: str, change: Callable[[Object], object]) -> None:
        with self.cluster.store.acting("rival"):
            self.cluster.store.edit(kind, name, namespace, change)

    def _send(self, method: str, path: str) -> None:
        self.cluster.client(agent="rival").send(method, path)
