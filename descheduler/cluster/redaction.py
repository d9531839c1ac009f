"""What is left of an object in a dump: all that decides about pods, nothing that may be secret.

Removed wherever it stands, so in the pod templates of workloads and custom resources too: values of environment
variables, commands and arguments, probes and hooks, messages, copies of manifests in annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

__all__ = ["redact"]

_METADATA_NOISE = ("managedFields", "selfLink")
# Annotations in which tools keep the manifest that they applied, environment included.
_MANIFEST_MARKS = ("last-applied", "/applied", "/original")
_CONTAINER_FIELDS = frozenset(
    {
        *("name", "image", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "ports"),
        *("env", "envFrom", "volumeDevices", "targetContainerName"),
    }
)
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


def _walk(value: dict[str, object]) -> None:
    if not _RULE_NAMES.isdisjoint(value):
        for name in _RULE_NAMES & value.keys():
            # A label may bear such a name, but its value is a string.
            if isinstance(value[name], (dict, list)):
                value[name] = _RULES[name](value[name])
                if value[name] is None:
                    del value[name]
    for member in value.values():
        if isinstance(member, dict):
            _walk(member)
        elif isinstance(member, list):
            _walk_list(member)


def _walk_list(items: list[object]) -> None:
    for item in items:
        if isinstance(item, dict):
            _walk(item)
        elif isinstance(item, list):
            _walk_list(item)


def _shorten_metadata(metadata: object) -> object:
    if not isinstance(metadata, dict):
        return metadata
    for name in _METADATA_NOISE:
        metadata.pop(name, None)
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict):
        metadata["annotations"] = {key: text for key, text in annotations.items() if not _is_manifest(key, text)}
    return metadata


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


def _without_options(volume: object) -> object:
    return {name: value for name, value in volume.items() if name != "options"} if isinstance(volume, dict) else volume


def _is_idle(volume: object) -> bool:
    return isinstance(volume, dict) and any(source in volume for source in _IDLE_VOLUMES)


def _each(change: Callable[[object], object]) -> Callable[[object], object]:
    """A rule that applies `change` to every item of a list."""
    return lambda items: [change(item) for item in items] if isinstance(items, list) else items


def _drop(_: object) -> object:
    return None


_RULES: Mapping[str, Callable[[object], object]] = {
    **dict.fromkeys(("command", "args", "httpHeaders", "volumeAttributes", "attachmentMetadata"), _drop),
    **dict.fromkeys(("containers", "initContainers", "ephemeralContainers"), _each(_container)),
    **dict.fromkeys(("waiting", "terminated"), _without_message),
    "metadata": _shorten_metadata,
    "env": _each(_without_value),
    "volumes": lambda items: [item for item in items if not _is_idle(item)] if isinstance(items, list) else items,
    "flexVolume": _without_options,
    "conditions": _each(_without_message),
}
"""Field name → what becomes of its value, wherever it stands; None drops the field."""

_RULE_NAMES = frozenset(_RULES)


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
