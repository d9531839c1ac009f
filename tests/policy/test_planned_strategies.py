"""Strategies that MigrationPlanner runs by itself, in both kinds of policy."""

from __future__ import annotations

import json

import pytest

from descheduler.strategies.remove_duplicates import RemoveDuplicatesArgs
from tests.policy.builders import koordinator, load, messages, upstream, warnings

FIELD = "profiles[0].pluginConfig[0].args.objectives[0].repairViolations.strategies[0]"


def policy(*configured: str, strategies: str = "RemoveDuplicates", enabled: str = "", native: bool = False) -> str:
    """A policy whose planner repairs what `strategies` find, with empty arguments of the `configured` plugins."""
    args = {"objectives": [{"repairViolations": {"strategies": [strategies]}}]}
    config = [{"name": "MigrationPlanner", "args": args}, *({"name": name, "args": {}} for name in configured)]
    names = ["MigrationPlanner", *([enabled] if enabled else [])]
    plugins = {"balance": {"enabled": [{"name": name} for name in names] if native else names}}
    profile = json.dumps({"name": "p", "pluginConfig": config, "plugins": plugins})
    return (koordinator if native else upstream)(f"profiles: [{profile}]\n")


@pytest.mark.parametrize("native", [False, True])
def test_strategy_that_is_planned_for_is_read_and_does_not_run(native: bool) -> None:
    text = policy("RemoveDuplicates", native=native)

    (profile,) = load(text).profiles

    assert (profile.balance, profile.used) == (("MigrationPlanner",), ("RemoveDuplicates",))
    assert profile.args["RemoveDuplicates"] == RemoveDuplicatesArgs()
    assert warnings(text) == []


def test_strategy_of_a_configuration_has_its_defaults_without_an_entry() -> None:
    (profile,) = load(policy(native=True)).profiles

    assert profile.args["RemoveDuplicates"] == RemoveDuplicatesArgs()


@pytest.mark.parametrize("native", [False, True])
def test_strategy_that_runs_too_is_a_warning(native: bool) -> None:
    found = warnings(policy("RemoveDuplicates", enabled="RemoveDuplicates", native=native))

    assert [message.partition("plugins: ")[2] for message in found] == [
        "RemoveDuplicates is enabled, and another plugin plans for the pods that it selects; remove it from plugins"
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        pytest.param(
            policy(strategies="RemoveDuplicats"),
            "unknown plugin 'RemoveDuplicats'; did you mean 'RemoveDuplicates'?",
            id="an unknown one",
        ),
        pytest.param(
            policy(strategies="RemoveDuplicats", native=True),
            "unknown plugin 'RemoveDuplicats'; did you mean 'RemoveDuplicates'?",
            id="an unknown one in a configuration",
        ),
        pytest.param(
            policy(strategies="RemoveDuplicates"),
            "plugin RemoveDuplicates has no pluginConfig entry; "
            "add '- name: RemoveDuplicates' to the profile's pluginConfig",
            id="one without arguments",
        ),
        pytest.param(
            policy("DefaultEvictor", strategies="DefaultEvictor"),
            "DefaultEvictor does not select pods; name a deschedule or balance plugin",
            id="a filter",
        ),
    ],
)
def test_strategy_that_cannot_be_planned_for_is_named(text: str, fault: str) -> None:
    assert [message.partition(": ")[2] for message in messages(text)] == [f"{FIELD}: {fault}"]


def test_strategies_of_a_planner_that_is_not_enabled_are_not_looked_at() -> None:
    text = policy("RemoveDuplicates", enabled="RemoveDuplicates").replace('["MigrationPlanner", ', "[")

    assert load(text).profiles[0].used == ()


def test_faults_of_the_planner_s_arguments_are_told_once() -> None:
    text = policy("RemoveDuplicates").replace('{"objectives"', '{"objetives"')

    assert len(messages(text)) == 1
