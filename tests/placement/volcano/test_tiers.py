"""How the answers of plugins are made one (volcano.md §6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.volcano.tiers import (
    ABSTAIN,
    OPEN,
    PERMIT,
    REJECT,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Callbacks,
    DecidingPlugin,
    OpenPlugin,
    Tiers,
)
from tests.placement.volcano.worlds import group, node, pods, queue, session, tasks_of


def tiers_of(*tiers: Sequence[Callbacks], off: Sequence[str] = ()) -> Tiers:
    """Tiers of plugins p1, p2 and so on; all of `off` is switched off of the first one."""
    numbers = iter(range(1, 99))
    return Tiers([[OpenPlugin(_option(next(numbers), off), each) for each in tier] for tier in tiers])


def _option(number: int, off: Sequence[str]) -> PluginOption:
    return PluginOption(f"p{number}", off=frozenset(off if number == 1 else ()))


MADE = session(
    [node("a"), queue("early", priority=1), queue("late", priority=1)],
    [group("one", queue="early"), group("two", queue="late")],
    [*pods("one", 2), *pods("two", 1)],
)
ONE, TWO = MADE.jobs["batch/one"], MADE.jobs["batch/two"]


def voting(*votes: Sequence[int]) -> Tiers:
    """Plugins that vote so on jobs, by tier."""

    def saying(vote: int) -> Callbacks:
        return Callbacks(job_enqueueable=lambda job: vote)

    return tiers_of(*[[saying(vote) for vote in tier] for tier in votes])


@pytest.mark.parametrize(
    ("votes", "is_passed", "rejected_by"),
    [
        pytest.param([[ABSTAIN], [ABSTAIN]], True, None, id="all abstain"),
        pytest.param([], True, None, id="nobody is asked"),
        pytest.param([[PERMIT], [REJECT]], True, None, id="a tier permits before another rejects"),
        pytest.param([[PERMIT, REJECT]], False, DecidingPlugin("p2", 1), id="a rejection in the tier of a permit"),
        pytest.param([[ABSTAIN], [REJECT]], False, DecidingPlugin("p2", 2), id="a later tier rejects"),
        pytest.param([[ABSTAIN, PERMIT], [REJECT]], True, None, id="one of a tier permits"),
    ],
)
def test_one_rejection_rejects_before_a_tier_is_through_that_permits(
    votes: list[list[int]], is_passed: bool, rejected_by: DecidingPlugin | None
) -> None:
    tiers = voting(*votes)

    assert tiers.votes_for("job_enqueueable", ONE) is is_passed
    assert tiers.rejected.get(ONE.id) == rejected_by


def ordering(*answers: float) -> Tiers:
    """One plugin a tier, each with such an answer on the order of tasks, jobs and queues."""

    def answering(answer: float) -> Callbacks:
        return Callbacks(
            task_order=lambda left, right: answer,
            job_order=lambda left, right: answer,
            queue_order=lambda left, right: answer,
        )

    return tiers_of(*[[answering(answer)] for answer in answers])


@pytest.mark.parametrize(
    ("answers", "is_less"),
    [([-1], True), ([1], False), ([0, -0.5], True), ([0, 0.5], False), ([-1, 1], True), ([1, -1], False)],
)
def test_first_comparison_that_tells_them_apart_decides(answers: list[float], is_less: bool) -> None:
    tiers, (task, other) = ordering(*answers), [*tasks_of(MADE).values()][:2]

    assert tiers.job_is_less(TWO, ONE) is tiers.job_is_less(ONE, TWO) is is_less
    assert tiers.task_is_less(other, task) is tiers.task_is_less(task, other) is is_less
    assert tiers.queue_is_less(MADE.queues["late"], MADE.queues["early"]) is is_less


def test_alike_ones_are_in_the_order_of_their_names() -> None:
    """Of objects that were created at one time."""
    tiers, queues, tasks = ordering(0), MADE.queues, tasks_of(MADE)

    assert [tiers.job_is_less(*pair) for pair in ((ONE, TWO), (TWO, ONE), (ONE, ONE))] == [True, False, False]
    assert tiers.queue_is_less(queues["early"], queues["late"])
    assert not tiers.queue_is_less(queues["late"], queues["early"])
    assert tiers.task_is_less(tasks["one-0"], tasks["one-1"])
    assert not tiers.task_is_less(tasks["one-0"], tasks["one-0"])


def test_alike_tasks_are_in_the_order_of_their_index_and_then_of_their_age() -> None:
    """The index of both has to be known, and to differ; names say nothing of numbers."""
    named = ["job-w-10", "job-w-9", "x", "y"]
    stamps = ["2026-07-01T00:00:02Z", "2026-07-01T00:00:03Z", "2026-07-01T00:00:04Z", "2026-07-01T00:00:01Z"]
    objects: list[Any] = []
    for name, stamp in zip(named, stamps, strict=True):
        (made,) = pods("job", 1)
        made["metadata"] |= {"name": name, "uid": name, "creationTimestamp": stamp}
        objects.append(made)
    tasks, tiers = tasks_of(session(node("a"), group("job"), objects)), ordering(0)

    def comes_first(left: str, right: str) -> bool:
        return tiers.task_is_less(tasks[left], tasks[right])

    assert comes_first("job-w-9", "job-w-10")
    assert not comes_first("job-w-10", "job-w-9")
    assert comes_first("job-w-10", "x")
    assert comes_first("y", "x")
    assert not comes_first("x", "y")


@pytest.mark.parametrize(
    ("answers", "is_starving"),
    [
        pytest.param([], False, id="nobody is asked"),
        pytest.param([[], [True]], True, id="the first tier with an answer"),
        pytest.param([[False], [True]], False, id="later tiers are not asked"),
        pytest.param([[True, False]], False, id="all of its tier have to say so"),
        pytest.param([[True, True], [False]], True, id="all of its tier say so"),
    ],
)
def test_first_tier_that_says_anything_decides_whether_a_job_starves(
    answers: list[list[bool]], is_starving: bool
) -> None:

    def saying(answer: bool) -> Callbacks:
        return Callbacks(job_starving=lambda job: answer)

    tiers = tiers_of(*[[saying(answer) for answer in tier] for tier in answers])

    assert tiers.is_starving(ONE) is is_starving


def test_all_must_allow_and_one_is_enough_to_call_a_queue_overused() -> None:
    def one(answer: bool) -> Callbacks:
        return Callbacks(overused=lambda queue: answer, allocatable=lambda queue, task: answer)

    def saying(*answers: bool) -> Tiers:
        return tiers_of(*[[one(answer)] for answer in answers])

    given = MADE.queues["early"], tasks_of(MADE)["one-0"]

    assert [saying(*each).all_of("allocatable", *given) for each in ((True, True), (True, False), ())] == [
        True,
        False,
        True,
    ]
    assert [saying(*each).any_of("overused", given[0]) for each in ((False, True), (False, False), ())] == [
        True,
        False,
        False,
    ]
    decider = saying(True, False, False).decider("allocatable", *given, answer=False)
    assert decider == DecidingPlugin("p2", 2)
    assert saying(True).decider("allocatable", *given, answer=False) is None


def test_plugin_that_is_switched_off_is_not_asked_at_that_point() -> None:
    callbacks = Callbacks(job_ready=lambda job: False, job_starving=lambda job: True)
    tiers = tiers_of([callbacks], off=["enableJobReady"])

    assert tiers.all_of("job_ready", ONE)
    assert tiers.is_starving(ONE)
    assert not tiers_of([callbacks]).all_of("job_ready", ONE)


def test_node_has_the_code_of_the_first_that_refuses_it_and_the_sum_of_scores() -> None:
    def answering(codes: list[int], scores: list[float]) -> Callbacks:
        return Callbacks(
            predicate=lambda task: np.array(codes, dtype=np.int8),
            node_order=lambda task, nodes: np.array(scores, dtype=float),
        )

    tiers = tiers_of(
        [answering([OPEN, UNSCHEDULABLE, UNRESOLVABLE, OPEN], [1, 2, 3, 4])],
        [answering([OPEN, UNRESOLVABLE, UNSCHEDULABLE, UNSCHEDULABLE], [10, 20, 30, 40])],
    )
    task = tasks_of(MADE)["one-0"]

    assert tiers.codes(task, 4).tolist() == [OPEN, UNSCHEDULABLE, UNRESOLVABLE, UNSCHEDULABLE]
    assert tiers.scores(task, np.ones(4, dtype=bool)).tolist() == [11, 22, 33, 44]


def test_first_fault_of_a_job_is_told() -> None:
    tiers = tiers_of([Callbacks(job_valid=lambda job: "")], [Callbacks(job_valid=lambda job: "NotEnoughTasks")])

    assert tiers.fault_of(ONE) == "NotEnoughTasks"
    assert tiers_of([Callbacks()]).fault_of(ONE) == ""


def test_all_plugins_are_told_of_what_has_happened_even_where_they_are_switched_off() -> None:
    told: list[str] = []
    callbacks = Callbacks(
        allocated=lambda task: told.append(task.pod.name), job_enqueued=lambda job: told.append(job.id)
    )
    tiers = tiers_of([callbacks], [Callbacks()], off=["enableJobEnqueued"])

    tiers.tell("allocated", tasks_of(MADE)["one-0"])
    tiers.tell_enabled("job_enqueued", ONE)

    assert told == ["one-0"]


def test_tiers_reopen_where_every_plugin_can() -> None:
    begun: list[str] = []
    able = Callbacks(reopen=lambda: begun.append("again"))

    assert tiers_of([able], [able]).reopen()
    assert begun == ["again", "again"]
    assert not tiers_of([able], [Callbacks()]).reopen()
    assert not tiers_of([]).reopen()
