"""A Deployment that is surged, an API that serves it, and jobs that surge it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec.structs import replace

from descheduler.kube.errors import KindAbsent
from descheduler.migration.job.conditions import with_condition
from descheduler.migration.job.surge import Surge, with_surge
from descheduler.migration.job.surges import Surges
from descheduler.model.koordinator.eviction_annotations import CREATED_BY_ANNOTATION
from descheduler.model.koordinator.migration_job import JobConditionType, MigrationJob
from descheduler.model.pod import Pod
from tests.builders import NOW, make_pod, owner

Object = dict[str, Any]
APPS = "/apis/apps/v1/namespaces/shop"
WEB, REPLICA_SET = f"{APPS}/deployments/web", f"{APPS}/replicasets/web-1"
POD_PATH = "/api/v1/namespaces/shop/pods/web-0"
REQUIRED = Surge(is_required=True)
PLANNED = Surge(True, "Deployment", "web", "w")
BY_JOB, BY_OTHERS = "descheduler-surge-u", "kubectl"


def set_by(*managers: str, path: tuple[str, ...] = ("f:spec", "f:replicas")) -> list[Object]:
    """`managedFields` by which these have stated the replicas, or the field at another path."""
    fields: Object = {}
    for key in reversed(path):
        fields = {key: fields}
    return [{"manager": manager, "operation": "Update", "fieldsV1": fields} for manager in managers]


def workload(
    kind: str, name: str, uid: str, *, replicas: int = 1, managers: tuple[str, ...] = (), **facts: Any
) -> Object:
    """A workload of which all pods are available; `facts` are of its metadata, its spec and its status."""
    head = {"name": name, "namespace": "shop", "uid": uid, "resourceVersion": "7", "managedFields": set_by(*managers)}
    counts = {"replicas": replicas, "updatedReplicas": replicas, "availableReplicas": replicas}
    return {
        "kind": kind,
        "metadata": head | facts.get("metadata", {}),
        "spec": {"replicas": replicas, **facts.get("spec", {})},
        "status": counts | facts.get("status", {}),
    }


def web(**facts: Any) -> Object:
    return workload("Deployment", "web", "w", **facts)


def replica_set(*owners: Object) -> Object:
    return workload("ReplicaSet", "web-1", "r", metadata={"ownerReferences": list(owners)})


def autoscaler(kind: str, name: str) -> Object:
    return {"metadata": {"name": "busy"}, "spec": {"scaleTargetRef": {"kind": kind, "name": name}}}


class Api:
    """Deployment `web` with ReplicaSet `web-1`, changed by these objects at their paths; None takes one away."""

    def __init__(self, objects: Mapping[str, Object | None] | None = None, autoscalers: list[Object] | None = None):
        self.objects: dict[str, Object | None] = {WEB: web(), REPLICA_SET: replica_set(owner("Deployment/web"))}
        self.objects |= objects or {}
        self.autoscalers: list[Object] | None = [] if autoscalers is None else autoscalers
        self.looks: list[str] = []
        self.patches: list[tuple[str, Object, object]] = []
        self.before_patch: list[Callable[[], None]] = []
        """Each is called once; what is patched then has another version."""

    def read(self, path: str, decode: Callable[[bytes], Any]) -> Any:
        """The object, as it is decoded."""
        self.looks.append(path)
        found = self.objects.get(path)
        return None if found is None else decode(json.dumps(found).encode())

    def list(self, path: str, decode: Callable[[bytes], Any]) -> list[Any]:
        """The autoscalers."""
        assert path == "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers"
        if self.autoscalers is None:
            raise KindAbsent("there is no such kind", status_code=404)
        return [decode(json.dumps(each).encode()) for each in self.autoscalers]

    def patch(self, path: str, body: Object, decode: object, *, query: object = None) -> bytes | None:
        """Takes note of it; None where something was changed before it came."""
        self.patches.append((path, body, query))
        if self.before_patch:
            self.before_patch.pop(0)()
            return None
        return b"{}"

    def surges(self) -> Surges:
        return Surges(cast(Any, self))


def pod(**facts: Any) -> Pod:
    return make_pod("web-0", namespace="shop", uid="old", **{"owners": ["ReplicaSet/web-1"], **facts})


def job(surge: Surge | None = PLANNED, *, is_surged: bool = False, **facts: Any) -> MigrationJob:
    """A job of this program; with `is_surged` it knows that its workload was scaled."""
    made = MigrationJob("j", "Running", "shop", "web-0", "old", uid="u", annotations={CREATED_BY_ANNOTATION: "us"})
    made = made if surge is None else with_surge(made, surge)
    made = with_condition(made, JobConditionType.SURGED, True, NOW) if is_surged else made
    return replace(made, **facts)
