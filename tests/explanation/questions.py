"""Small clusters, and the questions that the tests of explanations ask about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.fields import Fields
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.explanation.explaining import explain, settings_for
from descheduler.explanation.scheduling.placement import PlacementAnalysis
from descheduler.explanation.subjects.node.document import NodeExplanation
from descheduler.explanation.subjects.plugin import PluginExplanation
from descheduler.explanation.subjects.pod import PodExplanation
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from tests.builders import NOW, Object, pod_object
from tests.report.decided_cycles import pod_life_time_policy

ZONE = "topology.kubernetes.io/zone"


def cluster_of(*objects: Object) -> Snapshot:
    """The snapshot of `objects`, pod templates included."""
    return snapshot_from_objects(objects, SnapshotRequest(keep_templates=True))


def policy_of(document: Mapping[str, object] | None = None) -> Policy:
    """A loaded policy, by default the one that evicts pods after a minute."""
    return load_policy(document or pod_life_time_policy(), REGISTRY, name="policy.yaml")


Part = TypeVar("Part", bound=Fields)


def explained(
    document: type[Part],
    type_name: str,
    name: str,
    objects: Sequence[Object],
    policy: Policy | None = None,
    settings: SchedulingSettings | None = None,
) -> Part:
    """What is said about one thing in the cluster of `objects`."""
    settings = settings or settings_for(policy)
    answer = explain(type_name, name, cluster_of(*objects), policy=policy, settings=settings, now=NOW).answer
    assert isinstance(answer, document)
    return answer


def pod_explanation(name: str, objects: Sequence[Object], policy: Policy | None = None) -> PodExplanation:
    """What is said about a pod of namespace `default`."""
    return explained(PodExplanation, "pod", f"default/{name}", objects, policy)


def placement_of(name: str, *objects: Object) -> PlacementAnalysis:
    """What the scheduler makes of a pod of namespace `default`."""
    placement = pod_explanation(name, objects).placement
    assert placement is not None
    return placement


def node_explanation(name: str, objects: Sequence[Object], policy: Policy | None = None) -> NodeExplanation:
    """What is said about a node."""
    return explained(NodeExplanation, "node", name, objects, policy)


def plugin_explanation(name: str, objects: Sequence[Object], policy: Policy) -> PluginExplanation:
    """What is said about a plugin of `policy` and what it decided."""
    return explained(PluginExplanation, "plugin", name, objects, policy)


def pending_pod(name: str, **facts: Any) -> Object:
    """A pod of namespace `default` that waits for a node, with the facts that `pod_object` takes."""
    return pod_object(name, node="", phase="Pending", **facts)


def claim(name: str, *, volume_name: str = "", storage_class: str = "local", modes: Sequence[str] = ()) -> Object:
    """A PersistentVolumeClaim of 1 GiB, bound for good when it names a volume."""
    bound = {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}} if volume_name else {}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "uid": f"claim-{name}", **bound},
        "spec": {
            "accessModes": list(modes or ("ReadWriteOnce",)),
            "volumeName": volume_name,
            "storageClassName": storage_class,
            "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Bound" if volume_name else "Pending"},
    }


def volume(
    name: str,
    claim_name: str,
    *,
    zone: str = "",
    labels: Mapping[str, str] | None = None,
    source: Object | None = None,
) -> Object:
    """A PersistentVolume bound to a claim; with a `zone` it is reached from there alone."""
    terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]
    affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} if zone else {}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "uid": f"volume-{name}", "labels": dict(labels or {})},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "claimRef": {"namespace": "default", "name": claim_name, "uid": f"claim-{claim_name}"},
            **affinity,
            **(source or {}),
        },
        "status": {"phase": "Bound"},
    }


def storage_class(name: str = "local") -> Object:
    """A class without provisioner, whose volumes are chosen with the node."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "uid": f"class-{name}"},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
