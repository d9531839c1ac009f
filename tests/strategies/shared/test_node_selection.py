"""Node selection answers like asking every node."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.selection.affinity import Affinity, NodeMatch, NodeSelectorTerm, match_node
from descheduler.model.selection.labels import Requirement
from descheduler.strategies.shared.node_selection import NodeSelection
from tests.builders import make_node, make_pod

NODES = [make_node(f"n{i}", labels={"zone": f"z{i % 2}", **({"disk": "ssd"} if i % 3 == 0 else {})}) for i in range(6)]
_terms = st.builds(
    NodeSelectorTerm,
    st.lists(
        st.builds(
            Requirement,
            st.sampled_from(["zone", "disk", "rack"]),
            st.sampled_from(["In", "NotIn", "Exists"]),
            st.frozensets(st.sampled_from(["z0", "z1", "ssd"]), min_size=1),
        ),
        max_size=2,
    ).map(tuple),
    st.sampled_from([(), (Requirement("metadata.name", "In", frozenset({"n1"})),)]),
    st.sampled_from(["", "", "a syntax error"]),
)


@pytest.mark.long
@given(st.sampled_from([{}, {"zone": "z0"}, {"disk": "ssd"}]), st.none() | st.lists(_terms, max_size=3).map(tuple))
def test_selected_nodes_are_those_that_match(
    selector: dict[str, str], terms: tuple[NodeSelectorTerm, ...] | None
) -> None:
    affinity = Affinity(node_required=terms)
    selection = NodeSelection(NODES)

    strict = selection.selected(selector, affinity, errors_match=False)
    lenient = selection.selected(selector, affinity, errors_match=True)

    answers = {node.name: match_node(selector, affinity, node.name, node.labels) for node in NODES}
    assert strict == {name for name, answer in answers.items() if answer is NodeMatch.MATCHES}
    assert lenient == {name for name, answer in answers.items() if answer is not NodeMatch.DIFFERS}


@pytest.mark.parametrize(
    ("taint", "expected"),
    [
        pytest.param("a=b:NoSchedule", {"plain"}, id="no new pods"),
        pytest.param("a=b:NoExecute", {"plain"}, id="no pods at all"),
        pytest.param("a=b:PreferNoSchedule", {"plain", "tainted"}, id="a preference"),
    ],
)
def test_hard_taints_need_a_toleration(taint: str, expected: set[str]) -> None:
    selection = NodeSelection([make_node("plain"), make_node("tainted", taints=[taint])])
    tolerant = make_pod("p", tolerations=[{"key": "a", "operator": "Exists"}])

    assert selection.tolerating(()) == expected
    assert selection.tolerating(tolerant.spec.tolerations) == {"plain", "tainted"}
