"""Plugin priority: whose tasks make room for whom (volcano.md §8.1)."""

from __future__ import annotations

from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.volcano.plugins.jobs import start_priority
from tests.placement.volcano.worlds import group, pods, priority_class, session


def test_tasks_of_jobs_with_a_lower_priority_make_room() -> None:
    found = session(
        priority_class("low", 1),
        priority_class("high", 2),
        group("asking", priorityClassName="high"),
        *(group(name, priorityClassName=of) for name, of in (("below", "low"), ("equal", "high"))),
        *(pods(name, 1, spec={"priority": 1}) for name in ("asking", "below", "equal")),
        tiers=(("gang",),),
    )
    asking, below, equal = (
        next(iter(found.jobs[f"batch/{name}"].tasks.values())) for name in ("asking", "below", "equal")
    )
    callbacks = start_priority(found, PluginOption("priority"))

    assert callbacks.preemptable is not None
    assert callbacks.preemptable(asking, [below, equal]).tasks == [below]
    assert callbacks.preemptable(below, [asking, equal]).tasks == []
