"""What is said about arguments that make no sense: each message has the value that was found and what to write."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from descheduler.eviction.migration_controller.args import (
    GuardArgs,
    MigrationControllerArgs,
    MigrationObjectLimiter,
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


MOST = 168 * HOUR
NIGHTLY = "0 22 * * *"


@pytest.mark.parametrize(
    "args",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"windows": (TimeWindowArgs(cron=NIGHTLY, duration=MOST),)}, id="the longest window"),
        pytest.param({"blackouts": (TimeWindowArgs(cron=NIGHTLY, duration=MOST),)}, id="the longest blackout"),
        pytest.param({"move_history": MoveHistoryArgs(window=MOST)}, id="the longest history"),
        pytest.param({"move_history": MoveHistoryArgs(cooldown=HOUR)}, id="a cooldown as long as the history"),
        pytest.param({"move_history": MoveHistoryArgs(cooldown=timedelta(0))}, id="no cooldown"),
        pytest.param({"move_history": MoveHistoryArgs(max_moves_per_window=1)}, id="one move"),
        pytest.param({"guards": GuardArgs(interval=timedelta(seconds=1))}, id="the shortest interval of guards"),
        pytest.param({"guards": GuardArgs(max_pending_pods_increase=0)}, id="no pending pod more"),
        pytest.param({"guards": GuardArgs(max_not_ready_nodes="100%")}, id="all nodes"),
        pytest.param({"guards": GuardArgs(max_not_ready_nodes=101)}, id="a number of nodes above one hundred"),
        pytest.param({"guards": GuardArgs(max_not_ready_nodes=0)}, id="no node"),
        pytest.param({"max_migrating_globally": 0, "max_migrating_per_node": 0}, id="no limits"),
        pytest.param({"max_migrating_per_workload": 0, "max_unavailable_per_workload": "0%"}, id="the fewest of one"),
        pytest.param({"evict_burst": 1, "max_concurrent_reconciles": 1}, id="one by one"),
        pytest.param({"evict_qps": 0.001}, id="a slow pace"),
        pytest.param({"default_job_ttl": timedelta(0)}, id="no time limit"),
        pytest.param({"single_replicas": "Surge", "reservation_provider": "placeholder"}, id="surges by placeholders"),
        pytest.param({"single_replicas": "Surge", "reservation_provider": "koordinator"}, id="surges by Reservations"),
    ],
)
def test_last_values_that_make_sense_are_taken(args: dict[str, Any]) -> None:
    assert problems(**args) == []


@pytest.mark.parametrize(
    ("args", "found"),
    [
        pytest.param(
            {"windows": (TimeWindowArgs(cron=NIGHTLY, duration=MOST + timedelta(seconds=1)),)},
            ["windows[0].duration: 168h0m1s is not above 0 and at most 168h"],
            id="a longer window",
        ),
        pytest.param(
            {"blackouts": (TimeWindowArgs(cron=NIGHTLY, duration=-HOUR),)},
            ["blackouts[0].duration: -1h0m0s is not above 0 and at most 168h"],
            id="a negative blackout",
        ),
        pytest.param(
            {"move_history": MoveHistoryArgs(window=timedelta(0))},
            ["moveHistory.window: 0s is not above 0 and at most 168h"],
            id="no history",
        ),
        pytest.param(
            {"move_history": MoveHistoryArgs(max_moves_per_window=0)},
            ["moveHistory.maxMovesPerWindow: 0 is below 1; leave it out for no limit"],
            id="no move",
        ),
        pytest.param(
            {"guards": GuardArgs(interval=timedelta(milliseconds=999))},
            ["guards.interval: 999ms is below 1s"],
            id="a shorter interval of guards",
        ),
        pytest.param(
            {"max_migrating_globally": -1, "evict_burst": 0, "max_concurrent_reconciles": 0},
            [
                "maxMigratingGlobally: -1 is below 0",
                "maxConcurrentReconciles: 0 is below 1",
                "evictBurst: 0 is below 1",
            ],
            id="counts below the least",
        ),
        pytest.param(
            {"max_migrating_per_workload": -1, "max_unavailable_per_workload": "-1%"},
            ["maxMigratingPerWorkload: -1 is below 0", "maxUnavailablePerWorkload: -1% is below 0"],
            id="shares below the least",
        ),
        pytest.param(
            {"default_job_ttl": timedelta(seconds=-1)},
            ["defaultJobTTL: is negative; use 0 for no time limit"],
            id="a negative time limit",
        ),
        pytest.param(
            {"single_replicas": "Surge"},
            ["singleReplicas: Surge needs reservationProvider koordinator or placeholder (now unset)"],
            id="surges without a provider",
        ),
        pytest.param(
            {"single_replicas": "Surge", "reservation_provider": "none", "default_job_mode": "EvictDirectly"},
            [
                "singleReplicas: Surge needs reservationProvider koordinator or placeholder (now none)",
                "singleReplicas: Surge needs defaultJobMode ReservationFirst (now EvictDirectly)",
            ],
            id="surges without room",
        ),
        pytest.param(
            {"single_replicas": "Surge", "reservation_provider": "placeholder", "eviction_policy": "Delete"},
            ["singleReplicas: Surge needs evictionPolicy Eviction (now Delete)"],
            id="surges that delete",
        ),
        pytest.param(
            {"object_limiters": {"node": MigrationObjectLimiter(), "workload": MigrationObjectLimiter(burst="0%")}},
            [
                "objectLimiters.node: 'node' is not one of workload, namespace",
                "objectLimiters.workload.burst: '0%' is not a percentage from 1% to 100%",
            ],
            id="limiters",
        ),
        pytest.param(
            {"windows": (TimeWindowArgs(cron="x", time_zone="Nowhere", duration=HOUR),)},
            [
                "windows[0].cron: ",
                "windows[0].timeZone: 'Nowhere' is not a time zone; use a name such as Europe/Berlin",
            ],
            id="a window that is none",
        ),
    ],
)
def test_first_values_that_make_no_sense_are_refused(args: dict[str, Any], found: list[str]) -> None:
    told = problems(**args)

    assert len(told) == len(found)
    assert [text.startswith(start) for text, start in zip(told, found, strict=True)] == [True] * len(found), told
