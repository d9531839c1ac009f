"""Sessions of Volcano over small clusters, one argument a fact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.groups.volcano import VOLCANO_ANNOTATIONS
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import (
    SchedulerConfiguration,
    default_configuration,
)
from descheduler.placement.configuration.volcano import load_volcano_configuration
from descheduler.placement.needs import landing_annotations
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.schedulers.configured import load_configuration, with_profiles_for
from descheduler.placement.schedulers.table import ALWAYS_ASSUMED
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.order import Choices
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
from descheduler.placement.volcano.scheduler import VolcanoScheduler
from descheduler.placement.volcano.session import Session

Object = dict[str, Any]
_GROUP = "scheduling.volcano.sh/v1beta1"
_REQUEST = SnapshotRequest(annotations=frozenset(VOLCANO_ANNOTATIONS))


def node(name: str, *, cpu: str = "10", memory: str = "100Gi", pods: str = "110", **more: str) -> Object:
    """A ready node that offers this."""
    allocatable = {"cpu": cpu, "memory": memory, "pods": pods, **more}
    status = {"allocatable": allocatable, "capacity": allocatable}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status}


def queue(name: str, **spec: Any) -> Object:
    """A queue; weight 1 unless it says otherwise."""
    return {"apiVersion": _GROUP, "kind": "Queue", "metadata": {"name": name}, "spec": {"weight": 1, **spec}}


def group(name: str, *, least: int = 1, queue: str = "default", phase: str = "Inqueue", **spec: Any) -> Object:
    """A PodGroup in the namespace `batch`."""
    metadata = {"name": name, "namespace": "batch"}
    spec = {"minMember": least, "queue": queue, **spec}
    return {"apiVersion": _GROUP, "kind": "PodGroup", "metadata": metadata, "spec": spec, "status": {"phase": phase}}


def pods(
    job: str, number: int, *, on: str = "", cpu: str = "1", memory: str = "1Gi", role: str = "", **more: Any
) -> list[Object]:
    """Pods of a group, running on a node or pending."""
    annotations = {"scheduling.k8s.io/group-name": job, **({"volcano.sh/task-spec": role} if role else {})}
    requests = {name: amount for name, amount in (("cpu", cpu), ("memory", memory)) if amount}
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"{job}{role}-{index}",
                "namespace": "batch",
                "uid": f"{job}{role}-{index}",
                "annotations": annotations,
                **more.get("metadata", {}),
            },
            "spec": {
                "schedulerName": "volcano",
                "containers": [{"name": "main", "image": "main", "resources": {"requests": requests}}],
                **({"nodeName": on} if on else {}),
                **more.get("spec", {}),
            },
            "status": {"phase": "Running" if on else "Pending"},
        }
        for index in range(number)
    ]


def renamed(name: str, only: Sequence[Object]) -> Object:
    """The one pod of `only` under another name."""
    (found,) = only
    return {**found, "metadata": {**found["metadata"], "name": name, "uid": name}}


def priority_class(name: str, value: int) -> Object:
    """A PriorityClass."""
    api_version = "scheduling.k8s.io/v1"
    return {"apiVersion": api_version, "kind": "PriorityClass", "metadata": {"name": name}, "value": value}


def plugin(name: str, **more: Any) -> Object:
    """One plugin of a tier."""
    return {"name": name, **more}


def session(
    *objects: Object | Iterable[Object],
    actions: str = "allocate",
    tiers: Sequence[Sequence[Object | str]] = (("priority", "gang"), ("predicates", "nodeorder")),
    choices: Choices | None = None,
) -> Session:
    """The session of a cluster with the queue `default` and these objects."""
    listed = [queue("default")]
    for each in objects:
        listed += [each] if isinstance(each, dict) else list(each)
    named = [[plugin(each) if isinstance(each, str) else each for each in tier] for tier in tiers]
    document: Mapping[str, object] = {"actions": actions, "tiers": [{"plugins": tier} for tier in named]}
    configuration = load_volcano_configuration(document, modelled=VOLCANO_PLUGINS)
    cluster = ShadowCluster(snapshot_from_objects(listed, _REQUEST))
    return Session(cluster, configuration, plugins=VOLCANO_PLUGINS, choices=choices)


def owned(pods: Iterable[Object], owner: str = "web") -> list[Object]:
    """The same pods of a ReplicaSet, which creates them again."""
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}
    return [{**pod, "metadata": {**pod["metadata"], "ownerReferences": [reference]}} for pod in pods]


def snapshot_of(*objects: Object | Iterable[Object]) -> Snapshot:
    """A cluster with the queue `default` and these objects, as runs read it."""
    listed = [queue("default")]
    for each in objects:
        listed += [each] if isinstance(each, dict) else list(each)
    return snapshot_from_objects(listed, SnapshotRequest(annotations=landing_annotations()))


def scheduling(document: Mapping[str, object] | None = None) -> SchedulerConfiguration:
    """All schedulers, where Volcano runs as `document` says or as it comes."""
    read = None if document is None else load_configuration(document, KubeVersion(), PLUGINS)
    return with_profiles_for(ALWAYS_ASSUMED, read or default_configuration(KubeVersion(), PLUGINS), PLUGINS)


def prover_of(
    *objects: Object | Iterable[Object], configuration: Mapping[str, object] | None = None
) -> tuple[LandingProver, Mapping[str, Pod]]:
    """A prover over such a cluster and these schedulers; and the pods by name."""
    snapshot = snapshot_of(*objects)
    return LandingProver(snapshot, configuration=scheduling(configuration)), {pod.name: pod for pod in snapshot.pods}


def scheduler_over(
    *objects: Any,
    tiers: Any = (("priority", "gang"), ("predicates", "nodeorder")),
    actions: str = "enqueue, allocate, backfill",
) -> VolcanoScheduler:
    """Volcano over these objects, which admits all jobs and allocates unless `tiers` or `actions` say otherwise."""
    named = [{"plugins": [plugin(name) if isinstance(name, str) else name for name in tier]} for tier in tiers]
    document = {"actions": actions, "tiers": named}
    configuration = scheduling(document).others["volcano"]
    cluster = ShadowCluster(snapshot_of(*objects), reads_annotations=landing_annotations())
    return VolcanoScheduler(cluster, configuration)  # type: ignore[arg-type] # what Volcano is given


def pod_of(scheduler: VolcanoScheduler, name: str) -> Pod:
    """The pod of this name."""
    return next(pod for pod in scheduler.cluster.snapshot.pods if pod.name == name)


def tasks_of(made: Session) -> dict[str, Task]:
    """The tasks of all jobs by pod name."""
    return {task.pod.name: task for job in made.jobs.values() for task in job.tasks.values()}
