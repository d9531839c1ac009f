"""Makes sure that the scheduler has seen a whole world before it is asked about it.

A scheduler hears of each kind of object on a stream of its own, so a pod created after a node may be known before it.
Objects of every kind are therefore written after the world's own, and a first pod that needs all of them must land.
Then they go, and a second pod must be refused by exactly the nodes of the world.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.e2e.kube_api import Object

_KEY = "judge.test/fence"


@dataclass(frozen=True, slots=True)
class Fence:
    """The objects and pods that mark the end of one world; `token` tells it from those of other worlds."""

    token: str

    @property
    def passing(self) -> list[Object]:
        """What the first pod needs and what must be gone before the second one."""
        return [self._node(), self._anchor()]

    @property
    def lasting(self) -> list[Object]:
        """What stays with the world, because nothing notices it."""
        return [self._namespace(), self._volume(), *self._claims(), self._storage_class()]

    @property
    def first_pod(self) -> Object:
        """Lands once the node, the anchor pod, the namespace, and the bound claim with its volume are known."""
        term = {"labelSelector": self._selector, "namespaceSelector": self._selector, "topologyKey": _KEY}
        affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        return self._pod("first", "bound", affinity=affinity)

    @property
    def second_pod(self) -> Object:
        """Is refused by every node once the fence's own is gone, and not before its storage class is known."""
        return self._pod("second", "waiting")

    @property
    def _name(self) -> str:
        return f"judge-fence-{self.token}"

    @property
    def _labels(self) -> dict[str, str]:
        return {_KEY: self.token}

    @property
    def _selector(self) -> Object:
        return {"matchLabels": self._labels}

    def _namespace(self) -> Object:
        return _object("v1", "Namespace", {"name": self._name, "labels": self._labels})

    def _node(self) -> Object:
        room = {"cpu": "1", "memory": "1Gi", "pods": "2"}
        metadata = {"name": self._name, "labels": self._labels}
        return _object("v1", "Node", metadata, status={"capacity": room, "allocatable": room})

    def _anchor(self) -> Object:
        metadata = {"name": "anchor", "namespace": self._name, "labels": self._labels}
        spec = {"containers": [{"name": "main", "image": "i"}], "nodeName": self._name}
        return _object("v1", "Pod", metadata, spec=spec, status={"phase": "Running"})

    def _pod(self, name: str, claim: str, **spec: Any) -> Object:
        volume = {"name": "v", "persistentVolumeClaim": {"claimName": claim}}
        fixed = {
            "containers": [{"name": "main", "image": "i"}],
            "nodeSelector": self._labels,
            "volumes": [volume],
        }
        return _object("v1", "Pod", {"name": name, "namespace": self._name}, spec={**fixed, **spec})

    def _volume(self) -> Object:
        spec = {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": self._name,
            "persistentVolumeReclaimPolicy": "Retain",
            "volumeMode": "Filesystem",
            "hostPath": {"path": "/nothing"},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": self._name,
                "name": "bound",
                "uid": self._claim_uid,
            },
        }
        return _object("v1", "PersistentVolume", {"name": self._name}, spec=spec, status={"phase": "Bound"})

    @property
    def _claim_uid(self) -> str:
        return f"{self._name}-bound"

    def _claims(self) -> list[Object]:
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": self._name,
            "volumeMode": "Filesystem",
        }
        marks = {f"pv.kubernetes.io/{mark}": "yes" for mark in ("bind-completed", "bound-by-controller")}
        bound = {"name": "bound", "namespace": self._name, "uid": self._claim_uid, "annotations": marks}
        kind = "PersistentVolumeClaim"
        return [
            _object("v1", kind, bound, spec={**spec, "volumeName": self._name}, status={"phase": "Bound"}),
            _object("v1", kind, {"name": "waiting", "namespace": self._name}, spec=spec, status={"phase": "Pending"}),
        ]

    def _storage_class(self) -> Object:
        fields = {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
        return _object("storage.k8s.io/v1", "StorageClass", {"name": self._name}, **fields)


def _object(version: str, kind: str, metadata: Object, **fields: Any) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}
