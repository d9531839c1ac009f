from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.scheduler_answer import differences_of, recorded_answer

Entry = dict[str, Any]

TAINTED = ["TaintToleration", "UU", "node(s) had untolerated taint(s)"]
FULL = ["NodeResourcesFit", "U", "Insufficient cpu", "Too many pods"]


def scored_entry(**changes: object) -> Entry:
    """A pod that fits on `a` and `b`, of which `b` is better, and not on `c`."""
    return {
        "pod": "default/web",
        "feasible": ["a", "b"],
        "rejected": {"c": [TAINTED, FULL]},
        "scores": {"NodeResourcesFit": [40, 60], "TaintToleration": [0, 300]},
        "raw": {"TaintToleration": [1, 0]},
        "totals": [40, 360],
        "best": ["b"],
        **changes,
    }


def refused_entry(*refusal: str) -> Entry:
    """A pod that one plugin refuses before nodes are looked at."""
    return {"pod": "default/web", "prefilter": [list(refusal)], "feasible": []}


def differing_aspects(want: Entry, got: Entry) -> list[str]:
    """The aspects in which the answers of two entries differ."""
    differences = differences_of(recorded_answer(want), recorded_answer(got))
    return [aspect for aspect, difference in differences.items() if difference is not None]


@pytest.mark.parametrize(
    ("changes", "aspects"),
    [
        pytest.param({}, [], id="equal answers"),
        pytest.param({"prefilter_nodes": ["a", "b"]}, ["narrowed"], id="nodes narrowed by name"),
        pytest.param({"rejected": {"c": [TAINTED]}}, ["rejected", "reasons"], id="a plugin fewer"),
        pytest.param(
            {"rejected": {"c": [FULL, TAINTED]}}, ["rejected", "reported", "reasons"], id="another order of plugins"
        ),
        pytest.param({"first_failure": {"c": "NodeAffinity"}}, ["reported"], id="another plugin is reported"),
        pytest.param({"rejected": {"c": [TAINTED, FULL[:-1]]}}, ["reasons"], id="a reason fewer"),
        pytest.param({"rejected": {"c": [TAINTED, ["NodeResourcesFit", "UU", *FULL[2:]]]}}, ["reasons"], id="a code"),
        pytest.param({"scores": {"NodeResourcesFit": [40, 60], "TaintToleration": 0}}, ["scores", "raw"], id="a score"),
        pytest.param({"raw": {"TaintToleration": [2, 0]}}, ["raw"], id="a score before normalisation"),
        pytest.param({"totals": [41, 360]}, ["totals"], id="a total"),
        pytest.param({"best": ["a", "b"]}, ["best"], id="one more best node"),
    ],
)
def test_comparison_names_what_differs(changes: Entry, aspects: list[str]) -> None:
    found = differing_aspects(scored_entry(), scored_entry(**changes))

    assert found == aspects


def test_node_too_many_is_a_difference_in_feasible_nodes() -> None:
    found = differing_aspects(scored_entry(), {"pod": "default/web", "feasible": ["a", "b", "c"]})

    assert found[0] == "feasible"


def test_score_of_zero_is_no_different_from_an_absent_plugin() -> None:
    scores = {**scored_entry()["scores"], "ImageLocality": 0}

    found = differing_aspects(scored_entry(), scored_entry(scores=scores))

    assert found == []


def test_one_score_for_all_nodes_stands_for_a_list() -> None:
    one_for_all = scored_entry(scores={"TaintToleration": 300})
    one_a_node = scored_entry(scores={"TaintToleration": [300, 300]})

    found = differing_aspects(one_for_all, one_a_node)

    assert found == []


def test_pod_that_cannot_be_scored_differs_from_one_that_is() -> None:
    unscored = {"pod": "default/web", "feasible": ["a", "b"], "score_error": "a bad term"}

    found = differing_aspects(scored_entry(rejected={}), unscored)

    assert found == ["messages", "scores", "raw", "totals", "best"]


@pytest.mark.parametrize(
    ("entry", "aspects"),
    [
        pytest.param(refused_entry("VolumeZone", "UU", "no claim"), ["refused", "messages"], id="another plugin"),
        pytest.param(refused_entry("VolumeBinding", "U", "no claim"), ["refused"], id="another code"),
        pytest.param(refused_entry("VolumeBinding", "UU", "claim gone"), ["messages"], id="other words"),
    ],
)
def test_refusal_is_compared_by_plugin_and_code_and_its_words_apart(entry: Entry, aspects: list[str]) -> None:
    found = differing_aspects(refused_entry("VolumeBinding", "UU", "no claim"), entry)

    assert found == aspects
