"""Small random clusters in which every strategy finds something to evict, and often nothing to gain."""

from __future__ import annotations

from random import Random

from descheduler.cluster.snapshot import Snapshot
from tests.builders import Object, node_object, pod_object, preferred_node_affinity, required_anti_affinity
from tests.placement.workloads import cluster_of, workload_object

_TAINTS = ("soft:PreferNoSchedule", "other=x:PreferNoSchedule", "hard:NoSchedule")


def random_cluster(seed: int) -> Snapshot:
    """Up to five nodes in up to three zones and tiers, and up to four workloads of up to six pods, anywhere on them."""
    random = Random(seed)
    num_zones = random.randint(1, 3)
    nodes = [_node(f"n{index}", f"z{index % num_zones}", random) for index in range(random.randint(2, 5))]
    workloads = [_workload(f"w{index}", len(nodes), random) for index in range(random.randint(1, 4))]
    return cluster_of(*nodes, *(each for workload in workloads for each in workload))


def _node(name: str, zone: str, random: Random) -> Object:
    return node_object(
        name,
        cpu=random.choice(["2", "4", "8"]),
        memory=random.choice(["4Gi", "8Gi"]),
        labels={"zone": zone, "tier": f"t{random.randint(0, 2)}"},
        taints=[random.choice(_TAINTS)] if random.random() < 0.3 else [],
    )


def _workload(name: str, num_nodes: int, random: Random) -> list[Object]:
    """A ReplicaSet and its pods."""
    labels, num_pods = {"app": name}, random.randint(1, 6)
    affinity, spread = _affinity(labels, random), _spread(labels, random)
    cpu, memory = random.choice(["100m", "300m", "500m", "1"]), random.choice(["64Mi", "512Mi", "1Gi"])

    def pod(pod_name: str, node: str) -> Object:
        return pod_object(
            pod_name,
            node=node,
            cpu=cpu,
            memory=memory,
            labels=labels,
            owners=[f"ReplicaSet/{name}"],
            affinity=affinity,
            spread=spread,
        )

    owner = workload_object(f"ReplicaSet/{name}", replicas=num_pods, template=pod("template", ""))
    return [owner, *(pod(f"{name}-{number}", f"n{random.randrange(num_nodes)}") for number in range(num_pods))]


def _affinity(labels: dict[str, str], random: Random) -> Object | None:
    kind = random.random()
    if kind < 0.4:
        tier = f"t{random.randint(0, 2)}"
        return preferred_node_affinity(("tier", tier, random.randint(1, 100)), ("zone", "z0", random.randint(1, 100)))
    key = random.choice(["kubernetes.io/hostname", "zone", "missing"])
    return required_anti_affinity(labels, key=key) if kind < 0.6 else None


def _spread(labels: dict[str, str], random: Random) -> list[Object]:
    if random.random() < 0.5:
        return []
    return [
        {
            "maxSkew": 1,
            "topologyKey": random.choice(["zone", "kubernetes.io/hostname"]),
            "whenUnsatisfiable": random.choice(["ScheduleAnyway", "DoNotSchedule"]),
            "labelSelector": {"matchLabels": labels},
        }
    ]
