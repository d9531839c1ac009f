from __future__ import annotations

import re

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.load import load_policy
from descheduler.policy.run_name import run_name
from descheduler.policy.types import Policy
from tests.policy.builders import upstream


def policy_with(*profiles: str, top: str = "") -> Policy:
    names = "".join(f"- name: {name!r}\n" for name in profiles)
    return load_policy(upstream(f"{top}profiles:\n{names}" if names else "profiles: []\n"), REGISTRY)


@pytest.mark.parametrize(
    ("profiles", "expected"),
    [
        pytest.param((), "descheduler", id="no profile"),
        pytest.param(("repair",), "descheduler-repair", id="one profile"),
        pytest.param(("repair", "pack-nodes"), "descheduler-repair-pack-nodes", id="several profiles"),
    ],
)
def test_run_is_named_after_the_profiles(profiles: tuple[str, ...], expected: str) -> None:
    assert run_name(policy_with(*profiles)) == expected


@pytest.mark.parametrize("profile", ["Repair", "a b", "größe", "x" * 80, "-"])
def test_profile_that_no_object_can_be_named_after_gets_a_digest(profile: str) -> None:
    name = run_name(policy_with(profile))

    assert re.fullmatch(r"descheduler[a-z0-9-]*-[0-9a-f]{8}", name)
    assert len(name) <= 63


@pytest.mark.parametrize(("length", "is_whole"), [(51, True), (52, False)])
def test_name_is_spelled_out_as_far_as_a_label_goes(length: int, is_whole: bool) -> None:
    name = run_name(policy_with("x" * length))

    assert (name == f"descheduler-{'x' * length}") is is_whole
    assert len(name) == 63


def test_profiles_that_only_spelling_tells_apart_have_different_names() -> None:
    assert run_name(policy_with("A b")) != run_name(policy_with("a B"))


def test_name_survives_an_edit_of_the_policy() -> None:
    assert run_name(policy_with("p")) == run_name(policy_with("p", top="maxNoOfPodsToEvictTotal: 3\n"))
