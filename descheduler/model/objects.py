"""The other objects that decide about pods: budgets, claims, namespaces, priorities, workloads, usage."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.model.disruption_budget import DisruptionBudget
from descheduler.model.pod import Owner, Pod
from descheduler.model.requests import ResourceList
from descheduler.model.selection.labels import NOTHING, LabelSelector
from descheduler.model.selection.taints import Toleration
from descheduler.model.volumes.storage import (
    ClaimReference,
    ClaimTemplate,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)

__all__ = [
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "ClaimReference",
    "ClaimTemplate",
    "DisruptionBudget",
    "LimitRange",
    "Namespace",
    "NodeUsage",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "PodUsage",
    "PriorityClass",
    "ResourceQuota",
    "RuntimeClass",
    "Service",
    "StorageClass",
    "VolumeAttachment",
    "Workload",
]


class Namespace(msgspec.Struct, frozen=True):
    """A namespace and its labels."""

    name: str
    labels: Mapping[str, str]


class PriorityClass(msgspec.Struct, frozen=True):
    """A named pod priority."""

    name: str
    value: int
    preemption_policy: str = ""


class Workload(msgspec.Struct, frozen=True):
    """A controller of pods: ReplicaSet, Deployment, StatefulSet, ReplicationController, Job or one of Kruise's.

    `template` is the pod that it will make next, without name and node, as the API server would store it; None in a
    snapshot taken without templates. `revision` counts the templates of a Deployment, 0 where unknown. The two
    policies are those of a StatefulSet and a Job. `replicas` of a Job is its parallelism. `priority_class` and
    `runtime_class` are named by the template; what they mean for it is not worked in.
    """

    kind: str
    namespace: str
    name: str
    uid: str
    replicas: int
    owners: tuple[Owner, ...] = ()
    selector: LabelSelector = NOTHING
    template: Pod | None = None
    revision: int = 0
    pod_management_policy: str = ""
    pod_replacement_policy: str = ""
    claim_templates: tuple[ClaimTemplate, ...] = ()
    priority_class: str = ""
    runtime_class: str = ""
    is_deleting: bool = False


class Service(msgspec.Struct, frozen=True):
    """A Service and the labels of the pods behind it; an empty selector selects none."""

    namespace: str
    name: str
    selector: Mapping[str, str] = {}


class ResourceQuota(msgspec.Struct, frozen=True):
    """A quota of a namespace: what its objects may take in all, and take now, in nano units by quota name
    (`requests.cpu`, `pods`, ...)."""

    namespace: str
    name: str
    hard: ResourceList = {}
    used: ResourceList = {}


class LimitRange(msgspec.Struct, frozen=True):
    """What containers of a namespace ask for, and are limited to, where they do not say so themselves."""

    namespace: str
    name: str
    default_requests: ResourceList = {}
    default_limits: ResourceList = {}


class RuntimeClass(msgspec.Struct, frozen=True):
    """A way to run containers, with what it costs per pod and the nodes that offer it."""

    name: str
    overhead: ResourceList = {}
    node_selector: Mapping[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()


class NodeUsage(msgspec.Struct, frozen=True):
    """What metrics-server last measured on a node, in nano units."""

    name: str
    usage: ResourceList


class PodUsage(msgspec.Struct, frozen=True):
    """What metrics-server last measured of a pod's containers, in nano units, in container order."""

    namespace: str
    name: str
    containers: tuple[ResourceList, ...]
