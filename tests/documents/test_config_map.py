"""The one entry of a ConfigMap that is meant, with the places of the text around it."""

from __future__ import annotations

import json

import pytest

from descheduler.documents.config_map import POLICY, document_in_config_map
from descheduler.documents.document import Document, DocumentError, Mark, find, to_plain
from descheduler.documents.yaml_document import parse_yaml, parse_yaml_documents

HEAD = "kind: ConfigMap\nmetadata: {name: c}\ndata:\n"
MEANT = "kind: DeschedulerPolicy"


def found(text: str) -> Document:
    document = document_in_config_map(POLICY, text, parse_yaml_documents(text), lambda entry: parse_yaml(entry, "x"))
    assert document is not None
    return document


def refused(text: str) -> tuple[str, Mark | None]:
    with pytest.raises(DocumentError) as caught:
        found(text)
    return str(caught.value), caught.value.mark


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param(f"{HEAD}  p: |\n    {MEANT}\n    a:\n    - b: 1\n", Mark(7, 10), id="a literal block"),
        pytest.param(f"{HEAD}  p: |-\n\n\n   {MEANT}\n   a:\n   - b: 1\n", Mark(9, 9), id="blank lines before it"),
        pytest.param(f"{HEAD}  p: |2\n      {MEANT}\n      a:\n      - b: 1\n", Mark(7, 12), id="more indented"),
        pytest.param(f"{HEAD}  p: '{MEANT}\n\n\n    a: [{{b: 1}}]'\n", Mark(4, 6), id="a text in quotes"),
        pytest.param(f"{HEAD}  p: >\n    {MEANT}\n\n\n    a: [{{b: 1}}]\n", Mark(4, 6), id="a folded block"),
    ],
)
def test_place_in_an_entry_is_that_of_the_file_or_of_the_entry(text: str, place: Mark) -> None:
    assert find(found(text).root, ("a", 0, "b")).mark == place


@pytest.mark.parametrize(
    ("style", "broken", "message", "place"),
    [
        pytest.param("|\n    ", "a: ]", "did not find expected node content", Mark(6, 8), id="in a literal block"),
        pytest.param('"', 'a: ]"', ", in line 2 of the entry", Mark(4, 6), id="in a text in quotes"),
    ],
)
def test_fault_in_an_entry_is_placed(style: str, broken: str, message: str, place: Mark) -> None:
    separator = "\n    " if style != '"' else "\\n"

    text, mark = refused(f"{HEAD}  p: {style}{MEANT}{separator}{broken}\n")

    assert (text.endswith(message), mark) == (True, place)


def test_fault_without_a_place_is_that_of_the_entry() -> None:
    def parse(entry: str) -> Document:
        raise DocumentError("is odd")

    text = f"{HEAD}  p: '{MEANT}'\n"
    with pytest.raises(DocumentError, match=r"^is odd$") as caught:
        document_in_config_map(POLICY, text, parse_yaml_documents(text), parse)

    assert caught.value.mark == Mark(4, 6)


def test_nodes_that_aliases_share_stay_shared() -> None:
    root = found(f"{HEAD}  p: |\n    {MEANT}\n    a: &a [1]\n    b: *a\n").root

    assert find(root, ("a",)) is find(root, ("b",))


@pytest.mark.parametrize("kind", ["List", "ConfigMapList"])
def test_entry_is_found_in_a_list(kind: str) -> None:
    text = json.dumps({"kind": kind, "items": [{"kind": "Secret"}, {"kind": "ConfigMap", "data": {"p": MEANT}}]})

    assert to_plain(found(text).root) == {"kind": "DeschedulerPolicy"}


@pytest.mark.parametrize("text", ["kind: Secret\ndata: {p: x}\n", "kind: List\nitems: 5\n", "kind: List\n", "- 1\n"])
def test_text_without_a_config_map_holds_nothing(text: str) -> None:
    assert (
        document_in_config_map(POLICY, text, parse_yaml_documents(text), lambda entry: parse_yaml(entry, "x")) is None
    )


def test_entries_are_named_where_none_or_several_are_meant() -> None:
    none = "no entry of a ConfigMap holds a DeschedulerPolicy or a DeschedulerConfiguration; entries: "

    assert refused("kind: Secret\n---\n" + HEAD + "  a: b\n  n: 5\n") == (f"{none}a of ConfigMap c", Mark(3, 1))
    assert refused("kind: ConfigMap\ndata: {a: b}\n")[0] == f"{none}a"
    assert refused("kind: ConfigMap\ndata: [a]\n")[0] == f"{none}none"
    several = f"kind: ConfigMap\ndata:\n  a: '{MEANT}'\n  b: x\n  c: '{MEANT}'\n"
    assert refused(several) == ("holds several policies: a, c; keep one of them", Mark(5, 6))


@pytest.mark.parametrize(("number", "end"), [(10, "k9"), (11, "k9, and 1 more")])
def test_more_than_ten_entries_are_counted(number: int, end: str) -> None:
    text = json.dumps({"kind": "ConfigMap", "data": {f"k{index}": "x" for index in range(number)}})

    assert refused(text)[0].partition("entries: ")[2] == ", ".join([*(f"k{index}" for index in range(9)), end])
