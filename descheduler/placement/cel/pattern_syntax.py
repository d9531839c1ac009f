"""The syntax of RE2 (github.com/google/re2, wiki page "Syntax"), without Unicode classes."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from descheduler.placement.cel.errors import InvalidExpression, Unsupported

TEXT_START = "start of text"
TEXT_END = "end of text"
LINE_START = "start of line"
LINE_END = "end of line"
WORD_EDGE = "edge of a word"
NO_WORD_EDGE = "no edge of a word"

_LAST = 0x10FFFF
_Ranges: TypeAlias = tuple[tuple[int, int], ...]
_DEEPEST = 48
_MOST_REPEATS = 1000
"""RE2's own limit."""


@dataclass(frozen=True, slots=True)
class Characters:
    """One character out of `ranges` of code points, first and last included."""

    ranges: _Ranges

    def __contains__(self, character: str) -> bool:
        code = ord(character)
        return any(first <= code <= last for first, last in self.ranges)


@dataclass(frozen=True, slots=True)
class Edge:
    """A place between characters."""

    kind: str


@dataclass(frozen=True, slots=True)
class Row:
    """Parts one after the other."""

    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of several parts."""

    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class Repeated:
    """A part at least `least` times, and at most `most` times unless that is None."""

    part: Part
    least: int
    most: int | None


Part: TypeAlias = Characters | Edge | Row | Alternatives | Repeated


@dataclass(frozen=True, slots=True)
class _Flags:
    """What `(?ims)` sets."""

    ignores_case: bool = False
    has_lines: bool = False
    dot_is_all: bool = False


def _ranges_of(characters: str) -> _Ranges:
    return tuple((ord(character), ord(character)) for character in characters)


_DIGITS: _Ranges = ((0x30, 0x39),)
_UPPER: _Ranges = ((0x41, 0x5A),)
_LOWER: _Ranges = ((0x61, 0x7A),)
_WORD: _Ranges = (*_DIGITS, *_UPPER, (0x5F, 0x5F), *_LOWER)
_CLASSES: dict[str, _Ranges] = {"d": _DIGITS, "w": _WORD, "s": _ranges_of("\t\n\f\r ")}
_NAMED: dict[str, _Ranges] = {
    "alnum": (*_DIGITS, *_UPPER, *_LOWER),
    "alpha": (*_UPPER, *_LOWER),
    "ascii": ((0, 0x7F),),
    "blank": _ranges_of("\t "),
    "cntrl": ((0, 0x1F), (0x7F, 0x7F)),
    "digit": _DIGITS,
    "graph": ((0x21, 0x7E),),
    "lower": _LOWER,
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": _ranges_of("\t\n\v\f\r "),
    "upper": _UPPER,
    "word": _WORD,
    "xdigit": (*_DIGITS, (0x41, 0x46), (0x61, 0x66)),
}
_EDGES = {"A": TEXT_START, "z": TEXT_END, "b": WORD_EDGE, "B": NO_WORD_EDGE}
_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_REPETITIONS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_MOST_DIGITS = 5
_SWITCHES = r"(?P<on>[imsU]*)(?:-(?P<off>[imsU]+))?"
_FLAGS = re.compile(rf"\(\?{_SWITCHES}\)")
_GROUP = re.compile(rf"\((?!\?)(?P<none>)|\(\?P?<\w+>|\(\?{_SWITCHES}:", re.ASCII)
_NUMBER = "0|[1-9][0-9]*"
_REPETITION = re.compile(rf"(?:(?P<sign>[*+?])|\{{(?P<least>{_NUMBER})(?P<comma>,(?P<most>(?:{_NUMBER})?))?\}})\??")
_NAMED_CLASS = re.compile(r"\[:(\^?)([^:\]]*):\]")
_ESCAPE = re.compile(
    r"x(?P<hex>[0-9a-fA-F]{2})|x\{(?P<long>[0-9a-fA-F]{1,8})\}|(?P<octal>0[0-7]{0,2}|[1-7][0-7]{1,2})"
    r"|[afnrtv]|[^\w\x80-\U0010ffff]|_",
    re.ASCII | re.DOTALL,
)
_OTHER_CASES = {"k": "\u212a", "s": "\u017f"}
"""Beside a letter's upper and lower case, the characters that Unicode folds into it."""


def is_word(character: str) -> bool:
    """Whether `\\w` matches."""
    return character in _WORD_CHARACTERS


_WORD_CHARACTERS = Characters(_WORD)


def parse_pattern(text: str) -> Part:
    """The parts of a pattern. Raises InvalidExpression where RE2 does, and Unsupported for Unicode classes."""
    reader = _Reader(text)
    part = reader.alternatives(_Flags())
    if reader.rest:
        raise reader.error("unexpected )")
    return part


class _Reader:
    """A cursor over the text of a pattern."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._nesting = 0

    @property
    def rest(self) -> str:
        """The next character, or nothing."""
        return self._text[self._at : self._at + 1]

    def error(self, what: str) -> InvalidExpression:
        """What is wrong with the pattern, and where."""
        return InvalidExpression(f"regular expression {self._text[:60]!r}: {what} at position {self._at + 1}")

    def alternatives(self, flags: _Flags) -> Part:
        """Everything up to the end of the group."""
        found, row = [], list[Part]()
        while self.rest not in ("", ")"):
            if self._skip("|"):
                found.append(Row(row))
                row = []
                continue
            changed = self._match(_FLAGS)
            if changed is not None:
                flags = _with_flags(flags, changed)
            else:
                row += self._quoted(flags) if self._skip("\\Q") else [self._atom(flags)]
            if row:  # flags and an empty quotation do not keep the part before them from being repeated
                row.append(self._repeated(row.pop()))
        found.append(Row(row))
        return Alternatives(found) if len(found) > 1 else found[0]

    def _skip(self, sign: str) -> bool:
        found = self._text.startswith(sign, self._at)
        self._at += len(sign) * found
        return found

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self._text, self._at)
        if match is not None:
            self._at = match.end()
        return match

    def _quoted(self, flags: _Flags) -> Sequence[Part]:
        quoted, closing, _ = self._text[self._at :].partition("\\E")
        self._at += len(quoted) + len(closing)
        return [_characters(_ranges_of(character), flags) for character in quoted]

    def _atom(self, flags: _Flags) -> Part:
        character = self.rest
        if _REPETITION.match(self._text, self._at):
            raise self.error("nothing to repeat")
        if character == "(":
            return self._group(flags)
        if character == "[":
            return self._class(flags)
        self._at += 1
        if character == ".":
            return Characters(((0, _LAST),) if flags.dot_is_all else _negated(_ranges_of("\n")))
        if character == "^":
            return Edge(LINE_START if flags.has_lines else TEXT_START)
        if character == "$":
            return Edge(LINE_END if flags.has_lines else TEXT_END)
        if character != "\\":
            return _characters(_ranges_of(character), flags)
        if self.rest in _EDGES:
            self._at += 1
            return Edge(_EDGES[self._text[self._at - 1]])
        return self._perl_class() or _characters(self._escaped(), flags)

    def _group(self, flags: _Flags) -> Part:
        opening = self._match(_GROUP)
        if opening is None:
            raise self.error("invalid group")
        self._nesting += 1
        if self._nesting > _DEEPEST:
            raise Unsupported(f"a regular expression with more than {_DEEPEST} nested groups")
        inner = self.alternatives(_with_flags(flags, opening))
        self._nesting -= 1
        if not self._skip(")"):
            raise self.error("missing )")
        return inner

    def _repeated(self, part: Part) -> Part:
        match = self._match(_REPETITION)
        if match is None:
            return part
        if _REPETITION.match(self._text, self._at):
            raise self.error("a repetition of a repetition")
        if match["least"] is None:
            least, most = _REPETITIONS[match["sign"]]
            return Repeated(part, least, most)
        least = int(match["least"][:_MOST_DIGITS])
        most = least if match["comma"] is None else int(match["most"][:_MOST_DIGITS]) if match["most"] else None
        if (most is not None and most < least) or max(least, most or 0) > _MOST_REPEATS:
            raise self.error("invalid number of repetitions")
        return Repeated(part, least, most)

    def _perl_class(self) -> Characters | None:
        """What `\\d` and its like stand for, behind the backslash."""
        letter = self.rest
        if letter in ("p", "P"):
            raise Unsupported("a Unicode class in a regular expression")
        ranges = _CLASSES.get(letter.lower())
        if not letter or ranges is None:
            return None
        self._at += 1
        return Characters(ranges if letter.islower() else _negated(ranges))

    def _escaped(self) -> _Ranges:
        """The one character that an escape stands for, behind the backslash."""
        match = self._match(_ESCAPE)
        if match is None:
            raise self.error("invalid escape sequence")
        for digits, base in ((match["hex"], 16), (match["long"], 16), (match["octal"], 8)):
            if digits:
                code = int(digits, base)
                break
        else:
            code = _CONTROLS.get(match[0]) or ord(match[0])
        if code > _LAST:
            raise self.error("invalid escape sequence")
        return ((code, code),)

    def _class(self, flags: _Flags) -> Characters:
        self._at += 1
        is_negated = self._skip("^")
        ranges: list[tuple[int, int]] = []
        is_first = True
        while is_first or self.rest != "]":
            if not self.rest:
                raise self.error("missing ]")
            is_first = False
            ranges += self._named_class() or self._range()
        self._at += 1
        found = _characters(tuple(ranges), flags)
        return Characters(_negated(found.ranges)) if is_negated else found

    def _named_class(self) -> _Ranges | None:
        match = self._match(_NAMED_CLASS)
        if match is not None:
            ranges = _NAMED.get(match[2])
            if ranges is None:
                raise self.error("invalid character class")
            return _negated(ranges) if match[1] else ranges
        if self.rest == "\\":
            self._at += 1
            found = self._perl_class()
            if found is not None:
                return found.ranges
            self._at -= 1
        return None

    def _range(self) -> _Ranges:
        ((first, last),) = self._class_character()
        if self.rest == "-" and self._text[self._at + 1 : self._at + 2] not in ("", "]"):
            self._at += 1
            ((_, last),) = self._class_character()
            if last < first:
                raise self.error("invalid range of characters")
        return ((first, last),)

    def _class_character(self) -> _Ranges:
        if not self.rest:
            raise self.error("missing ]")
        self._at += 1
        character = self._text[self._at - 1]
        return self._escaped() if character == "\\" else _ranges_of(character)


def _with_flags(flags: _Flags, match: re.Match[str]) -> _Flags:
    names = {"i": "ignores_case", "m": "has_lines", "s": "dot_is_all"}
    changed = {names[flag]: True for flag in match["on"] or "" if flag in names}
    changed |= {names[flag]: False for flag in match["off"] or "" if flag in names}
    return replace(flags, **changed)


def _characters(ranges: _Ranges, flags: _Flags) -> Characters:
    return Characters(_folded(ranges) if flags.ignores_case else ranges)


def _folded(ranges: _Ranges) -> _Ranges:
    """`ranges` with the other case of every letter. Raises Unsupported for letters outside of ASCII."""
    if any(last > 0x7F for _, last in ranges):
        raise Unsupported("a regular expression that ignores the case of other letters than a to z")
    letters = [letter for letter in string.ascii_letters if letter in Characters(ranges)]
    others = [letter.swapcase() + _OTHER_CASES.get(letter.lower(), "") for letter in letters]
    return (*ranges, *_ranges_of("".join(others)))


def _negated(ranges: _Ranges) -> _Ranges:
    found, next_code = [], 0
    for first, last in sorted(ranges):
        if first > next_code:
            found.append((next_code, first - 1))
        next_code = max(next_code, last + 1)
    return (*found, (next_code, _LAST)) if next_code <= _LAST else tuple(found)
