"""Regular expressions, which are those of RE2.

Rules: github.com/google/re2, wiki page "Syntax". Answers: measured on `regexp` of Go 1.26, which cel-go uses.
"""

from __future__ import annotations

import pytest

from descheduler.placement.cel import Unsupported
from descheduler.placement.cel.patterns import Pattern
from tests.placement.cel.answers import UNSUPPORTED, answer


def found_in(pattern: str, texts: list[str]) -> list[str]:
    """Those of `texts` in which the pattern is found."""
    return [text for text in texts if Pattern.parse(pattern).is_found_in(text)]


EDGES = [
    ("", [""], []),
    ("b", ["abc"], []),
    ("d", [], ["abc"]),
    ("ac", [], ["abc"]),
    ("^b", [], ["abc"]),
    ("^a", ["abc"], []),
    ("c$", ["abc"], []),
    ("b$", [], ["abc"]),
    ("a$", [], ["a\n"]),
    ("^b$", [], ["a\nb\nc"]),
    ("(?m)^b$", ["a\nb\nc"], []),
    ("(?m)^a", [], ["ba"]),
    ("(?m)b$", [], ["bc"]),
    ("(?m)^$", ["a\n\nb"], ["ab"]),
    (r"(?m)\Ab", [], ["a\nb"]),
    (r"(?m)\Aa", ["a\nb"], []),
    (r"(?m)a\z", [], ["a\nb"]),
    (r"(?m)b\z", ["a\nb"], []),
    (r"\bb", ["a b"], ["ab"]),
    (r"a\b", [], ["ab"]),
    (r"b\b", ["ab"], []),
    (r"\Bb", ["ab"], ["a b"]),
    (r"\b", [], ["", "-"]),
    (r"\B", [""], []),
    (r"\b\x{e9}", [], ["é"]),
    (r"a\b\x{e9}", ["aé"], []),
    (r"_\bb", [], ["_b"]),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), EDGES)
def test_edges_are_of_the_text_of_its_lines_or_of_words(pattern: str, yes: list[str], no: list[str]) -> None:
    """A pattern is looked for anywhere; `^` and `$` are of the text unless `(?m)` is set, and a word is of ASCII."""
    assert found_in(pattern, [*yes, *no]) == yes


DOTS = [
    ("^.$", ["\t", "\x0b", "\x00", "\U0010ffff"], ["\n"]),
    ("(?s)^.$", ["\n"], [""]),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), DOTS)
def test_dot_is_any_character_but_a_line_feed(pattern: str, yes: list[str], no: list[str]) -> None:
    """`(?s)` adds the line feed."""
    assert found_in(pattern, [*yes, *no]) == yes


ALTERNATIVES = [
    ("^(a|bc)$", ["a", "bc"], ["c"]),
    ("^(a|)$", [""], []),
    ("^a|b$", ["ac", "cb"], ["ca"]),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), ALTERNATIVES)
def test_alternatives_reach_to_the_ends_of_their_group(pattern: str, yes: list[str], no: list[str]) -> None:
    """One of them is enough; one may be empty."""
    assert found_in(pattern, [*yes, *no]) == yes


REPETITIONS = [
    ("^a*$", ["", "aaa"], ["ab"]),
    ("^a+$", ["a", "aa"], [""]),
    ("^a?$", ["", "a"], ["aa"]),
    ("^a{2}$", ["aa"], ["a", "aaa"]),
    ("^a{2,}$", ["aa", "aaaa"], ["a"]),
    ("^a{1,3}$", ["a", "aaa"], ["", "aaaa"]),
    ("^a{0}$", [""], ["a"]),
    ("^a{2,2}$", ["aa"], []),
    ("^a{,2}$", ["a{,2}"], ["aa"]),
    ("^a{x}$", ["a{x}"], []),
    ("^a{02}$", ["a{02}"], []),
    ("^a+?$", ["aa"], []),
    ("^(ab)+$", ["abab"], ["aba"]),
    ("^(a*)*$", ["aa"], ["aab"]),
    ("(a+)+$", [], ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"]),
    ("^(a|ab)(c|bcd)$", ["abcd"], []),
    ("^*a", ["a"], []),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), REPETITIONS)
def test_part_is_repeated_as_often_as_its_bounds_allow(pattern: str, yes: list[str], no: list[str]) -> None:
    """Braces that are no bounds are characters. No pattern takes long."""
    assert found_in(pattern, [*yes, *no]) == yes


GROUPS = [
    ("^(?:ab)$", ["ab"], []),
    ("^(?P<x>ab)$", ["ab"], []),
    ("^(?<x>ab)$", ["ab"], []),
    ("^(?i:a)b$", ["Ab"], ["AB"]),
    ("^(?i)a(?-i)b$", ["Ab"], ["AB"]),
    ("^((?i)a)b$", ["Ab"], ["AB"]),
    ("(?U)^a+$", ["aa"], []),
    ("(?i-s)^a.$", [], ["A\n"]),
    ("(?s)^a(?-s).$", [], ["a\n"]),
    ("(?ms)^b.$", ["a\nb\n"], []),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), GROUPS)
def test_flags_hold_to_the_end_of_their_group(pattern: str, yes: list[str], no: list[str]) -> None:
    """Groups have names, flags or neither."""
    assert found_in(pattern, [*yes, *no]) == yes


QUOTATIONS = [
    (r"^\Qa.b\E$", ["a.b"], ["axb"]),
    (r"^\Qab\E+$", ["abb"], ["abab"]),
    (r"^\Qa+", ["a+"], []),
    (r"^\Qa\E\Q\Eb$", ["ab"], []),
    (r"^(?i)\Qa\E$", ["A"], []),
    (r"^\Qa\E*$", [""], []),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), QUOTATIONS)
def test_quoted_characters_stand_for_themselves(pattern: str, yes: list[str], no: list[str]) -> None:
    """A repetition behind a quotation is of its last character."""
    assert found_in(pattern, [*yes, *no]) == yes


CLASSES = [
    ("^[abc]$", ["b"], ["d"]),
    ("^[b-d]$", ["b", "d"], ["a", "e"]),
    ("^[b-b]$", ["b"], []),
    ("^[^b-d]$", ["a", "e"], ["b", "d"]),
    ("^[]a]$", ["]"], []),
    ("^[^]a]$", ["b"], ["]"]),
    ("^[a-]$", ["-"], []),
    ("^[-a]$", ["-"], []),
    ("^[a-c-e]$", ["-"], ["d"]),
    ("^[a^]$", ["^"], []),
    ("^[.]$", [], ["b"]),
    ("^[*]$", ["*"], []),
    ("^[^a-cb-e]$", ["f"], ["d"]),
    ("^[^a-eb-c]$", [], ["d"]),
    ("^[^ac]$", ["b"], []),
    ("^[^ab]$", [], ["b"]),
    (r"^[^\x00-a]$", ["b"], ["\x00"]),
    (r"^[^b-\x{10ffff}]$", ["a"], ["b", "\U0010ffff"]),
    (r"^[^b-\x{10fffe}]$", ["\U0010ffff"], []),
    (r"^[^\x00]$", ["\x01"], ["\x00"]),
    (r"^[^\x01]$", ["\x00"], []),
    (r"^[\d]$", ["5"], []),
    (r"^[\D]$", ["x"], ["5"]),
    (r"^[\dx-]$", ["-"], []),
    (r"^[\d-z]$", ["-"], ["a"]),
    (r"^[\]]$", ["]"], []),
    (r"^[\n]$", ["\n"], []),
    (r"^[\x41-\x43]$", ["B"], []),
    (r"^[\-a]$", ["-"], []),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), CLASSES)
def test_class_is_one_of_its_characters(pattern: str, yes: list[str], no: list[str]) -> None:
    """First and last of a range are in it; a class after `^` is all others, up to the ends of Unicode."""
    assert found_in(pattern, [*yes, *no]) == yes


NAMED = [
    (r"^\d$", ["0", "9"], ["/", ":", "\u0663"]),
    (r"^\D$", ["a"], ["5"]),
    (r"^\w$", ["_"], ["-"]),
    (r"^\W$", ["-"], ["_"]),
    (r"^\s$", ["\t"], ["\x0b", "\xa0"]),
    (r"^\S$", [], [" "]),
    ("^[[:alpha:]]$", ["Z"], ["5"]),
    ("^[[:^alpha:]]$", ["5"], ["Z"]),
    ("^[[:alpha:]5]$", ["5"], []),
    ("^[^[:alpha:]]$", [], ["a"]),
    ("^[[:space:]]$", ["\x0b"], []),
    ("^[[:punct:]]$", ["~"], []),
    ("^[[:xdigit:]]$", [], ["g"]),
    ("^[[:word:]]$", ["_"], []),
    ("^[:alpha:]$", ["l"], []),
    ("^[[:alpha]$", [":"], ["b"]),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), NAMED)
def test_named_classes_are_of_ascii(pattern: str, yes: list[str], no: list[str]) -> None:
    r"""`\d` and its like, and those of POSIX, which have a name only within a class."""
    assert found_in(pattern, [*yes, *no]) == yes


ESCAPES = [
    (r"^\x41$", ["A"], []),
    (r"^\x{41}$", ["A"], []),
    (r"^\x{10ffff}$", ["\U0010ffff"], []),
    (r"^\101$", ["A"], []),
    (r"^\0$", ["\x00"], []),
    (r"^\08$", ["\x008"], []),
    (r"^\012$", ["\n"], []),
    (r"^\12$", ["\n"], []),
    (r"^\a\f\n\r\t\v$", ["\x07\x0c\n\r\t\x0b"], []),
    (r"^\.$", ["."], ["x"]),
    (r"^\_$", ["_"], []),
    (r"^\-$", ["-"], []),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), ESCAPES)
def test_escape_is_the_character_that_it_numbers_or_names(pattern: str, yes: list[str], no: list[str]) -> None:
    """Hexadecimal and octal numbers, control characters, and signs that stand for themselves."""
    assert found_in(pattern, [*yes, *no]) == yes


CASE = [
    ("(?i)^a$", ["A"], ["b", "\u212a"]),
    ("(?i)^A$", ["a"], []),
    ("(?i)^k$", ["\u212a"], []),
    ("(?i)^S$", ["\u017f"], []),
    ("(?i)^[a-c]$", ["B"], []),
    ("(?i)^[^a]$", ["b"], ["A"]),
    ("(?i)^@$", [], ["`"]),
    ("(?i)^5$", ["5"], []),
    (r"(?i)^\x41$", ["a"], []),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), CASE)
def test_case_is_ignored_of_every_letter_of_ascii(pattern: str, yes: list[str], no: list[str]) -> None:
    """Unicode folds the sign of Kelvin and the long s into two of them."""
    assert found_in(pattern, [*yes, *no]) == yes


ODD = [
    ("a(?i)*", [""], []),
    ("(?i)", [""], []),
    ("a{2}?", ["aa"], []),
    ("a{2}{", ["aa{"], []),
    (r"\x{d800}", [], [""]),
    ("(?P<a>x)(?P<a>y)", ["xy"], []),
    ("^a(?i){2}$", ["aa"], ["a"]),
    ("^a(?i)*$", ["aa"], []),
    ("^a*(?i)*$", ["aa"], []),
    (r"^a\Q\E*$", ["aa"], []),
    ("^()*$", [], ["x"]),
    ("[[:alpha:]-z]", ["-"], []),
    ("(?i-i)a", ["a"], ["A"]),
    (r"[\x{0}-b]", ["a"], []),
    ("{", ["{"], []),
    ("a{2", ["a{2"], []),
    ("x{0,}y", ["y"], []),
    ("[[:]", ["["], []),
]


@pytest.mark.parametrize(("pattern", "yes", "no"), ODD)
def test_odd_patterns_mean_what_they_mean_to_re2(pattern: str, yes: list[str], no: list[str]) -> None:
    """A repetition behind flags or an empty quotation is of the part before them; flags that are off win."""
    assert found_in(pattern, [*yes, *no]) == yes


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


def test_pattern_has_a_thousand_parts_at_most() -> None:
    """Repeated parts count as often as they are repeated, and both ends of the pattern are parts."""
    assert found_in("^a{998}", ["a" * 997, "a" * 998]) == ["a" * 998]
    with pytest.raises(Unsupported, match=r"^a regular expression of more than 1,000 parts$"):
        Pattern.parse("^a{999}")
