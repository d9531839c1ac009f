"""Nodes with devices, pods that ask for them, and the scheduler that runs DeviceShare alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import (
    SchedulerConfiguration,
    load_scheduler_configuration,
)
from descheduler.placement.configuration.kube_scheduler.plugin_args import SCHEDULER_API_VERSION
from descheduler.placement.framework.matched_reservations import allocations_of
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import annotations_read_by
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import Object, node_object, pod_object

CORE, MEMORY, RATIO = (f"koordinator.sh/gpu-{part}" for part in ("core", "memory", "memory-ratio"))
ALLOCATED = "scheduling.koordinator.sh/device-allocated"
HINT = "scheduling.koordinator.sh/device-allocate-hint"
JOINT = "scheduling.koordinator.sh/device-joint-allocate"
PARTITION = "scheduling.koordinator.sh/gpu-partition-spec"
PARTITIONS = "scheduling.koordinator.sh/gpu-partitions"
_ANNOTATIONS = annotations_read_by(PLUGINS.values())
_POINTS = ("preFilter", "filter", "preScore", "score", "reserve", "preBind")


def device(
    kind: str, minor: int, *, place: tuple[int, str] | None = None, healthy: bool = True, **facts: Any
) -> Object:
    """A device; `place` is its NUMA node and its PCIe switch, other facts are fields of it."""
    topology = {} if place is None else {"topology": {"nodeID": place[0], "pcieID": place[1]}}
    return {"type": kind, "minor": minor, "id": f"{kind}-{minor}", "health": healthy, **topology, **facts}


def gpu(minor: int, *, memory: str = "80Gi", **facts: Any) -> Object:
    """A whole GPU."""
    return device("gpu", minor, resources={CORE: "100", RATIO: "100", MEMORY: memory}, **facts)


def rdma(minor: int, *, functions: Sequence[str] = (), **facts: Any) -> Object:
    """A network device, with virtual functions of these bus ids."""
    groups = [
        {"labels": {"type": "fast"}, "vfs": [{"busID": bus_id, "minor": n} for n, bus_id in enumerate(functions)]}
    ]
    more: Object = {"vfGroups": groups} if functions else {}
    return device("rdma", minor, resources={"koordinator.sh/rdma": "100"}, **more, **facts)


def device_object(
    node: str, *devices: Object, labels: Mapping[str, str] | None = None, partitions: object = None
) -> Object:
    """The Device of a node."""
    metadata: Object = {"name": node, "labels": dict(labels or {})}
    if partitions is not None:
        metadata["annotations"] = {PARTITIONS: json.dumps(partitions)}
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "Device",
        "metadata": metadata,
        "spec": {"devices": list(devices)},
    }


def gpu_pod(name: str, requests: Mapping[str, str], *, node: str = "", has: object = None, **facts: Any) -> Object:
    """A pod with these requests for devices; `has` is what its annotation says that it got.

    `hint`, `joint` and `partition` are the documents of these annotations.
    """
    keys = {"hint": HINT, "joint": JOINT, "partition": PARTITION}
    annotations = {keys[key]: json.dumps(facts.pop(key)) for key in list(facts) if key in keys}
    if has is not None:
        annotations[ALLOCATED] = json.dumps(has)
    phase = {} if node else {"phase": "Pending"}
    return pod_object(name, node=node, requests=requests, annotations=annotations, **{**phase, **facts})


def snapshot_of(objects: Iterable[Object]) -> Snapshot:
    """The snapshot, with what DeviceShare reads of pods."""
    return snapshot_from_objects(objects, SnapshotRequest(annotations=_ANNOTATIONS))


def configured(args: Mapping[str, object] | None = None) -> SchedulerConfiguration:
    """koord-scheduler with DeviceShare alone."""
    plugins: Object = {point: {"enabled": [{"name": "DeviceShare"}], "disabled": [{"name": "*"}]} for point in _POINTS}
    plugins |= {
        "multiPoint": {"disabled": [{"name": "*"}]},
        "queueSort": {"enabled": [{"name": "PrioritySort"}]},
        "bind": {"enabled": [{"name": "DefaultBinder"}]},
    }
    profile = {
        "schedulerName": "koord-scheduler",
        "plugins": plugins,
        "pluginConfig": [{"name": "DeviceShare", "args": dict(args or {})}],
    }
    document = {"apiVersion": SCHEDULER_API_VERSION, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}
    return load_scheduler_configuration(document, plugins=PLUGINS)


def scheduler_over(
    *objects: Object, args: Mapping[str, object] | None = None, nodes: Iterable[str | Object] = ("a",)
) -> Scheduler:
    """The scheduler over `nodes`, names or objects, with Devices and pods."""
    made = [node if isinstance(node, dict) else node_object(node) for node in nodes]
    cluster = ShadowCluster(snapshot_of([*made, *objects]), reads_annotations=_ANNOTATIONS)
    return Scheduler(cluster, configured(args).profiles[0], plugins=PLUGINS)


def decoded(pod: Object) -> Pod:
    """The pod as a value."""
    return snapshot_of([pod]).pods[0]


def devices_got(scheduler: Scheduler, *pods: Object, node: str = "a") -> list[dict[str, list[int]]]:
    """The minors by type that each pod gets on `node`, one after the other; each has to fit there."""
    found = []
    for pod in pods:
        evaluation = scheduler.evaluate(decoded(pod))
        index = scheduler.cluster.table.index[node]
        assert evaluation.feasible[index], evaluation.first_obstacle_on(index)
        got: dict[str, list[int]] = {}
        for each in allocations_of(scheduler.place(evaluation, index)):
            got.setdefault(each.kind, []).append(int(each.name))
        found.append(got)
    return found


def reason_on(scheduler: Scheduler, pod: Object, *, node: str = "a") -> str:
    """What keeps `pod` off `node`, empty when nothing does."""
    evaluation = scheduler.evaluate(decoded(pod))
    index = scheduler.cluster.table.index[node]
    return "" if evaluation.feasible[index] else "; ".join(evaluation.first_obstacle_on(index).reasons)
