"""Regular expressions in the syntax of RE2, searched for in time that is linear in the text.

Python's own `re` backtracks: a pattern such as `(a+)+$` takes it longer than any run. Here a pattern is a program of
few instructions, and a text is read once while the set of instructions that may come next is kept (K. Thompson,
"Regular Expression Search Algorithm", 1968). Sets that were met before are looked up.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable
from typing import NamedTuple

from descheduler.placement.cel.errors import Unsupported
from descheduler.placement.cel.pattern_syntax import (
    LINE_END,
    LINE_START,
    TEXT_END,
    TEXT_START,
    WORD_EDGE,
    Alternatives,
    Characters,
    Edge,
    Part,
    Repeated,
    Row,
    is_word,
    parse_pattern,
)

_MOST_INSTRUCTIONS = 1000
_MOST_STEPS_KEPT = 5000


class _Instruction(NamedTuple):
    """What to look for at a place of the text: a character, an edge, or (None) nothing; and where to go on then."""

    wanted: Characters | Edge | None
    following: tuple[int, ...]


class Pattern:
    """A regular expression."""

    def __init__(self, part: Part) -> None:
        self._program: list[_Instruction] = []
        self._end = self._add(None, ())
        self._start = self._add_part(part, self._end)
        self._steps: dict[tuple[frozenset[int], str, str], frozenset[int] | None] = {}

    @classmethod
    @functools.lru_cache(maxsize=1024)
    def parse(cls, text: str) -> Pattern:
        """The pattern of a text. Raises InvalidExpression where RE2 does, and Unsupported for Unicode classes."""
        return cls(parse_pattern(text))

    @property
    def num_instructions(self) -> int:
        """How much one character may take."""
        return len(self._program)

    def is_found_in(self, text: str) -> bool:
        """Whether any part of `text` matches."""
        begun: frozenset[int] = frozenset()
        before = ""
        for character in (*text, ""):
            found = self._step(begun, before, character)
            if found is None:
                return True
            begun, before = found, character
        return False

    def _step(self, begun: frozenset[int], before: str, after: str) -> frozenset[int] | None:
        """The instructions behind the character `after`, of a match begun or one that begins here; None at its end."""
        key = begun, before, after
        if key in self._steps:
            return self._steps[key]
        if len(self._steps) >= _MOST_STEPS_KEPT:
            self._steps.clear()
        reached = self._reached(begun, before, after)
        found = self._steps[key] = None if self._end in reached else self._behind(reached, after)
        return found

    def _behind(self, reached: Iterable[int], character: str) -> frozenset[int]:
        instructions = [self._program[place] for place in reached]
        return frozenset(
            place
            for wanted, following in instructions
            if isinstance(wanted, Characters) and character and character in wanted
            for place in following
        )

    def _reached(self, begun: Iterable[int], before: str, after: str) -> Collection[int]:
        """All that can be reached between two characters."""
        found: dict[int, None] = dict.fromkeys((*begun, self._start))
        waiting = list(found)
        while waiting:
            wanted, following = self._program[waiting.pop()]
            if isinstance(wanted, Characters) or (wanted is not None and not _is_at(wanted.kind, before, after)):
                continue
            for place in following:
                if place not in found:
                    found[place] = None
                    waiting.append(place)
        return found

    def _add(self, wanted: Characters | Edge | None, following: tuple[int, ...]) -> int:
        if len(self._program) >= _MOST_INSTRUCTIONS:
            raise Unsupported("a regular expression of more than 1,000 parts")
        self._program.append(_Instruction(wanted, following))
        return len(self._program) - 1

    def _add_part(self, part: Part, following: int) -> int:
        """Adds what matches `part` and then goes on at `following`; returns where it begins."""
        match part:
            case Characters() | Edge():
                return self._add(part, (following,))
            case Row(parts=parts):
                for each in reversed(parts):
                    following = self._add_part(each, following)
                return following
            case Alternatives(parts=parts):
                return self._add(None, tuple(self._add_part(each, following) for each in parts))
            case Repeated():
                return self._add_repeated(part, following)

    def _add_repeated(self, repeated: Repeated, following: int) -> int:
        if repeated.most is None:
            loop = self._add(None, ())
            begin = self._add_part(repeated.part, loop)
            self._program[loop] = _Instruction(None, (begin, following))
            following = loop
        else:
            end = following
            for _ in range(repeated.most - repeated.least):
                following = self._add(None, (self._add_part(repeated.part, following), end))
        for _ in range(repeated.least):
            following = self._add_part(repeated.part, following)
        return following


def _is_at(kind: str, before: str, after: str) -> bool:
    """Whether the place between two characters, which are empty outside of the text, is such an edge."""
    if kind == TEXT_START:
        return not before
    if kind == TEXT_END:
        return not after
    if kind == LINE_START:
        return before in ("", "\n")
    if kind == LINE_END:
        return after in ("", "\n")
    is_edge = _is_word(before) != _is_word(after)
    return is_edge if kind == WORD_EDGE else not is_edge


def _is_word(character: str) -> bool:
    return bool(character) and is_word(character)
