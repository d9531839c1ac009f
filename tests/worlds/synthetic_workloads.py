"""Workloads of a synthetic cluster: what owns the pods, how large they are and what they ask of a node."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

JsonObject = dict[str, object]

_TRAITS = ("plain", "spread", "anti-affinity", "pool-affinity", "plain", "soft", "plain", "tolerant")


@dataclass(frozen=True, slots=True)
class Workload:
    """A controller and its pods. `kind` is that of the direct owner; `trait` says what its pods ask of a node."""

    index: int
    name: str
    namespace: str
    kind: str
    uid: str
    trait: str
    num_pods: int
    cpu_milli: int
    memory_mib: int
    num_gpus: int
    priority_class: str

    @property
    def pool(self) -> str:
        """The node pool that its pods are for."""
        if self.num_gpus:
            return "gpu"
        return ("general", "memory", "general", "compute", "general")[self.index % 5]


def make_uid(rng: random.Random) -> str:
    """A version 4 UUID."""
    return str(UUID(int=rng.getrandbits(128), version=4))


def make_workloads(num_pods: int, num_nodes: int, rng: random.Random) -> Iterator[Workload]:
    """Workloads with `num_pods` pods in all, DaemonSets first."""
    num_daemons = min(3, num_pods // (4 * num_nodes)) if num_nodes else 0
    index, left = 0, num_pods
    while left > 0:
        if index < num_daemons:
            workload = _daemon_set(index, num_nodes, rng)
        else:
            workload = _workload(index, min(left, rng.randint(20, 60)), rng)
        yield workload
        left -= workload.num_pods
        index += 1


def _daemon_set(index: int, num_nodes: int, rng: random.Random) -> Workload:
    name = ("node-exporter", "log-agent", "csi-node")[index]
    return Workload(
        index, name, "kube-system", "DaemonSet", make_uid(rng), "plain", num_nodes, 50, 64, 0, "system-node-critical"
    )


def _workload(index: int, num_pods: int, rng: random.Random) -> Workload:
    draw = rng.random()
    kind = "ReplicaSet" if draw < 0.80 else "StatefulSet" if draw < 0.92 else "Job" if draw < 0.98 else ""
    num_gpus = 1 if index % 31 == 5 else 0
    suffix = f"-{rng.getrandbits(36):09x}" if kind == "ReplicaSet" else ""
    return Workload(
        index=index,
        name=f"service-{index}{suffix}",
        namespace=f"team-{index % 40:02d}",
        kind=kind,
        uid=make_uid(rng),
        trait=_TRAITS[index % len(_TRAITS)] if kind in ("ReplicaSet", "StatefulSet") else "plain",
        num_pods=min(num_pods, 4) if num_gpus else num_pods,
        cpu_milli=rng.choice((50, 100, 100, 200, 250, 250, 500, 1000)),
        memory_mib=rng.choice((64, 128, 256, 512, 512, 1024, 2048)),
        num_gpus=num_gpus,
        priority_class=rng.choice(("", "", "", "business", "batch")),
    )


def owner_objects(workload: Workload, template: JsonObject) -> dict[str, JsonObject]:
    """Kind → object, for each controller above the workload's pods; they make pods from `template`."""
    metadata: JsonObject = {"name": workload.name, "namespace": workload.namespace, "uid": workload.uid}
    metadata |= {"creationTimestamp": "2025-11-05T09:00:00Z", "labels": {"app": f"service-{workload.index}"}}
    spec: JsonObject = {
        "replicas": workload.num_pods,
        "selector": {"matchLabels": {"app": f"service-{workload.index}"}},
        "template": template,
    }
    status = {"replicas": workload.num_pods, "readyReplicas": workload.num_pods}
    match workload.kind:
        case "ReplicaSet":
            deployment = f"service-{workload.index}"
            # The uid of the Deployment differs from its ReplicaSet's in the last digit group only.
            deployment_uid = f"{workload.uid[:24]}{workload.index:012x}"
            owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": deployment, "uid": deployment_uid}
            return {
                "ReplicaSet": {
                    "metadata": metadata | {"ownerReferences": [owner | {"controller": True}]},
                    "spec": spec,
                    "status": status,
                },
                "Deployment": {
                    "metadata": metadata | {"name": deployment, "uid": deployment_uid},
                    "spec": spec,
                    "status": status,
                },
            }
        case "StatefulSet":
            claim: JsonObject = {
                "metadata": {"name": "data"},
                "spec": {
                    "storageClassName": "gp3",
                    "accessModes": ["ReadWriteOnce"],
                    "resources": {"requests": {"storage": "10Gi"}},
                },
            }
            return {
                "StatefulSet": {
                    "metadata": metadata,
                    "spec": spec | {"volumeClaimTemplates": [claim]},
                    "status": status,
                }
            }
        case "Job":
            return {"Job": {"metadata": metadata, "spec": {"template": template}, "status": {}}}
        case _:
            return {}


def budget_object(workload: Workload) -> JsonObject | None:
    """The budget that covers the workload, for two of five; some allow nothing, one in a hundred is stale."""
    if workload.kind not in ("ReplicaSet", "StatefulSet") or workload.index % 5 not in (0, 2):
        return None
    allowed = 0 if workload.index % 10 == 2 else max(1, workload.num_pods // 5)
    generation = 2 if workload.index % 100 == 0 else 1
    return {
        "metadata": {"name": f"service-{workload.index}", "namespace": workload.namespace, "generation": generation},
        "spec": {"maxUnavailable": allowed, "selector": {"matchLabels": {"app": f"service-{workload.index}"}}},
        "status": {
            "observedGeneration": 1,
            "disruptionsAllowed": allowed,
            "currentHealthy": workload.num_pods,
            "desiredHealthy": workload.num_pods - allowed,
            "expectedPods": workload.num_pods,
        },
    }
