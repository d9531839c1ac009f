"""Tiny clusters as dumps: 4 to 8 nodes and up to 25 pods, some under budgets, some that keep apart or are spread."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.builders import Object, node_object, owner, pod_object, required_anti_affinity

CAPACITY = 10
"""CPUs of a node."""
PRICE = "example.com/price"
"""The label with what a node costs."""
GPU, NUM_GPUS = "nvidia.com/gpu", 8
"""A resource that pods request whole, and how many of it a node has."""
ZONE = "topology.kubernetes.io/zone"
_OLD = {"pool": "old"}
_SIZES, _PENDING_SIZES, _GPU_SIZES = (1, 1, 2, 2, 3, 4), (3, 4, 5, 6), (0, 1, 1, 2, 4)
_MOST_PODS, _MOST_PENDING = 25, 3
_APPS, _PENDING = "abcde", "p"


@dataclass(frozen=True)
class TinyTraits:
    """What is in a cluster: old nodes, pending pods, pods of an app together although they keep apart, pods that are
    to be spread over two zones and are not, GPUs."""

    has_old: bool = False
    has_pending: bool = False
    breaks_apart: bool = False
    breaks_spread: bool = False
    has_gpus: bool = False


@dataclass(frozen=True)
class TinyPod:
    """A pod that requests whole CPUs and GPUs; `node` is empty for one that is pending."""

    name: str
    app: str
    need: int
    node: str
    gpus: int = 0


@dataclass(frozen=True)
class TinyWorld:
    """`prices` of all nodes, of which `old` ones are cordoned, pods, how many of an app may be evicted, which apps keep
    apart from each other, and which are `spread` over the `zones` of the nodes, if nodes have any."""

    prices: Mapping[str, int]
    old: Sequence[str]
    pods: Sequence[TinyPod]
    allowed: Mapping[str, int]
    apart: frozenset[str]
    zones: Mapping[str, str] = field(default_factory=dict)
    spread: frozenset[str] = frozenset()
    has_gpus: bool = False

    def on(self, node: str) -> list[TinyPod]:
        """The pods of a node."""
        return [pod for pod in self.pods if pod.node == node]

    def with_scheduled(self, nodes: Mapping[str, str]) -> TinyWorld:
        """The same where pending pods are on `nodes` (pod → node), which they do not leave."""
        pods = [replace(pod, node=pod.node or nodes.get(pod.name, "")) for pod in self.pods]
        return replace(self, pods=pods, allowed={**self.allowed, _PENDING: 0})

    def objects(self) -> Iterator[Object]:
        """The cluster as an API server has it; each pod has an owner of its own."""
        for name, price in self.prices.items():
            labels = {PRICE: str(price), **(_OLD if name in self.old else {})}
            labels |= {ZONE: self.zones[name]} if name in self.zones else {}
            yield node_object(
                name,
                cpu=str(CAPACITY),
                labels=labels,
                unschedulable=name in self.old,
                taints=["node.kubernetes.io/unschedulable:NoSchedule"] if name in self.old else (),
                allocatable={GPU: str(NUM_GPUS)} if self.has_gpus else {},
            )
        for pod in self.pods:
            yield from self._owned(pod)
        for app, number in self.allowed.items():
            yield self._budget(app, number)

    def _budget(self, app: str, number: int) -> Object:
        healthy = sum(pod.app == app and bool(pod.node) for pod in self.pods)
        status = {"disruptionsAllowed": number, "currentHealthy": healthy, "desiredHealthy": max(healthy - number, 0)}
        return {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": app, "namespace": "default", "generation": 1},
            "spec": {"selector": {"matchLabels": {"app": app}}, "minAvailable": max(healthy - number, 0)},
            "status": {**status, "expectedPods": healthy, "observedGeneration": 1},
        }

    def _owned(self, pod: TinyPod) -> Iterator[Object]:
        labels = {"app": pod.app}
        reference = owner(f"ReplicaSet/{pod.name}")
        gpus = {GPU: str(pod.gpus)} if pod.gpus else {}
        made = pod_object(
            pod.name,
            cpu=str(pod.need),
            requests=gpus,
            limits=gpus,
            node=pod.node,
            phase="Running" if pod.node else "Pending",
            ready=bool(pod.node),
            labels=labels,
            owners=[reference],
            affinity=required_anti_affinity(labels) if pod.app in self.apart else None,
            spread=[_spread(labels)] if pod.app in self.spread else (),
        )
        spec = {key: value for key, value in made["spec"].items() if key != "nodeName"}
        if not pod.node:
            made["spec"] = spec
        yield made
        yield {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": pod.name, "namespace": "default", "uid": reference["uid"]},
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
            "status": {"replicas": 1, "readyReplicas": int(bool(pod.node))},
        }


def _spread(labels: Mapping[str, str]) -> Object:
    selector = {"matchLabels": dict(labels)}
    return {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}


def make_tiny_world(seed: int, traits: TinyTraits) -> TinyWorld:
    """Half of the nodes are old where it has old ones."""
    rng = random.Random(f"tiny world {seed}")
    has_pending = traits.has_pending
    names = [f"n{number}" for number in range(rng.randint(4, 5 if has_pending else 8))]
    free, pods = dict.fromkeys(names, CAPACITY), list[TinyPod]()
    free_gpus = dict.fromkeys(names, NUM_GPUS)
    apart = frozenset(app for app in _APPS if rng.random() < 0.3)
    for number in range(rng.randint(14, 26) if has_pending else rng.randint(8, _MOST_PODS)):
        size, node, app = rng.choice(_SIZES), rng.choice(names), rng.choice(_APPS)
        gpus = rng.choice(_GPU_SIZES) if traits.has_gpus else 0
        is_alone = traits.breaks_apart or all(pod.app != app for pod in pods if pod.node == node)
        fits = size <= free[node] and gpus <= free_gpus[node]
        if fits and (is_alone or app not in apart) and len(pods) < _MOST_PODS:
            free[node] -= size
            free_gpus[node] -= gpus
            pods.append(TinyPod(f"{app}{number}", app, size, node, gpus))
    allowed = {app: rng.randint(0, 3) for app in _APPS if rng.random() < 0.4}
    if has_pending:
        number_pending = rng.randint(1, _MOST_PENDING)
        pods += [TinyPod(f"p{number}", _PENDING, rng.choice(_PENDING_SIZES), "") for number in range(number_pending)]
    old = names[: len(names) // 2] if traits.has_old else []
    prices = {name: rng.randint(1, 4) for name in names}
    zones = {name: f"z{number % 2}" for number, name in enumerate(names)} if traits.breaks_spread else {}
    spread = frozenset(app for app in _APPS if rng.random() < 0.6) if traits.breaks_spread else frozenset()
    return TinyWorld(prices, old, pods, allowed, apart, zones, spread, traits.has_gpus)
