"""Argument shapes that plugins share, at their bounds, and plugins that get in each other's way."""

from __future__ import annotations

import pytest

from descheduler.policy.shared_args import (
    LabelExpression,
    LabelSelectorArg,
    Namespaces,
    check_exclude_only,
    check_in,
    check_int_or_percent,
    check_namespaces,
    check_percentages,
    check_pod_selectors,
    check_selector,
    compile_selector,
    int_or_percent_fault,
)
from descheduler.strategies.revoke_pods_over_elastic_quota.revoke_pods_over_elastic_quota import BESIDE
from tests.policy.builders import koordinator, messages, warnings, with_args


@pytest.mark.parametrize(
    ("percentages", "faults"),
    [
        pytest.param({"cpu": 0, "memory": 100}, {}, id="the least and the most"),
        pytest.param({"cpu": -0.5}, {"cpu": "-0.5 is below 0 (percent)"}, id="below 0"),
        pytest.param({"cpu": 100.5}, {"cpu": "100.5 is above 100 (percent)"}, id="above 100"),
        pytest.param(
            {"memory": 101, "cpu": -1, "pods": 50},
            {"cpu": "-1 is below 0 (percent)", "memory": "101 is above 100 (percent)"},
            id="in the order of their names",
        ),
        pytest.param({"cpu": float("nan")}, {"cpu": "nan is above 100 (percent)"}, id="no number"),
    ],
)
def test_percentages_are_from_0_to_100(percentages: dict[str, float], faults: dict[str, str]) -> None:
    problems = check_percentages("thresholds", percentages)

    assert {str(problem.path[1]): problem.message for problem in problems} == faults


def test_percentages_name_a_resource_at_least() -> None:
    (problem,) = check_percentages("thresholds", {})

    assert (problem.path, problem.message) == (
        ("thresholds",),
        "no resource is given; name at least one, such as cpu: 20",
    )


@pytest.mark.parametrize(
    ("limit", "fault"),
    [
        (None, ""),
        (0, ""),
        (-1, ""),
        ("1%", ""),
        ("100%", ""),
        ("0%", "'0%' is not a percentage from 1% to 100%"),
        ("101%", "'101%' is not a percentage from 1% to 100%"),
        ("+5%", "'+5%' is not a percentage from 1% to 100%"),
        ("5", "'5' is neither a number nor a percentage such as '10%'"),
        ("%", "'%' is neither a number nor a percentage such as '10%'"),
    ],
)
def test_limit_is_a_number_or_a_percentage(limit: int | str | None, fault: str) -> None:
    assert int_or_percent_fault(limit) == fault
    assert [problem.message for problem in check_int_or_percent(("limit",), limit)] == ([fault] if fault else [])


GOOD = LabelSelectorArg(match_expressions=(LabelExpression("app", "In", ("web",)),))
BAD = LabelSelectorArg(match_expressions=(LabelExpression("app", "Like"),))


def test_selectors_that_do_not_compile_are_named_by_their_place() -> None:
    assert compile_selector(None) is None
    assert [problem.path for problem in check_selector("labelSelector", BAD)] == [("labelSelector",)]
    assert [problem.path for problem in check_pod_selectors([GOOD, BAD, None])] == [("podSelectors", 1, "selector")]
    assert check_selector("labelSelector", GOOD) == check_selector("labelSelector", None) == []


@pytest.mark.parametrize(
    ("namespaces", "both", "included"),
    [
        (None, 0, 0),
        (Namespaces(), 0, 0),
        (Namespaces(include=("a",)), 0, 1),
        (Namespaces(exclude=("a",)), 0, 0),
        (Namespaces(include=("a",), exclude=("b",)), 1, 1),
    ],
)
def test_namespaces_are_included_or_excluded(namespaces: Namespaces | None, both: int, included: int) -> None:
    assert len(check_namespaces(namespaces)) == both
    assert [problem.path for problem in check_exclude_only("evictableNamespaces", namespaces)] == [
        ("evictableNamespaces", "include")
    ] * included


def test_entries_of_a_list_are_among_those_that_are_known() -> None:
    problems = check_in("states", ["Running", "Walking"], ("Running", "Pending"))

    assert [(problem.path, problem.message) for problem in problems] == [
        (("states", 1), "'Walking' is not one of Running, Pending")
    ]


@pytest.mark.parametrize(
    ("version", "is_taken"), [("v1", True), ("group/v1", True), ("a/b/c", False), ("a/b/c/d", False), ("''", True)]
)
def test_arguments_may_state_a_version(version: str, is_taken: bool) -> None:
    assert (messages(with_args("RemoveDuplicates", f"{{apiVersion: {version}}}")) == []) is is_taken


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (-(2**31), ""),
        (-(2**31) - 1, "-2147483649 is below -2147483648"),
        (2_000_000_000, ""),
        (2_000_000_001, "2000000001 is above 2000000000, the highest priority threshold"),
        (2**31, "2147483648 is above 2147483647"),
    ],
)
def test_priority_is_a_number_of_32_bits(value: int, fault: str) -> None:
    found = messages(with_args("DefaultEvictor", f"{{priorityThreshold: {{value: {value}}}}}"))

    assert [text.partition("priorityThreshold.value: ")[2] for text in found] == ([fault] if fault else [])


def beside(*plugins: str) -> list[str]:
    """What is said of plugins that run in one profile."""
    enabled = ", ".join(f"{{name: {name}}}" for name in plugins)
    text = koordinator(
        "profiles:\n"
        "- name: p\n"
        "  pluginConfig: [{name: PodLifeTime, args: {maxPodLifeTimeSeconds: 1}}]\n"
        f"  plugins: {{deschedule: {{enabled: [{enabled}]}}}}\n"
    )
    found = (each.partition("profiles[0].plugins: ")[2] for each in warnings(text))
    return [each for each in found if each]


def test_plugin_that_another_one_keeps_from_its_work_is_named() -> None:
    assert beside("RevokePodsOverElasticQuota") == [BESIDE["PlacementVerification"]]
    assert beside("PodLifeTime") == []
