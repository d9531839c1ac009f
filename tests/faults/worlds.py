"""Small random clusters, and policies that evict many of their pods."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

from tests.faults.history import Limits
from tests.faults.objects import Object, budget, namespace, node, pod, replica_set

NAMESPACES = ("shop", "blog", "data")


@dataclass(slots=True)
class World:
    """A cluster and its policy. `protected` are uids of pods that the policy lets nobody evict; `usage` is what
    Prometheus says of the nodes, when the policy asks it.

    Where a `provider` holds room, it and replacements may go to the nodes `targets`; `has_jobs` says whether the
    cluster has the kinds of Koordinator, `unasked` are uids of pods whose jobs may not go on, `has_lookalikes` and
    `has_broken` say whether there are objects that look like ours, and some that cannot be read. Of
    these `claimed` are the uids of those that have all marks of ours.
    """

    objects: dict[str, list[Object]] = field(default_factory=dict)
    policy: dict[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    protected: frozenset[str] = frozenset()
    usage: dict[str, float] = field(default_factory=dict)
    asks_prometheus: bool = False
    provider: str = ""
    has_jobs: bool = False
    targets: tuple[str, ...] = ()
    unasked: frozenset[str] = frozenset()
    has_lookalikes: bool = False
    has_broken: bool = False
    claimed: frozenset[str] = frozenset()


def draw_world(draw: random.Random) -> World:
    """A cluster in which the policy wants 5 to 50 pods gone."""
    strategy = draw.choices(
        ("taints", "restarts", "age", "duplicates", "load", "prometheus"), weights=(5, 3, 3, 2, 3, 2)
    )[0]
    world = World(asks_prometheus=strategy == "prometheus")
    sources = [f"n{number}" for number in range(1, draw.randint(1, 3) + 1)]
    targets = [f"t{number}" for number in range(1, draw.randint(2, 4) + 1)]
    cpu_milli = draw.choice((4000, 8000, 16000))
    nodes = [node(name, cpu_milli=cpu_milli, is_tainted=strategy == "taints") for name in sources]
    nodes += [node(name, cpu_milli=cpu_milli) for name in targets]
    pods = draw_pods(draw, sources, strategy, cpu_milli, num_pods=draw.choice((5, 8, 12, 20, 30, 50)))
    bystanders, world.protected = _draw_protected(draw, sources)
    world.objects = {
        "/api/v1/nodes": nodes,
        "/api/v1/namespaces": [namespace(name) for name in (*NAMESPACES, "kube-system")],
        "/api/v1/pods": [*pods, *bystanders],
        **owners_of(pods),
        "/apis/policy/v1/poddisruptionbudgets": _draw_budgets(draw, pods),
    }
    world.usage = dict.fromkeys(sources, 0.95) | dict.fromkeys(targets, 0.05)
    _draw_policy(draw, world, strategy)
    return world


def draw_pods(draw: random.Random, sources: list[str], strategy: str, cpu_milli: int, *, num_pods: int) -> list[Object]:
    """Pods on `sources`, of which the strategy wants most gone."""
    share = cpu_milli * len(sources) // num_pods
    is_stateful = draw.random() < 0.25
    pods = []
    for number in range(num_pods):
        app = f"app{number % draw.choice((1, 3, 5))}"
        kind = "StatefulSet" if is_stateful else "ReplicaSet"
        pods.append(
            pod(
                f"p{number}",
                namespace=NAMESPACES[int(app[3:]) % len(NAMESPACES)],
                node=sources[number % len(sources)],
                owner=f"{kind}/{app}",
                app=app,
                cpu_milli=max(10, share if strategy in ("load", "prometheus") else 50),
                restarts=draw.choice((0, 200)) if strategy == "restarts" else 0,
            )
        )
    return pods


def _draw_protected(draw: random.Random, sources: list[str]) -> tuple[list[Object], frozenset[str]]:
    """A bare pod, and a pod of a DaemonSet on a node that is to be left."""
    place = draw.choice(sources)
    bystanders = [
        pod("bare", namespace="shop", node=place, restarts=500, cpu_milli=10),
        pod("agent", namespace="data", node=place, owner="DaemonSet/agent", restarts=500, cpu_milli=10),
    ]
    return bystanders, frozenset(item["metadata"]["uid"] for item in bystanders)


def owners_of(pods: list[Object]) -> dict[str, list[Object]]:
    """The ReplicaSets and StatefulSets of the pods."""
    found: dict[tuple[str, str, str], int] = {}
    for item in pods:
        reference = item["metadata"]["ownerReferences"][0]
        key = reference["kind"], item["metadata"]["namespace"], reference["name"]
        found[key] = found.get(key, 0) + 1
    paths: dict[str, list[Object]] = {"/apis/apps/v1/replicasets": [], "/apis/apps/v1/statefulsets": []}
    for (kind, space, name), replicas in found.items():
        item = replica_set(name, namespace=space, replicas=replicas, kind=kind)
        paths[f"/apis/apps/v1/{kind.lower()}s"].append(item)
    return paths


def _draw_budgets(draw: random.Random, pods: list[Object]) -> list[Object]:
    apps = sorted({(item["metadata"]["namespace"], item["metadata"]["labels"]["app"]) for item in pods})
    return [
        budget(app, namespace=space, allowed=draw.choice((0, 1, 2, 5))) for space, app in apps if draw.random() < 0.3
    ]


def _draw_policy(draw: random.Random, world: World, strategy: str) -> None:
    is_koordinator = draw.random() < 0.3 and not world.asks_prometheus  # it has no metricsProviders
    if is_koordinator:  # MigrationController leaves the pods of other schedulers alone
        for item in world.objects["/api/v1/pods"]:
            item["spec"]["schedulerName"] = "koord-scheduler"
    limits = draw_limits(draw)
    if strategy in ("load", "prometheus"):
        limits = replace(limits, plugin_node=draw.choice((None, 1, 3)))
    world.limits = limits
    name, point, args = strategy_config(strategy, limits)
    configs: list[dict[str, Any]] = [{"name": name, "args": args}] if args else [{"name": name}]
    points = {point: [name]}
    if not is_koordinator and draw.random() < 0.25:
        configs.append({"name": "PlacementVerification", "args": {}})
        points["preevictionfilter"] = ["PlacementVerification"]
    if is_koordinator and draw.random() < 0.6:
        shares = {"maxMigratingPerWorkload": "90%", "maxUnavailablePerWorkload": "90%"}
        configs.append({"name": "MigrationController", "args": {"maxMigratingPerNode": 10} | shares})
    if is_koordinator:
        for config in configs:
            if "args" in config:
                config["args"] = typed(config["name"], config["args"])
    enabled = {
        key: {"enabled": [{"name": plugin} if is_koordinator else plugin for plugin in names]}
        for key, names in points.items()
    }
    world.policy = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration" if is_koordinator else "DeschedulerPolicy",
        "profiles": [{"name": "p", "pluginConfig": configs, "plugins": enabled}],
    }
    if not is_koordinator and draw.random() < 0.5:
        world.policy["evictionFailureEventNotification"] = True
    world.policy |= limits.policy_keys()


def draw_limits(draw: random.Random) -> Limits:
    """Limits that most policies meet."""
    return Limits(
        total=draw.choice((None, 1, 2, 3, 6)),
        node=draw.choice((None, None, 1, 2, 4)),
        namespace=draw.choice((None, None, 1, 2, 4)),
    )


def strategy_config(strategy: str, limits: Limits) -> tuple[str, str, dict[str, Any]]:
    """Plugin, extension point and arguments."""
    args: dict[str, Any]
    per_node = {} if limits.plugin_node is None else {"evictionLimits": {"node": limits.plugin_node}}
    match strategy:
        case "taints":
            return "RemovePodsViolatingNodeTaints", "deschedule", {}
        case "restarts":
            return "RemovePodsHavingTooManyRestarts", "deschedule", {"podRestartThreshold": 100}
        case "age":
            return "PodLifeTime", "deschedule", {"maxPodLifeTimeSeconds": 3600}
        case "duplicates":
            return "RemoveDuplicates", "balance", {}
        case "load":
            args = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 40}} | per_node
            return "LowNodeUtilization", "balance", args
    metrics = {"source": "Prometheus", "prometheus": {"query": "load"}}
    args = {
        "thresholds": {"MetricResource": 20},
        "targetThresholds": {"MetricResource": 40},
        "metricsUtilization": metrics,
    }
    return "LowNodeUtilization", "balance", args | per_node


def typed(plugin: str, args: dict[str, Any]) -> dict[str, Any]:
    """The arguments as a DeschedulerConfiguration has them."""
    return {"apiVersion": "descheduler/v1alpha2", "kind": f"{plugin}Args"} | args
