"""Small random clusters as plain facts, which the observer reads, and as the snapshot that states them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.groups.workloads import Workload
from tests.builders import (
    Object,
    container_status,
    make_node,
    make_pod,
    make_snapshot,
    required_anti_affinity,
    required_node_affinity,
)

CPU = 4000
"""Milli CPU of every node."""

ZONE = "topology.kubernetes.io/zone"
_DISK = "disk"


@dataclass(frozen=True)
class NodeFacts:
    """A node; the taint of a tainted one drives pods away, and none tolerates it."""

    name: str
    zone: str
    has_ssd: bool
    is_tainted: bool


@dataclass(frozen=True)
class PodFacts:
    """A pod. `app` is its ReplicaSet too, empty for a pod without owner; `max_skew` 0 states no spread over zones."""

    namespace: str
    name: str
    node: str
    app: str
    cpu: int
    age: int
    priority: int | None = None
    restarts: int = 0
    is_failed: bool = False
    is_ready: bool = True
    keeps_apart: bool = False
    needs_ssd: bool = False
    max_skew: int = 0

    @property
    def key(self) -> str:
        """Namespace and name."""
        return f"{self.namespace}/{self.name}"

    @property
    def uid(self) -> str:
        """As the builders make it."""
        return f"{self.namespace}-{self.name}"


@dataclass(frozen=True)
class World:
    """A cluster."""

    nodes: tuple[NodeFacts, ...]
    pods: tuple[PodFacts, ...]


@dataclass(frozen=True)
class _App:
    """What all pods of one ReplicaSet have in common."""

    name: str
    namespace: str
    keeps_apart: bool
    needs_ssd: bool
    max_skew: int


def make_world(random: Random) -> World:
    """A cluster of four to seven nodes that are filled very unevenly."""
    nodes = tuple(
        NodeFacts(f"n{number}", f"z{number % 3}", has_ssd=random.random() < 0.6, is_tainted=random.random() < 0.15)
        for number in range(random.randint(4, 7))
    )
    apps = [_make_app(random, number) for number in range(random.randint(1, 5))]
    crowded = random.sample(nodes, k=random.randint(1, 3))
    left = {node.name: CPU for node in nodes}
    pods = []
    for number in range(random.randint(10, 40)):
        node = random.choice(crowded) if random.random() < 0.7 else random.choice(nodes)
        pod = _make_pod(random, random.choice(apps), number, node)
        if pod.cpu <= left[node.name]:
            left[node.name] -= pod.cpu
            pods.append(pod)
    return World(nodes, tuple(pods))


def _make_app(random: Random, number: int) -> _App:
    return _App(
        name=f"app{number}",
        namespace=random.choice("abc"),
        keeps_apart=random.random() < 0.2,
        needs_ssd=random.random() < 0.2,
        max_skew=1 if random.random() < 0.4 else 0,
    )


def _make_pod(random: Random, app: _App, number: int, node: NodeFacts) -> PodFacts:
    is_owned = random.random() < 0.9
    return PodFacts(
        namespace=app.namespace if is_owned else random.choice("abc"),
        name=f"p{number:02}",
        node=node.name,
        app=app.name if is_owned else "",
        cpu=random.randrange(100, 1000, 100),
        age=random.randrange(1000, 9000),
        priority=random.choice((None, None, 0, 5, 10)),
        restarts=random.choice((0, 0, 0, 20)),
        is_failed=random.random() < 0.06,
        is_ready=random.random() < 0.9,
        keeps_apart=is_owned and app.keeps_apart,
        needs_ssd=is_owned and app.needs_ssd,
        max_skew=app.max_skew if is_owned else 0,
    )


def snapshot_of(world: World) -> Snapshot:
    """The cluster as the descheduler reads it."""
    nodes = [
        make_node(
            node.name,
            labels={ZONE: node.zone, **({_DISK: "ssd"} if node.has_ssd else {})},
            taints=["gone=soon:NoSchedule"] if node.is_tainted else [],
        )
        for node in world.nodes
    ]
    return make_snapshot(nodes, [make_pod(pod.name, **_facts(pod)) for pod in world.pods], workloads=_workloads(world))


def _workloads(world: World) -> dict[str, Workload]:
    """A ReplicaSet for each app, which wants as many pods as there are."""
    workloads = {}
    for app, namespace in {(pod.app, pod.namespace) for pod in world.pods if pod.app}:
        replicas = sum(pod.app == app for pod in world.pods)
        workloads[f"replicaset-{app}"] = Workload("ReplicaSet", namespace, app, f"replicaset-{app}", replicas)
    return workloads


def _facts(pod: PodFacts) -> Object:
    """The pod in the words of the builders."""
    labels = {"app": pod.app} if pod.app else {}
    affinity: Object = {}
    if pod.keeps_apart:
        affinity |= required_anti_affinity(labels)
    if pod.needs_ssd:
        affinity |= required_node_affinity(_DISK, "ssd")
    return {
        "namespace": pod.namespace,
        "node": pod.node,
        "cpu": f"{pod.cpu}m",
        "labels": labels,
        "owners": [f"ReplicaSet/{pod.app}"] if pod.app else [],
        "phase": "Failed" if pod.is_failed else "Running",
        "ready": pod.is_ready and not pod.is_failed,
        "priority": pod.priority,
        "age": pod.age,
        "affinity": affinity or None,
        "containers": [container_status(pod.restarts)],
        "spread": _spread(pod, labels),
        "scheduler": "koord-scheduler",
    }


def _spread(pod: PodFacts, labels: Object) -> Sequence[Object]:
    if not pod.max_skew:
        return ()
    selector = {"matchLabels": labels}
    stated = {"maxSkew": pod.max_skew, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    return [{**stated, "labelSelector": selector}]
