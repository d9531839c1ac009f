"""What a plugin saw, once some of its pods turned out not to be needed."""

from __future__ import annotations

from descheduler.plan.facts import PluginFacts


def test_pods_that_are_not_needed_are_left_out_and_no_longer_selected() -> None:
    facts = PluginFacts("", 9, 5, left_out={"states": 3, "targetThresholds": 1})

    assert facts.without("targetThresholds", 2) == PluginFacts("", 9, 3, left_out={"states": 3, "targetThresholds": 3})
    assert facts.without("evictionLimits", 2) == PluginFacts(
        "", 9, 3, left_out={"states": 3, "targetThresholds": 1, "evictionLimits": 2}
    )
    assert facts.without("targetThresholds", 0) is facts
