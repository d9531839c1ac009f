"""Which Lease a run holds, as the flags say."""

from __future__ import annotations

import pytest

from descheduler.cli.flags.lease import takes_lease, takes_lease_name
from descheduler.migration.lease_settings import LeaseOptions
from tests.cli.flags.taking import refusal, taken


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param([], LeaseOptions(), id="none"),
        pytest.param(["--no-lease"], LeaseOptions(is_wanted=False), id="no Lease"),
        pytest.param(["--leader-elect"], LeaseOptions(is_wanted=True), id="as upstream spells it"),
        pytest.param(["--lease-name", "d", "--lease-namespace", "ops"], LeaseOptions("d", "ops"), id="which"),
        pytest.param(["--lease-name", "", "--lease-namespace", ""], LeaseOptions(), id="empty variables"),
        pytest.param(["--lease-duration", "60s"], LeaseOptions(duration_seconds=60), id="how long"),
        pytest.param(["--lease-duration", "1500ms"], LeaseOptions(duration_seconds=2), id="rounded up to seconds"),
    ],
)
def test_flags_say_which_lease(arguments: list[str], expected: LeaseOptions) -> None:
    assert taken(takes_lease, *arguments)["lease"]() == expected


def test_commands_that_only_read_are_told_the_name_alone() -> None:
    assert taken(takes_lease_name, "--lease-name", "d")["lease"]() == LeaseOptions("d")


@pytest.mark.parametrize("name", ["a", "a.b-c", "0", "a" * 253], ids=["letter", "dots", "digit", "longest"])
def test_names_of_objects_are_taken(name: str) -> None:
    assert taken(takes_lease_name, "--lease-name", name)["lease"]().name == name


@pytest.mark.parametrize("name", ["A", "a_b", "-a", "a-", "a" * 254, "a\n"], ids=ascii)
def test_other_names_are_refused(name: str) -> None:
    assert "is not an object name" in refusal(takes_lease_name, "--lease-name", name)
