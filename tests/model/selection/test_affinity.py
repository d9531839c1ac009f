"""Node selectors and node affinity against the labels of a node."""

from __future__ import annotations

import pytest

from descheduler.model.selection.affinity import (
    Affinity,
    NodeMatch,
    NodeSelectorTerm,
    PreferredNodeTerm,
    match_node,
    preferred_weight,
    syntax_faults,
)
from descheduler.model.selection.labels import Requirement, make_requirement

LABELS = {"zone": "a", "n": "10"}
EMPTY = NodeSelectorTerm()
BROKEN = NodeSelectorTerm(error="no such operator")


def term(key: str, operator: str, *values: str) -> NodeSelectorTerm:
    return NodeSelectorTerm((make_requirement(key, operator, values),))


def named(name: str) -> NodeSelectorTerm:
    return NodeSelectorTerm(fields=(Requirement("metadata.name", "In", frozenset({name})),))


@pytest.mark.parametrize(
    ("terms", "match"),
    [
        pytest.param(None, NodeMatch.MATCHES, id="no required affinity"),
        pytest.param((term("disk", "NotIn", "ssd"),), NodeMatch.MATCHES, id="NotIn accepts a missing label"),
        pytest.param((term("n", "Gt", "9"),), NodeMatch.MATCHES, id="ten is above nine"),
        pytest.param((term("n", "Gt", "10"),), NodeMatch.DIFFERS, id="ten is not above ten"),
        pytest.param((term("disk", "Lt", "5"),), NodeMatch.DIFFERS, id="a missing label is not below five"),
        pytest.param((), NodeMatch.DIFFERS, id="no terms match nothing"),
        pytest.param((EMPTY,), NodeMatch.DIFFERS, id="an empty term matches nothing"),
        pytest.param((EMPTY, term("zone", "In", "a")), NodeMatch.MATCHES, id="one term that matches is enough"),
        pytest.param((BROKEN,), NodeMatch.ERROR, id="a broken term is an error"),
        pytest.param(
            (BROKEN, term("zone", "In", "b")), NodeMatch.ERROR, id="a broken term shows when no other matches"
        ),
        pytest.param((BROKEN, term("zone", "In", "a")), NodeMatch.MATCHES, id="a broken term is hidden by a match"),
        pytest.param((named("x"),), NodeMatch.MATCHES, id="the name of the node"),
        pytest.param((named("y"),), NodeMatch.DIFFERS, id="the name of another node"),
    ],
)
def test_required_affinity_answers_for_a_node(terms: tuple[NodeSelectorTerm, ...] | None, match: NodeMatch) -> None:
    assert match_node({}, Affinity(node_required=terms), "x", LABELS) is match


def test_selector_and_affinity_must_both_match() -> None:
    affinity = Affinity(node_required=(term("zone", "In", "a"),))

    assert match_node({"n": "10"}, affinity, "x", LABELS) is NodeMatch.MATCHES
    assert match_node({"n": "11"}, affinity, "x", LABELS) is NodeMatch.DIFFERS
    assert match_node({"n": "11"}, None, "x", LABELS) is NodeMatch.DIFFERS


def test_weights_of_matching_preferences_add_up() -> None:
    preferences = (
        PreferredNodeTerm(5, term("zone", "In", "a")),
        PreferredNodeTerm(20, term("zone", "In", "b")),
        PreferredNodeTerm(30, term("n", "Exists")),
        PreferredNodeTerm(40, EMPTY),
        PreferredNodeTerm(50, BROKEN),
    )

    assert preferred_weight(Affinity(node_preferred=preferences), "x", LABELS) == 35
    assert preferred_weight(None, "x", LABELS) == 0


@pytest.mark.parametrize(
    ("errors", "text"),
    [
        pytest.param(["", "x: bad"], "nodeSelectorTerms[1].x: bad", id="one fault stands alone"),
        pytest.param(
            ["x: bad\ny: bad"], "[nodeSelectorTerms[0].x: bad, nodeSelectorTerms[0].y: bad]", id="two of a term"
        ),
        pytest.param(["x", "y"], "[nodeSelectorTerms[0].x, nodeSelectorTerms[1].y]", id="faults of several terms"),
    ],
)
def test_faults_of_all_terms_are_told_with_their_places(errors: list[str], text: str) -> None:
    affinity = Affinity(node_required=tuple(NodeSelectorTerm(error=error) for error in errors))

    assert syntax_faults(affinity) == text
