"""JSON of a list that comes in as a whole is handed on in pieces that hold the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.kube.lists import body as incoming
from descheduler.kube.lists import json_list
from descheduler.kube.lists.json_list import JsonList
from descheduler.transport.errors import AnswerBroken, AnswerTooLarge, ExchangeError

HEAD = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "7", "continue": "more"}}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=6), VALUES, max_size=4)


def pieces(body: bytes, lengths: Iterable[int] = ()) -> list[dict[str, Any]]:
    return [json.loads(piece) for piece in JsonList(parts_of(body, lengths), "GET").bodies()]


def parts_of(body: bytes, lengths: Iterable[int]) -> Iterator[bytes]:
    for length in lengths:
        yield body[:length]
        body = body[length:]
    yield body


def listed(*items: object) -> bytes:
    return json.dumps({**HEAD, "items": items}).encode()


@pytest.mark.long
@given(st.lists(OBJECTS, max_size=6), st.lists(st.integers(1, 40), max_size=20), st.sampled_from([None, 1]))
def test_pieces_hold_what_the_list_holds_wherever_it_is_cut(
    items: list[dict[str, Any]], lengths: list[int], indent: int | None
) -> None:
    body = json.dumps({**HEAD, "items": items}, indent=indent).encode() + b"\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(incoming, "_TOGETHER_BYTES", 8)

        found = pieces(body, lengths)

    assert [item for piece in found for item in piece.pop("items")] == items
    assert found == [HEAD] * len(found) != []


@given(st.integers(0, len(listed({"a": "]}"}, {"b": 1})) - 1))
def test_list_without_its_end_is_broken(length: int) -> None:
    with pytest.raises(AnswerBroken, match="cut short"):
        pieces(listed({"a": "]}"}, {"b": 1})[:length])


def test_list_that_states_its_kind_behind_its_items_stays_in_one_piece() -> None:
    late = {"apiVersion": "v1", "items": [{}, {}], **HEAD}

    assert pieces(json.dumps(late).encode()) == [late]


@pytest.mark.parametrize("items", [None, 5, {}])
def test_items_that_are_no_array_are_handed_on(items: object) -> None:
    """The reader of the pieces says what is wrong with them."""
    assert pieces(json.dumps({**HEAD, "items": items}).encode()) == [{**HEAD, "items": items}]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<html></html>", id="HTML"),
        pytest.param(b"[]", id="an array"),
        pytest.param(listed({}).replace(b"{}", b"{},"), id="a comma before the end"),
        pytest.param(listed({}, {}).replace(b"{}, ", b"{} "), id="no comma"),
        pytest.param(listed({"a": 1}).replace(b"1", b"?"), id="no value"),
        pytest.param(listed({}) + b"{}", id="two lists"),
        pytest.param(listed({})[:-1] + b',"metadata":{}}', id="metadata twice"),
        pytest.param(listed({})[:-1] + b',"items":[]}', id="items twice"),
        pytest.param(b'{"kind" "PodList"}', id="no colon"),
    ],
)
def test_text_that_is_no_list_in_json_is_broken(body: bytes) -> None:
    with pytest.raises(AnswerBroken, match="cut short or not what was asked"):
        pieces(body)


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        pytest.param(listed({"a": "x" * 1000}), AnswerTooLarge, "one object is larger", id="a large object"),
        pytest.param(listed(*[{}] * 100), ExchangeError, "holds more than 50 objects", id="many objects"),
        pytest.param(listed({}) + b" " * 5000, ExchangeError, "continues after its end", id="much behind it"),
        pytest.param(b'{"kind": ' + b" " * 5000, ExchangeError, "it is blank", id="blanks without end"),
        pytest.param(b'{"kind": "' + b"x" * 5000, AnswerTooLarge, "a part of the answer", id="a large head"),
    ],
)
def test_list_beyond_its_bounds_is_given_up(
    monkeypatch: pytest.MonkeyPatch, body: bytes, error: type[ExchangeError], message: str
) -> None:
    monkeypatch.setattr(incoming, "_MOST_OBJECT_BYTES", 500)
    monkeypatch.setattr(incoming, "_TOGETHER_BYTES", 100)
    monkeypatch.setattr(incoming, "_MOST_STREAMED_OBJECTS", 50)
    monkeypatch.setattr(json_list, "_MOST_BLANKS", 1000)
    monkeypatch.setattr(json_list, "OBJECT_BYTES", 1000)

    with pytest.raises(error, match=message):
        pieces(body, [100] * 100)


def test_list_that_says_what_it_is_first_comes_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "_TOGETHER_BYTES", 20)
    least = {"kind": "PodList", "metadata": {}}

    for head in (least, HEAD):
        found = pieces(json.dumps({**head, "items": [{"a": number} for number in range(50)]}).encode(), [30] * 50)

        assert len(found) > 1
        assert [item["a"] for piece in found for item in piece["items"]] == list(range(50))


@pytest.mark.parametrize(
    ("body", "longer"),
    [
        pytest.param(listed({}) + b" " * 1024, listed({}) + b" " * 1025, id="blanks behind it"),
        pytest.param(listed(*[{}] * 50), listed(*[{}] * 51), id="its objects"),
        pytest.param(
            b'{"kind":' + b" " * 999 + listed({})[8:], b'{"kind":' + b" " * 1000 + listed({})[8:], id="blanks within"
        ),
        pytest.param(
            listed({}, {"a": "x" * 490})[:-2] + b"]}", listed({}, {"a": "x" * 900})[:-2] + b"]}", id="one object"
        ),
    ],
)
def test_list_may_be_as_large_as_its_bounds(monkeypatch: pytest.MonkeyPatch, body: bytes, longer: bytes) -> None:
    monkeypatch.setattr(incoming, "_MOST_OBJECT_BYTES", 500)
    monkeypatch.setattr(incoming, "_TOGETHER_BYTES", 1)
    monkeypatch.setattr(incoming, "_MOST_STREAMED_OBJECTS", 50)
    monkeypatch.setattr(json_list, "_MOST_BLANKS", 1000)

    assert pieces(body, [1] * (len(body) - 1))
    with pytest.raises(ExchangeError):
        pieces(longer, [1] * (len(longer) - 1))


def test_part_of_the_head_may_be_as_large_as_an_object(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_list, "OBJECT_BYTES", 100)
    monkeypatch.setattr(incoming, "_TOGETHER_BYTES", 1)

    def head(size: int) -> bytes:
        return b'{"kind":"PodList","apiVersion":"' + b"x" * (size - 2) + b'","metadata":{},"items":[]}'

    assert pieces(head(100), [1] * 60)
    with pytest.raises(AnswerTooLarge, match="a part of the answer is larger"):
        pieces(head(250), [1] * 300)
