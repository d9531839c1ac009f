"""Hostile documents: work and memory stay bounded, and the message says what the bound is."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from descheduler.documents.document import MAX_DEPTH, MAX_NODES

from .builders import messages, upstream, warnings, with_args

_ALIAS_BOMB = "a0: &a0 [1]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 40))


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(upstream(_ALIAS_BOMB), f"repeats more than {MAX_NODES} values", id="aliases of aliases"),
        pytest.param(upstream("a: " + "[" * 100_000), f"nested more than {MAX_DEPTH} levels", id="deep YAML list"),
        pytest.param(upstream("a: " + "{b: " * 100_000), f"nested more than {MAX_DEPTH} levels", id="deep YAML object"),
        pytest.param('{"a":' + "[" * 100_000, f"nested more than {MAX_DEPTH} levels", id="deep JSON list"),
        pytest.param('{"a":' * 100_000, f"nested more than {MAX_DEPTH} levels", id="deep JSON object"),
        pytest.param(upstream(f"a: [{'1,' * 1_000_000}]"), f"holds more than {MAX_NODES} values", id="a long list"),
        pytest.param(f'{{"a": [{"1," * 1_000_000}1]}}', f"holds more than {MAX_NODES} values", id="a long JSON list"),
        pytest.param(upstream("a: " + "x" * 5_000_000), "is larger than 4 MiB", id="one line of many megabytes"),
        pytest.param('{"a": ' + "9" * 1_000_000 + "}", "a number with too many digits", id="a long JSON number"),
    ],
)
def test_hostile_document_is_refused_with_one_message(text: str, message: str) -> None:
    found = messages(text)

    assert len(found) == 1
    assert message in found[0]


def test_alias_bomb_takes_little_memory() -> None:
    tracemalloc.start()

    messages(upstream(_ALIAS_BOMB))

    _now, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 20_000_000


def test_nesting_through_aliases_counts_as_nesting() -> None:
    text = "a0: &a0 [1]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 150))

    found = messages(upstream(text))

    assert found == [f"policy.yaml:102:12: is nested more than {MAX_DEPTH} levels deep"]


def test_long_value_is_cut_in_its_message() -> None:
    found = messages(upstream(f"maxNoOfPodsToEvictTotal: {'x' * 3_000_000}\n"))

    assert found == [
        f"policy.yaml:3:26: maxNoOfPodsToEvictTotal: '{'x' * 80}...' is neither a number nor a percentage such as '10%'"
    ]


def test_number_of_problems_is_bounded() -> None:
    names = ", ".join(f"bad{index}" for index in range(50_000))

    found = messages(with_args("PodLifeTime", f"{{states: [{names}]}}"))

    assert len(found) == 101
    assert found[-1] == "policy.yaml:7:704: stopped after 100 problems"


@pytest.mark.long
def test_number_of_warnings_is_bounded() -> None:
    found = warnings(json.dumps({"apiVersion": "descheduler/v1alpha2", **{f"x{index}": 1 for index in range(50_000)}}))

    assert len(found) == 100


def test_many_unknown_plugins_are_bounded() -> None:
    names = ", ".join(f"Plugin{index}" for index in range(50_000))

    found = messages(upstream(f"profiles:\n- plugins: {{balance: {{enabled: [{names}]}}}}\n"))

    assert len(found) == 101
