"""The workloads of the shop: which pods stand where, and what is wrong with some of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["Deployment", "StatefulSet", "DaemonSet"]
Features = frozenset[str]


@dataclass(frozen=True)
class Failure:
    """A pod that a kubelet gave up, and that its owner has replaced long ago."""

    node: int
    reason: str


@dataclass(frozen=True)
class Workload:
    """A workload with a pod on each of `nodes`, numbers of workers; one that is named twice holds two.

    `restarts` tells by position which pods keep crashing, and how often they restarted. Of `features`, `spread` keeps
    zones even, `apart` keeps the pods of all such workloads on different hosts, `general` asks for the pool of that
    name, `scratch` uses local storage, `port` takes a port of the host, and `critical` is system-critical.
    """

    namespace: str
    name: str
    nodes: tuple[int, ...]
    cpu_milli: int = 250
    memory_mib: int = 512
    kind: Kind = "Deployment"
    features: Features = frozenset()
    budget: int | None = None
    """`minAvailable` of its PodDisruptionBudget; None for no budget."""
    restarts: Mapping[int, int] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    claim_gib: int = 0
    """Size of the volume of each pod, which is bound to the zone of the pod's node; 0 for none."""


_EVERYWHERE = tuple(range(1, 17))
BARE_POD = ("blog", "debug-shell", 5)
"""Namespace, name and node of a pod that nothing owns."""

WORKLOADS = (  # workers 15 and 16 are new, and hold nothing but DaemonSets
    Workload("kube-system", "kube-proxy", _EVERYWHERE, 100, 128, "DaemonSet", frozenset({"critical"})),
    Workload("kube-system", "coredns", (5, 10), 100, 128, features=frozenset({"critical"}), budget=1),
    Workload("monitoring", "node-exporter", _EVERYWHERE, 100, 64, "DaemonSet", frozenset({"port"})),
    Workload("monitoring", "prometheus", (4, 13), 500, 4096, "StatefulSet", claim_gib=200),
    # Zone a holds twice as many as each of the others.
    Workload("shop", "frontend", (1, 4, 7, 10, 13, 1, 2, 8, 11, 3, 6, 12), 400, features=frozenset({"spread"})),
    Workload("shop", "cart", (1, 2, 3, 4, 6, 8), budget=5),
    # Worker 9 was moved to another pool under its pods.
    Workload("shop", "checkout", (9, 9, 10, 11), 300, features=frozenset({"general"}), budget=3),
    Workload("shop", "accounts", (4, 9, 14), 700, features=frozenset({"general"})),
    # Two of three crash: the budget allows nothing.
    Workload("shop", "payments", (6, 12, 13), 300, budget=2, restarts={0: 214, 1: 148}),
    Workload("shop", "search", (10, 10, 10, 4, 13), 800, 3072),
    # Two caches share worker 2, which neither of them tolerates.
    Workload("shop", "cache-pages", (2, 12), 250, 4096, features=frozenset({"apart"})),
    Workload("shop", "cache-sessions", (2, 11), 250, 4096, "StatefulSet", frozenset({"apart"})),
    # The volume of the second pod is in zone b, whose workers have no room for it.
    Workload("shop", "orders-db", (4, 5, 6), 3000, 12288, "StatefulSet", budget=2, claim_gib=100),
    Workload("shop", "warehouse", (2, 8, 11, 14), 4000, 8192),
    Workload("shop", "pricing", (3, 7, 6), 2000, 4096),
    Workload("shop", "recommend", (3, 7, 13), 2000, 6144),
    Workload("shop", "images", (3, 7, 12), 1500, 2048),
    Workload("shop", "catalog", (1, 3, 7, 14, 14), 300, budget=3),
    Workload("shop", "mailer", (8, 12, 14), 200, restarts={1: 187}),
    # After ten other pods of worker 5, which is as many as the sample policy takes from a node.
    Workload("shop", "stock", (5, 5, 1), 150),
    Workload("blog", "wordpress", (5, 5, 7, 12), 400, 1024),
    Workload("blog", "comments", (5, 6), 200, features=frozenset({"scratch"})),
    Workload("blog", "importer", (5,), 500),
    Workload("batch", "resizer", (5, 5, 5, 5, 5, 5, 5, 1, 8), 200, 256),
    Workload(
        "batch",
        "reporter",
        (1, 10, 13),
        500,
        1024,
        failures=(Failure(3, "Evicted"), Failure(3, "Evicted"), Failure(7, "NodeShutdown"), Failure(12, "Error")),
    ),
)
"""Every workload; what the policy finds in them is said beside the rows."""
