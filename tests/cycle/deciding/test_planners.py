"""Planners in a decision: what they ask for of an earlier plan, and what they tell after all others have run."""

from __future__ import annotations

from unittest import mock

import pytest

from descheduler.cycle.deciding.round import Round
from descheduler.model.verdict import Reason
from descheduler.plan.moves import EarlierPlan, Move
from descheduler.planner.migration_planner import MigrationPlanner
from descheduler.policy.plugin_faults import PluginFault
from descheduler.strategies.framework import StrategyError
from tests.builders import Object
from tests.cycle.deciding.test_decide import PODS, decided, evicted

PLANNER = {
    "name": "p",
    "pluginConfig": [
        {"name": "DefaultEvictor"},
        {"name": "MigrationPlanner", "args": {"objectives": [{"consolidateNodes": {}}], "workLimit": 1}},
    ],
    "plugins": {"balance": {"enabled": ["MigrationPlanner"]}},
}
PLANNING = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [PLANNER]}


@pytest.mark.parametrize("is_checked", [False, True])
@pytest.mark.parametrize("plugin", ["MigrationPlanner", "Other"])
def test_planner_asks_for_its_earlier_moves_in_place_of_a_search(is_checked: bool, plugin: str) -> None:
    moves = [Move(PODS[0], "p", plugin, "planned", wave=2, cost=5)]

    decisions = decided(PLANNING, this_round=Round(earlier=EarlierPlan(moves, is_checked=is_checked)))

    found = [(move.pod.name, move.reason, move.wave, move.cost) for move in decisions.moves]
    assert found == ([("on-a", "planned", 2, 5)] if plugin == "MigrationPlanner" else [])
    assert decisions.facts == {}


@pytest.mark.parametrize("is_checked", [False, True])
def test_planner_that_has_nothing_to_do_any_more_does_not_ask_for_earlier_moves_that_are_checked(
    is_checked: bool,
) -> None:
    draining = {**PLANNER, "pluginConfig": [{"name": "DefaultEvictor"}, drain("elsewhere")]}
    earlier = EarlierPlan([Move(PODS[0], "p", "MigrationPlanner")], is_checked=is_checked)

    decisions = decided({**PLANNING, "profiles": [draining]}, this_round=Round(earlier=earlier))

    if not is_checked:
        assert evicted(decisions) == [("p", "on-a")]
        return
    assert decisions.moves == ()
    (refusal,) = decisions.refusals
    assert (refusal.pod.name, refusal.verdict.reason) == ("on-a", Reason.NOT_SELECTED)
    assert refusal.verdict.message.startswith("MigrationPlanner has nothing to do: ")


def drain(label: str) -> Object:
    """MigrationPlanner, which drains nodes with a label."""
    selector = {"matchLabels": {label: "yes"}}
    return {"name": "MigrationPlanner", "args": {"objectives": [{"drainNodes": {"nodeSelector": selector}}]}}


@pytest.mark.parametrize(
    "error",
    [StrategyError("no metrics"), PluginFault("MigrationPlanner", "no metrics")],
    ids=["of its own", "of a package"],
)
def test_planner_that_cannot_look_again_keeps_its_goals_and_is_named(error: Exception) -> None:
    with mock.patch.object(MigrationPlanner, "look_again", side_effect=error):
        decisions = decided(PLANNING)

    assert ("p", "MigrationPlanner") in decisions.facts
    assert [failure.message for failure in decisions.failures] == ["no metrics"]


def test_round_that_measures_asks_for_nothing() -> None:
    prior = [Move(PODS[0], "p", "MigrationPlanner")]

    decisions = decided(PLANNING, this_round=Round(prior_moves=prior, measures=True, most_assessed=0, most_proved=0))

    ((name, facts),) = decisions.facts.items()
    assert name == ("p", "MigrationPlanner")
    assert len(facts.figures) > 0
    assert decisions.moves == ()
