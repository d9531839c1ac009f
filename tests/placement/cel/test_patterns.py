"""Regular expressions, which are those of RE2."""

from __future__ import annotations

import pytest

from tests.placement.cel.answers import UNSUPPORTED, answer


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        pytest.param(r"'\u007f'.matches(r'(?i)^[[:ascii:]]$')", True, id="the last character of ASCII"),
        pytest.param(r"'\u0080'.matches(r'(?i)^[[:ascii:]]$')", False, id="one that the expression does not name"),
        pytest.param(r"'\u0080'.matches(r'(?i)^[\x{7f}-\x{80}]$')", UNSUPPORTED, id="the first one after ASCII"),
    ],
)
def test_case_is_ignored_among_characters_of_ascii_alone(expression: str, expected: bool | str) -> None:
    assert answer(expression) == expected
