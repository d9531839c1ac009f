"""What keeps pods off nodes, as evictions are refused because of it."""

from __future__ import annotations

from typing import NamedTuple

from descheduler.model.verdict import Reason, refuse
from descheduler.placement.framework.obstacle import Code, Obstacle, Said


class _Lock(NamedTuple):
    """A fact about an object, of a plugin that the rest of the program has never heard of."""

    subject: str
    reason: str = "locked"
    short: str = "locked"
    eviction_reason: Reason = Reason.OWNER_FAILS


def test_fact_about_an_object_names_the_reason_code_and_the_object_itself() -> None:
    obstacle = Obstacle.of("Locks", Code.UNSCHEDULABLE, Said("dark", "dark"), _Lock("a/door"))

    assert obstacle.refusal("the door is locked") == refuse(Reason.OWNER_FAILS, "the door is locked", "a/door")


def test_fact_about_no_object_leaves_it_at_no_landing() -> None:
    obstacle = Obstacle.of("Locks", Code.UNSCHEDULABLE, Said("dark", "dark"))

    assert obstacle.refusal("it is dark") == refuse(Reason.NO_LANDING, "it is dark")
