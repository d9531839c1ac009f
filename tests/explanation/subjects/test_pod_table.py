"""What is printed of a pod: its facts, the decision about it, and its landing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.explanation.subjects.pod import PodExplanation, pod_table
from descheduler.explanation.subjects.pod_group import GangFacts
from descheduler.explanation.watched_run import FilterAnswer, PluginAnswer, PluginMiss
from descheduler.report.tables.table_style import TableStyle
from tests.explanation.subjects.test_tables import DECISION, FACTS, LANDING, PLACEMENT

POD = PodExplanation(facts=FACTS, volcano=None, decision=None, landing=LANDING, placement=PLACEMENT)
GANG = GangFacts(
    name="ai/train",
    group=(),
    min_member=4,
    mode="",
    match_policy="",
    waiting_time_seconds=0,
    num_running=2,
    num_pending=1,
    num_missing=1,
)


def lines_of(*, is_wide: bool = False, **change: Any) -> list[str]:
    """The tables, with one space between columns and without empty lines."""
    lines = pod_table(replace(POD, **change), TableStyle(is_wide=is_wide))
    return [" ".join(line.split()) for line in lines if line]


def row_of(**facts: Any) -> str:
    return lines_of(facts=replace(FACTS, **facts))[2]


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(days=2, hours=3, minutes=4), "2d3h"),
        (timedelta(hours=1, minutes=59, seconds=59), "1h59m"),
        (timedelta(days=1), "1d"),
        (timedelta(days=1, minutes=5), "1d5m"),
        (timedelta(seconds=59), "59s"),
        (timedelta(seconds=60), "1m"),
        (timedelta(seconds=0.5), "0s"),
        (timedelta(seconds=-5), "0s"),
    ],
    ids=str,
)
def test_age_has_its_two_largest_units(age: timedelta, text: str) -> None:
    assert row_of(age_seconds=age.total_seconds()) == f"a ReplicaSet/cart Running {text}"


def test_what_is_not_known_of_a_pod_is_an_empty_cell() -> None:
    assert row_of(node=None, owner="", age_seconds=None) == "- - Running -"
    assert lines_of(facts=replace(FACTS, priority=1000))[4] == "1000 Burstable default-scheduler cpu 500m"
    assert lines_of()[4].startswith("- Burstable ")


def test_pod_that_is_about_to_go_is_said_to_be() -> None:
    assert row_of(is_terminating=True, age_seconds=1) == "a ReplicaSet/cart Running, terminating 1s"


def test_uid_is_shown_in_wide_tables_alone() -> None:
    assert lines_of(is_wide=True)[1].startswith("UID NODE")
    assert lines_of()[1].startswith("NODE OWNER")


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        pytest.param({}, "ai/train (minMember: 4): 2 running, 1 pending, 1 missing", id="alone"),
        pytest.param(
            {"mode": "Strict", "match_policy": "once-satisfied"},
            "ai/train (minMember: 4, mode: Strict, match-policy: once-satisfied): 2 running, 1 pending, 1 missing",
            id="of Koordinator",
        ),
        pytest.param(
            {"group": ("ai/train", "ai/serve", "ai/serve", "")},
            "ai/train (minMember: 4): 2 running, 1 pending, 1 missing, scheduled together with ai/serve, '' (an empty"
            " name in the group)", id="with others",
        ),
        pytest.param({"group": ("ai/train",)}, "ai/train (minMember: 4): 2 running, 1 pending, 1 missing", id="itself"),
        pytest.param(
            {"min_member": None}, "ai/train: no PodGroup and no valid minMember; 2 running, 1 pending", id="unknown"
        ),
    ],
)  # fmt: skip
def test_gang_is_told_by_its_minimum_and_its_pods(facts: dict[str, Any], text: str) -> None:
    assert f"Gang: {text}" in lines_of(facts=replace(FACTS, gang=replace(GANG, **facts)))


@pytest.mark.parametrize(
    ("number", "end"), [(10, "ai/g9"), (11, "ai/g9, 1 more"), (12, "ai/g9, 2 more")], ids=["10", "11", "12"]
)
def test_first_gangs_of_a_group_are_named(number: int, end: str) -> None:
    gang = replace(GANG, group=("ai/train", *(f"ai/g{each}" for each in range(number))))

    (line,) = [line for line in lines_of(facts=replace(FACTS, gang=gang)) if line.startswith("Gang:")]

    assert line.endswith(end)


def answer(plugin: str, result: Any = "kept", **facts: Any) -> PluginAnswer:
    given = {"reason": "too old", "code": "", "message": "", "subject": "", **facts}
    return PluginAnswer(profile="main", plugin=plugin, result=result, **given)


EVICTED = answer("A", "evicted")
KEPT = answer("B", code="BarePod", message="no owner")


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        pytest.param((EVICTED,), ["Selected by: A (profile main): too old"], id="evicted"),
        pytest.param((KEPT,), ["Selected by: B (profile main): too old", "Blocked by: BarePod: no owner"], id="kept"),
        pytest.param(
            (KEPT, EVICTED, answer("A", "refused")),
            ["Selected by: A (profile main): too old", "Also selected by: B"], id="the one that evicts it",
        ),
        pytest.param(
            (KEPT, answer("C", reason=""), answer("C")),
            ["Selected by: B (profile main): too old", "Blocked by: BarePod: no owner", "Also selected by: C"],
            id="the first one",
        ),
        pytest.param((answer("C", reason=""),), ["Selected by: C (profile main)"], id="without a reason"),
        pytest.param((), [], id="none"),
    ],
)  # fmt: skip
def test_decision_names_who_selected_the_pod_and_what_blocks_it(
    answers: tuple[PluginAnswer, ...], expected: list[str]
) -> None:
    lines = lines_of(decision=replace(DECISION, outcome="kept", answers=answers))

    assert [line for line in lines if line.startswith(("Selected by:", "Blocked by:", "Also selected"))] == expected


def test_answers_have_a_table_where_there_are_several_or_in_wide_tables() -> None:
    def has_table(*answers: PluginAnswer, is_wide: bool = False) -> bool:
        lines = lines_of(decision=replace(DECISION, outcome="kept", answers=answers), is_wide=is_wide)
        return any(line.startswith("PROFILE SELECTED BY RESULT") for line in lines)

    assert [has_table(KEPT), has_table(KEPT, EVICTED), has_table(KEPT, is_wide=True)] == [False, True, True]
    lines = lines_of(decision=replace(DECISION, outcome="kept", answers=(KEPT, EVICTED)))
    assert "main B kept BarePod - no owner" in lines
    assert "main A evicted - - too old" in lines


@pytest.mark.parametrize(
    ("outcome", "heading"),
    [
        ("evicted", "Decision: evicted"),
        ("kept", "Decision: not evicted"),
        ("unwanted", "Decision: not selected by any plugin"),
        ("unjudged", "Decision: skipped: no node"),
    ],
)
def test_decision_is_a_heading(outcome: Any, heading: str) -> None:
    assert heading in lines_of(decision=replace(DECISION, outcome=outcome, summary="skipped: no node"))


@pytest.mark.parametrize(
    ("wave", "num_waves", "text"),
    [
        (1, 1, None),
        (None, 3, None),
        (1, 2, "Wave: 1 of 2"),
        (2, 2, "Wave: 2 of 2 (starts when wave 1 has ended)"),
    ],
)
def test_wave_is_told_where_there_are_several(wave: int | None, num_waves: int, text: str | None) -> None:
    decision = replace(DECISION, outcome="evicted", answers=(EVICTED,), wave=wave, num_waves=num_waves)

    assert [line for line in lines_of(decision=decision) if line.startswith("Wave")] == ([text] if text else [])


def test_pods_that_are_evicted_before_are_counted() -> None:
    decision = replace(DECISION, outcome="evicted", num_moves_before=2)

    assert "2 other pods evicted before it in this run" in lines_of(decision=decision)
    assert not [line for line in lines_of(decision=DECISION) if "before it" in line]


def test_plugins_say_why_they_do_not_select_a_pod_with_their_profile_where_there_are_several() -> None:
    misses = tuple(PluginMiss(profile=profile, plugin="P", message="young") for profile in ("main", "other"))
    one = replace(DECISION, not_selected=misses[:1])

    assert "P: young" in lines_of(decision=one)
    assert "P (profile other): young" in lines_of(decision=replace(DECISION, not_selected=misses))
    kept = replace(one, outcome="kept", answers=(KEPT,))
    assert "P: young" not in lines_of(decision=kept)
    assert "P: young" in lines_of(decision=kept, is_wide=True)


def test_profiles_of_filters_count_as_profiles_too() -> None:
    filters = (FilterAnswer(profile="other", code="", message="", subject=""),)
    decision = replace(
        DECISION, not_selected=(PluginMiss(profile="main", plugin="P", message="young"),), filters=filters
    )

    assert "P (profile main): young" in lines_of(decision=decision)


def test_filters_that_would_block_a_pod_that_nobody_selects_are_shown() -> None:
    filters = (
        FilterAnswer(profile="a", code="", message="", subject=""),
        FilterAnswer(profile="b", code="BarePod", message="no owner", subject=""),
    )
    unwanted = replace(DECISION, filters=filters)
    kept = replace(unwanted, outcome="kept", answers=(KEPT,))

    assert "b no BarePod - no owner" in lines_of(decision=unwanted)
    assert "a yes - - -" not in lines_of(decision=unwanted)
    assert "a yes - - -" in lines_of(decision=unwanted, is_wide=True)
    assert "b no BarePod - no owner" not in lines_of(decision=kept)
    assert "b no BarePod - no owner" in lines_of(decision=kept, is_wide=True)


def test_landing_in_wide_tables_has_both_clocks_and_its_margin() -> None:
    def row(**facts: Any) -> str:
        lines = lines_of(landing=replace(LANDING, **facts), is_wide=True)
        return next((lines[at + 1] for at, line in enumerate(lines) if line.startswith("VERDICT")), "")

    assert row() == "lands lands lands template at once 10 b"
    assert row(margin=None, nodes=("b", "c")) == "lands lands lands template at once - b, c"
    assert row(verdict=None) == ""


def test_pod_without_a_node_is_called_pending() -> None:
    lines = lines_of(facts=replace(FACTS, node=None), landing=None)

    assert any(line.startswith("placement of the pending pod cart: ") for line in lines)
    assert any(line.startswith("placement of the replacement pod: ") for line in lines_of())


def test_pod_for_which_nothing_is_placed_is_said_to_be_going_unless_its_landing_says_why() -> None:
    said = "placement: the pod has finished or is being deleted, so no placement is predicted"

    assert said in lines_of(landing=None, placement=None)
    assert said not in lines_of(placement=None)
