"""What is refused as a regular expression, and what is told about it.

Answers: measured on `regexp` of Go 1.26, which `matches` of cel-go uses.
"""

from __future__ import annotations

import pytest

from descheduler.placement.cel import InvalidExpression, Unsupported
from descheduler.placement.cel.pattern_syntax import parse_pattern

BROKEN = [
    "(",
    "(a",
    ")",
    "a)",
    "*",
    "+a",
    "?",
    "a|*",
    "(*)",
    "(|+)",
    "a**",
    "a*+",
    "a+??",
    "a{2}{3}",
    "a{2}*",
    "a*{2}",
    "a*?{2}",
    "(?i)*",
    "(?i)+",
    "(?i)?",
    "a{2,1}",
    "a{1001}",
    "a{1001,}",
    "a{0,1001}",
    "a{100000}",
    "[a",
    "[",
    "[]",
    "[^",
    "[a-",
    "[b-a]",
    "[[:foo:]]",
    "[[:^foo:]]",
    r"\q",
    r"\8",
    r"\1",
    "a\\",
    "[\\",
    r"\x{110000}",
    r"\x4",
    r"\C",
    r"\Z",
    r"[\b]",
    r"[a-\d]",
    r"[\q]",
    "(?=a)",
    "(?<=a)",
    "(?a)",
    "(?i",
    "(?P<>a)",
    "(?P<a",
    "(?",
    "(?-)",
    "(?i-)",
    r"\Q*\E*+",
    "a{2}??",
    "a{0}{2}",
    "x{1000}{1,2}",
    "{2}",
    "|{2}",
    "(?i){2}",
    "({2})",
    "a|(?i)*",
    r"\Q\E*",
    r"\é",
    r"[\é]",
    "(?P<é>a)",
    "[[:digit:]",
    "a)(",
    r"\E",
    "a(?i)**",
]


@pytest.mark.parametrize("pattern", BROKEN)
def test_what_re2_does_not_parse_is_refused(pattern: str) -> None:
    """The API server refuses such an expression."""
    with pytest.raises(InvalidExpression):
        parse_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a)", "unexpected ) at position 2"),
        ("a(b", "missing ) at position 4"),
        ("a*+", "a repetition of a repetition at position 3"),
        ("a|*", "nothing to repeat at position 3"),
        ("a{2,1}", "invalid number of repetitions at position 7"),
        ("[b-a]", "invalid range of characters at position 5"),
        ("[ab", "missing ] at position 4"),
        ("[[:foo:]]", "invalid character class at position 9"),
        (r"a\q", "invalid escape sequence at position 3"),
        ("(?=a)", "invalid group at position 1"),
    ],
)
def test_message_names_what_is_wrong_and_where(pattern: str, reason: str) -> None:
    """The position is where the reader noticed it, counted from 1."""
    with pytest.raises(InvalidExpression) as raised:
        parse_pattern(pattern)

    assert str(raised.value) == f"regular expression {pattern!r}: {reason}"


@pytest.mark.parametrize("pattern", ["a{1000}", "a{1000,}", "a{0,1000}", "a{1000,1000}"])
def test_part_is_repeated_a_thousand_times_at_most(pattern: str) -> None:
    parse_pattern(pattern)


@pytest.mark.parametrize("pattern", [r"\pL", r"\p{Greek}", r"\P{L}", r"[\pL]", r"[a\PN]"])
def test_unicode_classes_are_outside_the_subset(pattern: str) -> None:
    with pytest.raises(Unsupported, match=r"^a Unicode class in a regular expression$"):
        parse_pattern(pattern)


@pytest.mark.parametrize("pattern", ["(?i)é", "(?i)[a-é]", r"(?i)\x{80}", "(?i:[é])"])
def test_case_of_other_letters_is_outside_the_subset(pattern: str) -> None:
    with pytest.raises(Unsupported, match=r"ignores the case of other letters than a to z$"):
        parse_pattern(pattern)


def test_groups_are_nested_48_times_at_most() -> None:
    """Groups side by side are not nested."""
    parse_pattern("(" * 48 + ")" * 48 + "()")
    with pytest.raises(Unsupported, match=r"^a regular expression with more than 48 nested groups$"):
        parse_pattern("(" * 49 + ")" * 49)
