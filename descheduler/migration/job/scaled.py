"""What is scaled for a surge: a Deployment, or a ReplicaSet of its own, as it is now."""

from __future__ import annotations

from typing import Literal

import msgspec

from descheduler.migration.job.surge import RAISED, SINGLE, Surge
from descheduler.migration.managed_fields import ManagedFields, managers_of

SURGING_MANAGER = "descheduler-surge-"
"""Beginning of the names in which jobs raise replicas; the UID of the job follows."""

_Kind = Literal["Deployment", "ReplicaSet"]
_PLURALS = {"Deployment": "deployments", "ReplicaSet": "replicasets"}


class _Wire(msgspec.Struct, rename="camel"):
    """What is read here may be null, as Kubernetes' own decoder has it."""


class _OwnerReference(_Wire):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    controller: bool | None = None


class _Metadata(_Wire):
    name: str
    namespace: str
    uid: str
    resource_version: str
    generation: int | None = None
    deletion_timestamp: str | None = None
    owner_references: list[_OwnerReference] | None = None
    managed_fields: list[ManagedFields] | None = None


class _Strategy(_Wire):
    type: str | None = None


class _Spec(_Wire):
    replicas: int | None = None
    paused: bool | None = None
    strategy: _Strategy | None = None


class _Status(_Wire):
    observed_generation: int | None = None
    replicas: int | None = None
    updated_replicas: int | None = None
    available_replicas: int | None = None


class _Workload(_Wire):
    kind: _Kind
    metadata: _Metadata
    spec: _Spec
    status: _Status | None = None


_decode_workload = msgspec.json.Decoder(_Workload).decode


class Scaled(msgspec.Struct, frozen=True):
    """A Deployment or ReplicaSet. `controller` is the owner that controls it, kind and name, None without one.

    `set_by` are the field managers that own its replicas: the API server names every client there that has set them
    since they were another number, or that has stated the same number by server-side apply. `is_settled` says that its
    controller has seen its newest spec and has all pods of it available (ready for `minReadySeconds`), and none of an
    older one.
    """

    kind: _Kind
    namespace: str
    name: str
    uid: str
    resource_version: str
    replicas: int
    set_by: frozenset[str] = frozenset()
    controller: tuple[str, str] | None = None
    is_settled: bool = True
    is_paused: bool = False
    is_recreated: bool = False
    is_deleting: bool = False

    @property
    def text(self) -> str:
        """Kind, namespace and name, for sentences."""
        return f"{self.kind} {self.namespace}/{self.name}"

    @property
    def is_surged(self) -> bool:
        """Whether some job has raised its replicas."""
        return any(manager.startswith(SURGING_MANAGER) for manager in self.set_by)

    def is_raised_by(self, manager: str, surge: Surge) -> bool:
        """Whether it has the replicas that `manager` has set, and no other manager has stated any since."""
        return self.uid == surge.uid and self.replicas == RAISED and self.set_by == {manager}

    def obstacle(self) -> str:
        """What blocks a surge in the object itself, "" while nothing does."""
        if self.is_deleting:
            return f"{self.text} is being deleted"
        if self.replicas != SINGLE:
            return f"{self.text} has {self.replicas} replicas"
        if self.controller is not None:
            return f"{self.text} is managed by {' '.join(self.controller)}"
        if self.is_paused:
            return f"{self.text} is paused"
        if self.is_recreated:
            return f"two pods of {self.text} must not run at the same time (strategy Recreate)"
        return "" if self.is_settled else f"{self.text} is rolling out, or its pod is not available"


def owner_path(kind: str, namespace: str, name: str) -> str:
    """Where the Deployment or ReplicaSet is."""
    return f"/apis/apps/v1/namespaces/{namespace}/{_PLURALS[kind]}/{name}"


def decode_scaled(block: bytes) -> Scaled:
    """One Deployment or ReplicaSet. Raises ValueError for anything else."""
    found = _decode_workload(block)
    metadata, spec, status = found.metadata, found.spec, found.status or _Status()
    replicas = SINGLE if spec.replicas is None else spec.replicas
    owners = (owner for owner in metadata.owner_references or () if owner.controller)
    return Scaled(
        kind=found.kind,
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        resource_version=metadata.resource_version,
        replicas=replicas,
        set_by=frozenset(managers_of(("spec", "replicas"), metadata.managed_fields)),
        controller=next(((owner.kind, owner.name) for owner in owners), None),
        is_settled=_is_settled(found.kind, metadata, status, replicas),
        is_paused=bool(spec.paused),
        is_recreated=spec.strategy is not None and spec.strategy.type == "Recreate",
        is_deleting=metadata.deletion_timestamp is not None,
    )


def _is_settled(kind: str, metadata: _Metadata, status: _Status, replicas: int) -> bool:
    counts = [status.replicas, status.available_replicas]
    if kind == "Deployment":
        counts.append(status.updated_replicas)
    is_seen = (status.observed_generation or 0) >= (metadata.generation or 0)
    return is_seen and all((count or 0) == replicas for count in counts)
