"""Which kinds of objects are read, where the API server lists them, and how each is decoded.

Pods and nodes, the bulk of every cluster, have decoders of their own (`cluster.decode`); the other kinds are small
and are described here as wire types with the function that makes the model value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from descheduler.cluster.blocks import decode_labels, decode_owners, decode_quantities, decode_selector
from descheduler.cluster.wire import ABSENT, MetadataWire, Wire
from descheduler.model.objects import (
    DisruptionBudget,
    MigrationJob,
    Namespace,
    NodeUsage,
    PersistentVolumeClaim,
    PodUsage,
    PriorityClass,
    Workload,
)

__all__ = ["KINDS", "Kind", "SmallObject", "kind_of"]

SmallObject = (
    Namespace
    | PriorityClass
    | PersistentVolumeClaim
    | DisruptionBudget
    | Workload
    | MigrationJob
    | NodeUsage
    | PodUsage
)


_PAGE_SIZE = 2500
"""The API server counts what is left of a list for every page, so that at 150,000 pods it spends twice the time on
pages of 500; larger pages than this gain little, and two of them are in memory at a time."""
_NODE_PAGE_SIZE = 500
"""Nodes name the images they hold, and are ten times the size of other objects."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind that is read. `path` is its cluster-wide list; `is_optional` kinds may be absent from a cluster.

    Of an `is_measured` kind a fault is no more than absence: only the plugin that wants its figures goes without.
    `page_size` is the number of objects asked for at once.
    """

    name: str
    group: str
    path: str
    is_optional: bool = False
    is_measured: bool = False
    decode: Callable[[bytes], SmallObject] | None = None
    page_size: int = _PAGE_SIZE


class _Spec(Wire):
    storage_class_name: str | None = None
    replicas: int | None = None
    selector: msgspec.Raw = ABSENT
    unhealthy_pod_eviction_policy: str | None = None
    pod_ref: MetadataWire | None = None


class _Status(Wire):
    observed_generation: int | None = None
    disruptions_allowed: int | None = None
    current_healthy: int | None = None
    desired_healthy: int | None = None
    phase: str | None = None


class _Metadata(MetadataWire):
    generation: int | None = None


class _ContainerUsage(Wire):
    usage: msgspec.Raw = ABSENT


class _Small(Wire):
    """Any small object: the fields of the kinds below do not clash."""

    kind: str | None = None
    metadata: _Metadata | None = None
    value: int | None = None
    usage: msgspec.Raw = ABSENT
    containers: list[_ContainerUsage] | None = None
    status: _Status | None = None


class _SmallWithSpec(_Small):
    spec: _Spec | None = None


_decode_small = msgspec.json.Decoder(_SmallWithSpec).decode


def _named(block: bytes) -> tuple[_SmallWithSpec, _Metadata, _Spec, _Status]:
    wire = _decode_small(block)
    return wire, wire.metadata or _Metadata(), wire.spec or _Spec(), wire.status or _Status()


def _namespace(block: bytes) -> Namespace:
    _, metadata, _, _ = _named(block)
    return Namespace(metadata.name or "", decode_labels(bytes(metadata.labels)))


def _priority_class(block: bytes) -> PriorityClass:
    wire, metadata, _, _ = _named(block)
    return PriorityClass(metadata.name or "", wire.value or 0)


def _claim(block: bytes) -> PersistentVolumeClaim:
    _, metadata, spec, _ = _named(block)
    return PersistentVolumeClaim(metadata.namespace or "", metadata.name or "", spec.storage_class_name or "")


def _budget(block: bytes) -> DisruptionBudget:
    _, metadata, spec, status = _named(block)
    selector, error = decode_selector(bytes(spec.selector))
    # Until its controller has looked at this generation, a budget's status says nothing about it.
    is_current = status.observed_generation is not None and status.observed_generation >= (metadata.generation or 0)
    return DisruptionBudget(
        namespace=metadata.namespace or "",
        name=metadata.name or "",
        selector=selector,
        selector_error=error,
        disruptions_allowed=(status.disruptions_allowed or 0) if is_current else None,
        current_healthy=status.current_healthy or 0,
        desired_healthy=status.desired_healthy or 0,
        unhealthy_policy=spec.unhealthy_pod_eviction_policy or "",
    )


def _workload(kind: str) -> Callable[[bytes], Workload]:
    def decode(block: bytes) -> Workload:
        _, metadata, spec, _ = _named(block)
        return Workload(
            kind=kind,
            namespace=metadata.namespace or "",
            name=metadata.name or "",
            uid=metadata.uid or "",
            replicas=1 if spec.replicas is None else spec.replicas,
            owners=decode_owners(bytes(metadata.owner_references)),
        )

    return decode


def _migration_job(block: bytes) -> MigrationJob:
    _, metadata, spec, status = _named(block)
    reference = spec.pod_ref or MetadataWire()
    annotations = decode_labels(bytes(metadata.annotations))
    return MigrationJob(
        name=metadata.name or "",
        phase=status.phase or "",
        pod_namespace=reference.namespace or "",
        pod_name=reference.name or "",
        pod_uid=reference.uid or "",
        passed_arbitration=annotations.get("descheduler.koordinator.sh/passed-arbitration") == "true",
    )


def _node_usage(block: bytes) -> NodeUsage:
    wire, metadata, _, _ = _named(block)
    return NodeUsage(metadata.name or "", decode_quantities(bytes(wire.usage)))


def _pod_usage(block: bytes) -> PodUsage:
    wire, metadata, _, _ = _named(block)
    containers = tuple(decode_quantities(bytes(c.usage)) for c in wire.containers or ())
    return PodUsage(metadata.namespace or "", metadata.name or "", containers)


_TABLE = (
    Kind("Node", "", "/api/v1/nodes", page_size=_NODE_PAGE_SIZE),
    Kind("Pod", "", "/api/v1/pods"),
    Kind("Namespace", "", "/api/v1/namespaces", decode=_namespace),
    Kind("PersistentVolumeClaim", "", "/api/v1/persistentvolumeclaims", decode=_claim),
    Kind("PriorityClass", "scheduling.k8s.io", "/apis/scheduling.k8s.io/v1/priorityclasses", decode=_priority_class),
    Kind("PodDisruptionBudget", "policy", "/apis/policy/v1/poddisruptionbudgets", decode=_budget),
    Kind("ReplicaSet", "apps", "/apis/apps/v1/replicasets", decode=_workload("ReplicaSet")),
    Kind("Deployment", "apps", "/apis/apps/v1/deployments", decode=_workload("Deployment")),
    Kind("StatefulSet", "apps", "/apis/apps/v1/statefulsets", decode=_workload("StatefulSet")),
    Kind("ReplicationController", "", "/api/v1/replicationcontrollers", decode=_workload("ReplicationController")),
    Kind(
        "CloneSet",
        "apps.kruise.io",
        "/apis/apps.kruise.io/v1alpha1/clonesets",
        is_optional=True,
        decode=_workload("CloneSet"),
    ),
    Kind(
        "PodMigrationJob",
        "scheduling.koordinator.sh",
        "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs",
        is_optional=True,
        decode=_migration_job,
    ),
    Kind(
        "NodeMetrics",
        "metrics.k8s.io",
        "/apis/metrics.k8s.io/v1beta1/nodes",
        is_optional=True,
        is_measured=True,
        decode=_node_usage,
    ),
    Kind(
        "PodMetrics",
        "metrics.k8s.io",
        "/apis/metrics.k8s.io/v1beta1/pods",
        is_optional=True,
        is_measured=True,
        decode=_pod_usage,
    ),
)

KINDS = {kind.name: kind for kind in _TABLE}
"""Kind name → kind, in reading order."""


def kind_of(api_version: str, name: str) -> Kind | None:
    """The kind of an object that states `apiVersion` and `kind`, or None for one that is not read.

    The version within the group is not compared: the fields that are read are the same in all served versions.
    """
    kind = KINDS.get(name)
    group = api_version.rpartition("/")[0]
    return kind if kind is not None and kind.group == group else None
