"""Arguments of plugins in the words of a policy: their types, their defaults, and their parts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated

import msgspec
import pytest

from descheduler.explanation.docs.arguments import argument_docs, default_json, part_of, parts_of, type_words
from descheduler.policy.shared_args import WITHOUT_EFFECT, Percentage


class Leaf(msgspec.Struct):
    """An innermost part."""

    least: int = 3
    """How many at least."""


class Branch(msgspec.Struct, rename="camel"):
    """A part with parts."""

    leaf: Leaf | None = None
    """One of them."""
    by_name: Mapping[str, Leaf] = {}


class Args(msgspec.Struct, rename="camel"):
    """Arguments of a plugin."""

    branches: tuple[Branch, ...] = ()
    """Some parts."""
    max_age: timedelta | None = None
    old: Annotated[str, WITHOUT_EFFECT] = ""
    share: float = 2.0


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        pytest.param(str, "string", id="text"),
        pytest.param(bool, "true or false", id="a switch"),
        pytest.param(int | None, "integer", id="one that may be unset"),
        pytest.param(int | str | None, "integer or string", id="one of two"),
        pytest.param(timedelta, "duration", id="a duration"),
        pytest.param(Percentage, "percentage", id="a percentage"),
        pytest.param(Annotated[int, msgspec.Meta(ge=0)], "integer from 0 up", id="a bound of 0"),
        pytest.param(Annotated[int, msgspec.Meta(ge=1)], "integer", id="another bound"),
        pytest.param(Annotated[int, msgspec.Meta(le=0)], "integer", id="an upper bound"),
        pytest.param(tuple[str, ...], "list of string", id="a list"),
        pytest.param(Mapping[str, float], "map of string to number", id="a map"),
        pytest.param(dict[str, tuple[int, ...]], "map of string to list of integer", id="a map of lists"),
        pytest.param(tuple[Leaf, ...], "list of Leaf", id="parts"),
    ],
)
def test_type_is_told_in_the_words_of_a_policy(kind: object, words: str) -> None:
    assert type_words(kind, lambda part: part.__name__) == words


@pytest.mark.parametrize("kind", [object, set[str], bytes])
def test_type_without_words_is_an_error(kind: object) -> None:
    with pytest.raises(TypeError, match="no words for the type"):
        type_words(kind, lambda part: "object")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("", ""),
        ((), ""),
        ({}, ""),
        (False, "false"),
        (0, "0"),
        (2.0, "2"),
        (2.5, "2.5"),
        ("x", '"x"'),
        (("a", "b"), '["a", "b"]'),
        (timedelta(minutes=90), "1h30m0s"),
        ({"cpu": 1}, '{"cpu": 1}'),
        (Leaf(), ""),
        (Leaf(5), '{"least": 5}'),
        ({"a": Leaf(5)}, '{"a": {"least": 5}}'),
        (Branch(), ""),
    ],
    ids=repr,
)
def test_default_is_written_as_in_a_policy_and_what_is_unset_is_empty(value: object, text: str) -> None:
    assert default_json(value) == text


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (Leaf, (Leaf, "")),
        (Leaf | None, (Leaf, "")),
        (tuple[Leaf, ...], (Leaf, "[]")),
        (Mapping[str, Leaf], (Leaf, ".*")),
        (Mapping[str, tuple[Leaf, ...]], (Leaf, ".*[]")),
        (tuple[str, ...], None),
        (str, None),
    ],
    ids=str,
)
def test_part_is_found_with_the_path_to_it(kind: object, found: tuple[type, str] | None) -> None:
    assert part_of(kind) == found


def test_parts_of_parts_are_found_once() -> None:
    assert parts_of(Args) == [Branch, Leaf]
    assert parts_of(Leaf) == []


def test_arguments_are_told_with_their_parts_behind_them() -> None:
    docs = list(argument_docs(Args()))

    assert [(each.name, each.type_text, each.default, each.meaning) for each in docs] == [
        ("branches", "list of object", "", "Some parts."),
        ("branches[].leaf", "object", "", "One of them."),
        ("branches[].leaf.least", "integer", "3", "How many at least."),
        ("branches[].byName", "map of string to object", "", ""),
        ("branches[].byName.*.least", "integer", "3", "How many at least."),
        ("maxAge", "duration", "", ""),
        ("old", "string", "", WITHOUT_EFFECT),
        ("share", "number", "2", ""),
    ]


def test_defaults_of_a_part_are_those_that_are_in_use() -> None:
    docs = {each.name: each.default for each in argument_docs(Branch(leaf=Leaf(5)))}

    assert docs == {"leaf": '{"least": 5}', "leaf.least": "5", "byName": "", "byName.*.least": "3"}
