from __future__ import annotations

import pytest

from descheduler.model.text.printable import clipped, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("café 'a' \\n", "café 'a' \\n", id="what prints stays"),
        pytest.param("a\nb\x1b[2J", "a\\nb\\x1b[2J", id="what steers a terminal is escaped"),
        pytest.param("a\\b'\n", "a\\b'\\n", id="and nothing else in the same text"),
        pytest.param("\u202e\ud800", "\\u202e\\ud800", id="as is what turns lines around, and half of a pair"),
    ],
)
def test_text_is_made_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_long_text_is_cut_before_it_is_escaped() -> None:
    assert clipped("\n" * 9, 3) == "\\n\\n\\n..."
    assert clipped("abc", 3) == "abc"
