"""What is said about arguments that make no sense: each message has the value that was found and what to write."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from descheduler.eviction.migration_controller.args import (
    GuardArgs,
    MigrationControllerArgs,
    MoveHistoryArgs,
    TimeWindowArgs,
    default_args,
)
from descheduler.eviction.migration_controller.args_checks import validate_args

HOUR = timedelta(hours=1)


def problems(**args: Any) -> list[str]:
    """What is wrong with these arguments, each with its path."""
    found = validate_args(default_args(MigrationControllerArgs(**args)))
    return [f"{problem.field}: {problem.message}" for problem in found]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param(
            {"reservation_provider": "Placeholder"},
            "reservationProvider: 'Placeholder' is not one of koordinator, placeholder, none; "
            "did you mean 'placeholder'?",
            id="a provider",
        ),
        pytest.param(
            {"evict_qps": "inf"},
            "evictQPS: 'inf' is not a number above 0 (evictions per second)",
            id="a pace without an end",
        ),
        pytest.param(
            {"evict_qps": "0"}, "evictQPS: '0' is not a number above 0 (evictions per second)", id="a pace of nothing"
        ),
        pytest.param(
            {"single_replicas": "surge"},
            "singleReplicas: 'surge' is not one of Evict, Surge; did you mean 'Surge'?",
            id="what is done with single replicas",
        ),
        pytest.param(
            {"allowed_eviction_policies": ("Eviction", "delete")},
            "allowedEvictionPolicies[1]: 'delete' is not one of Eviction, Delete, SoftEviction",
            id="a policy that labels can choose",
        ),
        pytest.param(
            {"default_job_mode": "x"}, "defaultJobMode: 'x' is not one of ReservationFirst, EvictDirectly", id="a mode"
        ),
        pytest.param(
            {"windows": (TimeWindowArgs(cron="0 8 * * *", duration=200 * HOUR),)},
            "windows[0].duration: 200h0m0s is not above 0 and at most 168h",
            id="a window",
        ),
        pytest.param(
            {"windows": (TimeWindowArgs(cron="0 8 * * *"),)},
            "windows[0].duration: 0s is not above 0 and at most 168h; write how long it lasts, such as 8h",
            id="a window without a duration",
        ),
        pytest.param(
            {"move_history": MoveHistoryArgs(window=169 * HOUR)},
            "moveHistory.window: 169h0m0s is not above 0 and at most 168h",
            id="a history",
        ),
        pytest.param(
            {"move_history": MoveHistoryArgs(cooldown=2 * HOUR)},
            "moveHistory.cooldown: 2h0m0s is longer than window (1h0m0s)",
            id="a cooldown beyond the history",
        ),
        pytest.param(
            {"move_history": MoveHistoryArgs(cooldown=-HOUR)},
            "moveHistory.cooldown: -1h0m0s is below 0; use 0s for none",
            id="a negative cooldown",
        ),
        pytest.param(
            {"guards": GuardArgs(interval=timedelta(0))}, "guards.interval: 0s is below 1s", id="an interval of guards"
        ),
        pytest.param(
            {"guards": GuardArgs(max_pending_pods_increase=-1)},
            "guards.maxPendingPodsIncrease: -1 is below 0",
            id="pending pods",
        ),
        pytest.param(
            {"guards": GuardArgs(max_not_ready_nodes="101%")},
            "guards.maxNotReadyNodes: 101% is above 100%; use 100% to switch the guard off",
            id="more than all nodes",
        ),
    ],
)
def test_message_has_the_value_and_what_to_write(args: dict[str, Any], message: str) -> None:
    assert problems(**args) == [message]


def test_one_slip_is_one_problem() -> None:
    assert len(problems(single_replicas="Surge", reservation_provider="Placeholder")) == 1
