"""Builders of workloads with pod templates, and of clusters that hold them."""

from __future__ import annotations

from collections.abc import Iterable

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from tests.builders import Object, node_object, owner, pod_object

_GROUPS = {"Job": "batch/v1", "ReplicationController": "v1", "CloneSet": "apps.kruise.io/v1alpha1"}


def workload_object(
    kind_and_name: str,
    *,
    replicas: int = 1,
    template: Object | None = None,
    deployment: str | None = None,
    revision: int | None = None,
    **spec: object,
) -> Object:
    """A workload from `Kind/name` with the UID that `tests.builders.owner` refers to.

    `template` is a whole pod, whose labels and spec are taken; without, the pods ask for nothing. `deployment` is the
    controlling Deployment, `revision` the one that this ReplicaSet stands for in it; `spec` adds fields.
    """
    kind, _, name = kind_and_name.partition("/")
    pod = template or pod_object("template")
    pod_spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    metadata: Object = {"name": name, "namespace": "default", "uid": f"{kind}-{name}".lower()}
    if deployment is not None:
        metadata["ownerReferences"] = [owner(f"Deployment/{deployment}")]
    if revision is not None:
        metadata["annotations"] = {"deployment.kubernetes.io/revision": str(revision)}
    count = {"parallelism": replicas} if kind == "Job" else {"replicas": replicas}
    labels = pod["metadata"].get("labels", {})
    return {
        "apiVersion": _GROUPS.get(kind, "apps/v1"),
        "kind": kind,
        "metadata": metadata,
        "spec": {**count, "template": {"metadata": {"labels": labels}, "spec": pod_spec}, **spec},
    }


def cluster_of(*objects: Object, nodes: Iterable[str] = ("a", "b")) -> Snapshot:
    """A cluster of `objects`, with ready nodes of these names unless the objects hold nodes."""
    stated = [each for each in objects if each["kind"] == "Node"]
    return snapshot_from_objects(
        [*objects, *(() if stated else map(node_object, nodes))], SnapshotRequest(keep_templates=True)
    )


def pod_named(snapshot: Snapshot, name: str) -> Pod:
    """The pod of this name in whatever namespace."""
    return next(pod for pod in snapshot.pods if pod.name == name)
