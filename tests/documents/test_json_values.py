"""Where JSON values end."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.documents.json_values import JsonFaultError, elements, value_end

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(values, st.sampled_from([", 1", "]", "}", ":"]), st.sampled_from(["", " ", "\n\t "]))
def test_value_ends_where_something_else_follows(value: object, behind: str, blank: str) -> None:
    text = (json.dumps(value, ensure_ascii=False) + blank).encode()

    assert value_end(text + behind.encode()) == len(text)
    assert value_end(text) == len(text)


@given(st.lists(values, min_size=1, max_size=4))
def test_value_that_is_cut_short_has_no_end(value: list[object]) -> None:
    text = json.dumps(value).encode()

    assert [value_end(text[:length]) for length in range(len(text))] == [None] * len(text)


@given(st.lists(values, max_size=6), st.sampled_from([None, 1]))
def test_elements_of_an_array_are_told_apart(value: list[object], indent: int | None) -> None:
    text = json.dumps(value, indent=indent).encode()

    found = list(elements(text))

    assert [json.loads(element) for element, _ in found] == value
    assert all(text.startswith(element, position) for element, position in found)


@pytest.mark.parametrize("text", [b"[1 2]", b"[1,]", b"[,1]", b"[1", b"[1}", b"["])
def test_array_that_is_none_is_refused(text: bytes) -> None:
    with pytest.raises(JsonFaultError):
        list(elements(text))
