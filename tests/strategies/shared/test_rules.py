"""Rules that keep pods, and selections made of rules: what they count and what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from descheduler.model.pod import Pod
from descheduler.plan.facts import NearestValue, PluginFacts
from descheduler.strategies.shared.rules import Bound, Match, found
from descheduler.strategies.shared.selection import Selection, facts_of
from tests.builders import make_pod

PODS = [make_pod(name) for name in ("a", "b", "c", "d")]


def bound(measures: Mapping[str, int], *, least: int = 10) -> Bound:
    """At least 10 restarts, with these numbers of them by the name of the pod."""
    return Bound(
        key="threshold",
        limit=9,
        least=least,
        measure=lambda pod: measures[pod.name],
        unit="restarts",
        words=lambda value: f"restarted {value} times",
        none="no pod restarts",
        superlative="highest",
    )


def named(*names: str, key: str = "names") -> Match:
    """The pods of these names."""
    return Match(key, lambda pod: pod.name in names, lambda pod: f"{pod.name} is not named", f"no pod of {key}")


def names_of(pods: Sequence[Pod]) -> list[str]:
    return [pod.name for pod in pods]


@pytest.mark.parametrize(
    ("measures", "kept", "nearest", "nobody"),
    [
        pytest.param(
            {"a": 9, "b": 10, "c": 11, "d": 0},
            ["b", "c"],
            (11, "default/c"),
            "no pod restarts: the highest is default/c, restarted 11 times (threshold: 9)",
            id="as many and more are enough",
        ),
        pytest.param(
            {"a": 9, "b": 9, "c": 1, "d": 0},
            [],
            (9, "default/a"),
            "no pod restarts: the highest is default/a, restarted 9 times (threshold: 9)",
            id="the first of the highest comes nearest",
        ),
        pytest.param(
            {"a": 10, "b": 0, "c": 0, "d": 0},
            ["a"],
            (10, "default/a"),
            "no pod restarts: the highest is default/a, restarted 10 times (threshold: 9)",
            id="the highest has just enough",
        ),
    ],
)
def test_bound_keeps_pods_that_measure_enough(
    measures: Mapping[str, int], kept: list[str], nearest: tuple[int, str], nobody: str
) -> None:
    rule = bound(measures)

    assert names_of(rule.kept(PODS)) == kept
    assert rule.nearest == NearestValue("threshold", 9, nearest[0], "restarts", nearest[1])
    assert rule.nobody == nobody


def test_bound_remembers_the_highest_of_all_nodes() -> None:
    rule = bound({"a": 3, "b": 5, "c": 4, "d": 5})

    subjects = []
    for pod in PODS:
        rule.kept([pod])
        subjects.append(rule.nearest and rule.nearest.subject)

    assert subjects == ["default/a", "default/b", "default/b", "default/b"]


def test_bound_that_has_measured_nothing_has_no_nearest_value() -> None:
    rule = bound({})

    assert list(rule.kept([])) == []
    assert (rule.nearest, rule.nobody) == (None, "no pod restarts (threshold: 9)")


def test_bound_of_negative_measures_has_a_nearest_value_too() -> None:
    rule = bound({name: -number for number, name in enumerate("abcd", start=1)})

    rule.kept(PODS)

    assert rule.nearest == NearestValue("threshold", 9, -1, "restarts", "default/a")


@pytest.mark.parametrize(
    ("value", "why_not"),
    [(9, "restarted 9 times (threshold: 9)"), (10, ""), (11, "")],
)
def test_bound_says_the_measure_of_a_pod_that_has_not_enough(value: int, why_not: str) -> None:
    rule = bound({"a": value})

    assert rule.why_not(PODS[0]) == why_not
    assert rule.reason(PODS[0]) == f"restarted {value} times (threshold: 9)"


def test_what_is_found_in_a_pod_is_the_reason() -> None:
    rule = found("k", lambda pod: {"a": "", "b": "is bad"}.get(pod.name), miss=lambda _: "is good", nobody="all good")

    assert names_of(rule.kept(PODS)) == ["a", "b"]
    assert [rule.reason(pod) for pod in PODS] == ["", "is bad", "", ""]
    assert [rule.why_not(pod) for pod in PODS] == ["", "", "is good", "is good"]


def test_selection_counts_what_the_first_rule_not_met_left_out() -> None:
    selection = Selection([named("a", "b", "c", key="first"), named("b", "d", key="second")])

    assert names_of(selection.of(PODS)) == ["b"]
    assert names_of(selection.of(PODS[:1])) == []
    assert (selection.num_examined, selection.num_selected) == (5, 1)
    assert selection.facts() == PluginFacts("", 5, 1, left_out={"first": 1, "second": 3})


def test_selection_says_why_it_selects_nothing() -> None:
    nothing = Selection([named("a", "b", key="first"), named("x", key="second")])
    nobody, empty = Selection([named("x", key="first"), named("a", key="second")]), Selection()

    nothing.of(PODS)
    nobody.of(PODS[:1])
    empty.of([])

    assert nothing.facts().why_nothing == "no pod of second; 4 pods examined, left out 2 by first"
    assert nobody.facts().why_nothing == "no pod of first; 1 pod examined"
    assert empty.facts().why_nothing == "no pod runs on the nodes that the plugin examines"


def test_selections_that_go_on_with_each_other_are_told_as_one() -> None:
    first, second = Selection([named("a", "b", key="first")]), Selection([bound({"a": 3, "b": 4})])

    second.of(first.of(PODS))

    assert facts_of(first, second) == PluginFacts(
        "no pod restarts: the highest is default/b, restarted 4 times (threshold: 9); "
        "4 pods examined, left out 2 by first",
        4,
        0,
        left_out={"first": 2, "threshold": 2},
        nearest=(NearestValue("threshold", 9, 4, "restarts", "default/b"),),
    )


def test_selection_says_the_first_rule_that_a_pod_does_not_meet_and_all_reasons() -> None:
    selection = Selection([named("a", "b"), bound({"a": 12, "b": 1, "c": 1, "d": 1})])

    assert [selection.why_not(pod) for pod in PODS] == [
        "",
        "restarted 1 times (threshold: 9)",
        "c is not named",
        "d is not named",
    ]
    assert selection.reason(PODS[0]) == "restarted 12 times (threshold: 9)"
