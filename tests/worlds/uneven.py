"""A cluster whose requests are uneven: some nodes are far over a target that all of them together are under.

The nodes and how full each of them is are those of `arrays.make_balance_world`. The pods are replicas of ReplicaSets,
as etcd holds them, so that on a real control plane each evicted pod gets a replacement.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from descheduler.optimizer.arrays import Floats, Ints
from tests.e2e.kube_api import Object
from tests.e2e.objects import namespace, pod
from tests.e2e.stored_workloads import ready_node, replica_set, running_pod
from tests.worlds.arrays import NODE_SHAPES, draw_utilisation

NAMESPACE = "shop"
TIGHT = 0.62
"""The mean use of CPU and memory at which a target of 70 % leaves little choice."""

_PODS_A_NODE = 22
_STEP = np.array([50, 64])
_ANTI_AFFINE_SHARE, _PINNED_SHARE = 0.4, 0.2
_FULL_ENOUGH, _MOST_MISSES = 0.995, 400


@dataclass(frozen=True, slots=True)
class _Template:
    """What the pods of a workload are: `need` is int64[2], CPU in milli and memory in MiB."""

    name: str
    need: Ints
    is_anti_affine: bool
    is_pinned: bool


def make_uneven_cluster(*, nodes: int, seed: int, mean_ratio: float = TIGHT) -> Iterator[Object]:
    """Some 22 pods a node; 15 % of the nodes use 78-95 % of CPU or memory, the mean over all is `mean_ratio`.

    Two fifths of the workloads have at most one pod on each node. A fifth has pods with local storage, which
    deschedulers do not evict by default.
    """
    rng = np.random.default_rng(seed)
    capacity = NODE_SHAPES[rng.integers(len(NODE_SHAPES), size=nodes)]
    yield {**namespace(NAMESPACE), "status": {"phase": "Active"}}
    for number, (cpu, memory) in enumerate(capacity):
        yield ready_node(_node_name(number), cpu=f"{cpu}m", memory=f"{memory}Mi")
    goal = draw_utilisation(rng, nodes, mean_ratio)
    for template, places in _workloads(rng, capacity, goal):
        owner = _replica_set(template, len(places))
        yield owner
        yield from (running_pod(owner, number, _node_name(place)) for number, place in enumerate(places))


def _workloads(rng: np.random.Generator, capacity: Ints, goal: Floats) -> Iterator[tuple[_Template, list[int]]]:
    """Workloads of 2 to 30 pods and the nodes of these, until all nodes are about as full as `goal` says."""
    room = (capacity * goal).astype(np.int64)
    wanted = room.sum(axis=0)
    number = misses = 0
    while (room.sum(axis=0) > (1 - _FULL_ENOUGH) * wanted).any() and misses < _MOST_MISSES:
        scale = wanted / len(room) / _PODS_A_NODE * 0.99**misses
        template = _draw_template(rng, f"web-{number:04}", scale, room / wanted)
        places = _places(rng, room, capacity, template)
        if len(places) < 2:
            misses += 1
            continue
        np.subtract.at(room, places, template.need)
        yield template, places
        number += 1


def _draw_template(rng: np.random.Generator, name: str, scale: Floats, room: Floats) -> _Template:
    """Pods about as large as `scale`, which lean to CPU or memory as the `room` of some node does, float64[N, 2]."""
    share = room[rng.choice(len(room), p=room.sum(axis=1) / room.sum())]
    leaning = np.clip(share / share.mean(), 0.3, 1.7)
    wanted = scale * rng.lognormal(-0.28, 0.75) * leaning * rng.uniform(0.8, 1.25, 2)
    need = np.maximum(np.round(wanted / _STEP), 1).astype(np.int64) * _STEP
    return _Template(name, need, rng.random() < _ANTI_AFFINE_SHARE, rng.random() < _PINNED_SHARE)


def _places(rng: np.random.Generator, room: Ints, capacity: Ints, template: _Template) -> list[int]:
    """Nodes for the pods of one workload, the likelier the more such pods they have room for."""
    left, places = room.copy(), list[int]()
    for _ in range(int(rng.integers(4, 31))):
        fitting = left // template.need
        chance = fitting.min(axis=1) * (fitting.min(axis=1) / np.maximum(fitting.max(axis=1), 1)) ** 3
        if template.is_anti_affine:
            chance[places] = 0.0
        if not chance.any():
            break
        place = int(rng.choice(len(chance), p=chance / chance.sum()))
        left[place] -= template.need
        places.append(place)
    return places


def _replica_set(template: _Template, replicas: int) -> Object:
    cpu, memory = template.need
    spec: dict[str, Any] = {}
    if template.is_anti_affine:
        term = {"labelSelector": {"matchLabels": {"app": template.name}}, "topologyKey": "kubernetes.io/hostname"}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if template.is_pinned:
        spec["volumes"] = [{"name": "scratch", "emptyDir": {}}]
    made = pod(template.name, NAMESPACE, cpu=f"{cpu}m", memory=f"{memory}Mi", **spec)
    labels = made["metadata"]["labels"]
    return replica_set(
        template.name, NAMESPACE, replicas=replicas, template={"metadata": {"labels": labels}, "spec": made["spec"]}
    )


def _node_name(number: int) -> str:
    return f"node-{number:04}"
