"""Small clusters with devices: builders of slices, classes and claims, and what a pod would get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.plugins.dynamic_resources.on_nodes import ClaimsOnNodes
from descheduler.placement.plugins.table import PLUGINS
from tests.builders import Object, decode_pod, pod_object
from tests.placement.default_scheduler import default_scheduler

GPU = "gpu.example.com"
_API = "resource.k8s.io/v1"
NO_DEVICE_OBJECTS: tuple[Object, ...] = tuple(
    {"apiVersion": _API, "kind": f"{kind}List", "items": []}
    for kind in ("ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice", "DeviceTaintRule")
)


def device(name: str, attributes: Mapping[str, str | int | bool] | None = None, **fields: Any) -> Object:
    """A device; an attribute has the type of its value."""
    types = {str: "string", int: "int", bool: "bool"}
    stated = {key: {types[type(value)]: value} for key, value in (attributes or {}).items()}
    return {"name": name, "attributes": stated, **fields}


def slice_of(node: str, *devices: Object, driver: str = GPU, pool: str = "", name: str = "", **spec: Any) -> Object:
    """A slice of one pool that is complete with it; without a node `spec` says who can use it."""
    reach = {"nodeName": node} if node else {}
    about = {"driver": driver, "pool": {"name": pool or node, "generation": 1, "resourceSliceCount": 1}}
    return _object(
        "ResourceSlice", name or f"{pool or node}-{driver}", {**about, **reach, "devices": [*devices], **spec}
    )


def device_class(name: str = "gpu", *expressions: str, **spec: Any) -> Object:
    """A class, of all devices without expressions."""
    return _object("DeviceClass", name, {"selectors": _selectors(expressions), **spec})


def request(name: str, *expressions: str, count: int = 1, **fields: Any) -> Object:
    """A request of devices of the class `gpu`."""
    return {"name": name, "exactly": _asked(expressions, count, fields)}


def any_of(name: str, **alternatives: Object) -> Object:
    """A request with alternatives, each made by `request`, whose own names do not count."""
    return {
        "name": name,
        "firstAvailable": [{"name": key, **each["exactly"]} for key, each in alternatives.items()],
    }


def claim(
    name: str,
    *requests: Object,
    constraints: Sequence[Object] = (),
    devices: Sequence[str] = (),
    node: str = "a",
    consumers: Sequence[str] = (),
    **metadata: Any,
) -> Object:
    """A claim, with `devices` of the pool of `node` if it is allocated, reserved for the pods of these UIDs."""
    made = _object("ResourceClaim", name, {"devices": {"requests": [*requests], "constraints": [*constraints]}})
    made["metadata"] |= {"namespace": "default", "uid": f"uid-{name}", **metadata}
    if devices:
        here = {"key": "metadata.name", "operator": "In", "values": [node]}
        results = [{"request": "r", "driver": GPU, "pool": node, "device": each} for each in devices]
        made["status"] = {
            "allocation": {
                "devices": {"results": results},
                "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [here]}]},
            },
            "reservedFor": [{"resource": "pods", "name": uid, "uid": uid} for uid in consumers],
        }
    return made


def template(name: str, *requests: Object) -> Object:
    """What claims look like that are made for pods."""
    made = _object("ResourceClaimTemplate", name, {"spec": {"devices": {"requests": [*requests]}}})
    made["metadata"]["namespace"] = "default"
    return made


def claiming(name: str, *claims: str, **facts: Any) -> Pod:
    """A pod that looks for a node and names these claims."""
    return decode_pod(claiming_object(name, *claims, **facts))


def claiming_object(name: str, *claims: str, **facts: Any) -> Object:
    """The same as an object."""
    references = [{"name": each, "resourceClaimName": each} for each in claims]
    return pod_object(name, node="", **{"phase": "Pending", **facts}, spec={"resourceClaims": references})


def scheduler_of(*objects: Object, version: KubeVersion | None = None) -> Scheduler:
    """kube-scheduler over a cluster of these objects; of kinds of devices that are left out there are none."""
    snapshot = snapshot_from_objects([*objects, *NO_DEVICE_OBJECTS])
    return default_scheduler(shadow_cluster_of(snapshot, PLUGINS, version))


def evaluate(scheduler: Scheduler, pod: Pod) -> PodEvaluation:
    """What the scheduler says of a pod."""
    return scheduler.evaluate(pod)


def on_nodes(evaluation: PodEvaluation) -> ClaimsOnNodes:
    """What DynamicResources found out about an evaluated pod."""
    found = evaluation.cycle.scratch["DynamicResources"]
    assert isinstance(found, ClaimsOnNodes)
    return found


def devices_on(scheduler: Scheduler, pod: Pod) -> dict[str, list[str]]:
    """Feasible node → `request=device` in the order in which they are taken."""
    evaluation = scheduler.evaluate(pod)
    names = scheduler.cluster.table.names
    return {names[node]: got(evaluation, node) for node in np.flatnonzero(evaluation.feasible).tolist()}


def got(evaluation: PodEvaluation, node: int) -> list[str]:
    """The same of one node."""
    allocations = [allocation for _, allocation in on_nodes(evaluation).new_on(node)]
    return [f"{each.request}={each.device.device}" for allocation in allocations for each in allocation.results]


def against(scheduler: Scheduler, pod: Pod) -> dict[str, tuple[str, ...]]:
    """Node → what DynamicResources has against it."""
    evaluation = scheduler.evaluate(pod)
    names = scheduler.cluster.table.names
    found = {names[node]: evaluation.obstacles_on(node) for node in np.flatnonzero(~evaluation.feasible).tolist()}
    return {
        name: tuple(reason for each in obstacles if each.plugin == "DynamicResources" for reason in each.reasons)
        for name, obstacles in found.items()
    }


def _asked(expressions: Sequence[str], count: int, fields: Mapping[str, Any]) -> Object:
    mode = {"allocationMode": "ExactCount", "count": count} if "allocationMode" not in fields else {}
    return {"deviceClassName": "gpu", "selectors": _selectors(expressions), **mode, **fields}


def _selectors(expressions: Sequence[str]) -> list[Object]:
    return [{"cel": {"expression": each}} for each in expressions]


def _object(kind: str, name: str, spec: Object) -> Object:
    return {"apiVersion": _API, "kind": kind, "metadata": {"name": name}, "spec": spec}
