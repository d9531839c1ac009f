"""Tiny clusters as dumps: 4 to 8 nodes and up to 25 pods, some under budgets, some that keep apart from each other."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.builders import Object, node_object, owner, pod_object, required_anti_affinity

__all__ = ["CAPACITY", "PRICE", "TinyPod", "TinyWorld", "make_tiny_world"]

CAPACITY = 10
"""CPUs of a node."""
PRICE = "example.com/price"
"""The label with what a node costs."""
_OLD = {"pool": "old"}
_SIZES, _PENDING_SIZES = (1, 1, 2, 2, 3, 4), (3, 4, 5, 6)
_MOST_PODS, _MOST_PENDING = 25, 4
_APPS = "abcde"


@dataclass(frozen=True)
class TinyPod:
    """A pod that requests whole CPUs; `node` is empty for one that is pending."""

    name: str
    app: str
    need: int
    node: str


@dataclass(frozen=True)
class TinyWorld:
    """`prices` of all nodes, of which `old` ones are cordoned, pods, how many of an app may be evicted, and which keep
    apart from each other."""

    prices: Mapping[str, int]
    old: Sequence[str]
    pods: Sequence[TinyPod]
    allowed: Mapping[str, int]
    apart: frozenset[str]

    def on(self, node: str) -> list[TinyPod]:
        """The pods of a node."""
        return [pod for pod in self.pods if pod.node == node]

    def objects(self) -> Iterator[Object]:
        """The cluster as an API server has it; each pod has an owner of its own."""
        for name, price in self.prices.items():
            labels = {PRICE: str(price), **(_OLD if name in self.old else {})}
            yield node_object(name, cpu=str(CAPACITY), labels=labels, unschedulable=name in self.old)
        for pod in self.pods:
            yield from _owned(pod, is_apart=pod.app in self.apart)
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


def _owned(pod: TinyPod, *, is_apart: bool) -> Iterator[Object]:
    labels = {"app": pod.app}
    reference = owner(f"ReplicaSet/{pod.name}")
    made = pod_object(
        pod.name,
        cpu=str(pod.need),
        node=pod.node,
        phase="Running" if pod.node else "Pending",
        ready=bool(pod.node),
        labels=labels,
        owners=[reference],
        affinity=required_anti_affinity(labels) if is_apart else None,
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


def make_tiny_world(seed: int, *, has_old: bool, has_pending: bool) -> TinyWorld:
    """Half of the nodes are old where it `has_old` ones; it is nearly full where it `has_pending` pods."""
    rng = random.Random(f"tiny world {seed}")
    names = [f"n{number}" for number in range(rng.randint(4, 5 if has_pending else 8))]
    free, pods = dict.fromkeys(names, CAPACITY), list[TinyPod]()
    apart = frozenset(app for app in _APPS if rng.random() < 0.3)
    for number in range(rng.randint(30, 60) if has_pending else rng.randint(8, _MOST_PODS)):
        size, node, app = rng.choice(_SIZES), rng.choice(names), rng.choice(_APPS)
        is_alone = all(pod.app != app for pod in pods if pod.node == node)
        if size <= free[node] and (is_alone or app not in apart) and len(pods) < _MOST_PODS:
            free[node] -= size
            pods.append(TinyPod(f"{app}{number}", app, size, node))
    allowed = {app: rng.randint(0, 3) for app in _APPS if rng.random() < 0.4}
    if has_pending:
        number_pending = rng.randint(1, _MOST_PENDING)
        pods += [TinyPod(f"p{number}", "p", rng.choice(_PENDING_SIZES), "") for number in range(number_pending)]
    old = names[: len(names) // 2] if has_old else []
    return TinyWorld({name: rng.randint(1, 4) for name in names}, old, pods, allowed, apart)
