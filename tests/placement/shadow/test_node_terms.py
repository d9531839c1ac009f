"""Masks of node terms say what matching node by node says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.selection.affinity import Affinity, NodeMatch, NodeSelectorTerm, match_node
from descheduler.model.selection.labels import Requirement, make_requirement
from descheduler.placement.shadow.node_masks import NodeTerms
from tests.builders import make_node

KEYS = st.sampled_from(["a", "b"])
VALUES = st.sampled_from(["", "1", "7", "12", "x"])
NUMBERS = st.sampled_from(["1", "7", "10"])
LABELS = st.dictionaries(KEYS, VALUES)
NAMES = st.sampled_from(["n0", "n1", "gone"])

EXPRESSIONS = st.one_of(
    st.builds(make_requirement, KEYS, st.sampled_from(["In", "NotIn"]), st.lists(VALUES, min_size=1)),
    st.builds(make_requirement, KEYS, st.sampled_from(["Exists", "DoesNotExist"]), st.just([])),
    st.builds(make_requirement, KEYS, st.sampled_from(["Gt", "Lt"]), NUMBERS.map(lambda number: [number])),
)
FIELDS = st.builds(
    Requirement, st.just("metadata.name"), st.sampled_from(["In", "NotIn"]), NAMES.map(lambda name: frozenset({name}))
)
TERMS = st.builds(
    NodeSelectorTerm,
    st.lists(EXPRESSIONS, max_size=2).map(tuple),
    st.lists(FIELDS, max_size=1).map(tuple),
    st.sampled_from(["", "", "", "broken"]),
)


@given(
    labels=st.lists(LABELS, min_size=1, max_size=4),
    selector=LABELS,
    required=st.none() | st.lists(TERMS, max_size=3).map(tuple),
)
def test_selected_nodes_are_those_that_match_one_by_one(
    labels: list[dict[str, str]], selector: dict[str, str], required: tuple[NodeSelectorTerm, ...] | None
) -> None:
    nodes = [make_node(f"n{index}", labels=each) for index, each in enumerate(labels)]

    mask = NodeTerms(nodes).selected(selector, required)

    affinity = Affinity(node_required=required)
    expected = [match_node(selector, affinity, node.name, node.labels) is NodeMatch.MATCHES for node in nodes]
    assert mask.tolist() == expected


def test_answers_do_not_share_memory() -> None:
    terms = NodeTerms([make_node("a", labels={"k": "v"})])
    first = terms.term(NodeSelectorTerm((make_requirement("k", "Exists", []),)))

    first[:] = False

    assert terms.term(NodeSelectorTerm((make_requirement("k", "Exists", []),))).tolist() == [True]
