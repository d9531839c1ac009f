"""The subresource `scale`: the replicas of a workload, and nothing else of it."""

from __future__ import annotations

from tests.living.api.request import Request, Target
from tests.living.api.writes import check_head_of_patch, existing, merged, stored
from tests.living.store import Object, Store

HAVE_SCALE = frozenset({"Deployment", "ReplicaSet", "StatefulSet"})


def scale_of(store: Store, target: Target) -> Object:
    """The scale of a workload. Raises Refused (404)."""
    return _scale(existing(store, target))


def patch_scale(store: Store, target: Target, request: Request) -> Object:
    """The scale after a JSON merge patch; UID and resource version are the workload's. Raises Refused (404, 409)."""
    before, wanted = existing(store, target), request.document()
    check_head_of_patch(target, before, wanted)
    replicas = merged(_scale(before), wanted)["spec"]["replicas"]
    after = {**before, "spec": {**before["spec"], "replicas": replicas}}
    return _scale(stored(store, target, before, after, manager=request.query.get("fieldManager", "")))


def _scale(workload: Object) -> Object:
    known = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: workload["metadata"][name] for name in known},
        "spec": {"replicas": workload["spec"].get("replicas", 1)},
        "status": {"replicas": (workload.get("status") or {}).get("replicas", 0)},
    }
