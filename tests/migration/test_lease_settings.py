from __future__ import annotations

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.kube.leases.settings import LeaseSettings
from descheduler.migration.lease_settings import LeaseOptions, lease_settings
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from tests.policy.builders import koordinator, upstream


def koordinator_policy(election: str = "") -> Policy:
    section = f"leaderElection: {election}\n" if election else ""
    return load_policy(koordinator(f"{section}profiles:\n- name: tidy\n"), REGISTRY)


def settings(policy: Policy, options: LeaseOptions | None = None) -> LeaseSettings | None:
    return lease_settings(policy, options or LeaseOptions(), find_namespace=lambda: "own")


def test_lease_is_named_after_the_policy_in_the_namespace_of_the_pod() -> None:
    policy = load_policy(upstream("profiles:\n- name: tidy\n"), REGISTRY)

    assert settings(policy) == LeaseSettings("own", "descheduler-tidy", 60)


def test_koordinators_defaults_leave_the_choice_to_this_program() -> None:
    assert settings(koordinator_policy()) == LeaseSettings("own", "descheduler-tidy", 60)


def test_settings_of_the_policy_are_honoured() -> None:
    policy = koordinator_policy("{resourceName: mine, resourceNamespace: tools, leaseDuration: 20500ms}")

    assert settings(policy) == LeaseSettings("tools", "mine", 21)


def test_flags_have_the_last_word() -> None:
    policy = koordinator_policy("{resourceName: mine, resourceNamespace: tools, leaseDuration: 20s}")

    assert settings(policy, LeaseOptions("x", "y", 30)) == LeaseSettings("y", "x", 30)


@pytest.mark.parametrize(
    ("election", "is_wanted", "takes_one"),
    [
        pytest.param("{leaderElect: false}", None, False, id="the policy wants none"),
        pytest.param("{leaderElect: false}", True, True, id="the flag wants one all the same"),
        pytest.param("", False, False, id="the flag wants none"),
        pytest.param("", None, True, id="nobody says"),
    ],
)
def test_lease_is_taken_unless_it_is_not_wanted(election: str, is_wanted: bool | None, takes_one: bool) -> None:
    found = settings(koordinator_policy(election), LeaseOptions(is_wanted=is_wanted))

    assert (found is not None) is takes_one


@pytest.mark.parametrize(
    ("duration", "seconds"),
    [
        pytest.param("1ms", 1, id="less than a second"),
        pytest.param("20s", 20, id="whole seconds"),
        pytest.param("20001ms", 21, id="a little more"),
        pytest.param("15s", 60, id="the default of Koordinator, which counts as not set"),
    ],
)
def test_lease_lasts_for_whole_seconds_and_never_ends_early(duration: str, seconds: int) -> None:
    found = settings(koordinator_policy(f"{{leaseDuration: {duration}, renewDeadline: 500us, retryPeriod: 100us}}"))

    assert found is not None
    assert found.duration_seconds == seconds


def test_flag_for_the_duration_comes_before_the_policy() -> None:
    policy = koordinator_policy("{leaseDuration: 20s}")

    assert settings(policy, LeaseOptions(duration_seconds=5)) == LeaseSettings("own", "descheduler-tidy", 5)
