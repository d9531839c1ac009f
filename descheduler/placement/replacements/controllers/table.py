"""The table of controllers: for each kind that owns pods, what it does once one of them is evicted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from descheduler.model.groups.volcano import JOB_KIND
from descheduler.placement.replacements.answer import OwnerAnswer, Situation
from descheduler.placement.replacements.controllers.daemon_set import daemon_set
from descheduler.placement.replacements.controllers.job import job
from descheduler.placement.replacements.controllers.replica_set import replica_set
from descheduler.placement.replacements.controllers.stateful_set import stateful_set
from descheduler.placement.replacements.controllers.volcano_job import volcano_job


class Controller(NamedTuple):
    """How one kind answers. `reads` are further kinds that it needs of a cluster; `may_end` says that an eviction can
    end an owner of the kind. Where the owner was not read, `knows_by_pod` says that a pod tells enough, and
    `doubts_unread` that it tells too little. One without either is then taken to replace the pod."""

    answer: Callable[[Situation], OwnerAnswer]
    reads: frozenset[str] = frozenset()
    may_end: bool = False
    knows_by_pod: bool = False
    doubts_unread: bool = False


CONTROLLERS: Mapping[str, Controller] = {
    "ReplicaSet.apps": Controller(replica_set, frozenset({"Deployment.apps"})),
    "ReplicationController": Controller(replica_set),
    "StatefulSet.apps": Controller(stateful_set, frozenset({"ControllerRevision.apps"})),
    "DaemonSet.apps": Controller(daemon_set, knows_by_pod=True),
    "Job.batch": Controller(job, may_end=True),
    "CloneSet.apps.kruise.io": Controller(replica_set),
    JOB_KIND: Controller(volcano_job, may_end=True, doubts_unread=True),
}
"""By the keys of the kinds table; of kinds with one name the first is meant where none is stated."""
