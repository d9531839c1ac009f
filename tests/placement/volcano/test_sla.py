"""Plugin sla: the order of jobs by the end of their waiting, and votes once it has ended (volcano.md §8.9)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.configuration.volcano_arguments import Arguments
from descheduler.placement.volcano.plugins.jobs import start_sla
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import ABSTAIN, PERMIT, Callbacks
from tests.placement.volcano.worlds import Object, group, session

BORN = datetime(2026, 7, 1, tzinfo=UTC)


def job(name: str, waiting_time: str = "", *, key: str = "volcano.sh/sla-waiting-time") -> Object:
    found = group(name, phase="Pending")
    found["metadata"] |= {"creationTimestamp": "2026-07-01T00:00:00Z"}
    found["metadata"] |= {"annotations": {key: waiting_time} if waiting_time else {}}
    return found


def started(*jobs: Object, after: timedelta | None = timedelta(hours=1), common: str = "") -> tuple[Callbacks, Session]:
    found = session(*jobs, tiers=(("gang",),))
    taken_at = None if after is None else BORN + after
    found.cluster.snapshot = replace(found.cluster.snapshot, taken_at=taken_at)
    arguments = Arguments({"sla-waiting-time": common} if common else {})
    return start_sla(found, PluginOption("sla", arguments=arguments)), found


def test_job_whose_waiting_ends_first_comes_first_and_one_without_comes_last() -> None:
    callbacks, found = started(job("none"), job("later", "2h"), job("sooner", "1h", key="sla-waiting-time"))
    none, later, sooner = (found.jobs[f"batch/{name}"] for name in ("none", "later", "sooner"))

    assert callbacks.job_order is not None
    assert callbacks.job_order(sooner, later) < 0 < callbacks.job_order(none, later)
    assert callbacks.job_order(none, none) == 0
    assert callbacks.job_order(later, later) == 0
    assert callbacks.job_order(later, sooner) > 0 > callbacks.job_order(later, none)


@pytest.mark.parametrize(
    ("waiting_time", "common", "vote"),
    [
        pytest.param("1h", "", PERMIT, id="has ended"),
        pytest.param("61m", "", ABSTAIN, id="has not ended"),
        pytest.param("", "", ABSTAIN, id="is not stated"),
        pytest.param("", "30m", PERMIT, id="of all jobs"),
        pytest.param("2h", "30m", ABSTAIN, id="its own comes first"),
        pytest.param("soon", "", ABSTAIN, id="is no duration"),
        pytest.param("0s", "", ABSTAIN, id="is nothing"),
        pytest.param("-1h", "", ABSTAIN, id="is below nothing"),
    ],
)
def test_job_is_permitted_once_its_waiting_has_ended(waiting_time: str, common: str, vote: int) -> None:
    callbacks, found = started(job("a", waiting_time), common=common)
    (only,) = found.jobs.values()

    assert callbacks.job_enqueueable is not None
    assert callbacks.job_pipelined is not None
    assert (callbacks.job_enqueueable(only), callbacks.job_pipelined(only)) == (vote, vote)


def test_nothing_has_ended_in_a_snapshot_without_a_time() -> None:
    callbacks, found = started(job("a", "1s"), after=None)
    (only,) = found.jobs.values()

    assert callbacks.job_enqueueable is not None
    assert callbacks.job_enqueueable(only) == ABSTAIN
