"""YAML reads back as what it was written from, with any reader of YAML 1.1."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from descheduler.documents.yaml_scalars import resolve_plain
from descheduler.report.formats.json_text import json_text
from descheduler.report.formats.yaml_lines import yaml_lines
from descheduler.report.outcome.document import OutcomeDocument
from descheduler.report.plan.document import Plan
from tests.builders import make_pod
from tests.report.decided_cycles import make_test_plan
from tests.report.outcomes import EVICTED, FAILED, outcome_of

PLAN = make_test_plan([make_pod("old"), make_pod("bare\x1b", owners=())], warnings=("näh\u2028",), skipped=("one",))
OUTCOME = outcome_of(EVICTED, FAILED)

_words = st.sampled_from(
    ["yes", "No", "null", "~", "", "1e3", "0x1f", "2026-01-15", "1:30", "a: b", "a #b", "- a", "<<"]
)
_texts = _words | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _texts
_keys = _texts | st.just("k" * 2000)
_documents = st.dictionaries(
    _keys,
    st.recursive(_scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3)),
    max_size=3,
)


@pytest.mark.long
@given(_documents)
def test_every_document_reads_back_as_it_was(document: dict[str, object]) -> None:
    text = "".join(yaml_lines(document))

    assert yaml.safe_load(text) == document


@given(_texts)
def test_text_without_quotes_is_text_to_the_readers_of_kubernetes_too(text: str) -> None:
    (line,) = yaml_lines({"a": text})

    written = line.removeprefix("a: ").removesuffix("\n")
    assert written.startswith('"') or resolve_plain(written) == text


@pytest.mark.parametrize("document", [PLAN, OUTCOME])
def test_yaml_says_the_same_as_json(document: Plan | OutcomeDocument) -> None:
    assert yaml.safe_load("".join(yaml_lines(document))) == json.loads(json_text(document))


def test_lists_and_objects_are_laid_out_as_kubectl_does() -> None:
    document = {
        "moves": [{"pod": {"name": "old"}, "wave": 1}, {}],
        "limits": {"total": None},
        "skipped": [],
        "age": 1e20,
    }

    text = "".join(yaml_lines(document))

    assert text == (
        "moves:\n- pod:\n    name: old\n  wave: 1\n- {}\nlimits:\n  total: null\nskipped: []\nage: 1.0e+20\n"
    )


def test_pod_that_is_named_twice_has_no_anchors() -> None:
    assert "&" not in "".join(yaml_lines(OUTCOME))


def test_characters_that_do_not_print_are_escaped() -> None:
    assert list(yaml_lines({"name": 'a\x1b[31m\n"\\\u2028\U0001f600'})) == [
        'name: "a\\x1b[31m\\n\\"\\\\\\u2028\\U0001f600"\n'
    ]


@pytest.mark.parametrize(("length", "is_marked"), [(100, False), (101, True)])
def test_keys_that_are_longer_than_parsers_may_look_ahead_are_marked(length: int, is_marked: bool) -> None:
    text = "".join(yaml_lines({"outer": {"k" * length: 1}}))

    assert text.startswith("outer:\n  ? ") is is_marked
    assert yaml.safe_load(text) == {"outer": {"k" * length: 1}}


@pytest.mark.parametrize(
    ("character", "escape"),
    [
        ("\x7f", "\\x7f"),
        ("\xff", "\\xff"),
        ("\u0100", "\\u0100"),
        ("\uffff", "\\uffff"),
        ("\U00010000", "\\U00010000"),
        ("\t", "\\t"),
        ("\r", "\\r"),
    ],
)
def test_escapes_are_the_shortest_that_hold_the_character(character: str, escape: str) -> None:
    assert "".join(yaml_lines({"a": character})) == f'a: "{escape}"\n'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float("nan"), ".nan"),
        (float("inf"), ".inf"),
        (float("-inf"), "-.inf"),
        (1.5, "1.5"),
        (1e22, "1.0e+22"),
        (1.5e22, "1.5e+22"),
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (None, "null"),
        ((), "[]"),
        ({}, "{}"),
    ],
)
def test_values_are_written_as_readers_expect_them(value: object, text: str) -> None:
    assert "".join(yaml_lines({"a": value})) == f"a: {text}\n"


def test_lists_within_lists_are_laid_out_below_each_other() -> None:
    text = "".join(yaml_lines({"a": [[1, [2]], [{"b": [], "c": {"d": 1}}]]}))

    assert text == "a:\n- - 1\n  - - 2\n- - b: []\n    c:\n      d: 1\n"
