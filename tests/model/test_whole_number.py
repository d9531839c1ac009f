"""Numbers in texts that anybody may write."""

from __future__ import annotations

import pytest

from descheduler.model.text.numbers import whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("007", 7),
        ("9" * 18, 10**18 - 1),
        ("9" * 19, None),
        ("9" * 5000, None),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("٣", None),
    ],
)
def test_digits_are_a_number_unless_there_are_too_many(text: str, number: int | None) -> None:
    assert whole_number(text) == number
