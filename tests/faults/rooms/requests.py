"""Which kind a call for a single object is, and which object it is about."""

from __future__ import annotations

from typing import Any

from tests.faults.faults import Requests
from tests.faults.rooms.kinds import (
    CONFIG_MAPS,
    JOBS,
    PODS,
    PRIORITY_CLASSES,
    RESERVATIONS,
    Target,
    object_path,
    target_of,
)

_JOB_VERBS = {
    "GET": Requests.JOB,
    "POST": Requests.JOB_CREATE,
    "PATCH": Requests.JOB_PATCH,
    "DELETE": Requests.JOB_DELETE,
}
_ROOM_VERBS = {"GET": Requests.ROOM, "POST": Requests.ROOM_CREATE, "DELETE": Requests.ROOM_DELETE}


def kind_of_target(method: str, target: Target, body: Any) -> Requests:
    """What faults are drawn by; jobs are told by their kind, or by the names of their ConfigMaps."""
    name = _name(target, body)
    if target.list_path == JOBS or (target.list_path == CONFIG_MAPS and name.startswith("descheduler-job-")):
        return Requests.JOB_STATUS if target.is_status else _JOB_VERBS.get(method, Requests.MAP_WRITE)
    if target.list_path == RESERVATIONS or (target.list_path == PODS and name.startswith("placeholder-")):
        return _ROOM_VERBS.get(method, Requests.POD_WRITE)
    if target.list_path == PRIORITY_CLASSES:
        return Requests.DISCOVERY
    if target.list_path == PODS:
        return Requests.POD if method == "GET" else Requests.POD_WRITE
    return Requests.MAP if method == "GET" else Requests.MAP_WRITE


def path_of_object(method: str, path: str, body: Any) -> str:
    """Which object a call is about, as `object_path` has it; "" for other calls."""
    target = target_of(path)
    name = "" if target is None else _name(target, body if method == "POST" else None)
    return object_path(target.list_path, target.namespace, name) if target is not None and name else ""


def _name(target: Target, body: Any) -> str:
    if target.name:
        return target.name
    metadata = body.get("metadata") if isinstance(body, dict) else None
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""
