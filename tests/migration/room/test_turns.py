"""Whose turn it is to hold room by a placeholder, where a quota has room for few of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from descheduler.migration.room.placeholder.provider import PlaceholderTurns
from descheduler.migration.room.provider import CannotHoldYet
from descheduler.model.koordinator.migration_job import MigrationJob

START = datetime(2026, 6, 1, tzinfo=UTC)


def job(name: str, namespace: str = "shop") -> MigrationJob:
    return MigrationJob(name, "", namespace, "pod", "pod-uid", uid=name)


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def refused(turns: PlaceholderTurns, asking: MigrationJob, now: datetime) -> bool:
    """Whether `asking` is told to wait by a quota that refuses it at `now`."""
    turns.begin(asking, now)
    try:
        turns.refused(asking, now)
    except CannotHoldYet:
        return True
    return False


@pytest.fixture
def turns() -> PlaceholderTurns:
    """Job `one` has a placeholder in namespace shop."""
    found = PlaceholderTurns()
    found.begin(job("one"), START)
    return found


def test_a_job_waits_while_another_one_has_a_placeholder(turns: PlaceholderTurns) -> None:
    assert refused(turns, job("two"), START)


def test_a_job_does_not_wait_for_those_of_other_namespaces_and_runs(turns: PlaceholderTurns) -> None:
    assert not refused(turns, job("two", namespace="other"), START)


def test_nothing_is_asked_for_again_at_once(turns: PlaceholderTurns) -> None:
    refused(turns, job("two"), START)

    with pytest.raises(CannotHoldYet, match="use up the ResourceQuota of namespace shop"):
        turns.begin(job("three"), after(1))

    assert refused(turns, job("three"), after(2))


def test_room_is_asked_for_as_soon_as_another_one_has_given_its_own_back(turns: PlaceholderTurns) -> None:
    refused(turns, job("two"), START)

    turns.end(job("one"))

    turns.begin(job("two"), after(1))


def test_a_job_waits_for_the_quota_to_count_what_was_given_back_and_no_longer(turns: PlaceholderTurns) -> None:
    turns.end(job("one"))

    assert [refused(turns, job("two"), after(seconds)) for seconds in (1, 4, 10, 12)] == [True, True, True, False]


def test_a_job_that_may_have_its_placeholder_asks_for_it_again_at_once(turns: PlaceholderTurns) -> None:
    refused(turns, job("two"), START)

    turns.begin(job("one"), after(1))
