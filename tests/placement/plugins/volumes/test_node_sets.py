"""Sets of nodes that storage names by labels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.labels import NOTHING, LabelSelector, Requirement
from descheduler.placement.plugins.volumes.node_sets import NodeSets
from descheduler.placement.shadow.node_table import NodeTable
from tests.builders import make_node
from tests.placement.clusters import HOSTNAME, ZONE
from tests.placement.plugins.volumes.storage import any_of, is_in

NODES = [
    make_node("a", labels={ZONE: "east", "rack": "1"}),
    make_node("b", labels={ZONE: "east", "rack": "12"}),
    make_node("c", labels={ZONE: "west"}),
    make_node("d"),
]


def _names(nodes: NodeSets, affinity: tuple[NodeSelectorTerm, ...] | None) -> str:
    return "".join(NODES[index].name for index in nodes.reaching(affinity))


@pytest.mark.parametrize(
    ("affinity", "reached"),
    [
        pytest.param(None, "abcd", id="no affinity reaches every node"),
        pytest.param((), "", id="no terms reach no node"),
        pytest.param(any_of([is_in(ZONE, "east")]), "ab", id="one label value"),
        pytest.param(any_of([is_in(ZONE, "west", "east", "north")]), "abc", id="values that some nodes have"),
        pytest.param(any_of([is_in(ZONE, "north")]), "", id="a value that no node has"),
        pytest.param(any_of([is_in(HOSTNAME, "d")], [is_in(ZONE, "west")]), "cd", id="terms are alternatives"),
        pytest.param(any_of([is_in(ZONE, "east"), is_in(HOSTNAME, "b", "c")]), "b", id="requirements add up"),
        pytest.param(any_of([Requirement("rack", "Gt", frozenset({"5"}))]), "b", id="comparison of numbers"),
        pytest.param(any_of([Requirement(ZONE, "NotIn", frozenset({"east"}))]), "cd", id="absent label is not in"),
        pytest.param(any_of([Requirement(ZONE, "DoesNotExist")]), "d", id="label that must be absent"),
        pytest.param(
            (NodeSelectorTerm(fields=(is_in("metadata.name", "a"),)),),
            "abcd",
            id="a term of fields alone is met by all",
        ),
        pytest.param((NodeSelectorTerm(),), "", id="an empty term is met by none"),
        pytest.param(
            (NodeSelectorTerm((is_in(ZONE, "east"),), error="bad"),), "", id="a malformed term is met by none"
        ),
    ],
)
def test_volume_reaches_the_nodes_that_its_affinity_names(
    affinity: tuple[NodeSelectorTerm, ...] | None, reached: str
) -> None:
    assert _names(NodeSets(NodeTable(NODES)), affinity) == reached


def test_selector_of_nothing_selects_no_node_and_an_empty_one_every_node() -> None:
    nodes = NodeSets(NodeTable(NODES))

    nothing, everything = nodes.selected(NOTHING), nodes.selected(LabelSelector())

    assert (nothing.tolist(), everything.tolist()) == ([], [0, 1, 2, 3])


_REQUIREMENTS = st.builds(
    Requirement,
    st.sampled_from([ZONE, HOSTNAME, "rack", "other"]),
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]),
    st.frozensets(st.sampled_from(["a", "b", "east", "west", "1", "12", "5"]), min_size=1, max_size=3),
)


@pytest.mark.long
@given(st.lists(st.lists(_REQUIREMENTS, min_size=1, max_size=3), max_size=3))
def test_sets_agree_with_matching_node_by_node(alternatives: list[list[Requirement]]) -> None:
    affinity = any_of(*alternatives)

    reached = NodeSets(NodeTable(NODES)).reaching(affinity)

    expected = [
        index
        for index, node in enumerate(NODES)
        if any(all(requirement.matches(node.labels) for requirement in term.expressions) for term in affinity)
    ]
    assert reached.tolist() == expected
