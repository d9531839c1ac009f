"""Strategies that MigrationPlanner runs by itself in a DeschedulerConfiguration, and thresholds of priority."""

from __future__ import annotations

import pytest

from descheduler.policy.shared_args import PriorityThreshold
from descheduler.strategies.remove_duplicates import RemoveDuplicatesArgs
from tests.policy.builders import koordinator, load, messages, planning, warnings

FIELD = "profiles[0].pluginConfig[0].args.objectives[0].repairViolations.strategies[0]"
RUNS_TOO = "RemoveDuplicates is enabled, and another plugin plans for the pods that it selects; remove it from plugins"


@pytest.mark.parametrize("configured", [(), ("RemoveDuplicates",)])
def test_strategy_that_is_planned_for_is_read_and_does_not_run(configured: tuple[str, ...]) -> None:
    """Without an entry of its own it has its defaults."""
    text = planning(*configured, native=True)

    (profile,) = load(text).profiles

    assert (profile.balance, profile.used) == (("MigrationPlanner",), ("RemoveDuplicates",))
    assert profile.args["RemoveDuplicates"] == RemoveDuplicatesArgs()
    assert warnings(text) == []


def test_strategy_that_runs_too_is_a_warning() -> None:
    found = warnings(planning(enabled="RemoveDuplicates", native=True))

    assert [message.partition("plugins: ")[2] for message in found] == [RUNS_TOO]


@pytest.mark.parametrize(
    ("strategy", "fault"),
    [
        ("RemoveDuplicats", "unknown plugin 'RemoveDuplicats'; did you mean 'RemoveDuplicates'?"),
        ("DefaultEvictor", "DefaultEvictor does not select pods; name a deschedule or balance plugin"),
    ],
)
def test_strategy_that_cannot_be_planned_for_is_named(strategy: str, fault: str) -> None:
    found = messages(planning(strategies=strategy, native=True))

    assert [message.partition(": ")[2] for message in found] == [f"{FIELD}: {fault}"]


EVICTOR = "filter: {enabled: [{name: DefaultEvictor}]}"


@pytest.mark.parametrize(
    ("threshold", "read"),
    [
        ("{value: 2000000000}", PriorityThreshold(value=2_000_000_000)),
        ("{value: 0}", PriorityThreshold(value=0)),
        ("{name: batch}", PriorityThreshold(name="batch")),
        ("{}", PriorityThreshold(value=2_000_000_000)),
        ("{value: 2000000001}", None),
    ],
)
def test_threshold_of_default_evictor_is_at_most_that_of_critical_pods(
    threshold: str, read: PriorityThreshold | None
) -> None:
    text = koordinator(
        "profiles:\n"
        f"- pluginConfig: [{{name: DefaultEvictor, args: {{priorityThreshold: {threshold}}}}}]\n"
        f"  plugins: {{{EVICTOR}}}\n"
    )

    if read is None:
        assert [message.partition("priorityThreshold.value: ")[2] for message in messages(text)] == [
            "2000000001 is above 2000000000, the highest priority threshold"
        ]
    else:
        args = load(text).profiles[0].args["DefaultEvictor"]
        assert getattr(args, "priority_threshold", None) == read
