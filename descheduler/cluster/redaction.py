"""What is left of an object in a dump: all that decides about pods, nothing that may be secret.

Removed wherever it stands, so in the pod templates of workloads and custom resources too: values of environment
variables, commands and arguments, probes and hooks, messages, copies of manifests in annotations.
"""

from __future__ import annotations

__all__ = ["redact"]

_METADATA_NOISE = ("managedFields", "selfLink")
# Annotations in which tools keep the manifest that they applied, environment included.
_MANIFEST_MARKS = ("last-applied", "/applied", "/original")
_CONTAINER_LISTS = frozenset({"containers", "initContainers", "ephemeralContainers"})
_CONTAINER_FIELDS = frozenset(
    {
        *("name", "image", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "ports"),
        *("env", "envFrom", "volumeDevices", "targetContainerName"),
    }
)
_SECRET_FIELDS = frozenset({"command", "args", "volumeAttributes", "httpHeaders", "attachmentMetadata"})
# Volumes that no scheduling rule looks at; the token mounts among them differ from pod to pod.
_IDLE_VOLUMES = ("projected", "downwardAPI", "configMap", "secret")
_STATUS_FIELDS = {
    "Pod": frozenset(
        {
            *("phase", "reason", "conditions", "startTime", "qosClass", "nominatedNodeName", "resources"),
            *("allocatedResources", "resize", "resourceClaimStatuses", "observedGeneration"),
            *("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"),
        }
    ),
    "Node": frozenset(
        {
            "allocatable",
            "capacity",
            "conditions",
            "images",
            "nodeInfo",
            "declaredFeatures",
            "features",
            "volumesAttached",
        }
    ),
}
_CONTAINER_STATUS_FIELDS = frozenset(
    {"name", "state", "restartCount", "ready", "started", "resources", "allocatedResources"}
)
_NODE_IDENTIFIERS = ("machineID", "systemUUID", "bootID")


def redact(kind: str, obj: dict[str, object]) -> dict[str, object]:
    """`obj` without what a dump must not hold; changes and returns it. Raises ValueError for a Secret or ConfigMap."""
    if kind in ("Secret", "ConfigMap") or obj.get("kind") in ("Secret", "ConfigMap"):
        raise ValueError(f"a {kind} never goes into a dump")
    _walk(obj)
    if kind == "StorageClass":
        obj.pop("parameters", None)
    status = obj.get("status")
    if isinstance(status, dict) and kind in _STATUS_FIELDS:
        kept = _STATUS_FIELDS[kind]
        obj["status"] = status = {name: value for name, value in status.items() if name in kept}
        _shorten_status(status)
    return obj


def _walk(value: object) -> None:
    if isinstance(value, list):
        for item in value:
            _walk(item)
        return
    if not isinstance(value, dict):
        return
    for name in _SECRET_FIELDS & value.keys():
        # A label may bear such a name, but its value is a string.
        if not isinstance(value[name], str):
            del value[name]
    for name, member in value.items():
        if name == "metadata" and isinstance(member, dict):
            _shorten_metadata(member)
        elif name in _CONTAINER_LISTS and isinstance(member, list):
            value[name] = [_container(item) for item in member]
        elif name == "env" and isinstance(member, list):
            value[name] = [_without_value(item) for item in member]
        elif name == "volumes" and isinstance(member, list):
            value[name] = [item for item in member if not _is_idle(item)]
        elif name == "flexVolume" and isinstance(member, dict):
            member.pop("options", None)
        elif name == "conditions" and isinstance(member, list):
            value[name] = [_without_message(item) for item in member]
        elif name in ("waiting", "terminated"):
            value[name] = _without_message(member)
    for member in value.values():
        if isinstance(member, (dict, list)):
            _walk(member)


def _shorten_metadata(metadata: dict[str, object]) -> None:
    for name in _METADATA_NOISE:
        metadata.pop(name, None)
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict):
        metadata["annotations"] = {key: text for key, text in annotations.items() if not _is_manifest(key, text)}


def _is_manifest(key: str, text: object) -> bool:
    return any(mark in key for mark in _MANIFEST_MARKS) or (isinstance(text, str) and '"env"' in text)


def _container(container: object) -> object:
    if not isinstance(container, dict):
        return container
    return {name: value for name, value in container.items() if name in _CONTAINER_FIELDS}


def _without_value(variable: object) -> object:
    if not isinstance(variable, dict):
        return None
    return {name: value for name, value in variable.items() if name in ("name", "valueFrom")}


def _without_message(state: object) -> object:
    """A condition or state without its message, which quotes what a program printed last: that may be anything."""
    if not isinstance(state, dict):
        return state
    return {name: value for name, value in state.items() if name != "message"}


def _is_idle(volume: object) -> bool:
    return isinstance(volume, dict) and any(source in volume for source in _IDLE_VOLUMES)


def _shorten_status(status: dict[str, object]) -> None:
    for name in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"):
        containers = status.get(name)
        if isinstance(containers, list):
            status[name] = [
                {key: value for key, value in container.items() if key in _CONTAINER_STATUS_FIELDS}
                for container in containers
                if isinstance(container, dict)
            ]
    info = status.get("nodeInfo")
    if isinstance(info, dict):
        for name in _NODE_IDENTIFIERS:
            info.pop(name, None)
    conditions = status.get("conditions")
    for condition in conditions if isinstance(conditions, list) else ():
        if isinstance(condition, dict):
            condition.pop("lastHeartbeatTime", None)
            condition.pop("lastProbeTime", None)
