"""Pods that are not created yet, as objects: of a manifest, or one with some requests.

Pods of Volcano come with the PodGroups that its controllers make (Volcano 1.10, `pkg/controllers/job` and `podgroup`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.documents.problems import did_you_mean, shown
from descheduler.model.groups.volcano import GROUP_NAME_ANNOTATION, QUEUE_NAME_ANNOTATION
from descheduler.model.names import STANDARD_RESOURCES, is_container_resource
from descheduler.model.requests import PODS
from descheduler.model.text.printable import printable

Object = Mapping[str, Any]

_NAMESPACE = "default"
_VOLCANO, _JOBS, _GROUPS = "volcano", "batch.volcano.sh/", "scheduling.volcano.sh/v1beta1"
_POD_GROUP = "PodGroup"
_COPIED = {
    "annotations": ("preemptable", "cooldown-time", "revocable-zone", "jdb-min-available", "jdb-max-unavailable"),
    "labels": ("preemptable", "cooldown-time"),
}
"""What pods of a Job have of the Job, and PodGroups of their pods, without `volcano.sh/`."""
_REPLICAS = {"Job": "parallelism"}
"""The field that says how many pods a workload runs at once, where it is not `replicas`."""

_EXAMPLE = "nvidia.com/gpu"
_EXACT_COUNT = {"allocationMode": "ExactCount"}
CLASS_PREFIX = "deviceclass/"
"""Begins the name of a DeviceClass where that of a resource can stand."""
_OF_DEVICES = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate")
"""Kinds of objects by which the devices of a pod are told."""
_BESIDE = (_POD_GROUP, *_OF_DEVICES)


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

    Other objects are left out. Raises WantedPodsError for a DaemonSet, where there are no pods, for a pod that requests
    a resource that no container can request, and for a Job that Volcano rejects.
    """
    pods = [each for document in documents for each in _objects_of(document) if each["kind"] == "Pod"]
    if not pods:
        raise WantedPodsError("holds no pod and no workload with a pod template and replicas")
    for pod in pods:
        _check_resources(resources_of(pod["spec"]), f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']}: ")
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
    """The DeviceClasses, ResourceClaims, ResourceClaimTemplates and PodGroups of `documents`, each once.

    PodGroups that Volcano makes for pods of `documents` are among them; none of them is admitted yet.
    """
    found = [each for document in documents for each in _objects_of(document) if each["kind"] in _BESIDE]
    by_name = {(each["kind"], each["metadata"]["namespace"], each["metadata"].get("name")): each for each in found}
    return list(by_name.values())


def _check_resources(resources: Iterable[str], whose: str = "") -> None:
    """Raises WantedPodsError for the first of `resources` that the API server refuses in a container."""
    for name in resources:
        if not is_container_resource(name):
            hint = did_you_mean(name, (*STANDARD_RESOURCES, _EXAMPLE)) or (
                f"; use {', '.join(STANDARD_RESOURCES)}, hugepages-<size>"
                f" or a name with a domain, for example {_EXAMPLE}"
                f"{'' if whose else f', or {CLASS_PREFIX}{printable(name)} for devices of a DeviceClass'}"
            )
            raise WantedPodsError(f"{whose}{shown(name)} is not a resource{hint}")


def resources_of(spec: Object) -> Iterator[str]:
    """The names of what the pod and its containers request, or may use, which is what they request by default."""
    lists = (spec.get(key) for key in ("containers", "initContainers"))
    containers = [each for found in lists if isinstance(found, list) for each in found if isinstance(each, Mapping)]
    for owner in (*containers, spec):
        for kind in ("requests", "limits"):
            yield from map(str, _mapping(owner, "resources", kind))


def _objects_of(document: object) -> Iterator[Object]:
    """The pods of `document`, and the objects beside them."""
    if not isinstance(document, Mapping):
        return
    kind, items, metadata = document.get("kind"), document.get("items"), _mapping(document, "metadata")
    namespace = metadata.get("namespace") or _NAMESPACE
    if isinstance(items, list):
        for item in items:
            yield from _objects_of(item)
    elif kind == _POD_GROUP:
        yield {**document, "metadata": {**metadata, "namespace": namespace}, "status": {}}
    elif kind in _OF_DEVICES:
        yield {**document, "metadata": {**metadata, "namespace": namespace}}
    elif kind == "Job" and str(document.get("apiVersion")).startswith(_JOBS):
        yield from _of_volcano_job(document, {**metadata, "namespace": namespace})
    elif kind == "Pod":
        yield from _with_group(_pending({**metadata, "namespace": namespace}, _mapping(document, "spec")))
    elif kind == "CronJob":
        yield from _objects_of({**document, "kind": "Job", "spec": _mapping(document, "spec", "jobTemplate", "spec")})
    elif template := _mapping(document, "spec", "template"):
        for pod in _replicas(document, template):
            yield from _with_group(pod)


def _replicas(workload: Object, template: Object) -> Iterator[Object]:
    kind, metadata = str(workload.get("kind")), _mapping(workload, "metadata")
    name, namespace = metadata.get("name", "wanted"), metadata.get("namespace") or _NAMESPACE
    if kind == "DaemonSet":
        raise WantedPodsError(f"DaemonSet {name} has one pod on each node; name a pod, or a workload with replicas")
    replicas = _mapping(workload, "spec").get(_REPLICAS.get(kind, "replicas"), 1)
    owner = _owner(workload, name, namespace)
    for number in range(replicas if isinstance(replicas, int) else 1):
        own = {"name": f"{name}-wanted-{number}", "namespace": namespace, "ownerReferences": [owner]}
        yield _pending({**_mapping(template, "metadata"), **own}, _mapping(template, "spec"))


def _owner(workload: Object, name: str, namespace: str) -> Object:
    reference = {"apiVersion": workload.get("apiVersion", ""), "kind": workload.get("kind"), "name": name}
    return {**reference, "controller": True, "uid": f"wanted-{namespace}-{name}"}


def _with_group(pod: Object) -> Iterator[Object]:
    """`pod`, and the PodGroup of its owner, or of itself, where it is one of Volcano that names none."""
    yield pod
    metadata, spec = pod["metadata"], pod["spec"]
    annotations = _mapping(metadata, "annotations")
    if spec.get("schedulerName") == _VOLCANO and GROUP_NAME_ANNOTATION not in annotations:
        named = {
            "name": f"podgroup-{_controller_uid(metadata)}",
            "namespace": metadata["namespace"],
            **_copied(metadata),
        }
        yield _group(
            named,
            minMember=1,
            queue=annotations.get(QUEUE_NAME_ANNOTATION),
            priorityClassName=spec.get("priorityClassName"),
            minResources=_quantities(_quota_usage(spec)),
        )


def _controller_uid(metadata: Object) -> str:
    """The UID of what controls a pod, or else its own."""
    owners = metadata.get("ownerReferences")
    for owner in owners if isinstance(owners, list) else ():
        if isinstance(owner, Mapping) and owner.get("controller"):
            return str(owner.get("uid", ""))
    return str(metadata["uid"])


def _group(metadata: Object, **spec: object) -> Object:
    """A PodGroup; what is None is not stated."""
    stated = {key: value for key, value in spec.items() if value is not None}
    return {"apiVersion": _GROUPS, "kind": _POD_GROUP, "metadata": metadata, "spec": stated, "status": {}}


def _copied(metadata: Object) -> dict[str, Object]:
    """What Volcano copies of annotations and labels; a minimum of running pods comes before a maximum of others."""
    found: dict[str, Object] = {}
    for field, names in _COPIED.items():
        stated = _mapping(metadata, field)
        keys = [key for name in names if (key := f"volcano.sh/{name}") in stated]
        found[field] = {key: stated[key] for key in keys}
    return found


class _TaskOfJob(NamedTuple):
    """One task of a Job of Volcano, with what its webhook fills in."""

    name: str
    replicas: int
    least: int
    template: Object

    @classmethod
    def of(cls, task: Object, index: int) -> _TaskOfJob:
        """The task at `index` of the Job."""
        replicas = _whole(task, "replicas") or 0
        least = _whole(task, "minAvailable")
        name = str(task.get("name") or f"default{index}")
        return cls(name, replicas, replicas if least is None else least, _mapping(task, "template"))

    @property
    def priority(self) -> int:
        """The priority of its pods, as far as the template states it."""
        return _whole(_mapping(self.template, "spec"), "priority") or 0


def _of_volcano_job(job: Object, metadata: Object) -> Iterator[Object]:
    """The PodGroup and the pods of all tasks; those of a task that waits for another one (`dependsOn`) as well."""
    spec = _mapping(job, "spec")
    listed = spec.get("tasks")
    sections = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    tasks = [_TaskOfJob.of(each, index) for index, each in enumerate(sections)]
    name, namespace = str(metadata.get("name", "wanted")), str(metadata["namespace"])
    least = _whole(spec, "minAvailable") or sum(task.least for task in tasks)
    _check_job(name, least, tasks)
    yield _group(
        {
            "name": f"{name}-wanted",
            "namespace": namespace,
            "annotations": _mapping(metadata, "annotations"),
            "labels": _mapping(metadata, "labels"),
        },
        minMember=least,
        minTaskMember={task.name: task.least for task in tasks},
        queue=spec.get("queue"),
        priorityClassName=spec.get("priorityClassName"),
        minResources=_quantities(_needed_at_least(tasks, least)),
    )
    owner = _owner(job, name, namespace)
    for task in tasks:
        for number in range(task.replicas):
            yield _pod_of_job(job, {**metadata, "ownerReferences": [owner]}, task, number)


def _check_job(name: str, least: int, tasks: Sequence[_TaskOfJob]) -> None:
    """Raises WantedPodsError for what Volcano rejects when the Job is created."""
    for task in tasks:
        if task.least > task.replicas:
            fault = f"minAvailable ({task.least}) of task {task.name} is above its replicas ({task.replicas})"
            raise WantedPodsError(f"Job {name}: {fault}")
    total = sum(task.replicas for task in tasks)
    if least > total:
        raise WantedPodsError(f"Job {name}: minAvailable ({least}) is above the replicas of its tasks ({total})")


def _pod_of_job(job: Object, metadata: Object, task: _TaskOfJob, number: int) -> Object:
    spec, template = _mapping(job, "spec"), task.template
    name, namespace = metadata.get("name", "wanted"), metadata["namespace"]
    own = {"task-spec": task.name, "task-index": str(number), "job-name": name, "queue-name": spec.get("queue", "")}
    named = {f"volcano.sh/{key}": value for key, value in own.items()}
    copied, stated = _copied(metadata), _mapping(template, "metadata")
    group = {GROUP_NAME_ANNOTATION: f"{name}-wanted"}
    claims = [volume.get("volumeClaimName") for volume in spec.get("volumes") or () if isinstance(volume, Mapping)]
    volumes = [{"name": f"{name}-{claim}", "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
    return _pending(
        {
            "name": f"{name}-{task.name}-wanted-{number}",
            "namespace": namespace,
            "annotations": {**_mapping(stated, "annotations"), **named, **group, **copied["annotations"]},
            "labels": {
                **_mapping(stated, "labels"),
                **named,
                "volcano.sh/job-namespace": namespace,
                **copied["labels"],
            },
            "ownerReferences": metadata["ownerReferences"],
        },
        {
            "schedulerName": spec.get("schedulerName") or _VOLCANO,
            **_mapping(template, "spec"),
            "volumes": [*(_mapping(template, "spec").get("volumes") or ()), *volumes],
        },
    )


def _needed_at_least(tasks: Sequence[_TaskOfJob], least: int) -> Counter[str]:
    """What as many pods request as the Job needs: those of the higher priority first, and of each task as many as it
    needs before any more, unless the Job needs fewer than that."""
    by_priority = sorted(tasks, key=lambda task: -task.priority)
    in_turn = [(task, task.replicas) for task in by_priority]
    if least >= sum(task.least for task in tasks):
        in_turn = [(task, task.least) for task in by_priority]
        in_turn += [(task, task.replicas - task.least) for task in by_priority]
    found: Counter[str] = Counter()
    for task, number in in_turn:
        taken = min(number, least)
        least -= taken
        for resource, amount in _quota_usage(_without_limits(_mapping(task.template, "spec"))).items():
            found[resource] += amount * taken
    return found


def _quota_usage(spec: Object) -> Mapping[str, int]:
    """What a pod of this spec counts for in a quota, in nano units: what it requests."""
    (read,) = snapshot_from_objects([_pending({"name": "counted"}, spec)]).pods
    return {**read.spec.requests, PODS: 10**9}


def _without_limits(spec: Object) -> Object:
    """The spec of a template as Volcano counts it: no limit is a request before the pod is created."""
    lists = {key: spec[key] for key in ("containers", "initContainers") if isinstance(spec.get(key), list)}
    bare = {
        key: [
            {**each, "resources": {"requests": _mapping(each, "resources", "requests")}}
            for each in containers
            if isinstance(each, Mapping)
        ]
        for key, containers in lists.items()
    }
    return {**bare, "overhead": _mapping(spec, "overhead")}


def _quantities(amounts: Mapping[str, int]) -> Object:
    return {resource: f"{nano}n" for resource, nano in amounts.items()}


def _whole(value: Object, key: str) -> int | None:
    found = value.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _pending(metadata: Object, spec: Object) -> Object:
    """The pod as it is when nothing but its creation has happened."""
    name = metadata.get("name") or f"{metadata.get('generateName', '')}wanted"
    kept = {key: metadata[key] for key in ("labels", "annotations", "ownerReferences") if key in metadata}
    namespace = metadata.get("namespace") or _NAMESPACE
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**kept, "name": name, "namespace": namespace, "uid": f"wanted-{namespace}-{name}"},
        "spec": {key: _requesting(value) for key, value in spec.items() if key != "nodeName"},
        "status": {"phase": "Pending"},
    }


def _requesting(field: object) -> object:
    """A field of a spec; containers of it request what they are limited to, as the API server has it."""
    return [_with_requests(each) for each in field] if isinstance(field, list) else field


def _with_requests(item: object) -> object:
    limits = _mapping(item, "resources", "limits") if isinstance(item, Mapping) else {}
    if not limits or not isinstance(item, Mapping):
        return item
    requests = {**limits, **_mapping(item, "resources", "requests")}
    return {**item, "resources": {**_mapping(item, "resources"), "requests": requests}}


def _mapping(value: Object, *path: str) -> Object:
    """The mapping at `path`; empty where there is none."""
    for key in path:
        inner = value.get(key)
        value = inner if isinstance(inner, Mapping) else {}
    return value
