"""What stopped a run, and which decision holds where its time ends in between."""

from __future__ import annotations

import signal
import threading
from typing import Any, cast

import pytest

from descheduler.cycle.guards import StopCause, decide_in_time, find_guard, take_lease
from descheduler.kube.leases.held_lease import HeldLease
from descheduler.kube.leases.settings import LeaseSettings
from descheduler.plan.decisions import Decisions
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.supervision import RunStopped, Watch
from tests.living.builders import living_cluster
from tests.migration.roads.whole_runs import watch_of
from tests.migration.stand_ins import Clock, make_eviction


class Lease:
    """Stands for a Lease that may be lost."""

    def __init__(self, loss: str = "") -> None:
        self.loss = loss


def outcome(kind: OutcomeKind, code: OutcomeCode) -> Outcome:
    return Outcome(make_eviction("web"), kind, code, "")


DONE = outcome(OutcomeKind.EVICTED, OutcomeCode.DONE)
UNKNOWN = outcome(OutcomeKind.EVICTED, OutcomeCode.OUTCOME_UNKNOWN)
STOPPED = outcome(OutcomeKind.NOT_ATTEMPTED, OutcomeCode.STOPPED)
LIMITED = outcome(OutcomeKind.NOT_ATTEMPTED, OutcomeCode.LIMIT)
OVERLOADED = outcome(OutcomeKind.FAILED, OutcomeCode.OVERLOADED)


def watch(*, deadline: float | None = None, signal_number: int | None = None) -> Watch:
    """The time of a run that began 10 seconds ago."""
    clock = Clock()
    found = Watch(threading.Event(), deadline_seconds=deadline, clock=clock.now, sleep=clock.sleep)
    clock.seconds = 10.0
    if signal_number is not None:
        found.request_stop(signal_number)
    return found


LOST = StopCause("the loss of its Lease (another run has taken it)")
BY_DEADLINE = StopCause("--deadline 10s")
BY_SIGNAL = StopCause("SIGTERM", signal.SIGTERM)


@pytest.mark.parametrize(
    ("facts", "outcomes", "cause"),
    [
        pytest.param({}, [DONE], None, id="it came to its end"),
        pytest.param({}, [STOPPED], None, id="nothing has stopped it"),
        pytest.param({"loss": "another run has taken it"}, [DONE], LOST, id="its Lease is lost"),
        pytest.param({"loss": "another run has taken it", "deadline": 10}, [STOPPED], LOST, id="that comes first"),
        pytest.param({"loss": ""}, [STOPPED], None, id="its Lease is held"),
        pytest.param({"deadline": 11}, [STOPPED], None, id="there is time left"),
        pytest.param({"deadline": 10}, [DONE, STOPPED], BY_DEADLINE, id="an eviction was not made in time"),
        pytest.param({"deadline": 10}, [UNKNOWN], BY_DEADLINE, id="an eviction was not confirmed in time"),
        pytest.param({"deadline": 10}, [DONE, LIMITED], None, id="all were made in time"),
        pytest.param({"deadline": 10}, [], None, id="there were none to make"),
        pytest.param({"signal_number": signal.SIGTERM}, [STOPPED], BY_SIGNAL, id="a signal"),
        pytest.param({"signal_number": signal.SIGTERM}, [DONE], None, id="a signal after the last eviction"),
        pytest.param({"tripped": "3 nodes are not ready"}, [STOPPED], StopCause("3 nodes are not ready"), id="a guard"),
        pytest.param({"tripped": "3 nodes are not ready"}, [DONE], None, id="a guard after the last eviction"),
        pytest.param({}, [DONE, OVERLOADED], StopCause("an overloaded API server"), id="a server with too much to do"),
        pytest.param(
            {"tripped": "3 nodes are not ready", "deadline": 10}, [STOPPED], BY_DEADLINE, id="the time before a guard"
        ),
    ],
)
def test_run_was_stopped_by_what_kept_it_from_an_eviction(
    facts: dict[str, Any], outcomes: list[Outcome], cause: StopCause | None
) -> None:
    lease = Lease(facts.pop("loss")) if "loss" in facts else None
    tripped = facts.pop("tripped", "")

    assert find_guard(cast(HeldLease, lease), watch(**facts), outcomes, tripped) == cause


BOTH = cast(Decisions, "first"), cast(Decisions, "second")
"""They are handed on alone."""


def test_decision_before_holds_where_the_time_ends_after_it() -> None:
    times = watch()
    decided = list(BOTH)
    decide = decide_in_time(lambda answers, moves: decided.pop(0), times)

    first = decide({}, ())
    times.request_stop(signal.SIGTERM)

    assert [first, decide({}, ())] == [BOTH[0], BOTH[0]]


def test_run_that_ends_before_its_first_decision_is_stopped() -> None:
    decide = decide_in_time(lambda answers, moves: cast(Decisions, "never"), watch(deadline=10))

    with pytest.raises(RunStopped):
        decide({}, ())


def test_each_round_decides_while_there_is_time() -> None:
    decided = list(BOTH)
    decide = decide_in_time(lambda answers, moves: decided.pop(0), watch())

    assert [decide({}, ()), decide({}, ())] == list(BOTH)


@pytest.mark.parametrize("loss", ["", "the Lease of the loop is lost"])
def test_run_ends_by_the_loss_of_its_lease_or_by_one_that_was_watched_before(loss: str) -> None:
    cluster = living_cluster()
    times = watch_of(cluster)
    times.find_loss = lambda: loss

    with take_lease(cluster.client(), LeaseSettings("kube-system", "d"), times) as lease:
        found = times.find_loss()

    assert (lease.loss, found) == ("", loss)
