"""Other parties that touch the jobs of the program while it carries them out."""

from __future__ import annotations

from collections.abc import Mapping

from tests.faults.rooms.kinds import CONFIG_MAPS, JOBS
from tests.faults.rooms.writing import Made
from tests.faults.store import Store

__all__ = ["change_jobs", "delete_jobs"]


def delete_jobs(store: Store, made: Mapping[str, Made]) -> None:
    """Somebody deletes every second job that the program has created."""
    with store.lock:
        ours = [(path, item["metadata"]["uid"]) for path in (JOBS, CONFIG_MAPS) for item in store.items(path)]
        for path, uid in [(path, uid) for path, uid in ours if uid in made][::2]:
            store.remove(path, uid)


def change_jobs(store: Store) -> None:
    """Somebody sets a label of every job, which has another version then."""
    with store.lock:
        for path in (JOBS, CONFIG_MAPS):
            for item in store.items(path):
                metadata = item["metadata"]
                if isinstance(labels := metadata.get("labels") or {}, dict):
                    store.put(path, item | {"metadata": metadata | {"labels": labels | {"team": "a"}}})
