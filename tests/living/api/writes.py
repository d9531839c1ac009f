"""Creating, replacing, patching and deleting objects, and binding pods."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.living.api.admission import admitted, check_update
from tests.living.api.refusal import Refused, already_exists, conflict, not_found
from tests.living.api.request import Request, Target
from tests.living.clock import rfc3339
from tests.living.resources import KOORDINATOR_GROUPS, by_plural
from tests.living.store import Object, Store, copied

_MERGE_PATCH = "application/merge-patch+json"
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_NEVER_BLINDLY = KOORDINATOR_GROUPS | {"coordination.k8s.io", "policy"}
"""Groups whose objects are replaced by those alone who say which version they have seen."""
_PODS = by_plural("pods")
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
"""Pods have no replicas, and what has replicas no such cost: an object has one of the two fields at most."""


def existing(store: Store, target: Target) -> Object:
    """The object. Raises Refused (404)."""
    found = store.find(target.resource, target.key)
    if found is None:
        raise not_found(target.resource, target.name)
    return found


def create(store: Store, target: Target, body: Object, *, manager: str = "") -> Object:
    """A new object; its status is dropped where only the subresource writes it. Raises Refused (404, 409, 422).

    The server keeps who has created it, and which labels he has stated.
    """
    metadata = dict(body.get("metadata") or {})
    _check_head(target, body, metadata)
    if not metadata.get("name"):
        if not metadata.get("generateName"):
            text = f"{target.resource.kind} is invalid: metadata.name: Required value: name or generateName is required"
            raise Refused(422, "Invalid", text)
        metadata["name"] = metadata["generateName"] + random_ending(store)
    if metadata.get("resourceVersion"):
        raise Refused(400, "BadRequest", "resourceVersion should not be set on objects to be created")
    for set_by_server in ("uid", "creationTimestamp", "deletionTimestamp", "generation"):
        metadata.pop(set_by_server, None)
    if target.resource.is_namespaced:
        metadata["namespace"] = target.namespace
    labels: Object = {f"f:{label}": {} for label in metadata.get("labels") or {}}
    owner = {"manager": manager or store.actor, "operation": "Update"}
    metadata["managedFields"] = [{**owner, "fieldsV1": {"f:metadata": {"f:labels": labels}}}]
    kept = {name: value for name, value in body.items() if not (name == "status" and target.resource.has_status)}
    created = admitted(store, target, {**kept, "metadata": metadata})
    if store.find(target.resource, (target.namespace, metadata["name"])) is not None:
        raise already_exists(target.resource, metadata["name"])
    return store.add(target.resource, created)


def update(store: Store, target: Target, body: Object) -> Object:
    """The object replaced, by whoever has seen its newest version. Raises Refused (404, 409, 422)."""
    before = existing(store, target)
    metadata = body.get("metadata") or {}
    _check_head(target, body, metadata)
    if metadata.get("name") != target.name:
        raise Refused(400, "BadRequest", "the name of the object does not match the name on the URL")
    _check_uid(target, before, metadata)
    version = metadata.get("resourceVersion")
    if not version and target.resource.group in _NEVER_BLINDLY:
        text = "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
        raise Refused(422, "Invalid", text)
    if version and version != before["metadata"]["resourceVersion"]:
        text = "the object has been modified; please apply your changes to the latest version and try again"
        raise conflict(target.resource, target.name, text)
    return stored(store, target, before, body)


def patch(store: Store, target: Target, request: Request) -> Object:
    """The object with a JSON merge patch (RFC 7386) applied. Raises Refused (404, 409, 415, 422)."""
    if request.content_type != _MERGE_PATCH:
        text = f"the body of the request was in an unknown format - accepted media types include: {_MERGE_PATCH}"
        raise Refused(415, "UnsupportedMediaType", text)
    before = existing(store, target)
    wanted = request.document()
    check_head_of_patch(target, before, wanted)
    return stored(store, target, before, merged(copied(before), wanted), manager=request.query.get("fieldManager", ""))


def check_head_of_patch(target: Target, before: Object, wanted: Object) -> None:
    """Raises Refused (409) when `wanted` names another UID or resource version than the object has."""
    _check_uid(target, before, wanted.get("metadata") or {})
    version = (wanted.get("metadata") or {}).get("resourceVersion")
    if version and version != before["metadata"]["resourceVersion"]:
        raise conflict(target.resource, target.name, "the object has been modified")


def delete(store: Store, target: Target, options: Object) -> Object:
    """The object, which is gone, or terminating where something has to end first. Raises Refused (404, 409)."""
    before = existing(store, target)
    wanted = options.get("preconditions") or {}
    for name in ("uid", "resourceVersion"):
        found = before["metadata"][name]
        if wanted.get(name) not in (None, found):
            label = "UID" if name == "uid" else "ResourceVersion"
            text = f"Precondition failed: {label} in precondition: {wanted[name]}, {label} in object meta: {found}"
            raise conflict(target.resource, target.name, text)
    if options.get("dryRun"):
        return before
    if target.resource.kind == "Pod":
        return delete_pod(store, before, options.get("gracePeriodSeconds"))
    if before["metadata"].get("finalizers"):
        return store.replace(target.resource, _terminating(store, before, 0))
    store.remove(target.resource, target.key)
    return before


def delete_pod(store: Store, pod: Object, grace_seconds: int | None = None) -> Object:
    """A pod that is bound ends within its grace period; one that is not, or that gets no time, is gone at once."""
    metadata, spec = pod["metadata"], pod["spec"]
    key = (metadata["namespace"], metadata["name"])
    target = Target(_PODS, *key)
    seconds = spec.get("terminationGracePeriodSeconds", 30) if grace_seconds is None else grace_seconds
    if not spec.get("nodeName") or not seconds or pod["status"].get("phase") in ("Succeeded", "Failed"):
        store.remove(target.resource, key)
        return pod
    if "deletionTimestamp" in metadata:
        return pod
    return store.replace(target.resource, _terminating(store, pod, seconds))


def bind(store: Store, target: Target, body: Object) -> Object:
    """Puts a pod on the node that `target` of the Binding names. Raises Refused (404, 409)."""
    pod = existing(store, target)
    if pod["spec"].get("nodeName"):
        raise conflict(target.resource, target.name, f"pod {target.name} is already assigned to node")
    status = dict(pod["status"])
    condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": store.clock.text()}
    status["conditions"] = [c for c in status.get("conditions", ()) if c["type"] != "PodScheduled"] + [condition]
    spec = {**pod["spec"], "nodeName": body["target"]["name"]}
    annotations = (body.get("metadata") or {}).get("annotations") or {}
    metadata = {**pod["metadata"], "annotations": {**pod["metadata"].get("annotations", {}), **annotations}}
    return store.replace(target.resource, {**pod, "metadata": metadata, "spec": spec, "status": status})


def random_ending(store: Store) -> str:
    """Five letters and digits, as the API server and controllers end generated names."""
    return "".join(store.random.choices(_LETTERS, k=5))


def _check_head(target: Target, body: Object, metadata: Object) -> None:
    resource = target.resource
    stated = body.get("apiVersion", resource.api_version), body.get("kind", resource.kind)
    if stated != (resource.api_version, resource.kind):
        text = f"{stated[1]} in version {stated[0]!r} cannot be handled as a {resource.kind}"
        raise Refused(400, "BadRequest", text)
    if metadata.get("namespace") not in (None, "", target.namespace):
        raise Refused(400, "BadRequest", "the namespace of the provided object does not match the namespace sent")


def _check_uid(target: Target, before: Object, metadata: Object) -> None:
    found = before["metadata"]["uid"]
    if metadata.get("uid") not in (None, "", found):
        text = f"Precondition failed: UID in precondition: {metadata['uid']}, UID in object meta: {found}"
        raise conflict(target.resource, target.name, text)


def stored(store: Store, target: Target, before: Object, after: Object, *, manager: str = "") -> Object:
    """The object with what `target` lets be changed of it.

    Who states other replicas, or another deletion cost, or cordons a node, owns that field from now on.
    """
    server_set = ("uid", "creationTimestamp", "deletionTimestamp", "generation", "resourceVersion", "name", "namespace")
    if target.subresource == "status":
        return store.replace(target.resource, {**before, "status": after.get("status") or {}})
    kept = {name: before["metadata"][name] for name in server_set if name in before["metadata"]}
    metadata = {name: value for name, value in after["metadata"].items() if name not in server_set} | kept
    changed = {**after, "metadata": metadata}
    owner = {"manager": manager or store.actor, "operation": "Update", "subresource": target.subresource}
    if _replicas(after) != _replicas(before):
        metadata["managedFields"] = [{**owner, "fieldsV1": {"f:spec": {"f:replicas": {}}}}]
    if (cost := _deletion_cost(after)) != _deletion_cost(before):
        fields: Object = {"f:metadata": {"f:annotations": {f"f:{_DELETION_COST}": {}}}}
        metadata["managedFields"] = [{**owner, "fieldsV1": fields}] if cost else []
    if _is_cordoned(after) != _is_cordoned(before):
        metadata["managedFields"] = [{**owner, "fieldsV1": {"f:spec": {"f:unschedulable": {}}}}]
    if target.resource.has_status:
        changed.pop("status", None)
        changed |= {"status": before["status"]} if "status" in before else {}
    check_update(target, before, changed)
    if "deletionTimestamp" in metadata and not metadata.get("finalizers") and target.resource.kind != "Pod":
        store.remove(target.resource, target.key)
        return changed
    return store.replace(target.resource, changed)


def _deletion_cost(found: Object) -> str | None:
    cost: str | None = (found["metadata"].get("annotations") or {}).get(_DELETION_COST)
    return cost


def _is_cordoned(found: Object) -> bool:
    return bool((found.get("spec") or {}).get("unschedulable"))


def _replicas(found: Object) -> int | None:
    replicas: int | None = (found.get("spec") or {}).get("replicas")
    return replicas


def _terminating(store: Store, found: Object, seconds: int) -> Object:
    if "deletionTimestamp" in found["metadata"]:
        return found
    ends_at = store.clock.now() + timedelta(seconds=seconds)
    ending = {"deletionTimestamp": rfc3339(ends_at), "deletionGracePeriodSeconds": seconds}
    return {**found, "metadata": {**found["metadata"], **ending}}


def merged(value: Any, patch: Any) -> Any:
    """`value` with a JSON merge patch applied."""
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for name, part in patch.items():
        if part is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), part)
    return result
