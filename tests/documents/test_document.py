"""The YAML and JSON readers of documents: values, places, and agreement with each other."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.documents.document import Mark, find, items_of, kind_of, member_text, to_plain
from descheduler.documents.json_document import parse_json
from descheduler.documents.yaml_document import parse_yaml

NUMBERS = st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.long
@given(st.dictionaries(st.text(), JSON, max_size=5), st.sampled_from([None, 2]), st.booleans())
def test_json_reader_agrees_with_the_standard_one(value: dict[str, object], indent: int | None, is_ascii: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=is_ascii)

    assert to_plain(parse_json(text, "x").root) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("a: '5'", {"a": "5"}, id="a quoted number is a string"),
        pytest.param("a: !!str 5", {"a": "5"}, id="a tagged number is a string"),
        pytest.param("a: !!float 5", {"a": 5.0}, id="a tagged integer is a float"),
        pytest.param("a: !mine b", {"a": "b"}, id="unknown tags mean nothing"),
        pytest.param("a: !!binary aGk=", {"a": "hi"}, id="binary text is decoded"),
        pytest.param("5: a\nyes: b\n", {"5": "a", "true": "b"}, id="keys become strings"),
        pytest.param("a: |\n  x\n  y\n", {"a": "x\ny\n"}, id="a block of text"),
        pytest.param("a: &x [1]\nb: *x\n", {"a": [1], "b": [1]}, id="an alias"),
        pytest.param("b: {<<: [{a: 1, c: 1}, {a: 2, d: 2}]}", {"b": {"a": 1, "c": 1, "d": 2}}, id="a list of merges"),
        pytest.param("b: {a: 1, <<: {a: 2}, c: 3}", {"b": {"a": 2, "c": 3}}, id="a merge after a key"),
        pytest.param("a: 1\na: 2\n", {"a": 2}, id="the last of equal keys"),
        pytest.param("\ufeffa: 1", {"a": 1}, id="a byte order mark"),
    ],
)
def test_yaml_documents(text: str, value: object) -> None:
    assert to_plain(parse_yaml(text, "x").root) == value


def test_places_count_characters_from_one() -> None:
    document = parse_yaml("a:\n- b: 1\n  ü: [x, 'é', z]\n", "x")

    assert find(document.root, ("a", 0, "ü", 2)).mark == Mark(3, 15)


def test_json_places_count_characters_from_one() -> None:
    document = parse_json('{"a":\n  ["é",\n\t7]}', "x")

    assert find(document.root, ("a", 1)).mark == Mark(3, 2)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        pytest.param((), Mark(1, 1), id="the document"),
        pytest.param(("a",), Mark(2, 1), id="a member"),
        pytest.param(("a", 1), Mark(3, 3), id="the last item"),
        pytest.param(("a", 2), Mark(2, 1), id="an item that is not there"),
        pytest.param(("a", "b"), Mark(2, 1), id="a member of a list"),
        pytest.param(("c", 0), Mark(4, 4), id="an item of text"),
        pytest.param(("d", 0), Mark(5, 4), id="an item of an object"),
        pytest.param(("d", "0"), Mark(5, 10), id="a member with a number as its name"),
        pytest.param(("x", "a"), Mark(1, 1), id="a member of what is not there"),
        pytest.param(("d", "x", "0"), Mark(5, 4), id="a name that a member further up has"),
    ],
)
def test_nearest_node_is_found(path: tuple[str | int, ...], place: Mark) -> None:
    root = parse_yaml("a:\n- 1\n- 2\nc: text\nd: {'0': 1}\n", "x").root

    assert find(root, path).mark == place


@pytest.mark.parametrize(
    ("text", "kind"),
    [("~", "null"), ("yes", "a boolean"), ("1", "a number"), ("1.5", "a number"), ("x", "a string"), ("[]", "a list"),
     ("{}", "an object")],
)  # fmt: skip
def test_kind_of_a_value_is_told(text: str, kind: str) -> None:
    assert kind_of(parse_yaml(text, "x").root) == kind


def test_text_and_items_are_empty_where_there_are_none() -> None:
    root = parse_yaml("a: x\nb: 5\n", "x").root

    assert [member_text(root, key) for key in "abc"] == ["x", "", ""]
    assert member_text(parse_yaml("- a\n", "x").root, "a") == ""
    assert (items_of(root), len(items_of(parse_yaml("- a\n", "x").root))) == ((), 1)
