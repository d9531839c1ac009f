"""Long JSON in pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.cluster.dumps import json_pieces
from descheduler.cluster.dumps.json_pieces import read_json
from descheduler.cluster.snapshot import SnapshotError
from descheduler.documents import json_values

Object = dict[str, Any]


@pytest.fixture(autouse=True)
def tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that short texts reach."""
    monkeypatch.setattr(json_pieces, "_READ_BYTES", 1)
    monkeypatch.setattr(json_pieces, "_WHOLE_BYTES", 100)
    monkeypatch.setattr(json_pieces, "MAX_OBJECT_BYTES", 1000)
    monkeypatch.setattr(json_pieces, "WINDOW_BYTES", 50)
    monkeypatch.setattr(json_values, "WINDOW_BYTES", 300)


def chunks_of(text: str, size: int) -> Iterator[bytes]:
    raw = text.encode()
    return (raw[start : start + size] for start in range(0, len(raw), size))


def pieces(text: str, size: int = 7) -> list[tuple[Object, int]]:
    return [(json.loads(piece), line) for piece, line in read_json(chunks_of(text, size), "dump", 1)]


def flat(value: Any) -> Iterator[Object]:
    """The objects in a document, of typed lists with the kind of the list."""
    if isinstance(value, list):
        yield from (found for element in value for found in flat(element))
    elif isinstance(value, dict) and "items" in value:
        kind = str(value.get("kind")).removesuffix("List")
        for element in value["items"]:
            yield from flat(element if kind == "" else {**element, "kind": kind})
    else:
        yield value


def numbered(number: int, size: int, **kind: str) -> Object:
    return {"metadata": {"name": f"o{number}", "text": '[{"é\\' * (size // 7)}, **kind}


@pytest.mark.long
@given(
    sizes=st.lists(st.integers(0, 250), max_size=12),
    form=st.sampled_from(
        ["array", "kind first", "kind last", "typed", "typed, kind last", "in a row", "array of lists"]
    ),
    indent=st.sampled_from([None, 1, 4]),
    chunk=st.integers(1, 300),
)
def test_objects_are_the_same_however_a_list_is_taken_apart(
    sizes: list[int], form: str, indent: int | None, chunk: int
) -> None:
    named = [numbered(number, size, kind="X", apiVersion="v1") for number, size in enumerate(sizes)]
    bare = [numbered(number, size) for number, size in enumerate(sizes)]
    kinded = {"kind": "List", "apiVersion": "v1"}
    typed = {"kind": "XList", "apiVersion": "v1"}
    documents: dict[str, list[object]] = {
        "array": [named],
        "kind first": [{**kinded, "items": named}],
        "kind last": [{"items": named, **kinded}],
        "typed": [{**typed, "metadata": {"a": ["}]"]}, "items": bare}],
        "typed, kind last": [{"items": bare, "metadata": {}, **typed}],
        "in a row": list(named),
        "array of lists": [[{**kinded, "items": named}, {"items": named, **kinded}, {**typed, "items": bare}]],
    }
    text = "\n".join(json.dumps(document, indent=indent) for document in documents[form])

    found = [obj for piece, _ in pieces(text, chunk) for obj in flat(piece)]

    expected = [obj for document in documents[form] for obj in flat(document)]
    names = [obj["metadata"] for obj in found if isinstance(obj, dict)]
    assert names == [obj["metadata"] for obj in expected if isinstance(obj, dict)]


def test_members_of_a_list_come_after_its_objects() -> None:
    objects = [numbered(number, 60, kind="X") for number in range(9)]

    found = pieces(json.dumps({"items": objects, "kind": "List", "metadata": {"continue": "x"}}))

    assert len(found) > 2
    assert found[-1][0] == {"items": [], "kind": "List", "metadata": {"continue": "x"}}


@pytest.mark.parametrize("kind", ["List", "XList"])
def test_piece_names_the_line_of_its_first_object(kind: str) -> None:
    objects = [numbered(number, 0, kind="X") for number in range(30)]
    text = json.dumps({"kind": kind, "apiVersion": "v1", "items": objects}, indent=1)

    *found, _ = pieces(text)

    lines = text.split("\n")
    assert len(found) > 2
    for piece, line in found:
        first = next(flat(piece))
        assert json.dumps(first["metadata"]["name"]) in lines[line + 1]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("[1,2" + " " * 200, "dump:1:2: not a Kubernetes object but 1;", id="a number in an array"),
        pytest.param(
            "[\n" + "{},\n" * 60 + '"a, b"]', 'dump:62:1: not a Kubernetes object but "a, b";', id="a late string"
        ),
        pytest.param(
            '{"items": [[]' + " " * 200, "dump:1:12: not a Kubernetes object but [];", id="an array in a list"
        ),
        pytest.param("{},\n{}", "dump:1:3: not a Kubernetes object but ,", id="a comma between documents"),
        pytest.param("{}\nend", "dump:2:1: not a Kubernetes object but end;", id="words after a document"),
        pytest.param('{"a": 1', "dump: the JSON ends after 1 line", id="an object without an end"),
        pytest.param("[" + "{}," * 99, "dump: the JSON ends after 1 line", id="an array without an end"),
        pytest.param('{"a": "' + "x" * 200, "dump: the JSON ends after", id="a string without an end"),
        pytest.param(
            '[{"a": "' + "x" * 1900, "dump:1:8: one object is larger than 0 MiB", id="a long object in an array"
        ),
        pytest.param('{"a": "' + "x" * 1900, "dump:1:7: one object is larger", id="a long string"),
        pytest.param('{"a' + "x" * 1900, "dump:1:2: one object is larger", id="a long key"),
        pytest.param(
            json.dumps(dict.fromkeys(map(str, range(150)))), "dump:1: one object is larger", id="many members"
        ),
        pytest.param("[" + "{} " * 99 + "]", "dump:1:5: not JSON: unexpected '{'", id="no commas"),
        pytest.param('{"a": 1 "b"' + " " * 200, "dump:1:9: not JSON", id="no comma between members"),
        pytest.param('{"a" ' + " " * 200 + "1}", "dump:1:206: not JSON: expected ':'", id="no colon"),
        pytest.param("{1" + " " * 200, "dump:1:2: not JSON", id="a number for a key"),
        pytest.param(
            '{"kind": "List",\n"items": [{"kind": oops}]' + " " * 200,
            "dump:2:20: not JSON: unexpected 'o'",
            id="a bare word",
        ),
        pytest.param('[{"a":' * 5 + "[" * 9999, "one object is larger", id="brackets without end"),
        pytest.param(
            '{"kind":"List","items":[' * 9 + " " * 200, "dump:1:97: lists are nested 4 deep", id="lists in lists"
        ),
    ],
)
def test_what_is_no_json_of_objects_is_said_with_its_place(text: str, sentence: str) -> None:
    with pytest.raises(SnapshotError) as caught:
        pieces(text)

    assert sentence in str(caught.value)


NAMED = [numbered(number, 60, kind="X", apiVersion="v1") for number in range(9)]
BARE = [numbered(number, 60) for number in range(9)]
TYPED = {"kind": "XList", "apiVersion": "v1"}


@pytest.mark.parametrize("blanks", ["", "\n" * 400], ids=["dense", "blanks before the first"])
@pytest.mark.parametrize(
    "keys",
    [{"kind": "List"}, {"kind": "List", "apiVersion": "v1"}, {}],
    ids=["kind", "kind and version", "items first"],
)
def test_objects_that_name_their_kind_come_by_themselves(keys: Object, blanks: str) -> None:
    text = json.dumps({**keys, "items": NAMED}).replace('"items": [', '"items": [' + blanks)

    *found, last = [piece for piece, _ in pieces(text, 11)]

    assert found == NAMED
    assert last == {**keys, "items": []}


def test_objects_that_name_no_kind_come_in_lists_of_their_kind() -> None:
    *found, last = [piece for piece, _ in pieces(json.dumps({**TYPED, "items": BARE}))]

    assert [each["kind"] for each in found] == ["XList"] * len(found)
    assert [obj for each in found for obj in each["items"]] == BARE
    assert last == {**TYPED, "items": []}


@pytest.mark.parametrize("first", [{}, {"kind": "XList"}, {"apiVersion": "v1"}], ids=["nothing", "kind", "version"])
def test_list_that_names_its_kind_late_comes_as_a_whole_unless_it_is_long(
    monkeypatch: pytest.MonkeyPatch, first: Object
) -> None:
    small = [numbered(number, 0) for number in range(9)]
    text = json.dumps({**first, "items": small, **{key: TYPED[key] for key in TYPED if key not in first}})

    assert [piece for piece, _ in pieces(text)] == [{**TYPED, "items": small}]
    monkeypatch.setattr(json_pieces, "_MAX_ITEMS_BYTES", 200)
    with pytest.raises(SnapshotError, match="a list that names its kind after its items is too long"):
        pieces(text)


def test_items_of_what_is_no_list_stay_in_it() -> None:
    menu = {"kind": "Menu", "items": [1, {"a": 2}], "text": "x" * 200}

    assert [piece for piece, _ in pieces(json.dumps(menu))] == [menu]


@pytest.mark.parametrize("size", range(1, 30))
def test_number_is_whole_wherever_the_text_is_cut(size: int) -> None:
    text = json.dumps({"version": 1234567890123456789, "text": "x" * 150, "other": 12.5})

    assert [piece for piece, _ in pieces(text, size)] == [json.loads(text)]


@pytest.mark.parametrize("before", ["", "{}\n", '{"a": "%s"}\n' % ("x" * 120)])
def test_beginning_of_what_is_no_object_is_shown(before: str) -> None:
    with pytest.raises(SnapshotError, match=f"not a Kubernetes object but {'y' * 40};"):
        pieces(before + "y" * 60)
    with pytest.raises(SnapshotError, match=f"not a Kubernetes object but {'y' * 20};"):
        pieces(before + "y" * 20)


def test_object_may_be_as_large_as_one_that_an_api_server_stores() -> None:
    def members(size: int) -> str:
        return json.dumps({"a": "x" * 490, "b": "y" * size}, separators=(",", ":"))

    sizes = len('"a"') + 492 + len('"b"') + 2
    assert len(pieces(members(1000 - sizes))) == 1
    with pytest.raises(SnapshotError, match="dump:1: one object is larger than 0 MiB"):
        pieces(members(1001 - sizes))
