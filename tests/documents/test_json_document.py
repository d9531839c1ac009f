"""JSON texts, and the places of what is wrong with them."""

from __future__ import annotations

import pytest

from descheduler.documents import json_document
from descheduler.documents.document import MAX_DEPTH, DocumentError, Mark, find, to_plain
from descheduler.documents.json_document import parse_json


def fault(text: str) -> tuple[str, Mark | None]:
    with pytest.raises(DocumentError) as caught:
        parse_json(text, "x")
    return str(caught.value).removeprefix("not JSON (the text begins with a brace): "), caught.value.mark


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("{", "expected a key in double quotes, found the end of the text; is a bracket or brace missing?", Mark(1, 2)),
        ('{"a": 1\n', "expected ',' or '}', found the end of the text; is a bracket or brace missing?", Mark(2, 1)),
        ('{"a": [1\n  2]}', "expected ',' or ']', found '2'", Mark(2, 3)),
        ('{"a": 1,\n}', "expected a key in double quotes, found '}'", Mark(2, 1)),
        ('{"a" 1}', "expected ':', found '1'", Mark(1, 6)),
        ('{"a": oops}', "expected a value, found 'o'", Mark(1, 7)),
        ('{}\n{}', "more text after the end of the document, found '{'", Mark(2, 1)),
        ('{"a": "\n"}', "a string that does not end, or holds a control character or an unknown escape, found '\"'",
         Mark(1, 7)),
        ('{"a": "\\x"}', "a string that does not end, or holds a control character or an unknown escape, found '\"'",
         Mark(1, 7)),
        ('{"a": ' + "1" * 401 + "}", "a number with too many digits, found '1'", Mark(1, 7)),
    ],
)  # fmt: skip
def test_fault_of_json_is_placed(text: str, message: str, place: Mark) -> None:
    assert fault(text) == (message, place)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ("-0", 0), ("1.5", 1.5), ("1e2", 100.0), ("1.5e1", 15.0), ("true", True), ("null", None), ("[]", []),
     ('"\\ud800"', "\ufffd"), ("1" * 400, int("1" * 400)), ("[1 , 2]", [1, 2]), ("{}", {})],
)  # fmt: skip
def test_value_of_json_keeps_its_type(text: str, value: object) -> None:
    found = to_plain(parse_json(f'{{"a":{text}}}', "x").root)

    assert found == {"a": value}
    assert isinstance(found, dict)
    assert type(found["a"]) is type(value)


def test_levels_and_values_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for opened, closed in (("[", "]"), ('{"a":', "}")):
        inner = f"{opened * (MAX_DEPTH - 1)}1{closed * (MAX_DEPTH - 1)}"
        parse_json(f'{{"b": {inner}}}', "x")
        message = f"is nested more than {MAX_DEPTH} levels deep"
        assert fault(f'{{"b": {opened}{inner}{closed}}}')[0] == message
        assert fault(f'{{"b": [0, {inner}]}}')[0] == message
    monkeypatch.setattr(json_document, "MAX_NODES", 4)
    parse_json('{"a": [1, 2]}', "x")
    assert fault('{"a": [1, 2, 3]}')[0] == "holds more than 4 values; no policy needs that"


def test_what_a_repeated_key_said_before_is_kept() -> None:
    root = parse_json('{"a": 1,\n"a": 2, "b": 5, "a": 3}', "x").root

    assert to_plain(root) == {"a": 3, "b": 5}
    assert root.duplicates == (("a", Mark(2, 1)), ("a", Mark(2, 17)))
    assert isinstance(root.value, dict)
    assert [to_plain(node) for node in root.value["a"].earlier] == [1, 2]
    assert root.value["b"].earlier == ()


def test_places_are_those_of_values_on_any_line() -> None:
    root = parse_json('{"a": 1, "b":\n\n [2,\n3], "c": 4}', "x").root

    places = [find(root, path).mark for path in (("a",), ("b",), ("b", 0), ("b", 1), ("c",))]
    assert places == [Mark(1, 7), Mark(3, 2), Mark(3, 3), Mark(4, 1), Mark(4, 10)]
