"""Whether a session is as it was."""

from __future__ import annotations

import hashlib

import numpy as np

from descheduler.placement.volcano.jobs import Status, Task
from descheduler.placement.volcano.session import Session


def digest_of(session: Session) -> str:
    """A hash of all that a statement changes; a task that is bound and one that runs count alike."""
    state = hashlib.sha256(session.cluster.digest().encode())
    nodes = session.nodes
    for columns in (nodes.idle, nodes.used, nodes.releasing, nodes.pipelined):
        state.update(np.ascontiguousarray(columns).tobytes())
    for job in session.jobs.values():
        statuses = sorted((uid, _counted(task), task.node) for uid, task in job.tasks.items())
        allocated = sorted((name, amount) for name, amount in job.allocated.items() if amount)
        state.update(f"{job.id}={job.phase}{statuses!r}{allocated!r}".encode())
    return state.hexdigest()


def _counted(task: Task) -> str:
    status = Status.RUNNING if task.status is Status.BOUND else task.status
    return status.name
