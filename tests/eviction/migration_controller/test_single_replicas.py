"""Which arguments go together with a surge."""

from __future__ import annotations

import pytest

from descheduler.eviction.migration_controller.args import MigrationControllerArgs, default_args
from descheduler.eviction.migration_controller.args_checks import validate_args

NEEDS_PROVIDER = "Surge needs reservationProvider koordinator or placeholder"
NEEDS_MODE = "Surge needs defaultJobMode ReservationFirst"


def problems(**args: str) -> list[str]:
    """What is wrong with `singleReplicas` beside these arguments."""
    found = validate_args(default_args(MigrationControllerArgs(**args)))  # type: ignore[arg-type]
    return [problem.message for problem in found if problem.path == ("singleReplicas",)]


@pytest.mark.parametrize("provider", ["koordinator", "placeholder"])
def test_surge_goes_with_a_provider_that_is_named(provider: str) -> None:
    assert problems(single_replicas="Surge", reservation_provider=provider) == []


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param({}, f"{NEEDS_PROVIDER} (now unset)", id="a provider that depends on the cluster"),
        pytest.param({"reservation_provider": "none"}, f"{NEEDS_PROVIDER} (now none)", id="no provider"),
        pytest.param(
            {"reservation_provider": "koordinator", "default_job_mode": "EvictDirectly"},
            f"{NEEDS_MODE} (now EvictDirectly)",
            id="no room",
        ),
    ],
)
def test_surge_needs_room_for_certain(args: dict[str, str], message: str) -> None:
    assert problems(single_replicas="Surge", **args) == [message]
    assert problems(single_replicas="Evict", **args) == problems(**args) == []
