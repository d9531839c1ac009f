"""Where JSON values end."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.documents import json_values
from descheduler.documents.json_values import JsonFaultError, elements, is_json, members, value_end, values

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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(b"{}", {}, id="none"),
        pytest.param(b' { "a" : 1 , "b\\n" : [1, {"x": "}"}] , "c":"," } ',
                     {"a": b"1", "b\n": b'[1, {"x": "}"}]', "c": b'","'}, id="of any kind"),
        pytest.param(b'{"a":' + b"[" * 3000 + b"]" * 3000 + b"}", {"a": b"[" * 3000 + b"]" * 3000}, id="deep ones"),
    ],
)  # fmt: skip
def test_members_of_an_object_are_told_apart(text: bytes, expected: dict[str, bytes]) -> None:
    assert members(text) == expected


@pytest.mark.parametrize(
    ("text", "position"),
    [
        pytest.param(b'{"a": 1', 6, id="cut short behind a value"),
        pytest.param(b'{"a":', 4, id="cut short behind a colon"),
        pytest.param(b'{"a": 1 "b": 2}', 8, id="no comma"),
        pytest.param(b'{"a": 1]', 7, id="the wrong bracket"),
        pytest.param(b'{"a": }', 6, id="no value"),
        pytest.param(b'{"a": oops}', 6, id="a word"),
    ],
)
def test_place_of_what_keeps_members_from_being_told_apart_is_told(text: bytes, position: int) -> None:
    with pytest.raises(JsonFaultError) as caught:
        members(text)

    assert caught.value.position == position


@pytest.mark.parametrize(
    ("text", "position"),
    [(b"[1 2]", 3), (b"[1", 1), (b"[", 0), (b" [1}", 3)],
)
def test_place_of_what_keeps_elements_from_being_told_apart_is_told(text: bytes, position: int) -> None:
    with pytest.raises(JsonFaultError) as caught:
        list(elements(text))

    assert caught.value.position == position


def test_array_of_nothing_has_no_elements() -> None:
    assert list(elements(b" [ \n] ")) == []


def test_brackets_without_end_are_not_looked_through() -> None:
    assert value_end(b"[" * 5_000) is None
    assert value_end(b"[" * 5_000 + b"]" * 5_000) == 10_000
    with pytest.raises(JsonFaultError, match="is nested too deeply for Kubernetes objects") as caught:
        value_end(b" " + b"[" * 5_001)
    assert caught.value.position == 5_001
    assert not is_json(b"[" * 5_002 + b"]" * 5_002)


@pytest.mark.parametrize(
    "cut", ["tru", "fals", "nul", '"a', '"a\\', '"a\\u00', "1.", "-", "1e", "1e+", '{"a"', '{"a":', "[1,"]
)
def test_text_that_more_text_completes_has_no_end_yet(cut: str) -> None:
    assert value_end(f" [{cut}".encode(), 1) is None


@pytest.mark.parametrize(("text", "ends"), [(b"12", [2]), (b'"a" ', [4]), (b"tru", []), (b'"a', []), (b"1, 2", [1, 4])])
def test_scalars_of_a_text_end_where_they_are_whole(text: bytes, ends: list[int]) -> None:
    found = [value_end(text)] if b"," not in text else [value_end(text), value_end(text, 3)]

    assert [end for end in found if end is not None] == ends


def spans(text: bytes, **how: object) -> list[bytes]:
    return [text[start:end] for start, end in values(text, 0, **how)]  # type: ignore[arg-type]  # of a test table


@pytest.mark.parametrize(
    ("text", "how", "expected"),
    [
        pytest.param(b"1, 2, 3] 4", {}, [b"1", b"2", b"3"], id="the end of the array"),
        pytest.param(b"1, 2, 3", {}, [b"1", b"2"], id="the last may go on"),
        pytest.param(b"1, [2", {}, [b"1"], id="one that is cut short"),
        pytest.param(b"{} [] 5", {"first": b"{[", "in_array": False}, [b"{}", b"[]"], id="others than wanted"),
        pytest.param(b"{}{}", {"first": b"{", "in_array": False}, [b"{}", b"{}"], id="the end of the text"),
        pytest.param(b'{"a": 1, "b": 2}{"a": 1, "b": 2} 7{"a": 1, "b": 2}', {"first": b"{", "in_array": False},
                     [b'{"a": 1, "b": 2}'] * 2, id="others than wanted among alike ones"),
        pytest.param(b'{"a":1,"b":2},{"a":1,"b":2},{"a":1,"b":2}]', {"first": b"{"},
                     [b'{"a":1,"b":2}'] * 3, id="alike ones of an array"),
        pytest.param(b"{}{}{}{}", {"first": b"{", "in_array": False, "spare": 3}, [b"{}"] * 4, id="all in one look"),
        pytest.param(b"[],[],[],[],5", {"spare": 7}, [b"[]"] * 3, id="until little is left"),
        pytest.param(b"[],[],[],[],5", {"spare": 8}, [b"[]"] * 2, id="until less is left"),
        pytest.param(b"[],5", {"spare": 99}, [b"[]"], id="one however little is left"),
    ],
)  # fmt: skip
def test_values_end_before_what_is_not_to_be_told_apart(
    text: bytes, how: dict[str, object], expected: list[bytes]
) -> None:
    assert spans(text, **how) == expected


def test_word_among_values_is_placed() -> None:
    with pytest.raises(JsonFaultError) as caught:
        list(values(b"1, 2, oops, 3]", 0))

    assert caught.value.position == 6
