"""Some nodes of a real cluster drained, by this program or one after the other, and what an observer sees of it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from descheduler.cycle.options import RunOptions
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.run import run_with
from descheduler.policy.load import load_policy
from descheduler.supervision import Watch
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import ApiError, Object, is_ready, wait_until
from tests.e2e.objects import READY_AFTER, deployment, disruption_budget, node
from tests.e2e.witness import Witness

_OLD = {"image": "old"}
_FAST = RunOptions(qps=100.0, burst=100)
_REPLICAS, _MOST_UNAVAILABLE = 20, 2
_MOST_RUNS = 6
_MOST_SECONDS = 600.0
_POLICY = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerConfiguration
profiles:
- name: drain
  pluginConfig:
  - name: MigrationPlanner
    args:
      objectives: [{drainNodes: {nodeSelector: {matchLabels: {image: old}}, maxUnavailable: 2, cordon: true}}]
      timeLimit: 20s
  - name: MigrationController
    args:
      reservationProvider: none
      defaultJobMode: EvictDirectly
      maxMigratingPerNode: 0
      maxMigratingPerWorkload: 2
      maxUnavailablePerWorkload: 2
      objectLimiters: {workload: {duration: 0s}}
  plugins:
    balance: {enabled: [{name: MigrationPlanner}]}
"""


@dataclass
class Drained:
    """What an observer has seen; `num_moved_again` are replacements that were evicted, too.

    `num_there` counts the pods that were on the nodes before. The scheduler breaks ties at random, so that it differs
    from one cluster to the next.
    """

    seconds: float = 0.0
    num_there: int = 0
    num_evictions: int = 0
    num_moved_again: int = 0
    most_pending: int = 0
    num_violations: int = 0
    nodes_in_use: list[str] = field(default_factory=list)

    @property
    def num_needless(self) -> int:
        """Evictions beyond one for each pod that was on the nodes."""
        return self.num_evictions - self.num_there

    @property
    def text(self) -> str:
        """One line of a table."""
        return (
            f"{self.num_evictions} evictions for {self.num_there} pods, {self.num_moved_again} pods moved twice,"
            f" at most {self.most_pending} pending, {self.num_violations} violations of budgets,"
            f" {self.seconds:.0f} s, in use: {self.nodes_in_use or 'none'}"
        )


def filled(cluster: Cluster, *, num_nodes: int, num_old: int, num_apps: int) -> list[str]:
    """Fills nodes with Deployments under budgets; the names of the nodes that are to be drained."""
    zones = "abc"
    step = num_nodes // num_old
    names = [f"{cluster.namespace}-{number:03}" for number in range(num_nodes)]
    cluster.add_nodes(
        *(
            node(name, zone=zones[number % 3], labels=_OLD if number % step == 0 else {})
            for number, name in enumerate(names)
        )
    )
    for number in range(num_apps):
        app, ready = f"app-{number}", {READY_AFTER: "1s"}
        cluster.create(disruption_budget(app, cluster.namespace, maxUnavailable=_MOST_UNAVAILABLE))
        cluster.create(deployment(app, cluster.namespace, replicas=_REPLICAS, cpu="800m", annotations=ready))
    for number in range(num_apps):
        cluster.wait_ready(f"app-{number}", _REPLICAS, timeout_seconds=300.0)
    return names[::step][:num_old]


def drained(cluster: Cluster, nodes: list[str], drain: Callable[[Cluster, list[str]], None]) -> Drained:
    """Has `drain` drain `nodes` while an observer looks on, until every pod is ready again."""
    before = _nodes_in_use(cluster)
    began, seen = time.monotonic(), Drained(num_there=sum(before[name] for name in nodes))
    with _observed(cluster, seen):
        drain(cluster, nodes)
        wait_until("all pods are ready again", lambda: all(map(is_ready, _pods(cluster))), _MOST_SECONDS)
    seen.seconds = time.monotonic() - began
    in_use = _nodes_in_use(cluster)
    seen.nodes_in_use = [name for name in nodes if name in in_use]
    return seen


def drain_in_waves(cluster: Cluster, nodes: list[str]) -> None:
    """Runs of this program, until no pod is left on the nodes."""
    del nodes
    for _ in range(_MOST_RUNS):
        client, policy = Witness(cluster.kubeconfig).client(), load_policy(_POLICY, REGISTRY)
        if not run_with(client, policy, _FAST, Watch(), now=datetime.now(UTC)).outcomes:
            return


def drain_one_by_one(cluster: Cluster, nodes: list[str]) -> None:
    """As a loop of `kubectl drain` does it: cordon a node, evict its pods until all are gone, and so on."""
    for name in nodes:
        cluster.api.patch(node(name), {"spec": {"unschedulable": True}})
        wait_until(f"{name} is drained", partial(_is_drained, cluster, name), _MOST_SECONDS)


def _is_drained(cluster: Cluster, name: str) -> bool:
    """Whether no pod is on the node; those that are were asked to leave, as far as their budgets let them."""
    left = [pod for pod in _pods(cluster) if pod["spec"].get("nodeName") == name]
    for pod in left:
        try:
            if "deletionTimestamp" not in pod["metadata"]:
                cluster.api.evict(pod)
        except ApiError as error:
            if error.status not in (404, 429):
                raise
    return not left


def _pods(cluster: Cluster) -> list[Object]:
    return cluster.api.pods(cluster.namespace)


def _nodes_in_use(cluster: Cluster) -> Counter[str]:
    """Nodes with pods, and how many each has."""
    return Counter(pod["spec"]["nodeName"] for pod in _pods(cluster) if pod["spec"].get("nodeName"))


@contextmanager
def _observed(cluster: Cluster, seen: Drained) -> Iterator[None]:
    """Looks at all pods several times a second; what it counts is in `seen` at the end."""
    over, first, known = threading.Event(), set[str](), set[str]()

    def look() -> None:
        while not over.is_set():
            pods = _pods(cluster)
            there = {pod["metadata"]["uid"] for pod in pods}
            first.update(there if not known else ())
            known.update(there)
            _count(pods, seen)
            over.wait(0.2)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    gone = known - {pod["metadata"]["uid"] for pod in _pods(cluster)}
    seen.num_evictions, seen.num_moved_again = len(gone), len(gone - first)


def _count(pods: list[Object], seen: Drained) -> None:
    ready = Counter(pod["metadata"]["labels"]["app"] for pod in pods if _is_available(pod))
    apps = {pod["metadata"]["labels"]["app"] for pod in pods}
    seen.num_violations += sum(ready[app] < _REPLICAS - _MOST_UNAVAILABLE for app in apps)
    seen.most_pending = max(seen.most_pending, sum(not pod["spec"].get("nodeName") for pod in pods))


def _is_available(pod: Object) -> bool:
    return is_ready(pod) and "deletionTimestamp" not in pod["metadata"]
