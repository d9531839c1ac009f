"""When an overutilized node counts as abnormal (spec 5.7), also from one run to the next."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest

from descheduler.plan.run_memory import PluginMemory
from descheduler.strategies.low_node_load.args import LoadAnomalyCondition
from descheduler.strategies.low_node_load.detector import MOST_DETECTORS, Detectors
from tests.builders import NOW

MINUTE = timedelta(minutes=1)
DEFAULT = LoadAnomalyCondition(MINUTE, 5, 3)


def detectors(note: bytes = b"", *, at: datetime = NOW, saved_at: datetime | None = None, keep: int = 5) -> Detectors:
    """Those of a run that finds `note`; they are kept for so many minutes."""
    return Detectors(PluginMemory(note, saved_at), at, keep * MINUTE, timedelta(0))


def marked(condition: LoadAnomalyCondition, times: int) -> list[bool]:
    """Whether a node is abnormal after each of so many rounds in which it is overutilized, all at one instant."""
    found = detectors().node
    return ["n" in found.abnormal(["n"], condition) for _ in range(times)]


def test_section_5_7_with_the_default_the_sixth_round_acts() -> None:
    assert marked(DEFAULT, 7) == [False] * 5 + [True] * 2


def test_one_abnormality_acts_at_once() -> None:
    assert marked(LoadAnomalyCondition(MINUTE, 1, 1), 2) == [True, True]


def test_abnormal_node_is_normal_again_after_enough_normal_marks_with_counters_at_zero() -> None:
    condition = LoadAnomalyCondition(MINUTE, 2, 1)
    found = detectors().node
    for _ in range(3):
        found.abnormal(["n"], condition)

    found.mark_normal(["n"], condition)
    found.mark_normal(["n"], condition)

    assert [bool(found.abnormal(["n"], condition)) for _ in range(3)] == [False, False, True]


def test_abnormal_marks_end_normal_ones_in_a_row() -> None:
    condition = LoadAnomalyCondition(MINUTE, 2, 1)
    found = detectors().node
    for _ in range(3):
        found.abnormal(["n"], condition)

    for _ in range(5):
        found.mark_normal(["n"], condition)
        assert found.abnormal(["n"], condition)


def test_node_that_was_relieved_is_normal_again() -> None:
    found = detectors().node
    for _ in range(6):
        found.abnormal(["n"], DEFAULT)

    found.reset(["n"])

    assert not found.abnormal(["n"], DEFAULT)


def test_marks_of_a_node_that_was_never_abnormal_outlast_a_reset() -> None:
    """As in Koordinator, whose reset of a node in state OK does nothing."""
    found = detectors().node
    found.abnormal(["n"], DEFAULT)

    found.reset(["n"])

    assert found.num_marks("n") == 1


def runs(minutes: Sequence[float], *, condition: LoadAnomalyCondition = DEFAULT, keep: int = 5) -> list[bool]:
    """Whether a node is abnormal in runs at these minutes, each of which finds what the one before left."""
    answers, note, saved_at = [], b"", None
    for minute in minutes:
        at = NOW + minute * MINUTE
        found = detectors(note, at=at, saved_at=saved_at, keep=keep)
        answers.append("n" in found.node.abnormal(["n"], condition))
        note, saved_at = found.note(), at
    return answers


TWICE = LoadAnomalyCondition(MINUTE, 2, 1)


@pytest.mark.parametrize("gap", [0.5, 5, 7.3, 15, 60, 119])
def test_marks_outlast_the_time_between_two_runs(gap: float) -> None:
    assert runs([0, gap, 2 * gap], condition=TWICE) == [False, False, True]


def test_marks_end_after_a_run_in_which_the_node_had_none() -> None:
    first = detectors()
    first.node.abnormal(["n"], TWICE)
    second = detectors(first.note(), at=NOW + 15 * MINUTE, saved_at=NOW)
    third = detectors(second.note(), at=NOW + 30 * MINUTE, saved_at=NOW + 15 * MINUTE)

    assert (second.node.num_marks("n"), third.node.num_marks("n")) == (1, 0)


def test_gap_that_no_schedule_has_ends_marks_unless_the_cache_timeout_is_longer() -> None:
    assert runs([0, 180, 360], condition=TWICE) == [False, False, False]
    assert runs([0, 180, 360], condition=TWICE, keep=200) == [False, False, True]


def test_section_5_7_abnormal_state_lasts_for_its_timeout() -> None:
    condition = LoadAnomalyCondition(10 * MINUTE, 2, 3)

    assert runs([0, 4, 8, 12, 16, 20, 24, 28], condition=condition) == [
        *(False, False, True, True, True),
        *(False, False, True),
    ]


def test_node_is_abnormal_until_its_time_is_over_and_at_its_end() -> None:
    assert runs([0, 0, 0, 1]) == [False] * 4
    assert runs([0, 0, 0, 1, 1.1], condition=TWICE) == [False, False, True, True, False]


def test_missing_timeout_is_a_minute() -> None:
    assert runs([0, 0, 0, 0.9, 2], condition=LoadAnomalyCondition(None, 2, 1)) == [False, False, True, True, False]


def test_prod_pods_have_detectors_of_their_own() -> None:
    first = detectors()
    first.node.abnormal(["n"], DEFAULT)
    first.prod.abnormal(["m"], DEFAULT)

    again = detectors(first.note(), saved_at=NOW)

    assert (again.node.num_marks("n"), again.node.num_marks("m"), again.prod.num_marks("m")) == (1, 0, 1)


def test_clock_that_went_back_drops_what_is_still_to_come() -> None:
    first = detectors(at=NOW + MINUTE)
    first.node.abnormal(["n"], DEFAULT)

    assert detectors(first.note(), saved_at=NOW + MINUTE).node.num_marks("n") == 0


@pytest.mark.parametrize("note", [b"{", b"[]", b'{"node": {"n": ["x"]}}', b'{"node": 1}', b"\xff"])
def test_note_that_cannot_be_read_counts_as_none(note: bytes) -> None:
    assert detectors(note, saved_at=NOW).node.num_marks("n") == 0


def test_note_is_bounded_and_keeps_what_was_marked_last() -> None:
    first = detectors()
    first.node.abnormal([f"old-{number}" for number in range(MOST_DETECTORS)], DEFAULT)
    second = detectors(first.note(), at=NOW + MINUTE, saved_at=NOW)
    second.node.abnormal(["new"], DEFAULT)

    kept = detectors(second.note(), at=NOW + MINUTE, saved_at=NOW + MINUTE)

    assert kept.node.num_marks("new") == 1
    assert len(second.note()) < 300_000
    assert detectors().note() == b""
