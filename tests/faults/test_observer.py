"""The observer itself: each promise is broken once by a made-up history, and kept by one that differs in a single fact.

An observer that cannot fail proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.faults.history import History, Limits, Page, Tenure, Terms
from tests.faults.made_up import (
    GIVEN_BACK,
    HELD,
    LISTS,
    both_evicted,
    effect,
    ended_with,
    leased,
    left_late,
    one_evicted,
    report,
    reported,
    request,
    run,
    sound_reading,
    with_text,
)
from tests.faults.observer import judge

ANNOUNCED = 'I1122 observer.py:136] "Traceback of a plugin that failed" profile="p"'

BROKEN: list[tuple[str, str, Callable[[], History]]] = [
    (
        "one pod more than the total",
        "no limit is exceeded",
        lambda: both_evicted(terms=Terms(limits=Limits(total=1), deadline_seconds=10.0)),
    ),
    (
        "one pod more than a node may lose, late and long after the end",
        "no limit is exceeded",
        lambda: both_evicted(
            terms=Terms(limits=Limits(node=1), deadline_seconds=10.0),
            effects=[effect("a"), effect("b", at=90.0, is_late=True)],
        ),
    ),
    (
        "one pod more than a namespace may lose",
        "no limit is exceeded",
        lambda: both_evicted(terms=Terms(limits=Limits(namespace=1), deadline_seconds=10.0)),
    ),
    (
        "one pod more than LowNodeUtilization may take from a node",
        "no limit is exceeded",
        lambda: both_evicted(terms=Terms(limits=Limits(plugin_node=1), deadline_seconds=10.0)),
    ),
    (
        "the same pod in two runs",
        "no pod is evicted twice",
        lambda: one_evicted(effects=[effect("a"), effect("a", run=1)]),
    ),
    (
        "a confirmed eviction asked for again",
        "no pod is evicted twice",
        lambda: one_evicted(
            requests=[*sound_reading(), request("eviction", uid="a", is_confirmed=True), request("eviction", uid="a")]
        ),
    ),
    (
        "a successor that nobody had read of",
        "no pod is evicted twice",
        lambda: one_evicted(listed={0: {"b"}}),
    ),
    (
        "a pod beside the plan",
        "no pod is evicted unlisted",
        lambda: one_evicted(effects=[effect("a"), effect("b")]),
    ),
    (
        "a pod that the policy protects",
        "no pod is evicted unlisted",
        lambda: one_evicted(terms=Terms(deadline_seconds=10.0, protected=frozenset({"a"}))),
    ),
    (
        "more pods of a budget than it allows",
        "no budget is violated",
        lambda: both_evicted(effects=[effect("a", budget="shop/web"), effect("b", budget="shop/web")]),
    ),
    (
        "an eviction without a whole list of budgets",
        "nothing is decided on damaged lists",
        lambda: one_evicted(requests=[*sound_reading()[:2], request("eviction", uid="a")]),
    ),
    (
        "a list whose middle page was damaged",
        "nothing is decided on damaged lists",
        lambda: one_evicted(
            requests=[
                *sound_reading()[:2],
                request("list", path=LISTS[2], page=Page(3, 0, is_last=False)),
                request("list", path=LISTS[2], page=Page(3, 7, is_last=True), is_whole=True),
            ]
        ),
    ),
    (
        "a run that calls itself done without a list of nodes",
        "nothing is decided on damaged lists",
        lambda: one_evicted(runs=[run(report())], effects=[], requests=sound_reading()[1:]),
    ),
    (
        "an eviction before the Lease",
        "the Lease is respected",
        lambda: leased([HELD, GIVEN_BACK], request("eviction", at=0.5, uid="a")),
    ),
    (
        "an eviction after the Lease ran out and a rival took it",
        "the Lease is respected",
        lambda: leased([HELD, Tenure(3.0, "rival", True, True)], request("eviction", at=3.1, uid="a")),
    ),
    (
        "an eviction long after a rival seized the Lease",
        "the Lease is respected",
        lambda: leased([HELD, Tenure(3.0, "rival", True)], request("eviction", at=8.0, uid="a"), ended_at=9.0),
    ),
    ("a Lease that is kept", "the Lease is respected", lambda: leased([HELD])),
    (
        "a Lease that is given back before a call takes effect",
        "the Lease is respected",
        lambda: left_late([HELD, GIVEN_BACK]),
    ),
    (
        "a pod that left and is reported as failed",
        "the report is true",
        lambda: one_evicted(runs=reported(("a", "failed", "server-error"))),
    ),
    (
        "a pod that left after the end and is reported as not attempted",
        "the report is true",
        lambda: one_evicted(
            runs=reported(("a", "not-attempted", "deadline"), exit_code=4), effects=[effect("a", at=9)]
        ),
    ),
    (
        "a pod that is reported as gone and left because it was evicted",
        "the report is true",
        lambda: one_evicted(runs=reported(("a", "gone", "pod-gone"))),
    ),
    (
        "a pod that left without a word",
        "the report is true",
        lambda: one_evicted(runs=reported(planned=("a",))),
    ),
    ("a pod that never left and is reported as evicted", "the report is true", lambda: one_evicted(effects=[])),
    (
        "a pod that others deleted and is reported as evicted, though each call was answered",
        "the report is true",
        lambda: one_evicted(effects=[], departed={"a"}),
    ),
    ("no report after evictions", "the report is true", lambda: one_evicted(runs=[run("")])),
    (
        "a sum that is not that of the results",
        "the report is true",
        lambda: one_evicted(runs=reported(("a", "evicted", "done"), counts={"evicted": 2})),
    ),
    (
        "unknown outcomes that are not counted",
        "the report is true",
        lambda: one_evicted(runs=reported(("a", "evicted", "outcome-unknown"), unconfirmed=0)),
    ),
    (
        "exit code 1 after an eviction, even a late one",
        "exit codes mean what they say",
        lambda: one_evicted(
            runs=reported(("a", "evicted", "outcome-unknown"), exit_code=1), effects=[effect("a", at=9)]
        ),
    ),
    (
        "exit code 1 with outcomes that nobody knows",
        "exit codes mean what they say",
        lambda: one_evicted(runs=reported(("a", "evicted", "outcome-unknown"), exit_code=1), effects=[]),
    ),
    *(
        (f"exit code {code} without a reason", "exit codes mean what they say", lambda code=code: ended_with(code))
        for code in (2, 3, 4, 5, 99, 130, 137, 143)
    ),
    (
        "exit code 0 although the deadline left pods over",
        "exit codes mean what they say",
        lambda: one_evicted(runs=reported(("a", "evicted", "done"), ("b", "not-attempted", "deadline"))),
    ),
    (
        "exit code 0 although refusals were to be told",
        "exit codes mean what they say",
        lambda: one_evicted(
            terms=Terms(deadline_seconds=10.0, is_detailed=True),
            runs=reported(("a", "evicted", "done"), ("b", "refused", "budget")),
        ),
    ),
    (
        "exit code 0 although all evictions failed",
        "exit codes mean what they say",
        lambda: one_evicted(runs=reported(("a", "failed", "server-error")), effects=[]),
    ),
    (
        "a guard's exit code after a signal",
        "exit codes mean what they say",
        lambda: one_evicted(
            runs=reported(
                ("a", "evicted", "done"),
                ("b", "not-attempted", "stopped"),
                exit_code=4,
                signals=[(1.0, "SIGTERM")],
            ),
        ),
    ),
    (
        "exit code 1 after a signal while reading",
        "exit codes mean what they say",
        lambda: one_evicted(runs=[run(exit_code=1, signals=[(1.0, "SIGINT")])], effects=[], requests=[]),
    ),
    (
        "exit code 1 after the deadline while reading",
        "exit codes mean what they say",
        lambda: one_evicted(runs=[run(exit_code=1, ended_at=11.0)], effects=[], requests=[]),
    ),
    ("a token on standard output", "no secret is told", lambda: with_text("stdout", "Bearer canary-token")),
    ("a token on standard error", "no secret is told", lambda: with_text("stderr", "b'Bearer canary-token\\n'")),
    ("a token in the metrics", "no secret is told", lambda: with_text("metrics", 'up{user="canary-token"} 1')),
    (
        "a token in base64",
        "no secret is told",
        lambda: with_text("stderr", "Authorization: Y2FuYXJ5LXRva2Vu"),
    ),
    (
        "a token in an Event",
        "no secret is told",
        lambda: one_evicted(
            terms=Terms(deadline_seconds=10.0, canaries=("canary-token",)), events=['{"note": "canary-token"}']
        ),
    ),
    (
        "a token sent in clear",
        "no secret is told",
        lambda: one_evicted(foreign_credentials=["GET /elsewhere without TLS"]),
    ),
    (
        "a traceback",
        "no internal error",
        lambda: with_text("stderr", "I1122 story\nTraceback (most recent call last):\n"),
    ),
    (
        "an error that nobody expected",
        "no internal error",
        lambda: with_text("stderr", "error: internal error: ValueError"),
    ),
    (
        "an end long after the deadline",
        "runs end in time",
        lambda: one_evicted(runs=reported(("a", "evicted", "done"), ended_at=15.5)),
    ),
    (
        "an end long after a signal",
        "runs end in time",
        lambda: one_evicted(
            terms=Terms(), runs=reported(("a", "evicted", "done"), ended_at=17.0, signals=[(1.0, "SIGTERM")])
        ),
    ),
    (
        "a run that had to be killed",
        "runs end in time",
        lambda: one_evicted(runs=[run(was_killed=True, exit_code=137)], effects=[]),
    ),
    (
        "400 MB where nothing large was to be read",
        "memory is bounded",
        lambda: one_evicted(runs=reported(("a", "evicted", "done"), max_rss_bytes=400_000_000)),
    ),
]


@pytest.mark.parametrize(
    ("promise", "make_history"), [pytest.param(promise, make, id=what) for what, promise, make in BROKEN]
)
def test_a_history_that_breaks_a_promise_is_told_so(promise: str, make_history: Callable[[], History]) -> None:
    broken = judge(make_history())

    assert promise in {found.promise for found in broken}


KEPT: list[tuple[str, Callable[[], History]]] = [
    ("a run without flaw", one_evicted),
    ("two pods where two are allowed", both_evicted),
    (
        "an eviction that nobody knows of and that took effect after the end",
        lambda: one_evicted(runs=reported(("a", "evicted", "outcome-unknown")), effects=[effect("a", at=9.0)]),
    ),
    (
        "an eviction that nobody knows of and that never took effect",
        lambda: one_evicted(runs=reported(("a", "evicted", "outcome-unknown")), effects=[]),
    ),
    (
        "a pod that others deleted while nobody answered the call for it",
        lambda: one_evicted(
            requests=[*sound_reading(), request("eviction", uid="a", fault="504 (after the effect)")],
            effects=[],
            departed={"a"},
        ),
    ),
    (
        "a lost answer and a pod that somebody else deleted",
        lambda: one_evicted(runs=reported(("a", "evicted", "left-without-answer")), effects=[], departed={"a"}),
    ),
    (
        "a damaged list that was read again",
        lambda: one_evicted(requests=[request("list", path=LISTS[0], page=Page(9, 0, is_last=True)), *sound_reading()]),
    ),
    (
        "a Lease that was held, and given back",
        lambda: leased([HELD, GIVEN_BACK], request("eviction", at=2.0, uid="a")),
    ),
    ("a Lease that is kept for a call that takes effect late", lambda: left_late([HELD])),
    (
        "a Lease that a rival seized while nobody could know",
        lambda: leased([HELD, Tenure(3.0, "rival", True)], request("eviction", at=3.5, uid="a"), exit_code=4),
    ),
    (
        "a deadline that left pods over",
        lambda: one_evicted(
            runs=reported(("a", "evicted", "done"), ("b", "not-attempted", "deadline"), exit_code=4, ended_at=10.2)
        ),
    ),
    (
        "a signal that left pods over",
        lambda: one_evicted(
            runs=reported(
                ("a", "evicted", "done"),
                ("b", "not-attempted", "stopped"),
                exit_code=143,
                signals=[(1.0, "SIGTERM")],
            )
        ),
    ),
    (
        "a late end on a machine without time",
        lambda: one_evicted(runs=reported(("a", "evicted", "done"), ended_at=17.0, stalled_seconds=3.0)),
    ),
    (
        "a late end of a run that was stopped meanwhile",
        lambda: one_evicted(runs=reported(("a", "evicted", "done"), ended_at=17.0, paused=[(2.0, 6.0)])),
    ),
    (
        "400 MB for a huge page of a list",
        lambda: one_evicted(
            runs=reported(("a", "evicted", "done"), max_rss_bytes=400_000_000),
            requests=[request("list", fault="200 MB in a small gzip (after the effect)"), *sound_reading()],
        ),
    ),
    (
        "a report that nobody could take",
        lambda: one_evicted(runs=[run("", has_output=False)]),
    ),
    (
        "the traceback of a plugin that failed, after its announcement",
        lambda: with_text("stderr", f"{ANNOUNCED}\nTraceback (most recent call last):\n"),
    ),
]


@pytest.mark.parametrize("make_history", [pytest.param(make, id=what) for what, make in KEPT])
def test_a_history_that_keeps_all_promises_is_left_alone(make_history: Callable[[], History]) -> None:
    assert judge(make_history()) == []
