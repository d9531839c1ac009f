"""Other parties that touch the jobs of the program while it carries them out."""

from __future__ import annotations

import time
from collections.abc import Mapping

from tests.faults.disturbances import Event
from tests.faults.history import Deletion
from tests.faults.rooms.kinds import CONFIG_MAPS, JOBS, PODS, RESERVATIONS, object_path
from tests.faults.rooms.writing import Made
from tests.faults.store import Store

DELETED = {
    Event.JOBS_DELETED: (JOBS, CONFIG_MAPS),
    Event.ROOMS_DELETED: (RESERVATIONS, PODS),
    Event.RECORDS_DELETED: (JOBS, CONFIG_MAPS, RESERVATIONS, PODS),
}
"""In which lists somebody deletes what the program has created."""


def delete_records(store: Store, made: Mapping[str, Made], event: Event) -> Mapping[str, Deletion]:
    """Somebody deletes every second object that the program has created of these kinds, or all jobs and rooms.

    Returns UID → what was deleted.
    """
    deleted = dict[str, Deletion]()
    step = 1 if event is Event.RECORDS_DELETED else 2
    with store.lock:
        all_items = [(path, item["metadata"]) for path in DELETED[event] for item in store.items(path)]
        for path, metadata in [(path, found) for path, found in all_items if found["uid"] in made][::step]:
            store.remove(path, metadata["uid"])
            whole = object_path(path, metadata.get("namespace", ""), metadata["name"])
            deleted[metadata["uid"]] = Deletion(time.monotonic(), whole)
    return deleted


def change_jobs(store: Store) -> None:
    """Somebody sets a label of every job, which has another version then."""
    with store.lock:
        for path in (JOBS, CONFIG_MAPS):
            for item in store.items(path):
                metadata = item["metadata"]
                if isinstance(labels := metadata.get("labels") or {}, dict):
                    store.put(path, item | {"metadata": metadata | {"labels": labels | {"team": "a"}}})
