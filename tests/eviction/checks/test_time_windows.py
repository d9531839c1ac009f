"""A profile outside its windows, or in a blackout, plans and evicts nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.migration_controller.schedules import Closing, closings, opening_lines
from descheduler.policy.load import load_policy
from tests.builders import make_node, make_pod, make_snapshot
from tests.policy.builders import koordinator, messages


def policy_text(args: str) -> str:
    """RemovePodsViolatingNodeTaints under MigrationController with `args` in flow style."""
    return koordinator(
        f"""\
        profiles:
        - name: nightly
          pluginConfig:
          - name: MigrationController
            args: {{defaultJobMode: EvictDirectly, evictAllBarePods: true, {args}}}
          plugins:
            deschedule: {{enabled: [{{name: RemovePodsViolatingNodeTaints}}]}}
        """
    )


def answers(args: str, at: str) -> list[str]:
    """What a run at a time of UTC says about one pod; nothing when it is evicted."""
    nodes = [make_node("a", taints=["x:NoSchedule"]), make_node("b")]
    snapshot = make_snapshot(nodes, [make_pod("p", node="a", owners=[])])
    policy = load_policy(policy_text(args), REGISTRY)
    decisions = decide(policy, snapshot, now=datetime.fromisoformat(at).replace(tzinfo=UTC))
    return [f"{refusal.verdict.code}: {refusal.verdict.message}" for refusal in decisions.refusals]


WINDOW = "windows: [{cron: 0 22 * * *, duration: 8h, timeZone: Europe/Berlin}]"
BLACKOUT = "blackouts: [{cron: 0 0 24 12 *, duration: 72h}]"


def test_outside_its_windows_a_profile_evicts_nothing_and_says_when_it_will() -> None:
    assert answers(WINDOW, "2026-06-01T12:00") == [
        "Window: profile nightly is outside its windows; next evictions from 2026-06-01 22:00 Europe/Berlin"
    ]


def test_during_a_blackout_a_profile_evicts_nothing_though_a_window_is_open() -> None:
    assert answers(f"{WINDOW}, {BLACKOUT}", "2026-12-24T23:00") == [
        "Blackout: profile nightly evicts nothing during blackout '0 0 24 12 *' (72h0m0s, UTC);"
        " next evictions from 2026-12-27 01:00 Europe/Berlin"
    ]


@pytest.mark.parametrize("args", [WINDOW, f"{WINDOW}, {BLACKOUT}", BLACKOUT])
def test_in_its_windows_other_checks_decide(args: str) -> None:
    assert not [answer for answer in answers(args, "2026-06-01T23:00") if answer.startswith(("Window", "Blackout"))]


def test_next_times_are_listed_for_operators() -> None:
    policy = load_policy(policy_text(f"{WINDOW}, {BLACKOUT}"), REGISTRY)

    lines = list(opening_lines(policy, datetime(2026, 12, 23, 22, tzinfo=UTC)))

    assert lines == [
        "profile nightly evicts at these times",
        "  now - 2026-12-24 01:00 Europe/Berlin",
        "  2026-12-27 01:00 Europe/Berlin - 2026-12-27 06:00 Europe/Berlin",
        "  2026-12-27 22:00 Europe/Berlin - 2026-12-28 06:00 Europe/Berlin",
    ]


@pytest.mark.parametrize(
    ("args", "at", "why"),
    [
        pytest.param(
            WINDOW,
            "2026-06-02T04:00",
            "its windows closed at 2026-06-02 06:00 Europe/Berlin; "
            "runs from 2026-06-02 22:00 Europe/Berlin on decide again",
            id="a window closes",
        ),
        pytest.param(
            f"{WINDOW}, {BLACKOUT}",
            "2026-12-24T00:00",
            "blackout '0 0 24 12 *' (72h0m0s, UTC) began at 2026-12-24 01:00 Europe/Berlin; "
            "runs from 2026-12-27 01:00 Europe/Berlin on decide again",
            id="a blackout begins in a window",
        ),
    ],
)
def test_end_of_the_time_in_which_a_profile_evicts_is_known_before(args: str, at: str, why: str) -> None:
    policy = load_policy(policy_text(args), REGISTRY)
    ends_at = datetime.fromisoformat(at).replace(tzinfo=UTC)

    found = closings(policy, ends_at - timedelta(minutes=10))

    assert found == {"nightly": Closing(ends_at, f"profile nightly evicts nothing more: {why}")}


@pytest.mark.parametrize(
    ("args", "at"),
    [
        pytest.param("", "2026-06-02T03:00", id="without windows"),
        pytest.param(WINDOW, "2026-06-02T12:00", id="outside its windows"),
        pytest.param("windows: [{cron: 0 8 * * *, duration: 24h}]", "2026-06-02T12:00", id="windows without end"),
    ],
)
def test_other_profiles_have_no_such_end(args: str, at: str) -> None:
    policy = load_policy(policy_text(args), REGISTRY)

    assert closings(policy, datetime.fromisoformat(at).replace(tzinfo=UTC)) == {}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(
            "windows: [{cron: 0 25 * * *, duration: 8h}]",
            "windows[0].cron: hour '25' is not between 0 and 23",
            id="no hour of the day",
        ),
        pytest.param(
            "blackouts: [{cron: 0 8 * * *, duration: 0s}]",
            "blackouts[0].duration: 0s is not above 0 and at most 168h; write how long it lasts, such as 8h",
            id="no duration",
        ),
        pytest.param(
            "windows: [{cron: 0 8 * * *, duration: 1h, timeZone: Berlin}]",
            "windows[0].timeZone: 'Berlin' is not a time zone; use a name such as Europe/Berlin or UTC",
            id="no zone",
        ),
        pytest.param(
            "windows: [{cron: 0 8 * * *, duration: 1h, timeZone: ../etc/passwd}]",
            "windows[0].timeZone: '../etc/passwd' is not a time zone; use a name such as Europe/Berlin or UTC",
            id="a path",
        ),
    ],
)
def test_times_that_make_no_sense_are_refused(args: str, message: str) -> None:
    assert [problem.partition("args.")[2] for problem in messages(policy_text(args))] == [message]
