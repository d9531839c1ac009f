"""What the API server adds to new objects, and which objects it does not take."""

from __future__ import annotations

import re
from typing import Any

from tests.living.api.refusal import Refused, invalid, not_found
from tests.living.api.request import Target
from tests.living.resources import by_plural
from tests.living.store import Object, Store

_LABEL = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_POD_PARTS_THAT_MAY_CHANGE = {"activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds"}


def admitted(store: Store, target: Target, created: Object) -> Object:
    """`created` with its defaults. Raises Refused."""
    resource = target.resource
    metadata = created["metadata"]
    if resource.is_namespaced and store.get("namespaces", target.namespace) is None:
        raise not_found(by_plural("namespaces"), target.namespace)
    if not _NAME.fullmatch(metadata["name"]) or len(metadata["name"]) > 253:
        raise invalid(resource, metadata["name"], f'metadata.name: Invalid value: "{metadata["name"]}"')
    _check_content(target, created)
    match resource.kind:
        case "Pod":
            return _admitted_pod(store, created)
        case "Reservation":
            return _admitted_reservation(target, created)
        case "PodMigrationJob" if (created.get("spec") or {}).get("podRef") is None:
            raise invalid(resource, metadata["name"], "spec.podRef: Required value")
        case "Lease":
            _check_lease(target, created)
        case "Event" if resource.group:
            _check_event(target, created)
    return created


def check_update(target: Target, before: Object, after: Object) -> None:
    """Raises Refused for a change that the API does not allow."""
    _check_content(target, after)
    if target.resource.kind == "Pod" and not target.subresource:
        _check_pod_update(target, before["spec"], after.get("spec") or {})
    if target.resource.kind == "Lease":
        _check_lease(target, after)


def _admitted_pod(store: Store, created: Object) -> Object:
    spec: Object = {
        "schedulerName": "default-scheduler",
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        **created.get("spec", {}),
    }
    if not spec.get("containers"):
        raise invalid(by_plural("pods"), created["metadata"]["name"], "spec.containers: Required value")
    spec |= admitted_priority(store, created["metadata"]["name"], spec)
    _check_quotas(store, created["metadata"])
    return {**created, "spec": spec, "status": {"phase": "Pending"}}


def admitted_priority(store: Store, name: str, spec: Object) -> Object:
    """What the admission plugin Priority sets. Raises Refused (403)."""
    class_name = spec.get("priorityClassName")
    if not class_name:
        defaults = [found for found in store.all("priorityclasses.scheduling.k8s.io") if found.get("globalDefault")]
        found = defaults[0] if defaults else None
    elif (found := store.get("priorityclasses.scheduling.k8s.io", class_name)) is None:
        text = f'pods "{name}" is forbidden: no PriorityClass with name {class_name} was found'
        raise Refused(403, "Forbidden", text)
    value = found["value"] if found else 0
    if spec.get("priority") not in (None, value):
        text = f'pods "{name}" is forbidden: the integer value of priority ({spec["priority"]}) must not be provided '
        raise Refused(403, "Forbidden", f"{text}in pod spec; priority admission controller computed {value}")
    policy = (found or {}).get("preemptionPolicy", "PreemptLowerPriority")
    return {"priority": value, "preemptionPolicy": policy} | ({"priorityClassName": class_name} if class_name else {})


def _check_quotas(store: Store, metadata: Object) -> None:
    """Of what ResourceQuotas limit, the number of pods. Raises Refused (403)."""
    pods = [found for found in store.all("pods") if found["metadata"]["namespace"] == metadata["namespace"]]
    used = sum(found["status"].get("phase") not in ("Succeeded", "Failed") for found in pods)
    for quota in store.all("resourcequotas"):
        most = quota["spec"]["hard"].get("pods", str(used + 1))
        if quota["metadata"]["namespace"] == metadata["namespace"] and used >= int(most):
            text = f'pods "{metadata["name"]}" is forbidden: exceeded quota: {quota["metadata"]["name"]}'
            raise Refused(403, "Forbidden", f"{text}, requested: pods=1, used: pods={used}, limited: pods={most}")


def _admitted_reservation(target: Target, created: Object) -> Object:
    spec = created.get("spec") or {}
    for needed in ("template", "owners"):
        if not spec.get(needed):
            raise invalid(target.resource, created["metadata"]["name"], f"spec.{needed}: Required value")
    for entry in spec["owners"]:
        if not entry or ("controller" in entry and not entry["controller"].get("uid")):
            raise invalid(target.resource, created["metadata"]["name"], "spec.owners: Invalid value")
    return {**created, "spec": {"ttl": "24h", "allocateOnce": True, **spec}}


def _check_content(target: Target, found: Object) -> None:
    metadata = found["metadata"]
    for key, value in (metadata.get("labels") or {}).items():
        if not isinstance(value, str) or len(value) > 63 or not _LABEL.fullmatch(value):
            raise invalid(target.resource, metadata["name"], f"metadata.labels: Invalid value: {key}: {value!r}")
    sizes = {"metadata.annotations": metadata.get("annotations"), "data": None}
    if target.resource.kind == "ConfigMap":
        sizes["data"] = found.get("data")
    for part, most in (("metadata.annotations", 256 << 10), ("data", 1 << 20)):
        if sum(len(key) + len(str(value).encode()) for key, value in (sizes[part] or {}).items()) > most:
            raise invalid(target.resource, metadata["name"], f"{part}: Too long: may not be more than {most} bytes")


def _check_event(target: Target, event: Object) -> None:
    """Events on objects of the cluster are in namespace default, others with their object."""
    for needed in ("eventTime", "reportingController", "reportingInstance", "action", "reason", "type"):
        if not event.get(needed):
            raise invalid(target.resource, event["metadata"]["name"], f"{needed}: Required value")
    namespace = (event.get("regarding") or {}).get("namespace") or "default"
    if namespace != target.namespace:
        raise invalid(target.resource, event["metadata"]["name"], "involvedObject.namespace: does not match namespace")
    if len(event.get("note", "").encode()) > 1024:
        raise invalid(target.resource, event["metadata"]["name"], "note: can have at most 1024 characters")


def _check_lease(target: Target, lease: Object) -> None:
    spec = lease.get("spec") or {}
    if spec.get("leaseDurationSeconds", 1) <= 0 or spec.get("holderIdentity") == "":
        raise invalid(target.resource, lease["metadata"]["name"], f"spec: Invalid value: {spec}")


def _check_pod_update(target: Target, before: Object, after: Object) -> None:
    def fixed(spec: Object) -> Any:
        kept = {name: value for name, value in spec.items() if name not in _POD_PARTS_THAT_MAY_CHANGE}
        containers = [{**found, "image": ""} for found in spec.get("containers", ())]
        return kept | {"containers": containers}

    if fixed(before) != fixed(after):
        text = "spec: Forbidden: pod updates may not change fields other than image, tolerations and the like"
        raise invalid(target.resource, target.name, text)
