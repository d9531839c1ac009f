"""The rivals of `tests.migration.rivals` on a real control plane: what they do, and a run in which one does it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from descheduler.cycle.options import RunOptions, RunResult
from descheduler.migration.lease_settings import LeaseOptions
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import KubeApi, Object, condition, is_ready, object_path, wait_until
from tests.e2e.objects import BEHAVIOUR, deployment, disruption_budget, node, pod
from tests.e2e.witness import Witness, watched_run
from tests.migration.rivals.table import Rivalry
from tests.migration.rivals.world import APP, SOURCE, TARGETS
from tests.migration.roads.whole_runs import WAYS, policy_of

_GONE = {"spec": {"taints": [{"key": "gone", "value": "soon", "effect": "NoSchedule"}]}}
_OURS = {"labelSelector": "descheduler/jobs-of"}


@dataclass(frozen=True)
class RealRival:
    """What a rival does in `cluster`; each deed is awaited."""

    cluster: Cluster

    def run_pod(self, name: str, cpu: str, node: str) -> None:
        """As `RivalWorld`."""
        self.cluster.create(pod(name, self.cluster.namespace, cpu=cpu, nodeName=node))

    def schedule_pod(self, name: str, cpu: str, node: str) -> None:
        """As `RivalWorld`."""
        made = pod(name, self.cluster.namespace, cpu=cpu, nodeSelector={"kubernetes.io/hostname": node})
        self.cluster.create(made)
        wait_until(f"{name} is scheduled", lambda: self._api.get(made)["spec"].get("nodeName"))

    def edit_node(self, name: str, change: Callable[[Object], object]) -> None:
        """As `RivalWorld`."""
        self._edit(node(name), change)

    def delete_node(self, name: str) -> None:
        """As `RivalWorld`."""
        self._api.delete(node(name))

    def fail_node(self, name: str) -> None:
        """As `RivalWorld`."""
        self._api.patch(node(name), {"metadata": {"annotations": {BEHAVIOUR: "not-ready"}}})
        wait_until(f"{name} is not ready", lambda: condition(self._api.get(node(name)), "Ready") == "False")

    def label_pods(self, key: str, value: str) -> None:
        """As `RivalWorld`."""
        for found in self._pods():
            self._api.patch(found, {"metadata": {"labels": {key: value}}})

    def delete_pods(self) -> None:
        """As `RivalWorld`."""
        for found in self._pods():
            self._api.delete(found)

    def evict_pods(self) -> None:
        """As `RivalWorld`."""
        for found in self._pods():
            self._api.evict(found)

    def scale(self, replicas: int) -> None:
        """As `RivalWorld`."""
        self._api.patch(self._workload, {"spec": {"replicas": replicas}})
        wait_until(f"{replicas} pods are ready", lambda: are_ready(self.cluster, replicas))

    def protect(self, min_available: int) -> None:
        """As `RivalWorld`."""
        budget = disruption_budget(APP, self.cluster.namespace, minAvailable=min_available)
        self.cluster.create(budget)
        wait_until("the budget is known", lambda: self._api.get(budget).get("status", {}).get("observedGeneration"))

    @property
    def _api(self) -> KubeApi:
        return self.cluster.api

    @property
    def _workload(self) -> Object:
        return deployment(APP, self.cluster.namespace)

    def _pods(self) -> list[Object]:
        return [found for found in self.cluster.pods(APP) if found["spec"].get("nodeName") == SOURCE]

    def _edit(self, obj: Object, change: Callable[[Object], object]) -> None:
        found = self._api.get(obj)
        change(found)
        self._api.request("PUT", object_path(obj), found)


def are_ready(cluster: Cluster, number: int) -> bool:
    """Whether the Deployment has so many pods, all ready, and no other."""
    pods = cluster.pods(APP)
    return len(pods) == number and all(map(is_ready, pods))


@dataclass
class _Trigger:
    """Calls `deed` once, right before the nth request of this method whose path ends so."""

    rivalry: Rivalry
    deed: Callable[[], object]
    num_met: int = field(default=0, init=False)

    def __call__(self, method: str, path: str, query: Mapping[str, str]) -> None:
        del query
        if method == self.rivalry.method and path.endswith(self.rivalry.ending):
            self.num_met += 1
            if self.num_met == self.rivalry.nth:
                self.deed()


@dataclass(frozen=True)
class Played:
    """How the run ended, how many of its evictions the API server has granted, and whether the rival came."""

    result: RunResult
    num_granted: int
    came: bool


def play(cluster: Cluster, rivalry: Rivalry) -> Played:
    """A run that would move the one pod of the Deployment, with the rival in between."""
    way = WAYS[rivalry.way]
    facts: dict[str, Any] = {"cpu": "1", "schedulerName": way.scheduler, "terminationGracePeriodSeconds": 1}
    cluster.add_nodes(node(SOURCE))
    cluster.run(deployment(APP, cluster.namespace, **facts))
    cluster.add_nodes(*map(node, TARGETS))
    cluster.api.patch(node(SOURCE), _GONE)
    trigger = _Trigger(rivalry, lambda: rivalry.deed(RealRival(cluster)))
    witness = Witness(cluster.kubeconfig, before=trigger)
    result = watched_run(witness, policy_of(way), RunOptions(lease=LeaseOptions()))
    granted = [exchange for exchange in witness.evictions() if exchange.status_code in (200, 201)]
    return Played(result, len(granted), came=trigger.num_met >= rivalry.nth)


def assert_kept(cluster: Cluster, rivalry: Rivalry, played: Played) -> None:
    """No eviction that was not worth it, and in the end no pod without a node, and nothing held for anybody."""
    told = [f"{outcome.code.value}: {outcome.message}" for outcome in played.result.outcomes]
    assert played.came
    if rivalry.evicted is not None:
        assert played.num_granted == rivalry.evicted, told
    if rivalry.code is not None:
        assert [outcome.code for outcome in played.result.outcomes] == [rivalry.code], told
    wanted = cluster.api.get(deployment(APP, cluster.namespace))["spec"]["replicas"]
    wait_until("all pods have a node", lambda: _all_placed(cluster, wanted))
    assert cluster.api.pods(cluster.namespace, **_OURS) == []


def _all_placed(cluster: Cluster, number: int) -> bool:
    live = [found for found in cluster.pods(APP) if "deletionTimestamp" not in found["metadata"]]
    return len(live) == number and all(found["spec"].get("nodeName") for found in live)
