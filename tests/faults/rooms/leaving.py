"""What a run has left of its own objects, by the state of the server when it ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.faults.history import LeftOver
from tests.faults.objects import Object
from tests.faults.rooms.kinds import CONFIG_MAPS, JOBS, PODS, RESERVATIONS, job_uid_of, object_path
from tests.faults.rooms.writing import Made
from tests.faults.store import Store

_ENDED = ("Succeeded", "Succeed", "Failed", "Aborted")


def left_over(store: Store, made: Mapping[str, Made]) -> list[LeftOver]:
    """The jobs and rooms of the program that are there now; `made` are all objects that it has created."""
    with store.lock:
        jobs = [_job(path, item, made) for path in (JOBS, CONFIG_MAPS) for item in store.items(path) if _is_job(item)]
        rooms = [_room(path, item, made) for path in (PODS, RESERVATIONS) for item in store.items(path)]
    return [found for found in (*jobs, *rooms) if found is not None]


def open_jobs(store: Store) -> set[str]:
    """The UIDs of jobs of all that have not ended now."""
    jobs = (item for path in (JOBS, CONFIG_MAPS) for item in store.items(path) if _is_job(item))
    return {item["metadata"]["uid"] for item in jobs if _phase(item) not in _ENDED}


def _job(path: str, item: Object, made: Mapping[str, Made]) -> LeftOver | None:
    metadata = item["metadata"]
    by = made.get(metadata["uid"])
    if by is None:
        return None
    return LeftOver(
        "job",
        object_path(path, metadata.get("namespace", ""), metadata["name"]),
        metadata["uid"],
        by.run,
        by.is_late,
        pod_uid=str(((_content(item).get("spec") or {}).get("podRef") or {}).get("uid", "")),
        is_over=_phase(item) in _ENDED,
    )


def _room(path: str, item: Object, made: Mapping[str, Made]) -> LeftOver | None:
    metadata = item["metadata"]
    by = made.get(metadata["uid"])
    if by is None:
        return None
    is_used = (item.get("status") or {}).get("phase") == "Succeeded"
    name = object_path(path, metadata.get("namespace", ""), metadata["name"])
    return LeftOver("room", name, job_uid_of(item), by.run, by.is_late, is_over=is_used)


def _is_job(item: Object) -> bool:
    return item.get("kind") == "PodMigrationJob" or "job.json" in (item.get("data") or {})


def _content(item: Object) -> Any:
    """Spec and status of a job, which its ConfigMap holds as a text."""
    if item.get("kind") == "PodMigrationJob":
        return item
    try:
        found = json.loads(item["data"]["job.json"])
    except (ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def _phase(item: Object) -> Any:
    status = _content(item).get("status")
    return status.get("phase", "") if isinstance(status, dict) else ""
