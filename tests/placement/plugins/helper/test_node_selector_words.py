"""Node selectors in words: what of them a node does not meet."""

from __future__ import annotations

import pytest

from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.labels import Requirement
from descheduler.placement.plugins.helper.node_selector_words import label_found, requirement_text, unmet
from tests.builders import make_node

NODE = make_node("a", labels={"disk": "hdd", "n": "5", "empty": ""})


def requirement(key: str, operator: str, *values: str) -> Requirement:
    """One condition."""
    return Requirement(key, operator, frozenset(values))


def term(*conditions: Requirement, names: tuple[str, ...] = ()) -> NodeSelectorTerm:
    """A term of conditions on labels, and on the name of the node."""
    return NodeSelectorTerm(conditions, (requirement("metadata.name", "In", *names),) if names else ())


SSD, HDD = requirement("disk", "In", "ssd"), requirement("disk", "In", "hdd")


@pytest.mark.parametrize(
    ("terms", "faults"),
    [
        pytest.param([term(HDD)], [], id="a term that is met"),
        pytest.param([term(SSD)], ["disk in (ssd), the node has hdd"], id="a term that is not"),
        pytest.param([term(SSD), term(HDD)], [], id="one of two is enough"),
        pytest.param(
            [term(SSD), term(requirement("x", "Exists"))],
            ["disk in (ssd), the node has hdd", "the label x, the node has no such label"],
            id="two that are not met",
        ),
        pytest.param(
            [term(HDD, SSD, requirement("n", "Gt", "5"))],
            ["disk in (ssd), the node has hdd; n above 5, the node has 5"],
            id="conditions of one term",
        ),
        pytest.param([term()], ["a term without conditions, which no node meets"], id="a term of nothing"),
        pytest.param([term(names=("b",))], ["metadata.name in (b)"], id="another node"),
        pytest.param([term(HDD, names=("b",))], ["metadata.name in (b)"], id="another node with the label"),
        pytest.param(
            [term(SSD, names=("b",))], ["disk in (ssd), the node has hdd; metadata.name in (b)"], id="neither of both"
        ),
        pytest.param([term(SSD, names=("a",))], ["disk in (ssd), the node has hdd"], id="the node without the label"),
        pytest.param(
            [NodeSelectorTerm((HDD,), error="bad")], ["a term that cannot be read (bad)"], id="a term in error"
        ),
        pytest.param([], [], id="no terms"),
    ],
)
def test_node_misses_terms_of_which_it_meets_none(terms: list[NodeSelectorTerm], faults: list[str]) -> None:
    assert list(unmet(terms, NODE)) == faults


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        pytest.param(requirement("k", "In", "b", "a"), "k in (a, b)", id="In"),
        pytest.param(requirement("k", "NotIn", "a"), "k not in (a)", id="NotIn"),
        pytest.param(requirement("k", "Exists"), "the label k", id="Exists"),
        pytest.param(requirement("k", "DoesNotExist"), "no label k", id="DoesNotExist"),
        pytest.param(requirement("k", "Gt", "1"), "k above 1", id="Gt"),
        pytest.param(requirement("k", "Lt", "1"), "k below 1", id="Lt"),
    ],
)
def test_condition_in_words(condition: Requirement, text: str) -> None:
    assert requirement_text(condition) == text


def test_what_a_node_has_at_a_label() -> None:
    found = [label_found(NODE.labels, key) for key in ("disk", "empty", "x")]

    assert found == ["the node has hdd", "the node has the empty value", "the node has no such label"]
