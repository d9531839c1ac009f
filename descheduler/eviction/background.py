"""What the eviction API answered or is known to answer, and evictions that another controller carries out.

Follows kubernetes-sigs/descheduler 0.36 `pkg/descheduler/evictions/evictions.go`: the API's refusal says that they have
begun, they count against the limits, and no plugin requests them again.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.undo import NOTHING_DONE, Undo
from descheduler.model.pod import EVICTION_IN_PROGRESS_ANNOTATION, REQUEST_EVICT_ONLY_ANNOTATION, Pod


class BackgroundEvictions:
    """Which pods another controller evicts, found in progress or handed over in this run.

    `answers` are refusals of the API that are known beforehand; without `is_enabled` they are refusals and no more.
    """

    def __init__(self, snapshot: Snapshot, answers: Answers | None = None, *, is_enabled: bool = False) -> None:
        self.answers: Answers = answers or {}
        self._is_enabled = is_enabled
        self.in_progress = tuple(pod for pod in snapshot.pods if _is_in_progress(pod)) if is_enabled else ()
        """Pods whose eviction had begun when the snapshot was taken."""
        self._uids = {pod.uid for pod in self.in_progress}

    @property
    def num_begun(self) -> int:
        """How many pods another controller evicts, those found in progress included."""
        return len(self._uids)

    def have_begun(self, pod: Pod) -> bool:
        """Whether another controller evicts `pod` already."""
        return self._is_enabled and pod.uid in self._uids and _may_run_in_background(pod)

    def take_over(self, pod: Pod) -> bool:
        """Whether the API is known to answer that another controller carries the eviction of `pod` out."""
        answer = self.answers.get(pod.key)
        is_answer = answer is not None and answer.starts_background_eviction
        return is_answer and self._is_enabled and _may_run_in_background(pod)

    def concern(self, pod: Pod) -> bool:
        """Whether the eviction of `pod` is another controller's, begun or not: this run only asks for it."""
        return self._is_enabled and (self.have_begun(pod) or self.take_over(pod))

    def begin(self, pod: Pod) -> Undo:
        """Notes that the eviction of `pod` has been handed over. Of a finished pod there is nothing to evacuate."""
        if pod.is_terminal or pod.uid in self._uids:
            return NOTHING_DONE
        self._uids.add(pod.uid)
        return lambda: self._uids.discard(pod.uid)


def _may_run_in_background(pod: Pod) -> bool:
    return REQUEST_EVICT_ONLY_ANNOTATION in pod.annotations


def _is_in_progress(pod: Pod) -> bool:
    return EVICTION_IN_PROGRESS_ANNOTATION in pod.annotations and _may_run_in_background(pod) and not pod.is_terminal


BACKGROUND_TEXT = "Eviction triggered evacuation"
"""What a refusal says when another controller has taken the eviction over (KubeVirt's wording)."""


class EvictionAnswer(msgspec.Struct, frozen=True):
    """A refusal of the eviction API; `code` 0 stands for an error without an HTTP status."""

    code: int
    message: str

    @property
    def starts_background_eviction(self) -> bool:
        """Whether the refusal says that another controller has taken the eviction over."""
        return self.code == 429 and BACKGROUND_TEXT in self.message


Answers = Mapping[str, EvictionAnswer]
"""`namespace/name` → the refusal; every pod not named is evicted."""
