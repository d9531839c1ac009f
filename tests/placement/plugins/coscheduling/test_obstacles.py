"""What Coscheduling has against a pod, in words."""

from __future__ import annotations

from descheduler.placement.plugins.coscheduling.obstacles import GangReason, GangShortage, MissingMembers


def test_empty_name_in_a_group_is_said_to_be_one_and_the_words_of_the_scheduler_stay() -> None:
    missing = MissingMembers(GangReason.NO_GANG, ("", "a/b"), "a/b", (GangShortage("", 0, 0),))

    assert missing.short == "gang '' (an empty name) of the same group does not exist"
    assert missing.reason == "gangGroup [ a/b] basic check: memberGangs [] doesn't exists, current gang: a/b"


def test_empty_name_with_figures_is_said_to_be_one() -> None:
    missing = MissingMembers(GangReason.TOO_FEW_PODS, ("",), "a/b", (GangShortage("", 1, 2),))

    assert missing.short == "too few pods of gang '' (an empty name) (1 of 2) exist"
