"""What plugins answer that are not of this program: each part is looked at, and what is right stays as it is."""

from __future__ import annotations

from typing import Any, cast

import pytest
from msgspec.structs import replace

from descheduler.cycle.foreign.answers import checked_facts, checked_note, checked_verdict
from descheduler.model.verdict import (
    ACCEPTED,
    BudgetRefusal,
    EvictionLimit,
    LimitReached,
    Reason,
    Verdict,
    limit_reached,
    refuse,
)
from descheduler.plan.facts import NearestValue, PluginFacts
from descheduler.plan.goals import BlockedNode, Goal, Level, UnscheduledPod
from descheduler.policy.plugin_faults import WrongAnswer
from tests.builders import make_pod

POD = make_pod("web")
REFUSED = refuse(Reason.BARE_POD, "has no owner", "default/web")
GOAL = Goal(
    objective="empty nodes",
    levels=(Level("nodes", 3, 2, 1),),
    evictions=1,
    bound=None,
    cost=1000,
    cost_bound=None,
    status="feasible",
    seconds=0.5,
    work=1,
    sentence="3 nodes",
)
FACTS = PluginFacts("", 2, 1, left_out={"states": 1}, counts={"nodes": 3})


@pytest.mark.parametrize("verdict", [ACCEPTED, REFUSED])
def test_right_verdict_is_passed_on(verdict: Verdict) -> None:
    assert checked_verdict(verdict) is verdict


@pytest.mark.parametrize(
    ("verdict", "kept"),
    [
        pytest.param(
            limit_reached(LimitReached(EvictionLimit.TOTAL, 5)),
            Verdict(Reason.LIMIT_REACHED, limit_reached(LimitReached(EvictionLimit.TOTAL, 5)).message),
            id="a limit of the evictor",
        ),
        pytest.param(
            replace(REFUSED, api_refusal=BudgetRefusal(429, "budget")), REFUSED, id="an answer of the eviction API"
        ),
        pytest.param(
            replace(REFUSED, message="x" * 1001),
            replace(REFUSED, message=f"{'x' * 1000}... (cut off: 1,001 characters)"),
            id="a long sentence",
        ),
        pytest.param(
            replace(REFUSED, subject="x" * 1001),
            replace(REFUSED, subject=f"{'x' * 1000}... (cut off: 1,001 characters)"),
            id="a long subject",
        ),
    ],
)
def test_verdict_is_told_without_what_is_not_the_plugin_s(verdict: Verdict, kept: Verdict) -> None:
    assert checked_verdict(verdict) == kept


@pytest.mark.parametrize(
    ("verdict", "fault"),
    [
        pytest.param("no", "the verdict is str, not Verdict", id="a text"),
        pytest.param(Verdict(cast(Reason, "BarePod")), "the reason of the verdict is str, not Reason", id="a code"),
        pytest.param(Verdict(Reason.BARE_POD, cast(str, 5)), "the message is int, not text", id="a number as sentence"),
        pytest.param(Verdict(None, "", cast(str, None)), "the subject is NoneType, not text", id="no subject"),
    ],
)
def test_verdict_that_is_none_is_told(verdict: object, fault: str) -> None:
    with pytest.raises(WrongAnswer) as raised:
        checked_verdict(verdict)

    assert str(raised.value) == fault


def facts_of(**facts: Any) -> PluginFacts:
    """Facts that say only what is given."""
    return replace(FACTS, **facts)


def goal_of(**facts: Any) -> PluginFacts:
    """Facts with one goal."""
    return facts_of(goals=(replace(GOAL, **facts),))


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(FACTS, id="counts"),
        pytest.param(facts_of(counts={str(key): key for key in range(1000)}), id="as many entries as there may be"),
        pytest.param(facts_of(nearest=(NearestValue("cpu", 80.5, 79.5, "percent", "a"),)), id="a fraction"),
        pytest.param(goal_of(), id="a goal"),
        pytest.param(goal_of(pending_pods=(UnscheduledPod(POD, "a"),)), id="a pending pod"),
        pytest.param(goal_of(blocked_nodes=(BlockedNode("a", "it is full"),)), id="a blocked node"),
        pytest.param(goal_of(blocked_nodes=(BlockedNode("a", "", POD, REFUSED),)), id="a node that a pod blocks"),
    ],
)
def test_right_facts_stay_as_they_are(facts: PluginFacts) -> None:
    assert checked_facts(facts) == facts


@pytest.mark.parametrize(
    ("facts", "fault"),
    [
        pytest.param(facts_of(goals=[GOAL]), "goals of facts() is list, not tuple", id="a list of goals"),
        pytest.param(facts_of(goals=("empty",)), "a goal of facts() is str, not Goal", id="a text as a goal"),
        pytest.param(goal_of(pending_pods=[]), "pending_pods of a goal is list, not tuple", id="a list of pods"),
        pytest.param(goal_of(pending_pods=(POD,)), "a pending pod of a goal is Pod, not UnscheduledPod", id="a pod"),
        pytest.param(
            goal_of(pending_pods=(UnscheduledPod(POD, cast(str, 5)),)),
            "the node of a pending pod is int, not text",
            id="a number as the node of a pod",
        ),
        pytest.param(
            goal_of(blocked_nodes=("a",)), "a blocked node of a goal is str, not BlockedNode", id="a name of a node"
        ),
        pytest.param(
            goal_of(blocked_nodes=(BlockedNode("a", "", cast(Any, "web")),)),
            "the pod that blocks a node is str, not Pod",
            id="a name as the pod in the way",
        ),
        pytest.param(
            goal_of(blocked_nodes=(BlockedNode("a", cast(str, None)),)),
            "what blocks a node is NoneType, not text",
            id="no cause",
        ),
        pytest.param(
            goal_of(blocked_nodes=(BlockedNode("a", "", None, cast(Any, True)),)),
            "the verdict is bool, not Verdict",
            id="no verdict",
        ),
        pytest.param(facts_of(pods_examined=float("inf")), "a number of facts() is inf", id="infinity"),
        pytest.param(
            facts_of(counts={str(key): key for key in range(1001)}),
            "facts() has more than 1,000 entries",
            id="too many entries of a mapping",
        ),
        pytest.param(
            facts_of(figures=tuple(range(1001))), "facts() has more than 1,000 entries", id="too many entries of a list"
        ),
    ],
)
def test_facts_that_are_none_are_told(facts: object, fault: str) -> None:
    with pytest.raises(WrongAnswer) as raised:
        checked_facts(facts)

    assert str(raised.value) == fault


def test_long_texts_of_facts_are_cut_off() -> None:
    cut = f"{'x' * 1000}... (cut off: 1,001 characters)"

    facts = checked_facts(facts_of(why_nothing="x" * 1001, counts={"x" * 1001: 1}))

    assert (facts.why_nothing, facts.counts) == (cut, {cut: 1})


@pytest.mark.parametrize("note", [b"", b"{}", b"[1]", b'"' + b"x" * 99_998 + b'"'])
def test_note_is_json_of_so_many_bytes(note: bytes) -> None:
    assert checked_note(note) == note


@pytest.mark.parametrize(
    ("note", "fault"),
    [
        pytest.param("{}", "note() is str, not bytes", id="a text"),
        pytest.param(b"{", "note() is not JSON", id="half an object"),
        pytest.param(b"[" * 99_999, "note() is not JSON", id="too deep a list"),
        pytest.param(b'"' + b"x" * 99_999 + b'"', "note() is longer than 100,000 bytes", id="too long"),
    ],
)
def test_note_that_cannot_be_kept_is_told(note: object, fault: str) -> None:
    with pytest.raises(WrongAnswer) as raised:
        checked_note(note)

    assert str(raised.value) == fault


def test_facts_of_a_wrong_type_say_which_part() -> None:
    with pytest.raises(WrongAnswer, match=r"facts\(\) is not a valid PluginFacts: Expected `int`"):
        checked_facts(facts_of(pods_examined="many"))
