"""Several listeners are told alike, and one that fails hears no more."""

from __future__ import annotations

from descheduler.migration.listeners import EveryListener, EverySink
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction
from tests.migration.stand_ins import Heard, make_eviction

JOB = MigrationJob("j", "", "shop", "web-0", "u")


class Failing(Heard):
    """Fails at each outcome."""

    def record(self, outcome: Outcome) -> None:
        """Keeps it, and fails."""
        super().record(outcome)
        raise RuntimeError("full")


def outcome(eviction: PlannedEviction) -> Outcome:
    return Outcome(eviction, OutcomeKind.EVICTED, OutcomeCode.DONE, "")


def test_sink_that_fails_hears_no_more_and_the_others_hear_all() -> None:
    failing, first, second = Failing(), Heard(), Heard()
    sink = EverySink(first, failing, second)
    evictions = [make_eviction(name) for name in ("a", "b")]

    sink.planned(2)
    for each in evictions:
        sink.record(outcome(each))
    sink.doubted(evictions[0], "why", 5.0)
    sink.turned_away(3.0)

    assert first == second == [outcome(each) for each in evictions]
    assert (first.plans, first.doubts, first.overloads) == ([2], [("a", "why", 5.0)], [3.0])
    assert (failing, failing.plans, failing.doubts) == ([outcome(evictions[0])], [2], [])


class Told(EveryListener):
    """Keeps what it hears."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def changed(self, old: MigrationJob | None, new: MigrationJob) -> None:
        """Keeps it."""
        self.heard.append(f"{new.name} is kept")

    def refused(self, job: MigrationJob, why: str) -> None:
        """Keeps it."""
        self.heard.append(f"{job.name}: {why}")


def test_all_listeners_hear_of_jobs() -> None:
    first, second = Told(), Told()
    listener = EveryListener(first, second)

    listener.changed(None, JOB)
    listener.refused(JOB, "a budget")

    assert first.heard == second.heard == ["j is kept", "j: a budget"]
