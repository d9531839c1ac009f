"""The walk over a YAML text stays within limits, and says what is no document."""

from __future__ import annotations

import pytest
import yaml
from msgspec.structs import replace

from descheduler.documents.document import DocumentError, Mark
from descheduler.documents.yaml_builder import Value, YamlBuilder, YamlLimits, YamlReader

WIDE = YamlLimits(depth=99, values=99, repeated=99, kept=99, too_many="holds too much")


class Reader(YamlReader):
    """One with limits of its own."""

    def __init__(self, text: str, limits: YamlLimits) -> None:
        YamlBuilder.__init__(self, text, limits)


def read(text: str, **limits: int) -> list[Value]:
    """The documents of `text`."""
    reader = Reader(text, replace(WIDE, **limits))
    found = []
    for event in reader.events:
        if isinstance(event, yaml.DocumentStartEvent):
            reader.start_document()
            reader.start_object()
            found.append(reader.value(next(reader.events), 0))
    return found


def refused(text: str, **limits: int) -> tuple[str, Mark | None]:
    with pytest.raises(DocumentError) as caught:
        read(text, **limits)
    return str(caught.value), caught.value.mark


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        ("5", 0),
        ("[5]", 1),
        ("a: 5", 1),
        ("- a: []\n", 2),
        ("- a: {}\n- 5\n", 2),
        ("[[5]]", 2),
        ("[&a [5], *a]", 2),
        ("[&a [5], [*a]]", 3),
        ("a: &a {b: 1}\nc: [*a]\n", 3),
        ("[&a [[5]], &b [*a], [*b]]", 5),
        ("[[[[5]]], &a [5], [*a]]", 4),
        ("[&b [&a [], 5], [[*b]]]", 4),
    ],
)
def test_levels_are_counted_through_aliases(text: str, levels: int) -> None:
    read(text, depth=levels)

    if levels:
        assert refused(text, depth=levels - 1)[0] == f"is nested more than {levels - 1} levels deep"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("5", 1),
        ("[1, 2]", 3),
        ("a: 5", 3),
        ("[&a 1, *a]", 3),
        ("[&a [1, 2], *a]", 7),
        ("[[0, 0], &a [1, [2]], *a, *a]", 16),
        ("[&a [1], &b [*a], *b]", 9),
    ],
)
def test_values_are_counted_each_time_they_are_used(text: str, number: int) -> None:
    read(text, values=number)

    assert refused(text, values=number - 1)[0] == "holds too much"


def test_values_are_counted_for_each_document_apart() -> None:
    assert read("[1, 2]\n---\n[3, 4]\n", values=3) == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("text", "number"), [("[&a 1, *a]", 1), ("[&a [1, 2], *a, *a]", 6), ("[&a 1, *a]\n---\n[&a 2, *a]\n", 2)]
)
def test_values_that_aliases_repeat_are_counted_in_the_whole_text(text: str, number: int) -> None:
    read(text, repeated=number)

    assert refused(text, repeated=number - 1)[0] == f"repeats more than {number - 1} values by aliases"


@pytest.mark.parametrize(
    ("text", "number"),
    [("[&a 1, 2]", 1), ("[0, &a [1, 2]]", 3), ("[&a 1, &a [2]]", 3), ("[&a 1]\n---\n[&b 2]\n", 1), ("&a [&b 1]", 3)],
)
def test_values_with_anchors_are_counted_for_each_document(text: str, number: int) -> None:
    read(text, kept=number)

    assert refused(text, kept=number - 1)[0] == f"holds more than {number - 1} values with anchors"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("[*a, &a 1]", Mark(1, 2), id="before it"),
        pytest.param("&a [*a]", Mark(1, 5), id="within it"),
        pytest.param("[&a 1]\n---\n- *a\n", Mark(3, 3), id="in another document"),
    ],
)
def test_alias_has_an_anchor_before_it(text: str, place: Mark) -> None:
    assert refused(text) == ("alias *a has no anchor before it, or lies within it", place)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("{<<: {a: 1}, b: 2}", {"a": 1, "b": 2}, id="an object is merged"),
        pytest.param("{'<<': 1}", {"<<": 1}, id="a quoted key merges nothing"),
        pytest.param("{a: 1, <<: {}}", {"a": 1}, id="nothing is merged"),
        pytest.param("{1.5: a, no: b}", {"1.5": "a", "false": "b"}, id="keys that are no strings"),
        pytest.param("['5', 5, \"yes\", yes, !!str 5, !!int '5']", ["5", 5, "yes", True, "5", 5], id="quotes and tags"),
        pytest.param("['" + "5" * 65 + "']", ["5" * 65], id="a long text in quotes"),
        pytest.param("[" + "0" * 64 + "5]", [5], id="a long number"),
    ],
)
def test_values_are_those_of_json(text: str, value: Value) -> None:
    assert read(text) == [value]


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("{<<: 5}", "'<<' merges objects, or a list of objects", Mark(1, 2)),
        ("{<<: [{}, 5]}", "'<<' merges objects, or a list of objects", Mark(1, 2)),
        ("a: 1\n~: 2\n", "is used as a key; keys are strings", Mark(2, 1)),
        ("a: {[1]: 2}\n", "is used as a key; keys are strings", Mark(1, 5)),
        ("- !!int x\n", "is tagged !!int, but is not one", Mark(1, 3)),
    ],
)
def test_what_has_no_form_in_json_is_refused_with_its_place(text: str, message: str, place: Mark) -> None:
    assert refused(text) == (message, place)
