"""Pods that are not created yet, as objects: of a manifest, or one with some requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from descheduler.documents.problems import did_you_mean, shown
from descheduler.model.names import STANDARD_RESOURCES, is_container_resource

__all__ = ["WantedPodsError", "devices_of_class", "objects_beside", "pod_of_requests", "pods_of_manifest"]

Object = Mapping[str, Any]

_NAMESPACE = "default"
_REPLICAS = {"Job": "parallelism"}
"""The field that says how many pods a workload runs at once, where it is not `replicas`."""

_EXAMPLE = "nvidia.com/gpu"
_EXACT_COUNT = {"allocationMode": "ExactCount"}
_BESIDE = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate")
"""Kinds of objects by which the devices of a pod are told."""


class WantedPodsError(ValueError):
    """There is no pod to make room for, or one that cannot be created; the message says why."""


def pod_of_requests(requests: Mapping[str, str]) -> Object:
    """One pod that requests so much, and that tolerates the taints of extended resources that it requests.

    The admission plugin ExtendedResourceToleration of the API server adds the same tolerations. Raises WantedPodsError
    for a resource that no container can request.
    """
    _check_resources(requests)
    extended = [resource for resource in requests if "/" in resource]
    return _pending(
        {"name": "wanted", "namespace": _NAMESPACE},
        {
            "containers": [{"name": "main", "resources": {"requests": dict(requests)}}],
            "tolerations": [{"key": resource, "operator": "Exists"} for resource in extended],
        },
    )


def pods_of_manifest(documents: Iterable[object]) -> list[Object]:
    """The pods of `documents`: pods, lists, and workloads with a pod template, as many as they have replicas.

    Other objects are left out. Raises WantedPodsError for a DaemonSet, where there are no pods, and for a pod that
    requests a resource that no container can request.
    """
    pods = [pod for document in documents for pod in _pods_of(document)]
    if not pods:
        raise WantedPodsError("holds no pod and no workload with a pod template and replicas")
    for pod in pods:
        _check_resources(_resources_of(pod["spec"]), f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']}: ")
    return pods


def devices_of_class(device_class: str, count: int) -> tuple[Object, Object]:
    """One pod that claims so many devices of a DeviceClass, and the ResourceClaimTemplate that says so."""
    request = {"name": "devices", "exactly": {"deviceClassName": device_class, **_EXACT_COUNT, "count": count}}
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "wanted", "namespace": _NAMESPACE},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }
    claims = [{"name": "devices", "resourceClaimTemplateName": "wanted"}]
    spec = {"containers": [{"name": "main"}], "resourceClaims": claims}
    return _pending({"name": "wanted", "namespace": _NAMESPACE}, spec), template


def objects_beside(documents: Iterable[object]) -> list[Object]:
    """The DeviceClasses, ResourceClaims and ResourceClaimTemplates of `documents`, those of lists among them."""
    found: list[Object] = []
    for document in documents:
        if not isinstance(document, Mapping):
            continue
        items = document.get("items")
        if isinstance(items, list):
            found += objects_beside(items)
        elif document.get("kind") in _BESIDE:
            metadata = _mapping(document, "metadata")
            found.append({**document, "metadata": {"namespace": _NAMESPACE, **metadata}})
    return found


def _check_resources(resources: Iterable[str], whose: str = "") -> None:
    """Raises WantedPodsError for the first of `resources` that the API server refuses in a container."""
    for name in resources:
        if not is_container_resource(name):
            hint = did_you_mean(name, (*STANDARD_RESOURCES, _EXAMPLE)) or (
                f"; use {', '.join(STANDARD_RESOURCES)}, hugepages-<size>"
                f" or a name with a domain, for example {_EXAMPLE}"
            )
            raise WantedPodsError(f"{whose}{shown(name)} is not a resource{hint}")


def _resources_of(spec: Object) -> Iterator[str]:
    """The names of what the pod and its containers request, or may use, which is what they request by default."""
    lists = (spec.get(key) for key in ("containers", "initContainers"))
    containers = [each for found in lists if isinstance(found, list) for each in found if isinstance(each, Mapping)]
    for owner in (*containers, spec):
        for kind in ("requests", "limits"):
            yield from map(str, _mapping(owner, "resources", kind))


def _pods_of(document: object) -> Iterator[Object]:
    if not isinstance(document, Mapping):
        return
    kind, items = document.get("kind"), document.get("items")
    if isinstance(items, list):
        for item in items:
            yield from _pods_of(item)
    elif kind == "Pod":
        metadata = _mapping(document, "metadata")
        namespace = metadata.get("namespace") or _NAMESPACE
        yield _pending({**metadata, "namespace": namespace}, _mapping(document, "spec"))
    elif kind == "CronJob":
        yield from _pods_of({**document, "kind": "Job", "spec": _mapping(document, "spec", "jobTemplate", "spec")})
    elif template := _mapping(document, "spec", "template"):
        yield from _replicas(document, template)


def _replicas(workload: Object, template: Object) -> Iterator[Object]:
    kind, metadata = str(workload.get("kind")), _mapping(workload, "metadata")
    name, namespace = metadata.get("name", "wanted"), metadata.get("namespace") or _NAMESPACE
    if kind == "DaemonSet":
        raise WantedPodsError(f"DaemonSet {name} has one pod on each node; name a pod, or a workload with replicas")
    replicas = _mapping(workload, "spec").get(_REPLICAS.get(kind, "replicas"), 1)
    for number in range(replicas if isinstance(replicas, int) else 1):
        owner = {"apiVersion": workload.get("apiVersion", ""), "kind": kind, "name": name, "controller": True}
        yield _pending(
            {
                **_mapping(template, "metadata"),
                "name": f"{name}-wanted-{number}",
                "namespace": namespace,
                "ownerReferences": [{**owner, "uid": f"wanted-{namespace}-{name}"}],
            },
            _mapping(template, "spec"),
        )


def _pending(metadata: Object, spec: Object) -> Object:
    """The pod as it is when nothing but its creation has happened."""
    name = metadata.get("name") or f"{metadata.get('generateName', '')}wanted"
    kept = {key: metadata[key] for key in ("labels", "annotations", "ownerReferences") if key in metadata}
    namespace = metadata.get("namespace") or _NAMESPACE
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**kept, "name": name, "namespace": namespace, "uid": f"wanted-{namespace}-{name}"},
        "spec": {key: value for key, value in spec.items() if key != "nodeName"},
        "status": {"phase": "Pending"},
    }


def _mapping(value: Object, *path: str) -> Object:
    """The mapping at `path`; empty where there is none."""
    for key in path:
        inner = value.get(key)
        value = inner if isinstance(inner, Mapping) else {}
    return value
