"""JSON text to a tree of marked values. Unlike the standard decoder it keeps places and duplicate keys."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from descheduler.documents.document import MAX_DEPTH, MAX_NODES, Document, DocumentError, Mark, Member, TreeNode

_SPACE = re.compile(r"[ \t\r\n]*")
# Before Python 3.11.5 a possessive group goes on behind a round that began and failed (python/cpython#106052), so the
# rounds take any escape, and what is optional is not possessive.
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\[^\x00-\x1f])*+"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?")
_WORD = re.compile(r"true|false|null")
_WORDS = {"true": True, "false": False, "null": None}
_LONGEST_NUMBER = 400


def parse_json(text: str, path: str) -> Document:
    """The document in `text`. Raises DocumentError with the place of what is not JSON."""
    return Document(path, _Scanner(text).document(), "json")


class _Scanner:
    """One pass over the text; `_at` is the offset of the next character."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._nodes = 0
        self._line, self._line_start, self._marked_to = 1, 0, 0

    def document(self) -> TreeNode:
        root = self._value(0)
        self._skip_space()
        if self._at < len(self._text):
            self._fail("more text after the end of the document")
        return root

    def _mark(self) -> Mark:
        newlines = self._text.count("\n", self._marked_to, self._at)
        if newlines:
            self._line += newlines
            self._line_start = self._text.rfind("\n", 0, self._at) + 1
        self._marked_to = self._at
        return Mark(self._line, self._at - self._line_start + 1)

    def _fail(self, message: str) -> NoReturn:
        found = repr(self._text[self._at]) if self._at < len(self._text) else "the end of the text"
        hint = "" if self._at < len(self._text) else "; is a bracket or brace missing?"
        raise DocumentError(f"not JSON (the text begins with a brace): {message}, found {found}{hint}", self._mark())

    def _skip_space(self) -> None:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _accept(self, character: str) -> bool:
        self._skip_space()
        found = self._text.startswith(character, self._at)
        self._at += found
        return found

    def _value(self, depth: int) -> TreeNode:
        self._skip_space()
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise DocumentError(f"holds more than {MAX_NODES} values; no policy needs that", self._mark())
        if depth > MAX_DEPTH:
            raise DocumentError(f"is nested more than {MAX_DEPTH} levels deep", self._mark())
        mark = self._mark()
        if self._accept("{"):
            return self._object(mark, depth)
        if self._accept("["):
            return self._list(mark, depth)
        return TreeNode(self._scalar(), mark)

    def _scalar(self) -> bool | int | float | str | None:
        if self._text.startswith('"', self._at):
            return self._string()
        if match := _WORD.match(self._text, self._at):
            self._at = match.end()
            return _WORDS[match[0]]
        match = _NUMBER.match(self._text, self._at)
        if match is None:
            self._fail("expected a value")
        if len(match[0]) > _LONGEST_NUMBER:
            self._fail("a number with too many digits")
        self._at = match.end()
        return float(match[0]) if match[1] or match[2] else int(match[0])

    def _string(self) -> str:
        match = _STRING.match(self._text, self._at)
        written = match[0] if match else ""
        try:
            value = str(json.loads(written))
        except ValueError:
            self._fail("a string that does not end, or holds a control character or an unknown escape")
        self._at += len(written)
        # A lone surrogate becomes the replacement character, as in Go; it could not be printed.
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _list(self, mark: Mark, depth: int) -> TreeNode:
        items: list[TreeNode] = []
        if not self._accept("]"):
            items.append(self._value(depth + 1))
            while self._accept(","):
                items.append(self._value(depth + 1))
            if not self._accept("]"):
                self._fail("expected ',' or ']'")
        return TreeNode(tuple(items), mark)

    def _object(self, mark: Mark, depth: int) -> TreeNode:
        members: dict[str, Member] = {}
        duplicates: list[tuple[str, Mark | None]] = []
        if not self._accept("}"):
            self._member(members, duplicates, depth)
            while self._accept(","):
                self._member(members, duplicates, depth)
            if not self._accept("}"):
                self._fail("expected ',' or '}'")
        return TreeNode(members, mark, tuple(duplicates))

    def _member(self, members: dict[str, Member], duplicates: list[tuple[str, Mark | None]], depth: int) -> None:
        self._skip_space()
        mark = self._mark()
        if not self._text.startswith('"', self._at):
            self._fail("expected a key in double quotes")
        key = self._string()
        if not self._accept(":"):
            self._fail("expected ':'")
        node = self._value(depth + 1)
        earlier: tuple[TreeNode, ...] = ()
        if key in members:
            duplicates.append((key, mark))
            earlier = (*members[key].earlier, members[key].node)
        members[key] = Member(mark, node, earlier)
