"""Strategies that MigrationPlanner runs by itself in a DeschedulerPolicy: they need arguments of their own."""

from __future__ import annotations

import pytest

from descheduler.strategies.remove_duplicates import RemoveDuplicatesArgs
from tests.policy.builders import load, messages, planning, upstream, warnings

FIELD = "profiles[0].pluginConfig[0].args.objectives[0].repairViolations.strategies[0]"


def test_strategy_that_is_planned_for_is_read_and_does_not_run() -> None:
    text = planning("RemoveDuplicates")

    (profile,) = load(text).profiles

    assert (profile.balance, profile.used) == (("MigrationPlanner",), ("RemoveDuplicates",))
    assert profile.args["RemoveDuplicates"] == RemoveDuplicatesArgs()
    assert warnings(text) == []


RUNS_TOO = "RemoveDuplicates is enabled, and another plugin plans for the pods that it selects; remove it from plugins"


def test_strategy_that_runs_too_is_a_warning() -> None:
    found = warnings(planning("RemoveDuplicates", enabled="RemoveDuplicates"))

    assert [message.partition("plugins: ")[2] for message in found] == [RUNS_TOO]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param(
            planning(strategies="RemoveDuplicats"),
            "unknown plugin 'RemoveDuplicats'; did you mean 'RemoveDuplicates'?",
            id="an unknown one",
        ),
        pytest.param(
            planning(),
            "plugin RemoveDuplicates has no pluginConfig entry; "
            "add '- name: RemoveDuplicates' to the profile's pluginConfig",
            id="one without arguments",
        ),
        pytest.param(
            planning("DefaultEvictor", strategies="DefaultEvictor"),
            "DefaultEvictor does not select pods; name a deschedule or balance plugin",
            id="a filter",
        ),
    ],
)
def test_strategy_that_cannot_be_planned_for_is_named(text: str, fault: str) -> None:
    assert [message.partition(": ")[2] for message in messages(text)] == [f"{FIELD}: {fault}"]


def test_strategies_of_a_planner_that_is_not_enabled_are_not_looked_at() -> None:
    text = planning("RemoveDuplicates", enabled="RemoveDuplicates").replace('["MigrationPlanner", ', "[")

    assert load(text).profiles[0].used == ()


def test_faults_of_the_planner_s_arguments_are_told_once() -> None:
    text = planning("RemoveDuplicates").replace('{"objectives"', '{"objetives"')

    assert len(messages(text)) == 1


@pytest.mark.parametrize("number", [1, 2])
def test_plugin_that_is_enabled_twice_runs_twice(number: int) -> None:
    names = ", ".join(["RemoveDuplicates"] * number)
    text = upstream(
        "profiles:\n"
        "- name: p\n"
        "  pluginConfig: [{name: RemoveDuplicates}]\n"
        f"  plugins: {{balance: {{enabled: [{names}]}}}}\n"
    )

    told = "RemoveDuplicates is enabled twice in this set and runs twice; remove one of them"
    assert [message.partition("enabled[1]: ")[2] for message in warnings(text)] == [told] * (number - 1)
    assert load(text).profiles[0].balance == ("RemoveDuplicates",) * number
