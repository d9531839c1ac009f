"""Arguments of PlacementVerification: what is refused, what is said where it is off, and whose scheduler it asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.placement_verification.placement_verification import (
    PlacementVerificationArgs,
    default_args,
    file_problems,
    requires_gain,
    scheduling_by_profile,
    scheduling_settings,
    validate_args,
    verification_notes,
    version_of,
)
from descheduler.model.kube_version import KubeVersion
from descheduler.policy.load import load_policy
from descheduler.policy.plugin import scheduler_file_reader
from descheduler.policy.shared_args import LabelExpression, LabelSelectorArg
from descheduler.policy.types import Policy
from tests.policy.builders import koordinator, upstream

OFF = "plugins: {filter: {disabled: [{name: PlacementVerification}]}}"


def configuration(*profiles: str) -> Policy:
    """A DeschedulerConfiguration of these profiles."""
    lines = "".join(f"- {{name: p{number}, {profile}}}\n" for number, profile in enumerate(profiles))
    return load_policy(koordinator(f"profiles:\n{lines}"), REGISTRY)


UNVERIFIED = load_policy(upstream("profiles: [{name: p}]\n"), REGISTRY)
GAIN = "pluginConfig: [{name: PlacementVerification, args: {requireGain: true}}]"
WITHOUT = "pluginConfig: [{name: PlacementVerification, args: {requireGain: false}}]"
PENDING = "pods are evicted even if their replacement stays pending"


@pytest.mark.parametrize(
    ("policy", "notes"),
    [
        pytest.param(configuration(GAIN), (), id="it verifies"),
        pytest.param(UNVERIFIED, (), id="a DeschedulerPolicy, where that is usual"),
        pytest.param(configuration(OFF), (f"PlacementVerification is disabled in profile p0: {PENDING}",), id="one"),
        pytest.param(
            configuration(OFF, GAIN, OFF),
            (f"PlacementVerification is disabled in profiles p0, p2: {PENDING}",),
            id="two of three",
        ),
    ],
)
def test_operators_are_told_of_profiles_that_verify_nothing(policy: Policy, notes: tuple[str, ...]) -> None:
    assert verification_notes(policy) == notes


@pytest.mark.parametrize(
    ("policy", "is_required"),
    [
        (configuration(GAIN), True),
        (configuration(GAIN, GAIN), True),
        (configuration(WITHOUT), False),
        (configuration(GAIN, WITHOUT), False),
        (configuration(GAIN, OFF), False),
        (UNVERIFIED, False),
    ],
)
def test_gain_is_required_where_every_profile_asks_for_it(policy: Policy, is_required: bool) -> None:
    assert requires_gain(policy) is is_required


def test_each_profile_has_the_scheduler_that_it_verifies_with() -> None:
    found = scheduling_by_profile(configuration(GAIN, OFF), KubeVersion(1, 34))

    assert [(name, settings is None) for name, settings in found] == [("p0", False), ("p1", True)]
    assert [settings.version for _, settings in found if settings is not None] == [KubeVersion(1, 34)]


def args_of(**args: Any) -> PlacementVerificationArgs:
    return default_args(PlacementVerificationArgs(**args))


@pytest.mark.parametrize(
    ("args", "problems"),
    [
        pytest.param({}, [], id="nothing"),
        pytest.param(
            {"on_unknown": "allow", "on_conditional": "allow", "on_return_to_source": "allow"}, [], id="all is allowed"
        ),
        pytest.param({"on_gang_minimum": "evictGang", "on_return_to_source": "refuseBalance"}, [], id="own choices"),
        pytest.param(
            {"on_unknown": "x", "on_conditional": "x", "on_return_to_source": "x", "on_gang_minimum": "x"},
            [
                "onUnknown: 'x' is not one of refuse, allow",
                "onConditional: 'x' is not one of refuse, allow",
                "onReturnToSource: 'x' is not one of refuse, refuseBalance, allow",
                "onGangMinimum: 'x' is not one of refuse, evictGang",
            ],
            id="no choices",
        ),
        pytest.param({"kube_version": "1.34"}, [], id="a version"),
        pytest.param({"kube_version": "x"}, ["kubeVersion: "], id="no version"),
        pytest.param({"feature_gates": {"NoSuchGate": True}}, ["featureGates: "], id="no gate"),
        pytest.param({"scheduler_versions": {"volcano": "1.14"}}, [], id="a release"),
        pytest.param({"scheduler_versions": {"volcano": "x"}}, ["schedulerVersions.volcano: "], id="no release"),
        pytest.param(
            {"disposable_pods": LabelSelectorArg(match_expressions=(LabelExpression("a", "Like"),))},
            ["disposablePods: "],
            id="no selector",
        ),
    ],
)
def test_arguments_that_make_no_sense_are_refused(args: dict[str, Any], problems: list[str]) -> None:
    found = [f"{problem.field}: {problem.message}" for problem in validate_args(args_of(**args))]

    assert len(found) == len(problems)
    assert [text.startswith(start) for text, start in zip(found, problems, strict=True)] == [True] * len(found), found


@pytest.mark.parametrize(
    ("args", "cluster", "version"),
    [
        (None, None, KubeVersion()),
        (None, KubeVersion(1, 34), KubeVersion(1, 34)),
        ({}, None, KubeVersion()),
        ({}, KubeVersion(1, 34), KubeVersion(1, 34)),
        ({"kube_version": "1.35"}, KubeVersion(1, 34), KubeVersion(1, 35)),
    ],
)
def test_version_is_the_policy_s_else_the_cluster_s(
    args: dict[str, str] | None, cluster: KubeVersion | None, version: KubeVersion
) -> None:
    found = version_of(None if args is None else args_of(**args), cluster)

    assert (found.major, found.minor) == (version.major, version.minor)


@pytest.mark.parametrize(
    ("text", "num_problems"),
    [
        pytest.param("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n", 0, id="a file"),
        pytest.param("apiVersion: v1\nkind: Pod\n", 1, id="another kind"),
        pytest.param(None, 1, id="no file"),
    ],
)
def test_file_of_the_scheduler_is_read_with_the_policy(text: str | None, num_problems: int, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "scheduler.yaml").write_text(text)
    read = scheduler_file_reader({}, tmp_path)

    problems = file_problems(args_of(scheduler_config_file="scheduler.yaml"), read)

    assert [problem.field for problem in problems] == ["schedulerConfigFile"] * num_problems
    assert file_problems(args_of(), read) == []


def test_scheduler_is_kube_scheduler_as_it_comes_unless_a_file_or_a_release_is_named() -> None:
    plain, released = (
        scheduling_settings(args_of(), {}),
        scheduling_settings(args_of(scheduler_versions={"volcano": "1.14"}), {}),
    )

    assert (plain.configuration, plain.names) == (None, ("koord-scheduler",))
    assert released.configuration is not None
    assert scheduling_settings(args_of(scheduler_names=("mine",)), {}).names == ("mine",)
