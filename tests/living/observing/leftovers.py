"""What must not be there any more when all is over."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.living.observing.departures import ROOM_LABEL
from tests.living.observing.promises import Promise
from tests.living.store import Object, Store

_CREATED_BY = "koordinator.sh/job-created-by"
_JOB_KEY = "job.json"
_OURS = "descheduler-"
_ENDED = ("Succeeded", "Failed", "Aborted")


def leftovers(store: Store) -> Iterator[tuple[Promise, str]]:
    """Room that is still held, and jobs that have not ended, PodMigrationJobs or ConfigMaps that stand for one.

    A Reservation that was used up is Koordinator's to remove, after a day. Jobs are ours unless another controller has
    created them for itself.
    """
    for found in store.all("reservations.scheduling.koordinator.sh"):
        phase = (found.get("status") or {}).get("phase") or "Pending"
        if ROOM_LABEL in _labels(found) and phase != "Succeeded":
            yield Promise.ROOM_RELEASED, f"Reservation {found['metadata']['name']} is left over, {phase}"
    for found in store.all("pods"):
        if ROOM_LABEL in _labels(found):
            metadata = found["metadata"]
            yield Promise.ROOM_RELEASED, f"placeholder {metadata['namespace']}/{metadata['name']} is left over"
    for found in store.all("podmigrationjobs.scheduling.koordinator.sh"):
        creator = (found["metadata"].get("annotations") or {}).get(_CREATED_BY, _OURS)
        phase = (found.get("status") or {}).get("phase") or "Pending"
        if creator.startswith(_OURS) and phase not in _ENDED:
            yield Promise.JOB_ENDED, f"PodMigrationJob {found['metadata']['name']} is left over, {phase}"
    for found in store.all("configmaps"):
        text = (found.get("data") or {}).get(_JOB_KEY)
        phase = (json.loads(text).get("status") or {}).get("phase") or "Pending" if text else _ENDED[0]
        if phase not in _ENDED:
            yield Promise.JOB_ENDED, f"the job in ConfigMap {found['metadata']['name']} is left over, {phase}"


def _labels(found: Object) -> Object:
    return found["metadata"].get("labels") or {}
