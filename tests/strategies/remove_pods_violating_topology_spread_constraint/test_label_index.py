"""The label index answers like asking every pod."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.selection.labels import NOTHING, LabelSelector, Requirement
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.domains import LabelIndex
from tests.builders import make_pod

_values = st.sampled_from(["x", "y", "z"])
_labels = st.dictionaries(st.sampled_from(["a", "b", "c"]), _values)
_requirements = st.builds(
    Requirement,
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
    st.frozensets(_values, min_size=1),
)
_selectors = st.builds(LabelSelector, st.lists(_requirements, max_size=3).map(tuple))


@given(st.lists(_labels, max_size=12), _selectors)
def test_selected_pods_are_those_that_match_in_listing_order(
    labels: list[dict[str, str]], selector: LabelSelector
) -> None:
    pods = [make_pod(f"p{i}", labels=each) for i, each in enumerate(labels)]

    selected = LabelIndex(pods).pods(selector)

    assert [pod.name for pod in selected] == [pod.name for pod in pods if selector.matches(pod.labels)]


def test_selector_of_nothing_selects_nothing() -> None:
    index = LabelIndex([make_pod("p")])

    assert index.pods(NOTHING) == []
