"""All promises, and which of them a history breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tests.faults.history import History
from tests.faults.honesty import exit_codes_are_documented, no_internal_error, no_secret_is_told, report_is_true
from tests.faults.manners import memory_is_bounded, runs_end_in_time
from tests.faults.rooms.promises import (
    evictions_are_counted,
    jobs_are_judged,
    no_object_ends_a_run,
    nothing_foreign,
    nothing_is_left,
)
from tests.faults.safety import (
    budgets_hold,
    lease_is_respected,
    limits_hold,
    no_pod_twice,
    nothing_unlisted,
    reading_is_sound,
)

PROMISES: Mapping[str, Callable[[History], Iterator[str]]] = {
    "no limit is exceeded": limits_hold,
    "no pod is evicted twice": no_pod_twice,
    "no pod is evicted unlisted": nothing_unlisted,
    "no budget is violated": budgets_hold,
    "nothing is decided on damaged lists": reading_is_sound,
    "the Lease is respected": lease_is_respected,
    "nothing that is not ours is changed": nothing_foreign,
    "every eviction is judged": jobs_are_judged,
    "every eviction is counted": evictions_are_counted,
    "no object ends a run": no_object_ends_a_run,
    "nothing is left behind": nothing_is_left,
    "the report is true": report_is_true,
    "exit codes mean what they say": exit_codes_are_documented,
    "no secret is told": no_secret_is_told,
    "no internal error": no_internal_error,
    "runs end in time": runs_end_in_time,
    "memory is bounded": memory_is_bounded,
}
"""Words → the stories of how a history breaks the promise, none when it is kept."""


@dataclass(frozen=True, slots=True)
class BrokenPromise:
    """One way in which a schedule broke a promise."""

    seed: int
    promise: str
    story: str


def judge(history: History) -> list[BrokenPromise]:
    """Everything that went against a promise."""
    return [BrokenPromise(history.seed, words, story) for words, find in PROMISES.items() for story in find(history)]
