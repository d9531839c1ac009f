"""The YAML and JSON readers of documents: values, places, and agreement with each other."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.documents.document import Mark, find, to_plain
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
