"""A generated cluster of koord-scheduler: nodes with devices, a tree of quotas, Reservations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.e2e.kube_api import Object
from tests.e2e.objects import node, pod
from tests.e2e.peers.koordinator import SCHEDULER, SYSTEM_NAMESPACE
from tests.worlds.node_topologies import cpu_layout, topology_object

NAMESPACE = "live"
QUOTA_LEAVES = ("a-web", "a-batch", "b-web", "b-batch", "alone")
_KOORD = "koordinator.sh"
_API = "scheduling.koordinator.sh/v1alpha1"
_QUOTA = "quota.scheduling.koordinator.sh"
_GI = 1 << 30


@dataclass(frozen=True, slots=True)
class World:
    """`objects` are there before the scheduler starts; it then places the `reservations`, of one owner label each."""

    nodes: Sequence[Object]
    objects: Sequence[Object]
    reservations: Sequence[Object]


def make_world(seed: int, num_pods: int) -> World:
    """The cluster of that seed, with room for most of `num_pods` pods; the same arguments give the same one."""
    rng = Random(f"world {seed}")
    made = [_node(rng, f"n{index:02}", gpus, nics) for index, (gpus, nics) in enumerate(_hardware(num_pods))]
    nodes = [each for each, _ in made]
    devices = [device for _, device in made if device is not None]
    cpus = Random(f"cpus {seed}")
    topologies = [_topology(cpus, each["metadata"]["name"]) for each in nodes[::2]]
    return World(
        nodes,
        [*devices, *topologies, *_quotas(num_pods)],
        [_reservation(rng, i) for i in range(max(6, num_pods // 20))],
    )


def koord_pod(name: str, resources: Mapping[str, str], **marks: Any) -> Object:
    """A pod of koord-scheduler; devices and other extended resources are limits as well. `marks` as of `pod`."""
    extended = {key: amount for key, amount in resources.items() if "/" in key}
    made = pod(
        name,
        NAMESPACE,
        cpu=resources.get("cpu", "100m"),
        memory=resources.get("memory", "128Mi"),
        schedulerName=SCHEDULER,
        **marks,
    )
    asked = made["spec"]["containers"][0]["resources"]
    asked["requests"] |= extended
    asked["limits"] = extended
    return made


def _hardware(num_pods: int) -> list[tuple[int, int]]:
    """GPUs and NICs of each node: 20 to 40 nodes."""
    size = max(1, min(2, num_pods // 250))
    return [(8, 4)] * 5 * size + [(4, 0)] * 4 * size + [(0, 2)] * 3 * size + [(0, 0)] * 8


def _node(rng: Random, name: str, gpus: int, nics: int) -> tuple[Object, Object | None]:
    memory = rng.choice((16, 80)) if gpus < 8 else 80
    cards = [_gpu(name, minor, memory, gpus) for minor in range(gpus)]
    cards += [_nic(name, minor, has_functions=not gpus) for minor in range(nics)]
    made = node(name, cpu="32", memory="128Gi", zone=rng.choice("xyz"), resources=_sums(gpus, nics, memory))
    made["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    if not cards:
        return made, None
    metadata = {"name": name, "labels": {"node.koordinator.sh/gpu-model": "H800" if gpus == 8 else "T4"}}
    made["metadata"]["labels"] |= metadata["labels"]
    return made, {"apiVersion": _API, "kind": "Device", "metadata": metadata, "spec": {"devices": cards}}


def _topology(rng: Random, name: str) -> Object:
    """Two sockets of eight cores with two CPUs each, of which many are closed to pods."""
    cpus = cpu_layout(sockets=2, cores=8)
    closed = ",".join(str(cpu) for cpu in range(len(cpus)) if rng.random() < 0.6)
    return topology_object(name, cpus=cpus, kubelet_reserved=closed, reserved="0-1")


def _sums(gpus: int, nics: int, memory: int) -> dict[str, str]:
    sums = {
        "nvidia.com/gpu": gpus,
        f"{_KOORD}/gpu": 100 * gpus,
        f"{_KOORD}/gpu-core": 100 * gpus,
        f"{_KOORD}/gpu-memory-ratio": 100 * gpus,
        f"{_KOORD}/gpu.shared": 100 * gpus,
        f"{_KOORD}/gpu-memory": gpus * memory * _GI,
        f"{_KOORD}/rdma": 100 * nics,
    }
    return {name: str(amount) for name, amount in sums.items() if amount}


def _gpu(name: str, minor: int, memory: int, gpus: int) -> Object:
    resources = {"gpu-core": "100", "gpu-memory-ratio": "100", "gpu-memory": f"{memory}Gi"}
    return {
        "type": "gpu",
        "id": f"GPU-{name}-{minor}",
        "minor": minor,
        "health": (name, minor) != ("n00", 3),
        "labels": {"half": "low" if minor < gpus // 2 else "high"},
        "resources": {f"{_KOORD}/{key}": amount for key, amount in resources.items()},
        "topology": _place(minor, per_switch=2, bus=minor),
    }


def _nic(name: str, minor: int, *, has_functions: bool) -> Object:
    made: Object = {
        "type": "rdma",
        "id": f"0000:{0x40 + minor:02x}:00.0",
        "minor": minor,
        "health": True,
        "resources": {f"{_KOORD}/rdma": "100"},
        "topology": _place(minor, per_switch=1, bus=0x40 + minor),
    }
    if has_functions:
        functions = [{"minor": -1, "busID": f"0000:{0x40 + minor:02x}:00.{each}"} for each in range(1, 4)]
        made["vfGroups"] = [{"labels": {"kind": "general"}, "vfs": functions}]
    return made


def _place(minor: int, *, per_switch: int, bus: int) -> Object:
    switch = minor // per_switch
    return {"socketID": switch // 2, "nodeID": switch // 2, "pcieID": str(switch), "busID": f"0000:{bus:02x}:00.0"}


def _quotas(num_pods: int) -> list[Object]:
    """Two teams of two leaves, of which one lends nothing, and a leaf below the root."""
    unit = max(2, num_pods // 60)
    return [
        _quota("team-a", 3 * unit, 6 * unit, is_parent=True),
        _quota("a-web", unit, 4 * unit, parent="team-a", lends=False),
        _quota("a-batch", unit, 5 * unit, parent="team-a"),
        _quota("team-b", 2 * unit, 4 * unit, is_parent=True),
        _quota("b-web", unit, 3 * unit, parent="team-b", weight=unit),
        _quota("b-batch", 0, 4 * unit, parent="team-b"),
        _quota("alone", unit, 2 * unit),
    ]


def _quota(
    name: str,
    least: int,
    most: int,
    *,
    parent: str = "",
    is_parent: bool = False,
    lends: bool = True,
    weight: int | None = None,
) -> Object:
    labels = {f"{_QUOTA}/is-parent": str(is_parent).lower(), f"{_QUOTA}/allow-lent-resource": str(lends).lower()}
    if parent:
        labels[f"{_QUOTA}/parent"] = parent
    annotations = {}
    if weight is not None:
        annotations[f"{_QUOTA}/shared-weight"] = f'{{"cpu": "{weight}", "memory": "{2 * weight}Gi"}}'
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": name, "namespace": SYSTEM_NAMESPACE, "labels": labels, "annotations": annotations},
        "spec": {
            "min": {"cpu": str(least), "memory": f"{2 * least}Gi"},
            "max": {"cpu": str(most), "memory": f"{2 * most}Gi"},
        },
    }


def _reservation(rng: Random, number: int) -> Object:
    name = f"r{number:02}"
    resources = {"cpu": str(rng.choice((2, 4, 8))), "memory": f"{rng.choice((4, 8))}Gi"}
    if rng.random() < 0.3:
        resources |= {f"{_KOORD}/gpu": rng.choice(("50", "100", "200"))}
    template = koord_pod(name, resources)
    return {
        "apiVersion": _API,
        "kind": "Reservation",
        "metadata": {"name": name, "labels": {"reservation": name}},
        "spec": {
            "template": {"metadata": {"namespace": NAMESPACE}, "spec": template["spec"]},
            "owners": [{"labelSelector": {"matchLabels": {"owner": name}}}],
            "allocateOnce": rng.random() < 0.5,
            "allocatePolicy": rng.choice(("Aligned", "Restricted")),
            "ttl": "0s",
        },
    }
