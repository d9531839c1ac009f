"""Which pod has come in place of another: told by its owner, its labels and its age."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

import msgspec

from descheduler.kube.objects import ObjectCalls, is_object_name
from descheduler.migration.job.surge import is_surged
from descheduler.migration.pods import decode_pod, pods_path
from descheduler.model.koordinator.migration_job import JobConditionType, MigrationJob
from descheduler.model.pod import Pod
from descheduler.plan.planned import PlannedEviction

_LABELS_OF_ONE_POD = frozenset(
    {"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index"}
)


_OUR_CLOCK_MAY_BE_WRONG = timedelta(seconds=15)
"""After so long without a pod that is newer than the eviction, those that seem older count too."""


class Successors(msgspec.Struct, frozen=True):
    """What the pods of one controller have in common: its UID, and labels in the namespace."""

    namespace: str
    owner: str
    labels: Mapping[str, str] = {}

    @property
    def selector(self) -> str | None:
        """The labels as a label selector; None without any."""
        return ",".join(f"{key}={value}" for key, value in sorted(self.labels.items())) or None

    def has(self, pod: Pod) -> bool:
        """Whether `pod` is of the controller."""
        return pod.controller is not None and pod.controller.uid == self.owner

    def encoded(self) -> str:
        """As it stands in the annotation."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def decoded(cls, text: str) -> Successors | None:
        """What the annotation says, None where it says nothing of this kind."""
        try:
            found = _decode_successors(text)
        except (ValueError, RecursionError):
            return None
        return found if is_object_name(found.namespace) else None


_decode_successors = msgspec.json.Decoder(Successors).decode


def successors_of(eviction: PlannedEviction) -> Successors | None:
    """By what the pods are known that may come in place of the one that leaves; None where no owner creates any."""
    if not eviction.controller_uid:
        return None
    labels = {key: value for key, value in eviction.labels.items() if key not in _LABELS_OF_ONE_POD}
    return Successors(eviction.namespace, eviction.controller_uid, labels)


def is_replaced(eviction: PlannedEviction) -> bool:
    """Whether a pod comes in place of the one that leaves, as far as anybody knows."""
    replacement = None if eviction.landing is None else eviction.landing.replacement
    is_known_not_to_come = replacement is not None and (replacement.pod is None or bool(replacement.barred))
    return bool(eviction.controller_uid) and not is_known_not_to_come


class Replacements:
    """Looks for replacements. Safe to use from several threads; raises ExchangeError.

    A pod that has come for one job has not come for another, whose pod has left the same workload.
    """

    def __init__(self, objects: ObjectCalls) -> None:
        self._objects = objects
        self._job_of: dict[str, str] = {}
        self._lock = threading.Lock()

    def find(
        self,
        successors: Successors,
        job: MigrationJob,
        now: datetime,
        may_be: Callable[[Pod], bool] = lambda pod: True,
    ) -> Pod | None:
        """The pod that came for the one of `job`, which was asked to leave; None when none has come yet.

        It was created after that, and `may_be` agrees. Of several, the one that the job knows goes first, then one with
        the name of the pod that left, one on the node of the room, the oldest, one without a node: the room of a pod
        that is pending is not given up for one that is not.
        """
        path = pods_path(successors.namespace)
        found = self._objects.list_readable(path, decode_pod, label_selector=successors.selector)
        with self._lock:
            candidates = [pod for pod in found if self._may_be(pod, successors, job) and may_be(pod)]
            newer = [pod for pod in candidates if came_after(pod, job)]
            chosen = min(newer or _older(candidates, job, now), key=lambda pod: _preference(pod, job), default=None)
            if chosen is not None and chosen.node_name:
                self._job_of[chosen.uid] = job.uid
        return chosen

    def _may_be(self, pod: Pod, successors: Successors, job: MigrationJob) -> bool:
        is_free = self._job_of.get(pod.uid, job.uid) == job.uid
        is_another = pod.uid != job.pod_uid and pod.deleted_at is None
        return successors.has(pod) and is_free and is_another and _is_since(pod, job.created_at)


def came_after(pod: Pod, job: MigrationJob) -> bool:
    """Whether `pod` was created after that of `job` was asked to leave; true where that time is unknown.

    The one time is of the server's clock, the other of this machine's. The replacement of a surge comes before.
    """
    eviction = job.found(JobConditionType.EVICTION)
    return is_surged(job) or eviction is None or _is_since(pod, eviction.probed_at)


def _older(candidates: list[Pod], job: MigrationJob, now: datetime) -> list[Pod]:
    """Pods that seem older than the eviction, when no newer one has come for so long that a clock may be wrong."""
    eviction = job.found(JobConditionType.EVICTION)
    is_late = eviction is None or eviction.probed_at is None or now - eviction.probed_at >= _OUR_CLOCK_MAY_BE_WRONG
    return candidates if is_late else []


def _is_since(pod: Pod, since: datetime | None) -> bool:
    """Whether it was created then or later, in whole seconds."""
    return since is None or pod.created_at is None or pod.created_at >= since.replace(microsecond=0)


def _preference(pod: Pod, job: MigrationJob) -> tuple[bool, bool, bool, float, bool, str]:
    is_known = job.replacement is not None and job.replacement.uid == pod.uid
    is_there = bool(pod.node_name) and pod.node_name == job.node_name
    created = pod.created_at.timestamp() if pod.created_at else 0.0
    return not is_known, pod.name != job.pod_name, not is_there, created, bool(pod.node_name), pod.name
