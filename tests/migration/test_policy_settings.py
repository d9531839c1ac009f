"""Where the pace and the terms of evictions come from: the command line, a profile, the policy, or a default."""

from __future__ import annotations

from datetime import timedelta

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.migration.policy_settings import PaceFlags, RunStart, dispatch_settings
from descheduler.migration.settings import DispatchSettings
from descheduler.policy.load import load_policy
from descheduler.policy.types import DEFAULT_BURST, DEFAULT_QPS, Policy
from tests.builders import NOW
from tests.policy.builders import koordinator, upstream


def settings(
    *controllers: str, client: str = "", qps: float | None = None, burst: int | None = None
) -> DispatchSettings:
    """For a policy with a profile for each MigrationController, p0 and so on; `client` is its clientConnection."""
    profiles = [
        f"- name: p{number}\n  pluginConfig: [{{name: MigrationController, args: {{{args}}}}}]\n"
        for number, args in enumerate(controllers)
    ]
    connection = f"clientConnection: {{{client}}}\n" if client else ""
    text = f"{connection}profiles:\n" + "".join(profiles or ["- name: p0\n"])
    return dispatched(load_policy(koordinator(text), REGISTRY), qps=qps, burst=burst)


def dispatched(policy: Policy, *, qps: float | None = None, burst: int | None = None) -> DispatchSettings:
    """For a run that began at second 100 of its clock."""
    return dispatch_settings(
        policy,
        PaceFlags(qps, burst),
        evictions_in_background=False,
        effect_seconds=40.0,
        deadline=None,
        start=RunStart(NOW, 100.0, NOW + timedelta(hours=1)),
    )


CLIENT = "qps: 7, burst: 9"


@pytest.mark.parametrize(
    ("client", "qps", "burst", "expected"),
    [
        pytest.param("", None, None, (50.0, 100), id="nobody says: Koordinator's defaults"),
        pytest.param(CLIENT, None, None, (7.0, 9), id="the policy"),
        pytest.param(CLIENT, 2.0, None, (2.0, 1), id="the rate on the command line, with the burst of the profiles"),
        pytest.param(CLIENT, None, 3, (7.0, 3), id="the burst on the command line"),
        pytest.param(CLIENT, 2.0, 3, (2.0, 3), id="both on the command line"),
    ],
)
def test_pace_of_the_run_is_that_of_the_command_line_or_else_of_the_policy(
    client: str, qps: float | None, burst: int | None, expected: tuple[float, int]
) -> None:
    found = settings("", client=client, qps=qps, burst=burst)

    assert (found.qps, found.burst) == expected


def test_policy_that_says_nothing_of_its_pace_has_the_default() -> None:
    found = dispatched(load_policy(upstream(), REGISTRY))
    faster = dispatched(load_policy(upstream(), REGISTRY), qps=9.0)

    assert (found.qps, found.burst) == (DEFAULT_QPS, DEFAULT_BURST)
    assert (faster.qps, faster.burst, faster.terms) == (9.0, DEFAULT_BURST, {})


def test_least_burst_of_the_profiles_goes_with_a_rate_on_the_command_line() -> None:
    found = settings("evictBurst: 5", "evictBurst: 3", qps=2.0)

    assert (found.qps, found.burst) == (2.0, 3)
    assert found.terms["p0"].pace is None


@pytest.mark.parametrize(
    ("args", "client", "burst", "expected"),
    [
        pytest.param('evictQPS: "4", evictBurst: 6', CLIENT, None, (4.0, 6), id="its own"),
        pytest.param("", CLIENT, None, (10.0, 1), id="the default, whatever the policy says of its client"),
        pytest.param('evictQPS: "4", evictBurst: 6', "", 2, (4.0, 2), id="with the burst of the command line"),
    ],
)
def test_each_migration_controller_has_a_pace_of_its_own(
    args: str, client: str, burst: int | None, expected: tuple[float, int]
) -> None:
    pace = settings(args, client=client, burst=burst).terms["p0"].pace

    assert pace is not None
    assert (pace.qps, pace.burst) == expected


def test_terms_of_a_profile_are_those_of_its_migration_controller() -> None:
    found = settings("dryRun: true, defaultDeleteOptions: {gracePeriodSeconds: 0}", "")

    assert (found.terms["p0"].is_dry, found.terms["p0"].grace_period_seconds) == (True, 0)
    assert (found.terms["p1"].is_dry, found.terms["p1"].grace_period_seconds) == (False, None)


def test_profile_closes_on_both_clocks_when_its_window_does() -> None:
    """It is 12:00 as far as decisions go; the window closes at 14:00."""
    open_now, always = "windows: [{cron: '0 10 * * *', duration: 4h}]", ""
    found = settings(open_now, always)

    closing = found.terms["p0"].closing
    assert closing is not None
    assert (closing.at, closing.on) == (100.0 + 2 * 3600, NOW + timedelta(hours=3))
    assert found.terms["p1"].closing is None
