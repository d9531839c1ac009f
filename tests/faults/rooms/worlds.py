"""Clusters whose policy moves pods by jobs, with users' jobs, and with what others have made that looks like ours."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from tests.faults.objects import NOW, Object, budget, namespace, node, pod, replica_set
from tests.faults.rooms.bystanders import Found, broken_objects, claimed_uid, job, lookalikes
from tests.faults.rooms.kinds import CREATED_BY, JOBS, PODS, PRIORITY_CLASS, PRIORITY_CLASSES
from tests.faults.worlds import NAMESPACES, World, draw_limits, draw_pods, owners_of, strategy_config, typed

_PLACES = ("placeholder", "placeholder", "koordinator")
_SOURCES, _TARGETS = ["n1", "n2"], ["t1", "t2", "t3"]
_NUM_FREE = 10
_PHASES = ("", "", "Pending", "Running", "Running", "Running", "Succeed", "Succeeded", "Failed", "Aborted", "Odd")
_OPEN = ("", "Pending", "Running")


def draw_room_world(draw: random.Random) -> World:
    """A cluster in which the policy wants 2 to 8 pods moved, each by a job."""
    provider = draw.choice(_PLACES)
    has_jobs = provider == "koordinator" or draw.random() < 0.5
    strategy = draw.choice(("taints", "taints", "restarts", "age"))
    world = _cluster(draw, strategy, provider, has_jobs=has_jobs, num_pods=draw.choice((2, 3, 5, 8)))
    source, target = _SOURCES[0], _TARGETS[0]
    protected = _protected(source, target)
    _add(world, {PODS: protected.pods} | protected.others)
    guarded = {item["metadata"]["uid"] for item in protected.pods}
    if draw.random() < 0.5:
        found = lookalikes(draw, target, has_jobs=has_jobs)
        guarded |= {item["metadata"]["uid"] for item in found[PODS]}
        _add(world, found)
        world.has_lookalikes = True
    if has_jobs and draw.random() < 0.6:
        _add_users_jobs(draw, world, protected)
    if draw.random() < 0.3:
        broken = broken_objects(draw, has_jobs=has_jobs)
        world.claimed = frozenset(uid for items in broken.values() for uid in map(claimed_uid, items) if uid)
        _add(world, broken)
        world.has_broken = True
    world.protected = frozenset(guarded)
    for item in world.objects[PODS]:  # MigrationController leaves the pods of other schedulers alone
        item["spec"]["schedulerName"] = "koord-scheduler"
    world.limits = draw_limits(draw)
    world.policy = _policy(strategy, world)
    return world


def _cluster(draw: random.Random, strategy: str, provider: str, *, has_jobs: bool, num_pods: int) -> World:
    """Nodes that are to be left and others, with pods of a few workloads, and a provider's PriorityClass."""
    nodes = [node(name, cpu_milli=16000, is_tainted=strategy == "taints") for name in _SOURCES]
    pods = draw_pods(draw, _SOURCES, strategy, 16000, num_pods=num_pods)
    world = World(provider=provider, has_jobs=has_jobs, targets=tuple(_TARGETS))
    world.objects = {
        "/api/v1/nodes": [*nodes, *(node(name, cpu_milli=16000) for name in _TARGETS)],
        "/api/v1/namespaces": [namespace(name) for name in (*NAMESPACES, "kube-system")],
        PODS: pods,
        PRIORITY_CLASSES: [_PLACEHOLDER_CLASS],
        **owners_of(pods),
        "/apis/policy/v1/poddisruptionbudgets": [],
    }
    return world


def small_room_world(draw: random.Random, provider: str, *, has_jobs: bool) -> World:
    """A cluster in which the policy wants two pods moved."""
    world = _cluster(draw, "taints", provider, has_jobs=has_jobs, num_pods=2)
    for item in world.objects[PODS]:
        item["spec"]["schedulerName"] = "koord-scheduler"
    world.policy = _policy("taints", world)
    return world


@dataclass(frozen=True, slots=True)
class _Protected:
    """Pods that nobody may evict, whoever asks for it; `others` are what protects them."""

    pods: list[Object]
    others: Found


def _protected(source: str, target: str) -> _Protected:
    """Some of them are on a node that is to be left, all of them restart often."""
    critical = pod("critical", namespace="kube-system", node=source, owner="ReplicaSet/critical", restarts=500)
    critical["spec"] |= {"priorityClassName": "system-cluster-critical", "priority": 2_000_000_000}
    found = [
        critical,
        pod("bare", namespace="shop", node=source, restarts=500, cpu_milli=10),
        pod("agent", namespace="data", node=source, owner="DaemonSet/agent", restarts=500, cpu_milli=10),
        pod("kept-0", namespace="shop", node=target, owner="StatefulSet/kept", app="kept", cpu_milli=10),
    ]
    found[-1]["metadata"]["labels"]["koordinator.sh/evict-policy"] = "Delete"
    workloads = [
        replica_set("critical", namespace="kube-system", replicas=1),
        replica_set("kept", namespace="shop", replicas=1, kind="StatefulSet"),
    ]
    others = {
        "/apis/apps/v1/replicasets": workloads[:1],
        "/apis/apps/v1/statefulsets": workloads[1:],
        "/apis/policy/v1/poddisruptionbudgets": [budget("kept", namespace="shop", allowed=0)],
    }
    return _Protected(found, others)


def _add_users_jobs(draw: random.Random, world: World, protected: _Protected) -> None:
    """Jobs in every phase over all protected pods, and over pods that no plugin selects."""
    free = [
        pod(f"free-{number}", namespace="shop", node=draw.choice(_TARGETS), owner="ReplicaSet/free", app="free")
        for number in range(_NUM_FREE)
    ]
    for item in free:
        item["metadata"]["creationTimestamp"] = NOW
    unasked: set[str] = set()
    jobs: list[Object] = []
    for number, item in enumerate([*protected.pods, *free]):
        made, may_go = _users_job(draw, f"user-{number}", item)
        jobs += [made]
        unasked |= set() if may_go else {item["metadata"]["uid"]}
    world.unasked = frozenset(unasked)
    owner = replica_set("free", namespace="shop", replicas=_NUM_FREE)
    _add(world, {PODS: free, JOBS: jobs, "/apis/apps/v1/replicasets": [owner]})


def _users_job(draw: random.Random, name: str, item: Object) -> tuple[Object, bool]:
    """A job over the pod, and whether the pod may leave for it."""
    metadata = item["metadata"]
    phase, is_paused = draw.choice(_PHASES), draw.random() < 0.25
    pod_uid = draw.choice((metadata["uid"], metadata["uid"], "", "another-uid"))
    annotations = {"descheduler.koordinator.sh/passed-arbitration": "true"} if draw.random() < 0.2 else {}
    is_claimed = draw.random() < 0.1
    spec: dict[str, Any] = {"paused": True} if is_paused else {}
    spec |= draw.choice(({}, {"mode": "EvictDirectly"}, {"mode": "ReservationFirst"}))
    made = job(
        name,
        draw,
        namespace=metadata["namespace"],
        pod_name=metadata["name"],
        pod_uid=pod_uid,
        phase=phase,
        created=NOW,
        annotations=annotations | ({CREATED_BY: "koord-descheduler"} if is_claimed else {}),
        **spec,
    )
    return made, phase in _OPEN and not is_paused and not is_claimed and pod_uid != "another-uid"


def _policy(strategy: str, world: World) -> dict[str, Any]:
    name, point, args = strategy_config(strategy, world.limits)
    controller = {
        "reservationProvider": world.provider,
        "maxMigratingPerNode": 10,
        # Small workloads are moved too, and several pods of one at the same time.
        "skipEvictionGates": ["ExpectedReplicas", "MaxMigratingPerWorkload", "MaxUnavailablePerWorkload"],
    }
    configs = [
        {"name": name, "args": typed(name, args)} if args else {"name": name},
        {"name": "MigrationController", "args": typed("MigrationController", controller)},
    ]
    profile = {"name": "p", "pluginConfig": configs, "plugins": {point: {"enabled": [{"name": name}]}}}
    policy = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerConfiguration", "profiles": [profile]}
    return policy | world.limits.policy_keys()


def _add(world: World, found: Found) -> None:
    for path, items in found.items():
        world.objects.setdefault(path, []).extend(items)


_PLACEHOLDER_CLASS: Object = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": PRIORITY_CLASS, "uid": PRIORITY_CLASS},
    "value": -1_000_000_000,
    "preemptionPolicy": "Never",
}
