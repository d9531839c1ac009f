"""YAML texts, and the places of what is wrong with them."""

from __future__ import annotations

import pytest

from descheduler.documents.document import DocumentError, Mark, to_plain
from descheduler.documents.yaml_document import parse_yaml, parse_yaml_documents


def fault(text: str) -> tuple[str, Mark | None]:
    with pytest.raises(DocumentError) as caught:
        parse_yaml(text, "x")
    return str(caught.value), caught.value.mark


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("\x07", Mark(1, 1)),
        ("a: \x1b", Mark(1, 4)),
        ("a: 1\nb: 2\n\n c: \x7f\n\x7f", Mark(4, 5)),
        ("\n\ufffe", Mark(2, 1)),
    ],
)
def test_character_that_yaml_does_not_allow_is_placed(text: str, place: Mark) -> None:
    message, mark = fault(text)

    assert message.startswith("holds the character '\\")
    assert mark == place


def test_fault_of_yaml_is_placed_and_a_tab_is_told() -> None:
    tab = "; the line is indented with a tab, use spaces"

    assert fault("a: 1\nb: [\n")[1] == Mark(3, 1)
    assert not fault("a:\n  b: 1\n c: 1\n")[0].endswith(tab)
    assert fault("a:\n \t- 1\n\tb: 1\n")[0].endswith(tab)
    assert not fault("a: 1\nb:\tc: ]\n")[0].endswith(tab)


@pytest.mark.parametrize(
    ("text", "is_fine"),
    [("{a?b: 1}", False), ("[x?]", False), ("[?x]", True), ("['x?']", True), ("a: x?\n", True), ("[[a], b?]", False),
     ("- [a]\n- b?\n", True)],
)  # fmt: skip
def test_question_mark_within_brackets_is_refused(text: str, *, is_fine: bool) -> None:
    if is_fine:
        parse_yaml(text, "x")
    else:
        assert fault(text)[0] == "holds a '?' within brackets, where YAML 1.1 begins a key; quote it"


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("a: 1\n", ()),
        ("a: 1\n...\n", ()),
        ("a: 1\n---\nb: 2\n", ((Mark(2, 1), "another document begins here; only the first one of a file is read"),)),
        ("a: 1\n--- ]\n", ((Mark(2, 1), "another document begins here; only the first one of a file is read"),)),
        ("a: 1\n...\n]\n", ((None, "only the first document is read; what follows it is not YAML"),)),
    ],
)
def test_what_follows_the_first_document_is_noted(text: str, notes: object) -> None:
    document = parse_yaml(text, "x")

    assert to_plain(document.root) == {"a": 1}
    assert document.notes == notes


def test_text_without_a_document_is_null_and_all_documents_are_read() -> None:
    assert to_plain(parse_yaml("# none\n", "x").root) is None
    assert [to_plain(root) for root in parse_yaml_documents("a: 1\n---\n- b\n")] == [{"a": 1}, ["b"]]
    assert parse_yaml_documents("") == ()


def test_repeated_keys_are_placed() -> None:
    assert parse_yaml("a: 1\nb: 2\na: 3\n", "x").root.duplicates == (("a", Mark(3, 1)),)
