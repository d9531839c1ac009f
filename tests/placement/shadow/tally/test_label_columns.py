"""Indexes of labels, selectors and tolerations answer like the plain double loop."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.selection.labels import NOTHING, LabelSelector, Requirement
from descheduler.model.selection.taints import Taint, Tolerance, Toleration
from descheduler.placement.shadow.node_masks import TaintSets
from descheduler.placement.shadow.tally import label_columns
from descheduler.placement.shadow.tally.label_columns import LabelColumns, SelectorIndex

_keys = st.sampled_from(["a", "b", "c", "d"])
_values = st.sampled_from(["", "x", "y", "7", "12"])
_labels = st.dictionaries(_keys, _values)
_structured = st.builds(
    Requirement,
    _keys,
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
    st.frozensets(_values, min_size=1),
)
_compared = st.builds(
    Requirement, _keys, st.sampled_from(["Gt", "Lt"]), st.sampled_from(["7", "9"]).map(lambda bound: frozenset({bound}))
)
_selectors = st.just(NOTHING) | st.builds(LabelSelector, st.lists(_structured, max_size=3).map(tuple))
_effects = st.sampled_from(["", "NoSchedule", "NoExecute"])
_taints = st.builds(Taint, st.sampled_from(["a", "b"]), _values | st.sampled_from(["07", "-3"]), _effects)
_tolerations = st.builds(
    Toleration,
    st.sampled_from(["", "a", "b"]),
    st.sampled_from(["", "Equal", "Exists", "Lt", "Gt", "Like"]),
    _values | st.sampled_from(["07", "-3"]),
    _effects,
)


@pytest.mark.long
@pytest.mark.parametrize("few_keys", [0, 2, 32])
@given(
    first=st.lists(_labels, max_size=5),
    later=st.lists(_labels, max_size=3),
    requirements=st.lists(st.one_of(_structured, _compared), max_size=3),
)
def test_label_sets_that_meet_conditions_are_those_that_match_one_by_one(
    few_keys: int, first: list[dict[str, str]], later: list[dict[str, str]], requirements: list[Requirement]
) -> None:
    selector = LabelSelector(tuple(requirements))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(label_columns, "_FEW_KEYS", few_keys)
        columns = LabelColumns(first)
        columns.selected(selector)  # files the keys before the others come
        for labels in later:
            columns.add(labels)

        selected = columns.selected(selector)

    assert selected.tolist() == [selector.matches(labels) for labels in (*first, *later)]


@pytest.mark.parametrize("few_keys", [0, 32])
def test_label_sets_that_have_a_key_are_found_whatever_its_value(
    few_keys: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_columns, "_FEW_KEYS", few_keys)
    columns = LabelColumns([{"a": "x"}, {"b": "x"}, {"a": "", "b": "y"}])

    assert [columns.having(key).tolist() for key in ("a", "b", "c")] == [
        [True, False, True],
        [False, True, True],
        [False, False, False],
    ]


@given(st.lists(_selectors, max_size=6), st.lists(_selectors, max_size=3), _labels)
def test_selectors_that_match_labels_are_those_that_match_one_by_one(
    first: list[LabelSelector], later: list[LabelSelector], labels: dict[str, str]
) -> None:
    index = SelectorIndex()
    for selector in first:
        index.add(selector)
    index.matching(labels)
    for selector in later:
        index.add(selector)

    matching = index.matching(labels)

    assert matching.tolist() == [selector.matches(labels) for selector in (*first, *later)]


@given(st.lists(_tolerations, max_size=5), st.lists(st.lists(_taints, max_size=3), max_size=3))
def test_taints_that_are_tolerated_are_those_that_some_toleration_covers(
    tolerations: list[Toleration], by_node: list[list[Taint]]
) -> None:
    numbers = TaintSets(by_node).num_untolerated(tolerations)

    expected = [sum(not any(t.tolerates(taint) for t in tolerations) for taint in taints) for taints in by_node]
    assert numbers.tolist() == expected
    assert [Tolerance(tolerations).tolerates_all(taints) for taints in by_node] == [not number for number in expected]
