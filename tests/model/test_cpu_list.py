"""Linux CPU lists."""

from __future__ import annotations

import pytest

from descheduler.model.text.numbers import cpu_list_text, parse_cpu_list


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("6", [6], id="one CPU"),
        pytest.param("0-3,6", [0, 1, 2, 3, 6], id="a range and one CPU"),
        pytest.param("4,0-1,1", [0, 1, 4], id="in any order and more than once"),
    ],
)
def test_list_names_cpus(text: str, cpus: list[int]) -> None:
    assert parse_cpu_list(text) == frozenset(cpus)


@pytest.mark.parametrize("text", ["a", "3-1", "1-", "-1", "1,,2", "0-99999999999", "1 2"])
def test_what_is_no_cpu_or_range_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a CPU or a range of CPUs"):
        parse_cpu_list(text)


@pytest.mark.parametrize("text", ["", "6", "0-3,6", "0-1,3,5-6"])
def test_text_of_cpus_is_the_shortest_list(text: str) -> None:
    assert cpu_list_text(parse_cpu_list(text)) == text
