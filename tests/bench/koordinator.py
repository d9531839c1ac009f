"""A generated cluster a part of whose pods koord-scheduler places: by quotas, gangs, devices and Reservations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

from descheduler.cluster.decoding.wire import ObjectHeader
from descheduler.cluster.kind import kind_key
from descheduler.cluster.kinds import KINDS
from tests.worlds.dumps import write_dump
from tests.worlds.generate import GENERATED_AT, generate_cluster

_SHARES = {"koordinator.sh/gpu-core": "10", "koordinator.sh/gpu-memory-ratio": "10"}
_NUM_GPUS = 8
_NUM_QUOTAS = 200
_NODES_BY_RESERVATION = 5
_NUM_PENDING = 100
_PARTS = ("quota", "quota", "quota", "gang", "gpu", "reservation")
"""What becomes of each of so many workloads out of `_NUM_PARTS`; kube-scheduler keeps the others."""
_NUM_PARTS = 12
_SCHEDULING = "scheduling.sigs.k8s.io/v1alpha1"
_KOORDINATOR = "scheduling.koordinator.sh/v1alpha1"
_GROUP_LABEL = "pod-group.scheduling.sigs.k8s.io"

Object = dict[str, Any]


def write_with_koordinator(path: str, nodes: int, pods: int) -> Sequence[float]:
    """Writes the cluster that `write_generated` writes, with Koordinator's objects; no figures."""
    writer = _Writer()
    pages: dict[str, list[bytes]] = defaultdict(list)
    for page in generate_cluster(nodes=nodes, pods=pods, seed=1):
        header = msgspec.json.decode(page, type=ObjectHeader)
        kind = (header.kind or "").removesuffix("List")
        pages[kind_key(kind, header.api_version or "")].append(writer.changed(kind, page))
    for api_version, kind, objects in writer.further():
        further = {"apiVersion": api_version, "kind": f"{kind}List", "metadata": {}, "items": list(objects)}
        pages[kind_key(kind, api_version)].append(msgspec.json.encode(further))
    with Path(path).open("wb") as out:
        write_dump([(KINDS[kind], group) for kind, group in pages.items()], out, taken_at=GENERATED_AT)
    return ()


class _Writer:
    """Changes pages, and notes for which objects of Koordinator."""

    def __init__(self) -> None:
        self._nodes: list[str] = []
        self._gangs: set[tuple[str, str]] = set()
        self._reserving: set[str] = set()
        self._num_on: Counter[str] = Counter()

    def changed(self, kind: str, page: bytes) -> bytes:
        """A page of that kind as it is where Koordinator runs."""
        if kind not in ("Node", "Pod", "ReplicaSet", "StatefulSet", "Job"):
            return page
        read = msgspec.json.decode(page)
        for each in read["items"]:
            if kind == "Node":
                self._give_gpus(each)
            elif kind == "Pod":
                self._change(each, each, node=each["spec"].get("nodeName", ""))
            else:
                self._change(each, each["spec"]["template"])
        return msgspec.json.encode(read)

    def further(self) -> Iterator[tuple[str, str, Iterable[Object]]]:
        """Version, kind and objects of Koordinator."""
        yield _SCHEDULING, "ElasticQuota", map(_quota, range(_NUM_QUOTAS))
        yield _SCHEDULING, "PodGroup", (_pod_group(*gang) for gang in sorted(self._gangs))
        yield _KOORDINATOR, "Device", map(_device, self._nodes)
        apps = sorted(self._reserving)
        places = [*self._nodes[::_NODES_BY_RESERVATION], *[""] * _NUM_PENDING]
        yield (
            _KOORDINATOR,
            "Reservation",
            (_reservation(index, node, apps[index % len(apps)]) for index, node in enumerate(places) if apps),
        )

    def _give_gpus(self, node: Object) -> None:
        self._nodes.append(node["metadata"]["name"])
        for part in ("allocatable", "capacity"):
            node["status"][part] |= dict.fromkeys(_SHARES, str(100 * _NUM_GPUS))

    def _change(self, owner: Object, pod: Object, *, node: str = "") -> None:
        labels, spec = pod["metadata"].setdefault("labels", {}), pod["spec"]
        app = labels.get("app", "")
        number = crc32(app.encode()) % _NUM_PARTS
        if not app or number >= len(_PARTS) or spec.get("priorityClassName", "").startswith("system-"):
            return
        spec["schedulerName"] = "koord-scheduler"
        match _PARTS[number]:
            case "quota":
                labels["quota.scheduling.koordinator.sh/name"] = f"team-{crc32(app.encode()) // 7 % _NUM_QUOTAS}"
            case "gang":
                labels[_GROUP_LABEL] = app
                self._gangs.add((owner["metadata"]["namespace"], app))
            case "gpu":
                self._give_share(pod, node)
            case "reservation":
                self._reserving.add(app)

    def _give_share(self, pod: Object, node: str) -> None:
        resources = pod["spec"]["containers"][0].setdefault("resources", {})
        for part in ("requests", "limits"):
            resources.setdefault(part, {}).update(_SHARES)
        if node:
            minor = self._num_on[node] % _NUM_GPUS
            self._num_on[node] += 1
            taken = [{"minor": minor, "resources": _SHARES}]
            annotations = pod["metadata"].setdefault("annotations", {})
            annotations["scheduling.koordinator.sh/device-allocated"] = msgspec.json.encode({"gpu": taken}).decode()


def _device(node: str) -> Object:
    resources = dict.fromkeys(_SHARES, "100")
    gpus = [
        {"type": "gpu", "minor": minor, "id": f"{node}-{minor}", "health": True, "resources": resources}
        for minor in range(_NUM_GPUS)
    ]
    return {"metadata": {"name": node}, "spec": {"devices": gpus}}


def _quota(index: int) -> Object:
    return {
        "metadata": {"name": f"team-{index}", "namespace": "koordinator-system"},
        "spec": {"min": {"cpu": "1000"}, "max": {"cpu": "100000"}},
    }


def _pod_group(namespace: str, name: str) -> Object:
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"minMember": 2}}


def _reservation(index: int, node: str, app: str) -> Object:
    requests = {"cpu": "500m"}
    containers = [{"name": "main", "image": "app:1", "resources": {"requests": requests}}]
    name = f"reserved-{index}"
    return {
        "metadata": {"name": name, "uid": name},
        "spec": {
            "template": {"spec": {"containers": containers, "schedulerName": "koord-scheduler"}},
            "owners": [{"labelSelector": {"matchLabels": {"app": app}}}],
            "ttl": "0s",
        },
        "status": {"phase": "Available", "nodeName": node, "allocatable": requests} if node else {"phase": "Pending"},
    }
