"""Where JSON values end, so that lists are taken apart an element at a time, whatever their elements are.

Reading a list in one go makes a Python object of each element first: of 60 MB of plain numbers, two gigabytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

__all__ = ["JsonFaultError", "after_blanks", "elements", "members", "value_end"]

_BYTE = re.compile(r" ?\(byte (\d+)\)")
_TRAILING = "trailing characters"
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_COMMA, _BRACKET, _BRACE = b",]}"
_MOST_LEVELS = 5_000
"""Brackets without end are told from an object that nests beyond the decoder, whose end is worth looking for."""
_OPENING, _CLOSING = b"{[", b"}]"
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\]]', re.DOTALL)

_skip = msgspec.json.Decoder(msgspec.Raw).decode
_decode_text = msgspec.json.Decoder(str).decode


class JsonFaultError(ValueError):
    """Text that is not JSON; `position` is where, counted from its start."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


def value_end(text: bytes | memoryview) -> int | None:
    """Where the value that `text` starts with ends, blanks around it included; None when it is cut short.

    Raises JsonFaultError for what is not JSON. What is nested more deeply than the decoder goes is only measured.
    """
    # The decoder skips a value a hundred times as fast as any loop in Python, and says where it came to a stop.
    try:
        _skip(text)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        said = str(error)
        if "truncated" in said:
            return None
        match = _BYTE.search(said)
        position = int(match[1]) if match else 0
        if _TRAILING in said:
            return position - _PAST
        if position >= len(text):  # a number may go on behind its sign, point or exponent
            return None
        raise JsonFaultError(_BYTE.sub("", said).removeprefix("JSON is malformed: "), position) from error
    except RecursionError:
        return _measured_end(text)
    return len(text)


def _measured_end(text: bytes | memoryview) -> int | None:
    """Where the brackets of the object or array that `text` starts with are closed; None when they are not."""
    depth = 0
    for token in _TOKEN.finditer(text):
        code = text[token.start()]
        depth += (code in _OPENING) - (code in _CLOSING)
        if depth > _MOST_LEVELS:
            raise JsonFaultError("is nested too deeply for Kubernetes objects", token.start())
        if depth == 0 and code in _CLOSING:
            blanks = _BLANKS.match(text, token.end())
            return blanks.end() if blanks else token.end()
    return None


def after_blanks(text: bytes, position: int = 0) -> int:
    """The first position from `position` on that holds no blank."""
    match = _BLANKS.match(text, position)
    return match.end() if match else position


def elements(array: bytes) -> Iterator[tuple[bytes, int]]:
    """Each element of a whole JSON array, with its position. Raises JsonFaultError."""
    view = memoryview(array)
    position = after_blanks(array, after_blanks(array) + 1)
    if array[position : position + 1] == b"]":
        return
    while True:
        length = value_end(view[position:])
        end = len(array) if length is None else position + length
        if end >= len(array) or array[end] not in (_COMMA, _BRACKET):
            raise JsonFaultError("expected ',' or ']'", min(end, len(array) - 1))
        yield array[position:end], position
        if array[end] == _BRACKET:
            return
        position = after_blanks(array, end + 1)


def members(text: bytes) -> dict[str, bytes]:
    """Key → value of a whole JSON object, however deeply its values are nested. Raises JsonFaultError."""
    found: dict[str, bytes] = {}
    view = memoryview(text)
    position = after_blanks(text, after_blanks(text) + 1)
    while position < len(text) and text[position] != _BRACE:
        colon = position + (value_end(view[position:]) or 0)
        start = after_blanks(text, colon + 1)
        end = start + (value_end(view[start:]) or 0)
        if end <= start or text[end : end + 1] not in (b",", b"}"):
            raise JsonFaultError("expected ',' or '}'", min(end, len(text) - 1))
        found[_decode_text(text[position:colon])] = text[start:end].rstrip()
        position = end if text[end] == _BRACE else after_blanks(text, end + 1)
    return found


def _past() -> int:
    """How far behind its place the decoder reports a character that follows a value."""
    try:
        _skip(b"0,")
    except msgspec.MsgspecError as error:
        match = _BYTE.search(str(error))
        return int(match[1]) - 1 if match else 0
    raise AssertionError("the decoder takes what follows a value for a part of it")


_PAST = _past()
