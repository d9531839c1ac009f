from __future__ import annotations

import pytest

from descheduler.model.text.numbers import share_of


@pytest.mark.parametrize(
    ("limit", "whole", "share"),
    [
        pytest.param(3, 100, 3, id="a number is itself"),
        pytest.param(0, 100, 0, id="and so is 0"),
        pytest.param("10%", 100, 10, id="an even share"),
        pytest.param("10%", 99, 9, id="rounded down"),
        pytest.param("10%", 9, 1, id="at least 1"),
        pytest.param("10%", 0, 1, id="even of none"),
        pytest.param("100%", 7, 7, id="all"),
    ],
)
def test_share_of_pods(limit: int | str, whole: int, share: int) -> None:
    assert share_of(limit, whole) == share


@pytest.mark.parametrize("text", ["0%", "101%", "-1%", "+5%", "05%", "1.5%", "10", "ten", "10 %", "10%\n", "", "٣%"])
def test_other_texts_are_no_percentages(text: str) -> None:
    with pytest.raises(ValueError, match="is not a percentage from 1% to 100%"):
        share_of(text, 100)
