"""The other objects that decide about pods: budgets, claims, namespaces, priorities, workloads, usage."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.model.labels import NOTHING, LabelSelector
from descheduler.model.pod import Owner
from descheduler.model.requests import ResourceList

__all__ = [
    "DisruptionBudget",
    "MigrationJob",
    "Namespace",
    "NodeUsage",
    "PersistentVolumeClaim",
    "PodUsage",
    "PriorityClass",
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


class PersistentVolumeClaim(msgspec.Struct, frozen=True):
    """A claim; `storage_class` is empty when none is named."""

    namespace: str
    name: str
    storage_class: str


class DisruptionBudget(msgspec.Struct, frozen=True):
    """A PodDisruptionBudget. `disruptions_allowed` is None while its controller has not reported for this generation.

    A budget whose selector is malformed has `selector_error` set and covers nothing.
    """

    namespace: str
    name: str
    selector: LabelSelector = NOTHING
    selector_error: str = ""
    disruptions_allowed: int | None = None
    current_healthy: int = 0
    desired_healthy: int = 0
    unhealthy_policy: str = ""


class Workload(msgspec.Struct, frozen=True):
    """A controller of pods: ReplicaSet, Deployment, StatefulSet, ReplicationController or one of Kruise's."""

    kind: str
    namespace: str
    name: str
    uid: str
    replicas: int
    owners: tuple[Owner, ...] = ()


class MigrationJob(msgspec.Struct, frozen=True):
    """A Koordinator PodMigrationJob, as far as it says whether a pod is being moved already."""

    name: str
    phase: str
    pod_namespace: str
    pod_name: str
    pod_uid: str
    passed_arbitration: bool = False


class NodeUsage(msgspec.Struct, frozen=True):
    """What metrics-server last measured on a node, in nano units."""

    name: str
    usage: ResourceList


class PodUsage(msgspec.Struct, frozen=True):
    """What metrics-server last measured of a pod's containers, in nano units, in container order."""

    namespace: str
    name: str
    containers: tuple[ResourceList, ...]
