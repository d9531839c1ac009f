"""Where JSON values end."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.documents import json_values
from descheduler.documents.json_values import JsonFaultError, elements, is_json, value_end, values

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(anything, st.sampled_from([", 1", "]", "}", ":"]), st.sampled_from(["", " ", "\n\t "]))
def test_value_ends_where_something_else_follows(value: object, behind: str, blank: str) -> None:
    text = (json.dumps(value, ensure_ascii=False) + blank).encode()

    assert value_end(text + behind.encode()) == len(text)
    assert value_end(text) == len(text)
    assert value_end(b"[" + text + behind.encode(), 1) == len(text) + 1


@pytest.mark.long
@given(st.lists(anything, min_size=1, max_size=4))
def test_value_that_is_cut_short_has_no_end(value: list[object]) -> None:
    text = json.dumps(value).encode()

    assert [value_end(text[:length]) for length in range(len(text))] == [None] * len(text)


@pytest.mark.long
@given(st.lists(anything, max_size=6), st.sampled_from([None, 1]))
def test_elements_of_an_array_are_told_apart(value: list[object], indent: int | None) -> None:
    text = json.dumps(value, indent=indent).encode()

    found = list(elements(text))

    assert [json.loads(element) for element, _ in found] == value
    assert all(text.startswith(element, position) for element, position in found)


@pytest.mark.parametrize("text", [b"[1 2]", b"[1,]", b"[,1]", b"[1", b"[1}", b"["])
def test_array_that_is_none_is_refused(text: bytes) -> None:
    with pytest.raises(JsonFaultError):
        list(elements(text))


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" ,\n ", " : ")])
@pytest.mark.parametrize("in_array", [True, False])
def test_objects_that_begin_alike_are_told_apart(
    separators: tuple[str, str], in_array: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_values, "WINDOW_BYTES", 500)
    alike = [{"kind": "X", "name": "}, {", "owners": [{"kind": "X", "name": str(i)}] * (i % 3)} for i in range(50)]
    unlike = [{"size": 1}, {}, {"name": "y", "kind": "Y", "parts": [[{}]]}]
    objects = [*alike, *unlike, *alike]
    parts = [json.dumps(obj, separators=separators) for obj in objects]
    text = (separators[0] if in_array else "\n").join([*parts, ""])

    found = [text.encode()[start:end] for start, end in values(text.encode(), 0, in_array=in_array)]

    assert [json.loads(part) for part in found] == objects


@pytest.mark.parametrize(
    ("text", "position"),
    [
        pytest.param(b'{"a": 1 "b": 2}', 8, id="no comma"),
        pytest.param(b'{"a" 1}', 5, id="no colon"),
        pytest.param(b'{"a": 1,}', 8, id="no key"),
        pytest.param(b'["a\nb"]', 3, id="a line break in a text"),
        pytest.param(b"[1, oops, 2", 4, id="a word in an array without an end"),
        pytest.param(b'{"a": "x}, {"b": "y"}', 13, id="a quote too few"),
        pytest.param(b'{"a": [1}', 8, id="the wrong bracket"),
        pytest.param(b" [NaN]", 1, id="no number"),
        pytest.param(b'["\\ud800"]', 0, id="half of a surrogate pair"),
        pytest.param(b"oops, 1", 0, id="a word"),
        pytest.param(b", 1", 0, id="a comma"),
    ],
)
def test_place_of_what_is_not_json_is_told(text: bytes, position: int) -> None:
    with pytest.raises(JsonFaultError) as caught:
        value_end(text)

    assert caught.value.position == position
    assert not is_json(text)


def test_value_that_is_nested_beyond_the_decoder_is_measured() -> None:
    deep = b'{"a":' * 3000 + b"{}" + b"}" * 3000

    assert value_end(deep + b",") == len(deep)
    assert is_json(deep)
    assert not is_json(deep + b"}")
