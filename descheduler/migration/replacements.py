"""Which pod has come in place of another: told by its owner, its labels and its age."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from descheduler.kube.objects import ObjectCalls
from descheduler.migration.pods import decode_pod, pods_path
from descheduler.model.pod import Pod
from descheduler.plan.planned import PlannedEviction

__all__ = ["Replacements", "Successors", "successors_of"]

_LABELS_OF_ONE_POD = frozenset(
    {"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index"}
)


class Successors(msgspec.Struct, frozen=True):
    """What the pods of one controller have in common: its UID, and labels in the namespace."""

    namespace: str
    owner: str
    labels: Mapping[str, str] = {}

    def encoded(self) -> str:
        """As it stands in the annotation."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def decoded(cls, text: str) -> Successors | None:
        """What the annotation says, None where it says nothing of this kind."""
        try:
            return msgspec.json.decode(text, type=cls)
        except (ValueError, RecursionError):
            return None


def successors_of(eviction: PlannedEviction) -> Successors | None:
    """By what the pods are known that may come in place of the one that leaves; None where no owner creates any."""
    if not eviction.controller_uid:
        return None
    labels = {key: value for key, value in eviction.labels.items() if key not in _LABELS_OF_ONE_POD}
    return Successors(eviction.namespace, eviction.controller_uid, labels)


class Replacements:
    """Looks for replacements. Safe to use from several threads; raises KubeError."""

    def __init__(self, objects: ObjectCalls) -> None:
        self._objects = objects

    def find(self, successors: Successors, *, of_uid: str, since: datetime | None) -> Pod | None:
        """The pod that came for that of `of_uid`, created at `since` or later by the server's clock.

        Of several, one with a node goes before one without, then the oldest. None when none has come yet.
        """
        selector = ",".join(f"{key}={value}" for key, value in sorted(successors.labels.items()))
        found = self._objects.list(pods_path(successors.namespace), decode_pod, label_selector=selector or None)
        candidates = [pod for pod in found if _may_be(pod, successors, of_uid, since)]
        return min(candidates, key=_preference, default=None)


def _may_be(pod: Pod, successors: Successors, of_uid: str, since: datetime | None) -> bool:
    is_owned = pod.controller is not None and pod.controller.uid == successors.owner
    is_new = since is None or pod.created_at is None or pod.created_at >= since
    return is_owned and is_new and pod.uid != of_uid and pod.deleted_at is None


def _preference(pod: Pod) -> tuple[bool, float, str]:
    return not pod.node_name, pod.created_at.timestamp() if pod.created_at else 0.0, pod.name
