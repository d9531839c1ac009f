"""Numbers with their nouns."""

from __future__ import annotations

import pytest

from descheduler.model.text.counted import counted, counted_about, first_names, most_first, text_about


@pytest.mark.parametrize(
    ("number", "text"),
    [
        pytest.param(0, "0 units", id="none"),
        pytest.param(1, "1 unit", id="one"),
        pytest.param(1.004, "1 unit", id="about one"),
        pytest.param(8 / 3, "2.67 units", id="two decimals"),
        pytest.param(3.5, "3.5 units", id="no more decimals than are needed"),
        pytest.param(1200, "1,200 units", id="thousands are separated"),
        pytest.param(0.001, "0.01 units", id="what there is little of is not none"),
    ],
)
def test_counted_about(number: float, text: str) -> None:
    assert counted_about(number, "unit") == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        pytest.param(1, "0", id="one"),
        pytest.param(3, "0, 1, 2", id="as many as are named"),
        pytest.param(4, "0, 1, 2 and 1 more", id="one more"),
        pytest.param(2003, "0, 1, 2 and 2,000 more", id="many more"),
    ],
)
def test_first_names(number: int, text: str) -> None:
    assert first_names([str(each) for each in range(number)], 3) == text


def test_counts_come_with_the_highest_first_and_equal_ones_by_name() -> None:
    assert most_first({"b": 1, "c": 5, "a": 1}) == [("c", 5), ("a", 1), ("b", 1)]


@pytest.mark.parametrize(("number", "text"), [(0, "0 entries"), (1, "1 entry"), (1523, "1,523 entries")])
def test_noun_agrees_with_its_number(number: int, text: str) -> None:
    assert counted(number, "entry", "entries") == text


@pytest.mark.parametrize(("number", "text"), [(0, "0 pods"), (1, "1 pod"), (2, "2 pods")])
def test_plural_is_regular_unless_it_is_given(number: int, text: str) -> None:
    assert counted(number, "pod") == text


@pytest.mark.parametrize(("number", "text"), [(0.0, "0"), (-0.001, "0"), (0.004, "0.01"), (1523.0, "1,523")])
def test_number_has_two_decimals_at_most(number: float, text: str) -> None:
    assert text_about(number) == text
