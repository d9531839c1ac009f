"""The words for a plugin that evicts nothing."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from descheduler.plan.decisions import BACKGROUND, SUCCESS
from descheduler.plan.facts import PluginFacts
from descheduler.report.facts import facts_of
from tests.builders import make_pod
from tests.report.decided_cycles import make_test_decisions

BARE, LIMIT = "BarePod", "LimitReached"
DECISIONS = make_test_decisions([make_pod("old")])


def why_nothing(
    *,
    selected: int,
    refused: Mapping[str, int] | None = None,
    answers: Mapping[str, int] | None = None,
    elsewhere: Mapping[str, int] | None = None,
    own: str = "",
) -> str:
    """The sentence about a plugin that selected pods, got `answers` to its requests, and evicts nothing.

    `elsewhere` are the answers to a plugin of the same name in another profile.
    """
    results = {("main", "P", answer): number for answer, number in (answers or {}).items()}
    results |= {("other", "P", answer): number for answer, number in (elsewhere or {}).items()}
    decisions = replace(DECISIONS, facts={("main", "P"): PluginFacts(own, 9, selected)}, results=results)
    facts = facts_of(decisions, "main", "P", refused or {})
    assert facts is not None
    return facts.why_nothing


@pytest.mark.parametrize(
    ("refused", "selected", "causes"),
    [
        pytest.param({}, 0, "", id="none"),
        pytest.param({BARE: 2}, 2, ": 2 blocked by BarePod", id="one reason"),
        pytest.param({BARE: 1200, LIMIT: 1}, 1201, ": 1,200 blocked by BarePod, 1 blocked by LimitReached", id="two"),
        pytest.param({BARE: 2}, 3, ": 2 blocked by BarePod, 1 blocked before for another plugin", id="and earlier"),
        pytest.param({BARE: 3}, 2, ": 3 blocked by BarePod", id="more than were selected within the limits"),
    ],
)
def test_reasons_are_counted_in_pods(refused: dict[str, int], selected: int, causes: str) -> None:
    number = max(selected, sum(refused.values()))

    assert why_nothing(selected=selected, refused=refused) == (
        f"{number:,} pod{'s' if number != 1 else ''} selected, none evicted{causes}"
    )


def test_pods_that_an_earlier_plugin_evicts_are_no_pods_that_are_blocked() -> None:
    assert why_nothing(selected=3, refused={BARE: 1}, answers={SUCCESS: 2, BARE: 1}) == (
        "3 pods selected, none evicted: 1 blocked by BarePod, 2 evicted by another plugin"
    )


def test_reasons_are_named_where_other_plugins_count_their_pods() -> None:
    assert why_nothing(selected=4, answers={LIMIT: 1, BARE: 2, SUCCESS: 1}) == (
        "4 pods selected, none evicted: blocked by BarePod, LimitReached, 1 evicted by another plugin"
    )


def test_answers_are_those_to_the_plugin_of_the_same_profile() -> None:
    assert why_nothing(selected=1, elsewhere={BARE: 1, BACKGROUND: 1}) == "1 pod selected, none evicted"


def test_sentence_of_the_plugin_comes_before_the_counted_reasons() -> None:
    assert why_nothing(selected=0, own="no pod is old enough") == "no pod is old enough"


def test_plugin_whose_pods_another_controller_evicts_evicts_something() -> None:
    assert why_nothing(selected=1, answers={BACKGROUND: 1}, refused={BARE: 1}) == ""


def test_plugin_with_a_request_that_is_the_first_for_its_pod_evicts_something() -> None:
    facts = facts_of(DECISIONS, "main", "PodLifeTime", {})

    assert facts is not None
    assert (facts.why_nothing, facts.pods_selected) == ("", 1)


@pytest.mark.parametrize("asked", [("other", "PodLifeTime"), ("main", "RemoveDuplicates")], ids="/".join)
def test_requests_of_another_plugin_are_not_its_own(asked: tuple[str, str]) -> None:
    profile, plugin = asked
    facts = {asked: PluginFacts("", 1, 1)}

    found = facts_of(
        replace(DECISIONS, facts=facts, results={(profile, plugin, SUCCESS): 1}), profile, plugin, {}
    )  # fmt: skip

    assert found is not None
    assert found.why_nothing == "1 pod selected, none evicted: 1 evicted by another plugin"


def test_plugin_that_told_nothing_has_no_facts() -> None:
    assert facts_of(DECISIONS, "main", "RemoveDuplicates", {}) is None
