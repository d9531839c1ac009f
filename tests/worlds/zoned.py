"""Clusters in three uneven zones, whose pods keep apart and have budgets: one too large, one with nodes too full.

Half of the nodes are in the first zone, three tenths in the second, and the rest in the third. Sizes of pods have a
heavy tail. 22 % of the workloads have at most one pod on each node, 20 % are spread evenly over the zones. Three of ten
have a PodDisruptionBudget, and three of ten of these allow no eviction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from descheduler.optimizer.arrays import Bools, Floats, Ints
from tests.e2e.kube_api import Object
from tests.e2e.objects import ZONE, disruption_budget, namespace, pod
from tests.e2e.stored_workloads import ready_node, replica_set, running_pod, stored_uid
from tests.worlds.arrays import NODE_SHAPES, draw_utilisation

_NAMESPACE = "shop"
_ZONE_SHARES = (0.5, 0.3, 0.2)
_PODS_A_NODE = 9
_STEP = np.array([50, 64])
_ANTI_AFFINE_SHARE, _SPREAD_SHARE = 0.22, 0.2
_BUDGET_SHARE, _CLOSED_SHARE = 0.3, 0.3
_FULL_ENOUGH, _MOST_MISSES = 0.95, 400


@dataclass(frozen=True, slots=True, eq=False)
class ZonedWorld:
    """Nodes and the pods of workloads.

    capacity: int64[N, 2], CPU in milli and memory in MiB.
    zone:     int64[N].
    need:     int64[W, 2], what a pod of each workload requests.
    apart, spread: bool[W], workloads with one pod a node at most, and with zones that differ by one pod at most.
    budget:   int64[W], how many pods of each may be evicted; -1: any number.
    workload, node: int64[P], of each pod.
    """

    capacity: Ints
    zone: Ints
    need: Ints
    apart: Bools
    spread: Bools
    budget: Ints
    workload: Ints
    node: Ints

    def objects(self) -> Iterator[Object]:
        """The cluster as an API server has it."""
        yield {**namespace(_NAMESPACE), "status": {"phase": "Active"}}
        for number, (cpu, memory) in enumerate(self.capacity.tolist()):
            zone = f"zone-{'abc'[int(self.zone[number])]}"
            yield ready_node(node_name(number), cpu=f"{cpu}m", memory=f"{memory}Mi", zone=zone)
        for workload in range(len(self.need)):
            yield from self._pods(workload)

    def _pods(self, workload: int) -> Iterator[Object]:
        name, places = f"web-{workload:04}", self.node[self.workload == workload].tolist()
        owner = self._owner(workload, name, len(places))
        yield owner
        for number, place in enumerate(places):
            made = running_pod(owner, number, node_name(place))
            yield {**made, "metadata": {**made["metadata"], "uid": stored_uid("pod", made["metadata"]["name"])}}
        if (allowed := int(self.budget[workload])) >= 0:
            made = disruption_budget(name, _NAMESPACE, maxUnavailable=allowed)
            status = {"currentHealthy": len(places), "desiredHealthy": len(places) - allowed}
            made["metadata"]["generation"] = 1
            made["status"] = {
                **status,
                "disruptionsAllowed": allowed,
                "expectedPods": len(places),
                "observedGeneration": 1,
            }
            yield made

    def _owner(self, workload: int, name: str, replicas: int) -> Object:
        cpu, memory = self.need[workload].tolist()
        selector = {"matchLabels": {"app": name}}
        spec: dict[str, Any] = {}
        if self.apart[workload]:
            term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
            spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        if self.spread[workload]:
            even = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
            spec["topologySpreadConstraints"] = [even]
        made = pod(name, _NAMESPACE, cpu=f"{cpu}m", memory=f"{memory}Mi", **spec)
        template = {"metadata": {"labels": made["metadata"]["labels"]}, "spec": made["spec"]}
        return replica_set(name, _NAMESPACE, replicas=replicas, template=template)


def make_zoned_world(*, nodes: int, seed: int, mean_ratio: float) -> ZonedWorld:
    """Nodes of which up to a third to five thirds of `mean_ratio` is used, some of it less: their shapes differ."""
    rng = np.random.default_rng(seed)
    capacity = NODE_SHAPES[rng.integers(len(NODE_SHAPES), size=nodes)]
    return _filled(rng, capacity, np.clip(mean_ratio * rng.uniform(1 / 3, 5 / 3, (nodes, 1)), 0.05, 0.95))


def make_uneven_zoned_world(*, nodes: int, seed: int, mean_ratio: float) -> ZonedWorld:
    """15 % of nodes use 75-92 % of CPU or memory. Of the fuller resource, nodes use `mean_ratio` on average."""
    rng = np.random.default_rng(seed)
    capacity = NODE_SHAPES[rng.integers(len(NODE_SHAPES), size=nodes)]
    return _filled(rng, capacity, draw_utilisation(rng, nodes, mean_ratio))


def _filled(rng: np.random.Generator, capacity: Ints, goal: Floats) -> ZonedWorld:
    """Workloads until CPU or memory of all nodes together is used as far as `goal` says: float64[N, 1 or 2], in 0-1."""
    nodes = len(capacity)
    zone = np.searchsorted(np.cumsum(_ZONE_SHARES)[:-1], (np.arange(nodes) + 0.5) / nodes)
    room = (capacity * goal).astype(np.int64)
    wanted = room.sum(axis=0)
    found, misses = list[tuple[Ints, float, list[int]]](), 0
    while (room.sum(axis=0) > (1 - _FULL_ENOUGH) * wanted).all() and misses < _MOST_MISSES:
        sized = wanted / nodes / _PODS_A_NODE * rng.lognormal(-0.6, 1.1) * rng.uniform(0.7, 1.4, 2) * 0.98**misses
        need = np.maximum(np.round(sized / _STEP), 1).astype(np.int64) * _STEP
        kind = float(rng.random())
        places = _places(rng, room, zone, need, kind)
        if len(places) < 2:
            misses += 1
            continue
        np.subtract.at(room, places, need)
        found.append((need, kind, places))
    kinds = np.array([kind for _, kind, _ in found])
    sizes = np.array([len(places) for _, _, places in found])
    allowed = np.where(rng.random(len(found)) < _CLOSED_SHARE, 0, np.maximum(sizes // 4, 1))
    return ZonedWorld(
        capacity,
        zone,
        np.array([need for need, _, _ in found]),
        kinds < _ANTI_AFFINE_SHARE,
        kinds >= 1 - _SPREAD_SHARE,
        np.where(rng.random(len(found)) < _BUDGET_SHARE, allowed, -1),
        np.repeat(np.arange(len(found)), sizes),
        np.concatenate([places for _, _, places in found]),
    )


def _places(rng: np.random.Generator, room: Ints, zone: Ints, need: Ints, kind: float) -> list[int]:
    """Nodes for up to twenty pods of a workload, in its zones in turn where it is spread."""
    left, places, first = room.copy(), list[int](), int(rng.integers(len(_ZONE_SHARES)))
    for number in range(int(rng.integers(3, 21))):
        is_open: Bools = np.asarray((left >= need).all(axis=1))
        if kind < _ANTI_AFFINE_SHARE:
            is_open[places] = False
        if kind >= 1 - _SPREAD_SHARE:
            is_open &= zone == (first + number) % len(_ZONE_SHARES)
        if not is_open.any():
            break
        place = int(rng.choice(np.flatnonzero(is_open)))
        left[place] -= need
        places.append(place)
    return places


def node_name(number: int) -> str:
    """Of the node at that place of the arrays."""
    return f"node-{number:04}"


def node_number(name: str) -> int:
    """The place in the arrays of the node of that name."""
    return int(name.rsplit("-", 1)[1])
