"""Jobs of the live cluster, by the recorded rules 24 to 33."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.simulation.owners.live import Controller, Live, LivePod

Object = dict[str, Any]

INDEX = "batch.kubernetes.io/job-completion-index"
INDEX_FAILURES = "batch.kubernetes.io/job-index-failure-count"
_EXIT_CODE = 143
_FIRST_BACKOFF, _LONGEST_BACKOFF = 10, 600
_WHOLE_JOB = -1


class Jobs(Controller):
    """A Job. `ended` is the reason of its end, empty while it goes on."""

    def __init__(self, item: Object, num_failures_in_a_row: int) -> None:
        super().__init__(item)
        status = item["status"]
        self.num_failed: int = status.get("failed", 0)
        self.num_succeeded: int = status.get("succeeded", 0)
        self.completed = set(indexes(status.get("completedIndexes", "")))
        self.failed = set(indexes(status.get("failedIndexes", "")))
        self.was_ending = bool(status.get("conditions"))
        self.ended = ""
        self._row = {_WHOLE_JOB: num_failures_in_a_row}
        self._next_at: dict[int, float] = {}
        self._seen: set[int] = set()
        self.index_failures: dict[int, int] = {}

    @property
    def is_indexed(self) -> bool:
        """Whether its pods are told apart by their index."""
        return self.spec.get("completionMode") == "Indexed"

    def act(self, live: Live) -> bool:
        if self.is_deleting or self.was_ending or self.ended or self.spec.get("suspend"):
            return False
        lost = [pod for pod in live.of(self.uid) if id(pod) not in self._seen and self._has_ended(pod)]
        for pod in lost:
            self.lost(live, pod)
        self._look_at_deadline(live)
        if self.ended:
            self._clear(live)
            return True
        return bool(lost) or self._create(live)

    def lost(self, live: Live, pod: LivePod) -> None:
        """Counts an evicted pod, by the rule that it meets."""
        if self.was_ending or self.ended or self.spec.get("suspend") or id(pod) in self._seen:
            return
        self._seen.add(id(pod))
        if not self.spec["parallelism"] or self._left(live) <= 0:
            return
        action = self._action()
        if action == "FailJob":
            self.ended = "PodFailurePolicy"
            return
        if self._is_queue_with_success():
            if not any(each.is_active for each in live.of(self.uid)):
                self.ended = "CompletionsReached"
            return
        self._count(live, pod, action)

    def _count(self, live: Live, pod: LivePod, action: str) -> None:
        per_index = self.spec.get("backoffLimitPerIndex")
        index = index_of(pod) if per_index is not None else _WHOLE_JOB
        self.num_failed += action != "Ignore"
        self._row.setdefault(index, int(pod.annotations.get(INDEX_FAILURES, "0")))
        limit = self.spec.get("backoffLimit", 6 if per_index is None else 2**31 - 1)
        if self.num_failed > limit and action != "Ignore":
            self.ended = "BackoffLimitExceeded"
            return
        if per_index is not None:
            counted = int(pod.annotations.get(INDEX_FAILURES, "0")) + (action != "Ignore")
            self.index_failures[index] = counted
            if action == "FailIndex" or (counted > per_index and action != "Ignore"):
                self._fail_index(index)
        self._row[index] += 1
        wait = min(_FIRST_BACKOFF * 2 ** (self._row[index] - 1), _LONGEST_BACKOFF)
        self._next_at[index] = live.now + wait
        live.wake_at(live.now + wait)

    def _fail_index(self, index: int) -> None:
        self.failed.add(index)
        most = self.spec.get("maxFailedIndexes")
        if most is not None and len(self.failed) > most:
            self.ended = "MaxFailedIndexesExceeded"
        elif len(self.failed | self.completed) >= self.spec["completions"]:
            self.ended = "FailedIndexes"

    def _has_ended(self, pod: LivePod) -> bool:
        """Whether an evicted pod counts by now: with `Failed` once it has finished, else while it is terminating."""
        if pod.deleting_at is None:
            return False
        return pod.is_finished if self._replaces_failed_only else True

    @property
    def _replaces_failed_only(self) -> bool:
        return self.spec.get("podReplacementPolicy") == "Failed" or "podFailurePolicy" in self.spec

    def _action(self) -> str:
        """That of the first rule of the `podFailurePolicy` that an evicted pod meets."""
        for rule in self.spec.get("podFailurePolicy", {}).get("rules", ()):
            codes = rule.get("onExitCodes")
            if codes is not None and (_EXIT_CODE in codes["values"]) == (codes["operator"] == "In"):
                return str(rule["action"])
            conditions = rule.get("onPodConditions", ())
            if any(each["type"] == "DisruptionTarget" and each.get("status", "True") == "True" for each in conditions):
                return str(rule["action"])
        return "Count"

    def _is_queue_with_success(self) -> bool:
        return self.spec.get("completions") is None and self.num_succeeded > 0

    def _left(self, live: Live) -> float:
        """Seconds until its deadline."""
        most = self.spec.get("activeDeadlineSeconds")
        return float("inf") if most is None else most - self.item["status"]["secondsRun"] - live.now

    def _look_at_deadline(self, live: Live) -> None:
        """Jobs that wait for a back-off may run out of time in it; others are not looked at."""
        if not self._next_at.keys() - self.failed:
            return
        if self._left(live) <= 0:
            self.ended = "DeadlineExceeded"
        elif self._left(live) < _LONGEST_BACKOFF:
            live.wake_at(live.now + self._left(live))

    def _clear(self, live: Live) -> None:
        live.pods = [pod for pod in live.pods if pod.owner != self.uid]

    def _create(self, live: Live) -> bool:
        if self._next_at.get(_WHOLE_JOB, 0.0) > live.now or not self._next_at or self._is_queue_with_success():
            return False
        active = [pod for pod in live.of(self.uid) if self._holds_place(pod)]
        num_lacking = min(self.spec["parallelism"], self._num_wanted()) - len(active)
        if num_lacking <= 0:
            return False
        if not self.is_indexed:
            return live.create(self.made(live, self.spec["template"]))
        taken = {index_of(pod) for pod in active} | self.completed | self.failed
        # An index that waits for its back-off keeps its place from the next ones.
        first = [each for each in range(self.spec["completions"]) if each not in taken][:num_lacking]
        index = next((each for each in first if self._next_at.get(each, 0.0) <= live.now), None)
        if index is None:
            return False
        pod = self.made(live, self.spec["template"], **{INDEX: str(index)})
        if "backoffLimitPerIndex" in self.spec:
            pod.annotations[INDEX_FAILURES] = str(self.index_failures.get(index, 0))
        return live.create(pod)

    def _holds_place(self, pod: LivePod) -> bool:
        """Whether no other pod comes while it is there."""
        return pod.is_active or (self._replaces_failed_only and not pod.is_finished)

    def _num_wanted(self) -> int:
        completions = self.spec.get("completions")
        if completions is None:
            return int(self.spec["parallelism"])
        done = len(self.completed | self.failed) if self.is_indexed else self.num_succeeded
        return int(completions) - done


def index_of(pod: LivePod) -> int:
    """The completion index of a pod."""
    return int(pod.labels[INDEX])


def indexes(text: str) -> Iterator[int]:
    """The numbers of a text such as `1,3-5`."""
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def failures_in_a_row(job: Object, pods: list[Object]) -> int:
    """How many pods of a Job have failed since the last one that succeeded."""
    uid = job["metadata"]["uid"]
    ended = [
        (condition["lastTransitionTime"], pod["status"]["phase"])
        for pod in pods
        if pod["metadata"]["ownerReferences"] and pod["metadata"]["ownerReferences"][0]["uid"] == uid
        for condition in pod["status"]["conditions"]
        if pod["status"]["phase"] in ("Failed", "Succeeded")
    ]
    phases = [phase for _, phase in sorted(ended)]
    return next((number for number, phase in enumerate(reversed(phases)) if phase == "Succeeded"), len(phases))
