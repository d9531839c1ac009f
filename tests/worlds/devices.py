"""A small cluster with devices of resource claims as a dump: for each rule a pod that is evicted, or why one is not.

`python -m tests.worlds.devices > config/samples/devices.jsonl.gz` writes the bundled sample.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from descheduler.cluster.kinds import KINDS
from tests.builders import NOW, Object, node_object, owner, pod_object
from tests.worlds.dumps import pages_of, write_dump

DEVICES_AT = NOW
"""The moment of the snapshot."""
_API = "resource.k8s.io/v1"
_DRIVER, _NAMESPACE = "gpu.example.com", "ml"
_UNHEALTHY = {"key": "gpu.example.com/unhealthy", "value": "ecc", "effect": "NoSchedule"}
_LOST = {"key": "gpu.example.com/lost", "effect": "NoExecute"}
_TAINTS = {
    ("gpu-1", "gpu-0"): _UNHEALTHY,
    ("gpu-1", "gpu-1"): _UNHEALTHY,
    ("gpu-1", "gpu-2"): _UNHEALTHY,
    ("gpu-2", "gpu-0"): _UNHEALTHY,
    ("gpu-3", "gpu-0"): _LOST,
}
"""Node and device → its taint."""


_LARGE = "device.attributes['gpu.example.com'].type == 'gpu' && device.attributes['gpu.example.com'].memory == 80"


class _Running(NamedTuple):
    """A pod of a workload of its own, with devices of one node; `selector` is that of its request."""

    name: str
    node: str
    devices: Sequence[str]
    selector: str = "device.attributes['gpu.example.com'].type == 'gpu'"
    claim: str = ""
    """A claim that several pods share; else the pod has its own, from a template."""
    tolerates: bool = False


_PODS = (
    _Running("train-0", "gpu-1", ["gpu-0"]),
    _Running("batch-0", "gpu-1", ["gpu-1"], tolerates=True),
    _Running("large-0", "gpu-1", ["gpu-2", "gpu-3"], _LARGE),
    _Running("serve-0", "gpu-2", ["gpu-0"], claim="shared"),
    _Running("serve-1", "gpu-2", ["gpu-0"], claim="shared"),
    _Running("lost-0", "gpu-3", ["gpu-0"]),
    _Running("slice-0", "part-1", ["half-0"], "device.attributes['gpu.example.com'].type == 'half'"),
    _Running("slice-1", "part-2", ["half-0"], "device.attributes['gpu.example.com'].type == 'half'"),
)
_NODES = ("gpu-1", "gpu-2", "gpu-3", "part-1", "part-2")


def write_devices(out: BinaryIO) -> None:
    """Writes the dump to `out`; always the same bytes."""
    objects = list(devices_objects())
    write_dump([(kind, pages_of(kind, objects)) for kind in KINDS.values()], out, taken_at=DEVICES_AT, source="made up")


def devices_objects() -> Iterator[Object]:
    """All objects of the cluster."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}}
    yield from (node_object(name, cpu="64", memory="512Gi") for name in _NODES)
    selector = {"cel": {"expression": f"device.driver == '{_DRIVER}'"}}
    yield _object("DeviceClass", "gpu", {"selectors": [selector]})
    yield from (_slice_of_gpus(name) for name in _NODES if name.startswith("gpu"))
    for name in _NODES:
        if name.startswith("part"):
            yield from _slices_of_parts(name)
    rule = {"deviceSelector": {"driver": _DRIVER, "pool": "part-1", "device": "half-0"}, "taint": _UNHEALTHY}
    yield {"apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule", "metadata": {"name": "r"}, "spec": rule}
    for running in _PODS:
        yield from _workload(running)
    yield _claim("shared", _PODS[3], [each.name for each in _PODS if each.claim])


def _slice_of_gpus(node: str) -> Object:
    """Four GPUs, the last two of which have more memory; of the third node all are of the small kind."""
    devices = []
    for number in range(4):
        memory = 80 if number >= 2 and node == "gpu-1" else 40
        made: dict[str, Any] = {
            "name": f"gpu-{number}",
            "attributes": {"type": {"string": "gpu"}, "memory": {"int": memory}},
        }
        taint = _TAINTS.get((node, made["name"]))
        devices.append(made | ({"taints": [taint]} if taint else {}))
    return _slice(node, "gpus", 1, devices=devices)


def _slices_of_parts(node: str) -> Iterator[Object]:
    """One card, which is handed out whole or in two halves."""
    yield _slice(node, "counters", 2, sharedCounters=[{"name": "card", "counters": {"parts": {"value": "2"}}}])
    sizes = {"whole": 2, "half-0": 1, "half-1": 1}
    devices = [
        {
            "name": name,
            "attributes": {"type": {"string": name.partition("-")[0]}},
            "consumesCounters": [{"counterSet": "card", "counters": {"parts": {"value": str(size)}}}],
        }
        for name, size in sizes.items()
    ]
    yield _slice(node, "parts", 2, devices=devices)


def _slice(node: str, part: str, number: int, **content: Any) -> Object:
    pool = {"name": node, "generation": 1, "resourceSliceCount": number}
    return _object("ResourceSlice", f"{node}-{part}", {"driver": _DRIVER, "pool": pool, "nodeName": node, **content})


def _workload(running: _Running) -> Iterator[Object]:
    name, app = running.name, running.name.partition("-")[0]
    reference = {"name": "gpu", "resourceClaimName": running.claim} if running.claim else None
    reference = reference or {"name": "gpu", "resourceClaimTemplateName": app}
    facts: dict[str, Any] = {
        "namespace": _NAMESPACE,
        "requests": {"cpu": "4", "memory": "16Gi"},
        "labels": {"app": app},
        "spec": {"resourceClaims": [reference]},
    }
    pod = pod_object(name, node=running.node, age=86400, owners=[owner(f"ReplicaSet/{app}")], **facts)
    if not running.claim:
        pod["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": f"{name}-gpu"}]
        yield _template(app, running)
        yield _claim(f"{name}-gpu", running, [name], of=name)
    yield pod
    if name.endswith("-0"):
        yield _replica_set(app, facts, sum(each.name.startswith(f"{app}-") for each in _PODS))


def _replica_set(app: str, facts: dict[str, Any], replicas: int) -> Object:
    template = pod_object(app, **facts)
    spec = {key: value for key, value in template["spec"].items() if key != "nodeName"}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": app, "namespace": _NAMESPACE, "uid": f"replicaset-{app}", "generation": 1},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": app}},
            "template": {"metadata": {"labels": {"app": app}}, "spec": spec},
        },
        "status": {"replicas": replicas, "readyReplicas": replicas},
    }


def _request(running: _Running) -> Object:
    asked: dict[str, Any] = {
        "deviceClassName": "gpu",
        "allocationMode": "ExactCount",
        "count": len(running.devices),
        "selectors": [{"cel": {"expression": running.selector}}],
    }
    return {"name": "gpu", "exactly": asked | ({"tolerations": [{"operator": "Exists"}]} if running.tolerates else {})}


def _template(app: str, running: _Running) -> Object:
    made = _object("ResourceClaimTemplate", app, {"spec": {"devices": {"requests": [_request(running)]}}})
    made["metadata"]["namespace"] = _NAMESPACE
    return made


def _claim(name: str, running: _Running, consumers: Sequence[str], *, of: str = "") -> Object:
    made = _object("ResourceClaim", name, {"devices": {"requests": [_request(running)]}})
    made["metadata"] |= {"namespace": _NAMESPACE, "uid": f"claim-{name}"}
    if of:
        pod = {"apiVersion": "v1", "kind": "Pod", "name": of, "uid": f"{_NAMESPACE}-{of}", "controller": True}
        made["metadata"]["ownerReferences"] = [pod]
    tolerations = {"tolerations": [{"operator": "Exists"}]} if running.tolerates else {}
    results = [
        {"request": "gpu", "driver": _DRIVER, "pool": running.node, "device": device, **tolerations}
        for device in running.devices
    ]
    here = {"key": "metadata.name", "operator": "In", "values": [running.node]}
    made["status"] = {
        "allocation": {
            "devices": {"results": results},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [here]}]},
        },
        "reservedFor": [{"resource": "pods", "name": each, "uid": f"{_NAMESPACE}-{each}"} for each in consumers],
    }
    return made


def _object(kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": _API, "kind": kind, "metadata": {"name": name}, "spec": spec}


if __name__ == "__main__":
    write_devices(sys.stdout.buffer)
