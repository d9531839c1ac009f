"""Windows that close, and blackouts that begin, while jobs are under way: pods that have left are waited for."""

from __future__ import annotations

from datetime import timedelta

import pytest

from descheduler.cli.ending.exit_code import ExitCode, outcome_exit_code
from descheduler.cycle.options import RunResult
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.report.outcome.making import make_outcome
from descheduler.report.plan.making import make_plan
from tests.living.builders import deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.migration.roads.whole_runs import WAYS, Way, live_run, observed, policy_of, world

KOORD = WAYS["reservations"]


def window_of(cluster: LivingCluster, seconds: float) -> str:
    """A window that is open now, and closes when so many seconds have passed."""
    opened_at = (cluster.clock.now() - timedelta(minutes=1)).replace(second=0, microsecond=0)
    lasts = (cluster.clock.now() - opened_at).total_seconds() + seconds
    return f"[{{cron: '{opened_at.minute} {opened_at.hour} * * *', duration: {lasts:g}s}}]"


def blackout_of(cluster: LivingCluster) -> str:
    """A blackout that begins at the next minute."""
    begins_at = cluster.clock.now() + timedelta(minutes=1)
    return f"[{{cron: '{begins_at.minute} {begins_at.hour} * * *', duration: 1h}}]"


def free_policy(**more: str) -> str:
    """A policy by which all pods of a workload may be evicted in one run."""
    limits = {"objectLimiters": "{workload: {duration: 0s}}", "maxMigratingPerNode": "0"}
    return policy_of(KOORD, **limits, maxMigratingPerWorkload="99%", maxUnavailablePerWorkload="99%", **more)


def codes(result: RunResult) -> list[OutcomeCode]:
    return [outcome.code for outcome in result.outcomes]


def many(way: Way, number: int = 8) -> LivingCluster:
    """Pods of one Deployment, which leave one after the other, each in some seconds, from a tainted node."""
    web = deployment("web", number, on=["n1"] * number, cpu="100m", scheduler=way.scheduler, grace_seconds=1)
    return living_cluster([node("n1", taints=["gone=soon:NoSchedule"]), node("n2"), node("n3")], [web])


def away(cluster: LivingCluster) -> int:
    return sum(pod["spec"].get("nodeName") != "n1" for pod in cluster.pods("web"))


def test_pods_that_have_left_are_waited_for_and_no_other_leaves() -> None:
    cluster = many(KOORD)
    closes_at = cluster.clock.monotonic() + 8

    result = live_run(cluster, free_policy(windows=window_of(cluster, 8)))

    sent = cluster.api.sent("POST", "/eviction")
    assert 0 < len(sent) < len(result.outcomes)
    assert all(call.at < closes_at for call in sent)
    assert codes(result).count(OutcomeCode.DONE) == len(sent) == away(cluster)
    assert codes(result).count(OutcomeCode.WINDOW_CLOSED) == len(result.outcomes) - len(sent)


def test_the_report_says_what_was_left_and_when_runs_decide_again() -> None:
    cluster = many(KOORD)

    result = live_run(cluster, free_policy(windows=window_of(cluster, 8)))

    plan = make_plan(result.decisions)
    (left,) = make_outcome(plan, result.decisions, result.outcomes).not_attempted
    assert left.code == "window-closed"
    assert left.count == codes(result).count(OutcomeCode.WINDOW_CLOSED)
    assert left.message.startswith("profile p evicts nothing more: its windows closed at ")
    assert left.message.endswith(" UTC on decide again")


def test_the_run_has_not_failed() -> None:
    cluster = many(KOORD)

    result = live_run(cluster, free_policy(windows=window_of(cluster, 8)))

    outcome = make_outcome(make_plan(result.decisions), result.decisions, result.outcomes, stopped_by=result.guard)
    assert result.guard == ""
    assert outcome_exit_code(outcome, is_detailed=False) is ExitCode.DONE
    assert outcome_exit_code(outcome, is_detailed=True) is ExitCode.INCOMPLETE


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
@pytest.mark.parametrize("seconds", [0.5, 1, 2, 3, 5, 8, 13, 21])
def test_nothing_is_left_behind_whenever_a_window_closes(way: Way, seconds: float) -> None:
    cluster = world(way)
    observer = observed(cluster)
    closes_at = cluster.clock.monotonic() + seconds

    result = live_run(cluster, policy_of(way, windows=window_of(cluster, seconds)))

    observer.assert_kept()
    assert all(call.at < closes_at for call in cluster.api.sent("POST", "/eviction"))
    assert {outcome.kind for outcome in result.outcomes} <= {OutcomeKind.EVICTED, OutcomeKind.NOT_ATTEMPTED}


@pytest.mark.long
def test_a_blackout_that_begins_stops_evictions_too() -> None:
    cluster = many(KOORD, 20)

    result = live_run(cluster, free_policy(blackouts=blackout_of(cluster)))

    left = [outcome.message for outcome in result.outcomes if outcome.code is OutcomeCode.WINDOW_CLOSED]
    assert left
    assert all("blackout" in message and "began at" in message for message in left)


def test_the_next_run_in_a_window_goes_on() -> None:
    cluster = many(KOORD)
    live_run(cluster, free_policy(windows=window_of(cluster, 8)))
    before = away(cluster)

    result = live_run(cluster, free_policy(windows=window_of(cluster, 600)))

    assert before < away(cluster)
    assert set(codes(result)) == {OutcomeCode.DONE}
