"""Small random clusters with pods to evict, as plain facts and as the snapshot that states them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from tests.builders import Object, make_node, make_pod, make_snapshot

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
_APPS = ("web", "db", "job")


@dataclass(frozen=True)
class NodeFacts:
    """A node: `slots` is how many pods it takes, `taint` the value of its only taint, empty for none."""

    name: str
    zone: str
    cpu: int
    slots: int
    taint: str = ""
    is_cordoned: bool = False

    def domain(self, key: str) -> str:
        """The value of a topology key; empty where the node lacks it."""
        return self.name if key == HOSTNAME else self.zone


@dataclass(frozen=True)
class PodFacts:
    """A pod. Terms are (app that is meant, topology key); a spread is (app, topology key, maxSkew)."""

    name: str
    app: str
    cpu: int
    port: int = 0
    tolerates: str = ""
    zone: str = ""
    anti: tuple[str, str] | None = None
    affinity: tuple[str, str] | None = None
    spread: tuple[str, str, int] | None = None


Placed = tuple[tuple[PodFacts, NodeFacts], ...]


@dataclass(frozen=True)
class Instance:
    """A cluster: pods that stay and pods that are evicted together, each with its node."""

    nodes: tuple[NodeFacts, ...]
    stay: Placed
    leave: Placed


def make_instance(seed: int) -> Instance:
    """A random instance; every kind of constraint is in a good share of them."""
    random = Random(seed)
    zones = ("a", "b") if random.random() < 0.8 else ("a", "b", "")
    nodes = tuple(
        NodeFacts(
            f"n{index}",
            random.choice(zones),
            random.randint(2, 6),
            random.choice((1, 2, 3, 10)),
            random.choice(("", "", "", "gpu")),
            random.random() < 0.15,
        )
        for index in range(random.randint(2, 4))
    )
    flavours = random.sample(("anti", "affinity", "spread", "port", "zone"), random.randint(0, 3))
    templates = [_template(random, flavours) for _ in range(random.randint(1, 3))]
    leave = [(_pod(f"v{i}", random.choice(templates)), random.choice(nodes)) for i in range(random.randint(1, 4))]
    stay = [(_pod(f"s{i}", random.choice(templates)), random.choice(nodes)) for i in range(random.randint(0, 3))]
    return Instance(nodes, tuple(stay), tuple(leave))


def snapshot_of(instance: Instance) -> Snapshot:
    """The cluster as Kubernetes objects would describe it."""
    nodes = [
        make_node(
            node.name,
            cpu=str(node.cpu),
            pods=str(node.slots),
            labels={ZONE: node.zone} if node.zone else {},
            taints=[f"pool={node.taint}:NoSchedule"] if node.taint else [],
            unschedulable=node.is_cordoned,
        )
        for node in instance.nodes
    ]
    return make_snapshot(nodes, [_model_pod(pod, node) for pod, node in (*instance.stay, *instance.leave)])


def victims_of(instance: Instance, snapshot: Snapshot) -> list[Pod]:
    """The pods that leave, in order."""
    by_name = {pod.name: pod for pod in snapshot.pods}
    return [by_name[pod.name] for pod, _ in instance.leave]


def _template(random: Random, flavours: Sequence[str]) -> dict[str, Any]:
    def wanted(flavour: str) -> bool:
        return flavour in flavours and random.random() < 0.6

    app, key = random.choice(_APPS), random.choice((HOSTNAME, ZONE))
    return {
        "app": app,
        "cpu": random.choice((0, 1, 1, 2, 3)),
        "tolerates": random.choice(("", "", "gpu")),
        "port": 80 if wanted("port") else 0,
        "zone": random.choice(("a", "b")) if wanted("zone") and random.random() < 0.4 else "",
        "anti": (random.choice((app, random.choice(_APPS))), key) if wanted("anti") else None,
        "affinity": (random.choice((app, random.choice(_APPS))), key) if wanted("affinity") else None,
        "spread": (random.choice((app, app, random.choice(_APPS))), key, random.choice((1, 1, 2)))
        if wanted("spread")
        else None,
    }


def _pod(name: str, template: dict[str, Any]) -> PodFacts:
    return PodFacts(name=name, **template)


def _model_pod(pod: PodFacts, node: NodeFacts) -> Pod:
    return make_pod(
        pod.name,
        node=node.name,
        labels={"app": pod.app},
        owners=[f"ReplicaSet/{pod.name}"],
        node_selector={ZONE: pod.zone} if pod.zone else None,
        tolerations=[{"key": "pool", "value": pod.tolerates, "effect": "NoSchedule"}] if pod.tolerates else [],
        affinity=_affinity(pod),
        spread=_spread(pod),
        spec={"containers": [_container(pod)]},
    )


def _container(pod: PodFacts) -> Object:
    return {
        "name": "main",
        "resources": {"requests": {"cpu": str(pod.cpu)}} if pod.cpu else {},
        "ports": [{"containerPort": pod.port, "hostPort": pod.port, "protocol": "TCP"}] if pod.port else [],
    }


def _spread(pod: PodFacts) -> list[Object]:
    if pod.spread is None:
        return []
    app, key, max_skew = pod.spread
    selector = {"matchLabels": {"app": app}}
    constraint = {"maxSkew": max_skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return [constraint | {"labelSelector": selector}]


def _affinity(pod: PodFacts) -> Object | None:
    found = {}
    for name, term in (("podAntiAffinity", pod.anti), ("podAffinity", pod.affinity)):
        if term:
            selector = {"labelSelector": {"matchLabels": {"app": term[0]}}, "topologyKey": term[1]}
            found[name] = {"requiredDuringSchedulingIgnoredDuringExecution": [selector]}
    return found or None
