"""Generated pods that use what only koord-scheduler knows, alone or in gangs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.e2e.kube_api import Object
from tests.e2e.peers.koord_landings.world import NAMESPACE, QUOTA_LEAVES, koord_pod

CLASSES = ("gpu", "rdma", "quota", "gang", "reservation", "cpus")
_KOORD = "koordinator.sh"
_HINT = "scheduling.koordinator.sh/device-allocate-hint"
_JOINT = "scheduling.koordinator.sh/device-joint-allocate"
_PARTITION = "scheduling.koordinator.sh/gpu-partition-spec"
_AFFINITY = "scheduling.koordinator.sh/reservation-affinity"
_GANG = "gang.scheduling.koordinator.sh"
_GROUP = "pod-group.scheduling.sigs.k8s.io"


@dataclass(frozen=True, slots=True)
class Arrival:
    """Pods of one class that are created together, after the objects they need (`companions`)."""

    kind: str
    pods: Sequence[Object]
    companions: Sequence[Object] = ()


def make_arrivals(seed: int, num_pods: int, num_reservations: int) -> list[Arrival]:
    """At least `num_pods` pods, of each class as many, in random order; the same arguments give the same ones."""
    rng = Random(f"pods {seed}")
    arrivals: list[Arrival] = []
    for kind in CLASSES:
        number = 0
        while number < num_pods / len(CLASSES):
            arrival = _make(rng, kind, number, num_reservations)
            arrivals.append(arrival)
            number += len(arrival.pods)
    rng.shuffle(arrivals)
    return arrivals


def _make(rng: Random, kind: str, number: int, num_reservations: int) -> Arrival:
    name = f"{kind}-{number:03}"
    if kind == "gang":
        return _gang(rng, name)
    if kind == "reservation":
        return Arrival(kind, [_owner(rng, name, num_reservations)])
    make: Callable[[Random, str], Object] = {"gpu": _gpu, "rdma": _rdma, "quota": _quota, "cpus": _cpus}[kind]
    return Arrival(kind, [make(rng, name)])


def _gpu(rng: Random, name: str) -> Object:
    return koord_pod(name, {"cpu": "500m", **_gpus(rng)}, annotations=_gpu_hints(rng))


def _gpus(rng: Random) -> dict[str, str]:
    share = str(rng.choice((10, 25, 30, 50, 60, 100)))
    core, ratio, memory, shared = (
        f"{_KOORD}/{each}" for each in ("gpu-core", "gpu-memory-ratio", "gpu-memory", "gpu.shared")
    )
    return rng.choice(
        [
            {"nvidia.com/gpu": rng.choice("11248")},
            {f"{_KOORD}/gpu": rng.choice(("25", "50", "100", "200", "400"))},
            {core: share, ratio: share},
            {core: rng.choice(("20", "50")), ratio: share},
            {core: "200", ratio: "200"},
            {ratio: share},
            {memory: f"{rng.choice((2, 8, 15, 40))}Gi"},
            {core: "30", memory: f"{rng.choice((4, 12))}Gi"},
            {shared: "2", core: "100", ratio: "60"},
            {shared: "2", memory: "16Gi"},
            rng.choice(({core: "50"}, {f"{_KOORD}/gpu": "150"})),  # that is not allowed
        ]
    )


def _gpu_hints(rng: Random) -> dict[str, str]:
    hint: Object = {}
    if rng.random() < 0.25:
        hint["requiredTopologyScope"] = rng.choice(("Device", "PCIe", "NUMANode", "Node"))
    if rng.random() < 0.15:
        hint["selector"] = {"matchLabels": {"half": rng.choice(("low", "high"))}}
    marks = {_HINT: json.dumps({"gpu": hint})} if hint else {}
    if rng.random() < 0.1:
        marks[_PARTITION] = json.dumps({"allocatePolicy": rng.choice(("BestEffort", "Restricted"))})
    return marks


def _rdma(rng: Random, name: str) -> Object:
    amount = rng.choice(("5", "10", "25", "50", "100", "200"))
    resources = {"cpu": "500m", f"{_KOORD}/rdma": amount}
    annotations = {}
    if rng.random() < 0.4:
        resources |= {"nvidia.com/gpu": rng.choice("112")}
        joint: Object = {"deviceTypes": ["gpu", "rdma"]}
        if rng.random() < 0.5:
            joint["requiredScope"] = "SamePCIe"
        annotations[_JOINT] = json.dumps(joint)
    elif rng.random() < 0.5:
        hint: Object = rng.choice(({"vfSelector": {}}, {"allocateStrategy": "ApplyForAll"}))
        annotations[_HINT] = json.dumps({"rdma": hint})
        if hint.get("allocateStrategy"):
            resources[f"{_KOORD}/rdma"] = "5"
    return koord_pod(name, resources, annotations=annotations)


def _cpus(rng: Random, name: str) -> Object:
    """A pod that is pinned to CPUs; unless a policy is required, it asks for so few that there are enough."""
    policy = rng.choice(("", "FullPCPUs", "FullPCPUs", "SpreadByPCPUs"))
    spec = {"requiredCPUBindPolicy": policy} if policy else {"preferredCPUExclusivePolicy": "PCPULevel"}
    number = rng.choice((2, 3, 4, 6, 8)) if policy else 1
    return koord_pod(
        name,
        {"cpu": str(number)},
        labels={f"{_KOORD}/qosClass": rng.choice(("LSR", "LSE"))},
        annotations={"scheduling.koordinator.sh/resource-spec": json.dumps(spec)},
    )


def _quota(rng: Random, name: str) -> Object:
    labels = {"quota.scheduling.koordinator.sh/name": rng.choice((*QUOTA_LEAVES, *QUOTA_LEAVES, "unknown"))}
    if rng.random() < 0.2:
        labels["quota.scheduling.koordinator.sh/preemptible"] = "false"
    cpu, memory = rng.choice((1, 1, 2, 3)), rng.choice((1, 2, 4))
    return koord_pod(name, {"cpu": str(cpu), "memory": f"{memory}Gi"}, labels=labels)


def _gang(rng: Random, name: str) -> Arrival:
    size = rng.randint(2, 5)
    least = rng.choice((size, size, size, size - 1, size + 1))
    resources = rng.choice(
        [
            {"cpu": rng.choice(("1", "3"))},
            {"cpu": "1", f"{_KOORD}/gpu": rng.choice(("50", "100", "200"))},
            {"cpu": "1", "nvidia.com/gpu": rng.choice("14")},
            {"cpu": "20"},
        ]
    )
    if rng.random() < 0.4:
        marks: dict[str, Any] = {
            "annotations": {f"{_GANG}/name": name, f"{_GANG}/min-available": str(least), **_policy(rng)}
        }
        return Arrival("gang", [koord_pod(f"{name}-{each}", resources, **marks) for each in range(size)])
    group = {
        "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": NAMESPACE, "annotations": _policy(rng)},
        "spec": {"minMember": least, "scheduleTimeoutSeconds": 600},
    }
    pods = [koord_pod(f"{name}-{each}", resources, labels={_GROUP: name}) for each in range(size)]
    return Arrival("gang", pods, [group])


def _policy(rng: Random) -> dict[str, str]:
    policy = rng.choice(("", "once-satisfied", "only-waiting", "waiting-and-running"))
    return {f"{_GANG}/match-policy": policy} if policy else {}


def _owner(rng: Random, name: str, num_reservations: int) -> Object:
    """A pod that may use one of the Reservations: less than it holds, or more."""
    number = rng.randrange(num_reservations)
    resources = {"cpu": str(rng.choice((1, 1, 2, 4, 9))), "memory": f"{rng.choice((1, 2, 4))}Gi"}
    if rng.random() < 0.2:
        resources |= {f"{_KOORD}/gpu": rng.choice(("50", "100"))}
    annotations = {}
    if rng.random() < 0.5:
        affinity: Object = rng.choice(
            ({"name": f"r{number:02}"}, {"reservationSelector": {"reservation": f"r{number:02}"}})
        )
        annotations[_AFFINITY] = json.dumps(affinity)
    return koord_pod(name, resources, labels={"owner": f"r{number:02}"}, annotations=annotations)
