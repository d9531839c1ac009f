"""Thresholds by PriorityClass name, resolved once the classes are known."""

from __future__ import annotations

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.policy.load import load_policy
from descheduler.policy.priority_thresholds import resolve_priority_thresholds
from descheduler.policy.shared_args import PriorityThreshold
from descheduler.policy.types import Policy

from .builders import koordinator, with_args


def load(text: str) -> Policy:
    return load_policy(text, REGISTRY, name="policy.yaml")


def threshold(policy: Policy, plugin: str = "DefaultEvictor") -> object:
    return getattr(policy.profiles[0].args[plugin], "priority_threshold")  # noqa: B009 - the type is a bare Struct


def test_name_is_replaced_by_the_value_of_its_class() -> None:
    policy = load(with_args("DefaultEvictor", "{priorityThreshold: {name: batch}}"))

    resolved = resolve_priority_thresholds(policy, {"batch": -5})

    assert threshold(policy) == PriorityThreshold(name="batch")
    assert threshold(resolved) == PriorityThreshold(value=-5)


def test_given_value_needs_no_class() -> None:
    policy = load(with_args("DefaultEvictor", "{priorityThreshold: {value: 0}}"))

    assert resolve_priority_thresholds(policy, {}) == policy
    assert threshold(policy) == PriorityThreshold(value=0)


@pytest.mark.parametrize("args", ["{}", "{priorityThreshold: null}", "{priorityThreshold: {}}"])
def test_absent_threshold_is_system_critical(args: str) -> None:
    assert threshold(load(with_args("DefaultEvictor", args))) == PriorityThreshold(value=2_000_000_000)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param(
            {"batch-low": 5}, "there is no PriorityClass 'batch'; did you mean 'batch-low'?", id="missing class"
        ),
        pytest.param(
            {"batch": 2_000_000_001},
            "PriorityClass 'batch': 2000000001 is above 2000000000, the highest priority threshold",
            id="value too high",
        ),
    ],
)
def test_class_that_cannot_be_used_is_an_error_with_its_place(values: dict[str, int], message: str) -> None:
    policy = load(with_args("DefaultEvictor", "{priorityThreshold: {name: batch}}"))

    with pytest.raises(PolicyError) as caught:
        resolve_priority_thresholds(policy, values)

    field = "profiles[0].pluginConfig[0].args.priorityThreshold.name"
    assert str(caught.value) == f"policy.yaml:7:38: {field}: {message}"
    assert caught.value.stage == "policy"


@pytest.mark.parametrize(
    ("compatibility", "resolved"),
    [("fixed", PriorityThreshold(value=7)), ("upstream", PriorityThreshold(name="batch"))],
)
def test_migration_controller_uses_the_name_unless_asked_to_ignore_it(
    compatibility: str, resolved: PriorityThreshold
) -> None:
    policy = load(
        koordinator(
            f"compatibility: {compatibility}\nprofiles:\n"
            "- pluginConfig: [{name: MigrationController, args: {priorityThreshold: {name: batch}}}]\n"
        )
    )

    assert threshold(resolve_priority_thresholds(policy, {"batch": 7}), "MigrationController") == resolved
