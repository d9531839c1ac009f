"""YAML lists, given out while they are parsed."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from descheduler.cluster.dumps import yaml_pieces
from descheduler.cluster.dumps.yaml_pieces import read_yaml
from descheduler.cluster.snapshot import SnapshotError
from descheduler.documents import yaml_builder

NAMED = [{"kind": "X", "metadata": {"name": f"o{number}", "text": "- é: {"}} for number in range(3)]
BARE = [{"metadata": {"name": f"o{number}"}} for number in range(3)]
TYPED = {"kind": "XList", "apiVersion": "x/v1"}


def pieces(text: str, size: int = 10_000) -> list[tuple[object, int]]:
    raw = text.encode()
    chunks: Iterator[bytes] = (raw[start : start + size] for start in range(0, len(raw), size))
    return [(json.loads(piece), line) for piece, line in read_yaml(chunks, "dump", 1)]


@given(size=st.integers(1, 200), is_flow=st.booleans())
def test_elements_of_a_list_come_one_by_one(size: int, is_flow: bool) -> None:
    text = yaml.safe_dump({"items": NAMED, "kind": "List"}, default_flow_style=is_flow, allow_unicode=True)

    found = [piece for piece, _ in pieces(text, size)]

    assert found == [*NAMED, {"items": [], "kind": "List"}]


@pytest.mark.parametrize("keys", [("kind", "apiVersion", "items"), ("items", "apiVersion", "kind")])
def test_elements_without_a_kind_get_the_one_of_their_list(keys: tuple[str, ...]) -> None:
    whole = {"items": BARE, **TYPED}

    found = pieces(yaml.safe_dump({key: whole[key] for key in keys}, sort_keys=False))

    assert [piece for piece, _ in found] == [*({**TYPED, "items": [bare]} for bare in BARE), {**TYPED, "items": []}]


def test_each_element_has_its_line() -> None:
    text = "# taken today\nkind: List\nitems:\n- kind: X\n  a: 1\n\n- kind: Z\n"

    assert pieces(text)[:2] == [({"kind": "X", "a": 1}, 4), ({"kind": "Z"}, 7)]


def test_items_of_what_is_no_list_are_left_alone() -> None:
    assert pieces("kind: Menu\nitems: [1, 2]\n") == [({"kind": "Menu", "items": [1, 2]}, 1)]


def test_anchors_at_every_level_fit_the_stack() -> None:
    text = "a: " + "".join(f"&a{level} [" for level in range(198)) + "]" * 198

    assert len(pieces(text)) == 1


def test_merges_take_effect_in_their_order() -> None:
    assert pieces("kind: X\n<<: {kind: Z, a: 1}\na: 2\nb: {<<: {c: 1}, c: 2}\n") == [
        ({"kind": "Z", "a": 2, "b": {"c": 2}}, 1)
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("items:\n- kind: X\n- 7\n", "dump:3:3: neither JSON nor YAML objects but 7;", id="a number"),
        pytest.param("- - kind: X\n", "dump:1:3: neither JSON nor YAML objects but [", id="a list in a list"),
        pytest.param("just words\n", "dump:1:1: neither JSON nor YAML objects but ", id="words"),
        pytest.param("a: " + "long " * 500, "one object is larger than 0 MiB", id="a long text"),
        pytest.param("- {a: [" + "1, " * 500, "one object is larger than 0 MiB", id="a long object"),
        pytest.param("a: [" + "1," * 450, "one object holds more than 400 values", id="many values"),
        pytest.param(
            "a: [" + ", ".join(f"&a{n} 1" for n in range(99)), "more than 50 values with anchors", id="anchors"
        ),
        pytest.param(
            "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 40)),
            "dump:5:10: is nested more than 5 levels deep",
            id="levels behind aliases",
        ),
        pytest.param("- {kind: X}\n" * 501, "YAML of more than 0 MiB is not read; take", id="more than is read"),
        pytest.param("items:\n" + "- {a: 1}\n" * 99, "names its kind after its items", id="a kind that comes late"),
    ],
)
def test_what_is_no_yaml_of_objects_is_said_with_its_place(
    monkeypatch: pytest.MonkeyPatch, text: str, sentence: str
) -> None:
    monkeypatch.setattr(yaml_pieces, "MAX_OBJECT_BYTES", 1000)
    monkeypatch.setattr(yaml_pieces, "_MAX_WAITING_BYTES", 500)
    monkeypatch.setattr(yaml_pieces, "_MAX_BYTES", 5000)
    monkeypatch.setattr(yaml_pieces, "_READ_BYTES", 50)
    limits = replace(
        yaml_builder._LIMITS, depth=5, kept=50, values=400, too_many="one object holds more than 400 values"
    )
    monkeypatch.setattr(yaml_builder, "_LIMITS", limits)

    with pytest.raises(SnapshotError) as caught:
        pieces(text, 50)

    assert sentence in str(caught.value)


@pytest.mark.parametrize("end", ["", "\n", "\nc: 1\n"])
@pytest.mark.parametrize(("line", "is_tab"), [("\tb: 1", True), ("]", False)])
def test_line_that_is_indented_with_a_tab_is_told(line: str, is_tab: bool, end: str) -> None:
    with pytest.raises(SnapshotError) as caught:
        pieces(f"kind: X\na:\n{line}{end}")

    assert ("the line is indented with a tab, use spaces" in str(caught.value)) == is_tab
    assert str(caught.value).startswith("dump:3:1:")


def test_text_may_be_as_long_as_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_pieces, "_MAX_BYTES", 100)

    assert pieces("kind: X\n#".ljust(100, "x")) == [({"kind": "X"}, 1)]
    with pytest.raises(SnapshotError, match="is not read; take the dump in JSON"):
        pieces("kind: X\n#".ljust(101, "x"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# none\n", "dump: holds no objects; "),
        ("kind: \x01\n", "dump: holds bytes or characters that YAML does not allow; "),
    ],
)
def test_text_without_objects_is_refused(text: str, message: str) -> None:
    with pytest.raises(SnapshotError, match=f"^{message}"):
        pieces(text)


@pytest.mark.parametrize(
    "keys",
    [("kind", "items", "apiVersion"), ("apiVersion", "items", "kind")],
    ids=["version", "kind"],
)
def test_elements_wait_for_what_their_list_says_late(keys: tuple[str, ...]) -> None:
    whole = {"items": BARE, **TYPED}

    found = [piece for piece, _ in pieces(yaml.safe_dump({key: whole[key] for key in keys}, sort_keys=False))]

    assert found == [*({**TYPED, "items": [bare]} for bare in BARE), {**TYPED, "items": []}]


def test_lines_that_only_yaml_breaks_are_no_fault_of_the_fault() -> None:
    with pytest.raises(SnapshotError, match=r"^dump:2:1: not YAML: "):
        pieces("# \u2028]")


def test_object_that_is_too_large_is_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_pieces, "MAX_OBJECT_BYTES", 1000)
    monkeypatch.setattr(yaml_pieces, "_READ_BYTES", 50)

    with pytest.raises(SnapshotError, match=r"^dump:3:1: one object is larger than 0 MiB"):
        pieces("kind: X\nb: 1\na: " + "long " * 500)
