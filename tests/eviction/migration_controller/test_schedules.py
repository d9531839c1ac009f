"""When a profile may evict: its windows and blackouts to the minute, and what is said of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.migration_controller.schedules import (
    Closing,
    TimeWindowCheck,
    closings,
    opening_lines,
    schedule_of,
)
from descheduler.model.verdict import Reason
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from tests.builders import make_pod
from tests.eviction.migration_controller.koordinator_clusters import make_args
from tests.policy.builders import koordinator

NIGHT = "windows: [{cron: 0 22 * * *, duration: 8h}]"
HOLIDAYS = "blackouts: [{cron: 0 0 24 12 *, duration: 72h}]"
BEFORE_NEW_YEAR = "blackouts: [{cron: 0 23 31 12 *, duration: 2h}]"
NEVER = "windows: [{cron: 0 0 24 12 *, duration: 1h}], blackouts: [{cron: 0 0 24 12 *, duration: 72h}]"


def policy(*args: str) -> Policy:
    """A policy with a profile for each of these arguments of MigrationController."""
    profiles = "".join(
        f"- {{name: p{number}, pluginConfig: [{{name: MigrationController, args: {{{each}}}}}]}}\n"
        for number, each in enumerate(args)
    )
    return load_policy(koordinator(f"profiles:\n{profiles}"), REGISTRY)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("args", "now", "reason"),
    [
        pytest.param("", "2026-06-01T12:00", None, id="always"),
        pytest.param(NIGHT, "2026-06-01T22:00", None, id="from the first minute of a window"),
        pytest.param(NIGHT, "2026-06-01T21:59", Reason.WINDOW, id="not a minute earlier"),
        pytest.param(NIGHT, "2026-06-02T05:59", None, id="to the last minute"),
        pytest.param(NIGHT, "2026-06-02T06:00", Reason.WINDOW, id="and no longer"),
        pytest.param(HOLIDAYS, "2026-12-24T00:00", Reason.BLACKOUT, id="from the first minute of a blackout"),
        pytest.param(HOLIDAYS, "2026-12-23T23:59", None, id="before it"),
        pytest.param(HOLIDAYS, "2026-12-27T00:00", None, id="after it"),
        pytest.param(f"{NIGHT}, {HOLIDAYS}", "2026-12-24T23:00", Reason.BLACKOUT, id="a blackout within a window"),
        pytest.param(f"{NIGHT}, {HOLIDAYS}", "2026-12-24T12:00", Reason.BLACKOUT, id="a blackout comes first"),
    ],
)
def test_profile_evicts_at_its_times(args: str, now: str, reason: Reason | None) -> None:
    check = TimeWindowCheck(policy(args).profiles, at(now))

    assert check.verdict(Bundle("p0", "q", (Candidate(make_pod("web")),))).reason is reason


def test_each_profile_has_its_own_times() -> None:
    check = TimeWindowCheck(policy(NIGHT, "").profiles, at("2026-06-01T12:00"))

    reasons = [check.verdict(Bundle("", "q", (Candidate(make_pod("web")),), index)).reason for index in (0, 1)]

    assert reasons == [Reason.WINDOW, None]


@pytest.mark.parametrize(
    ("args", "now", "message"),
    [
        (NIGHT, "2026-06-01T12:00", "profile p0 is outside its windows; next evictions from 2026-06-01 22:00 UTC"),
        (
            HOLIDAYS,
            "2026-12-25T12:00",
            "profile p0 evicts nothing during blackout '0 0 24 12 *' (72h0m0s, UTC); "
            "next evictions from 2026-12-27 00:00 UTC",
        ),
        (NEVER, "2026-06-01T12:00", "profile p0 is outside its windows; no window opens again"),
    ],
)
def test_refusal_says_when_evictions_go_on(args: str, now: str, message: str) -> None:
    check = TimeWindowCheck(policy(args).profiles, at(now))

    verdict = check.verdict(Bundle("p0", "q", (Candidate(make_pod("web")),)))

    assert (verdict.message, verdict.subject) == (message, "p0")


@pytest.mark.parametrize(
    ("args", "now", "closing"),
    [
        pytest.param("", "2026-06-01T12:00", None, id="it always may"),
        pytest.param(NIGHT, "2026-06-01T12:00", None, id="it may not now"),
        pytest.param(NIGHT, "2026-06-01T21:59", None, id="it may in a minute"),
        pytest.param(
            NIGHT,
            "2026-06-01T22:00",
            Closing(
                at("2026-06-02T06:00"),
                "profile p0 evicts nothing more: its windows closed at 2026-06-02 06:00 UTC; "
                "runs from 2026-06-02 22:00 UTC on decide again",
            ),
            id="its window closes",
        ),
        pytest.param(
            f"{NIGHT}, {BEFORE_NEW_YEAR}",
            "2026-12-31T22:30",
            Closing(
                at("2026-12-31T23:00"),
                "profile p0 evicts nothing more: blackout '0 23 31 12 *' (2h0m0s, UTC) began at 2026-12-31 23:00 UTC; "
                "runs from 2027-01-01 01:00 UTC on decide again",
            ),
            id="a blackout begins",
        ),
        pytest.param(NEVER, "2026-12-24T00:30", None, id="it never may"),
    ],
)
def test_end_of_the_times_is_known_while_a_profile_evicts(args: str, now: str, closing: Closing | None) -> None:
    found = closings(policy(args), at(now))

    assert found == ({} if closing is None else {"p0": closing})


@pytest.mark.parametrize(
    ("args", "now", "lines"),
    [
        pytest.param("", "2026-06-01T12:00", [], id="always"),
        pytest.param(
            NIGHT,
            "2026-06-01T12:00",
            [
                "profile p0 evicts at these times",
                "  2026-06-01 22:00 UTC - 2026-06-02 06:00 UTC",
                "  2026-06-02 22:00 UTC - 2026-06-03 06:00 UTC",
                "  2026-06-03 22:00 UTC - 2026-06-04 06:00 UTC",
            ],
            id="each night",
        ),
        pytest.param(
            NIGHT,
            "2026-06-01T22:00",
            [
                "profile p0 evicts at these times",
                "  now - 2026-06-02 06:00 UTC",
                "  2026-06-02 22:00 UTC - 2026-06-03 06:00 UTC",
                "  2026-06-03 22:00 UTC - 2026-06-04 06:00 UTC",
            ],
            id="now",
        ),
        pytest.param(NEVER, "2026-06-01T12:00", ["profile p0 evicts never (windows, blackouts)"], id="never"),
    ],
)
def test_times_of_a_profile_are_told_line_by_line(args: str, now: str, lines: list[str]) -> None:
    assert list(opening_lines(policy(args), at(now))) == lines


@pytest.mark.parametrize(
    ("args", "has_schedule"),
    [
        ({}, False),
        ({"windows": [{"cron": "0 22 * * *", "duration": timedelta(hours=8)}]}, True),
        ({"blackouts": [{"cron": "0 22 * * *", "duration": timedelta(hours=8)}]}, True),
    ],
)
def test_schedule_is_what_windows_and_blackouts_say(args: dict[str, Any], has_schedule: bool) -> None:
    assert (schedule_of(make_args(**args)) is not None) is has_schedule
