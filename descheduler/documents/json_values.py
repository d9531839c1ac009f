"""Where JSON values end, so that lists are taken apart an element at a time, whatever their elements are.

Reading a list in one go makes a Python object of each element first: of 60 MB of plain numbers, two gigabytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress

import msgspec

WINDOW_BYTES = 256 << 10
"""How much text is taken apart at once."""
_BLANKS = re.compile(rb"[ \t\r\n]*+")
_SEPARATOR = re.compile(rb"[ \t\r\n]*+,?[ \t\r\n]*+")
_SCALAR = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[^][{}",: \t\r\n]++', re.DOTALL)
_FLAT = rb'(?:[^][{}"]++|"(?:[^"\\]++|\\.)*+")*+'
_TO_BRACKET = re.compile(rb"(?:" + _FLAT + rb"[{\[]" + _FLAT + rb"[}\]]){0,500}" + _FLAT + rb"([]\[{}])", re.DOTALL)
"""Up to the next bracket but for those of objects and arrays that hold no other, 500 of them at most.

Not possessive, as the rest: before Python 3.11.5 a possessive group goes on behind a round that began and failed
(python/cpython#106052). What may be tried again takes memory a round, hence the bound.
"""
_OPENING = b"{["
_HEAD = re.compile(rb'\{\s*+"[^"\\]{0,99}+"\s*+:\s*+(?:\{|"[^"\\]{0,99}+"\s*+,)\s*+"[^"\\]{0,99}+"\s*+:')
"""What all objects of a kind begin with: two keys, and the value of the first where it is text."""
_CUT = re.compile(
    rb'(?:"(?:[^"\\]++|\\.)*+\\?|t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|\\?u?[0-9a-fA-F]{0,4}|[-+.eE0-9]*+)\Z', re.DOTALL
)
"""What more text may complete: a text, a word, an escape, and what a number goes on with."""
_MOST_ROWS_BYTES = 1 << 20
_LOCATED_BYTES = 2 << 20
"""Objects of Kubernetes are shorter. The standard decoder takes many times the memory of the text."""
_MOST_BLANKS = 200
_MOST_LEVELS = 5_000
"""Brackets without end are told from an object that nests beyond the decoder, whose end is worth looking for."""

_decode_one = msgspec.json.Decoder(msgspec.Raw).decode
_decode_row = msgspec.json.Decoder(msgspec.Raw).decode_lines
_decode_array = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_text = msgspec.json.Decoder(str).decode
_locate = json.JSONDecoder(object_pairs_hook=len, parse_int=len, parse_float=len).decode


class JsonFaultError(ValueError):
    """Text that is not JSON; `position` is where, counted from its start."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


def value_end(text: bytes, start: int = 0) -> int | None:
    """Where the value that starts at `start` ends, blanks around it included; None when it is cut short.

    Raises JsonFaultError for what is not JSON. What is nested more deeply than the decoder goes is only measured.
    """
    start = after_blanks(text, start)
    end = _measured_end(text, start)
    if end is not None and is_json(text[start:end]):
        return end
    _refuse_fault(text[start : min(end or len(text), start + _LOCATED_BYTES)], start)
    if end is None:
        return None
    raise JsonFaultError("it holds NaN, Infinity or half of a surrogate pair", start)


def _refuse_fault(text: bytes, start: int) -> None:
    """Raises JsonFaultError for what more text cannot complete to JSON, as far as the standard decoder tells it."""
    try:
        _locate(text.decode("latin-1"))
    except json.JSONDecodeError as error:
        if not _CUT.match(text, error.pos):
            found = text[error.pos : error.pos + 1].decode(errors="replace")
            raise JsonFaultError(f"unexpected {found!r}", start + error.pos) from error
    except RecursionError:
        pass


def _measured_end(text: bytes, start: int) -> int | None:
    """Where the brackets of the object or array at `start` are closed; None when they are not. A scalar ends there."""
    scalar = _SCALAR.match(text, start)
    if scalar is not None:
        is_whole = scalar.end() < len(text) or is_json(scalar[0])
        return after_blanks(text, scalar.end()) if is_whole else None
    if text[start : start + 1] not in (b"{", b"["):
        return None
    depth, position = 1, start + 1
    while (bracket := _TO_BRACKET.match(text, position)) is not None:
        position = bracket.end()
        depth += 1 if text[position - 1] in _OPENING else -1
        if depth > _MOST_LEVELS:
            raise JsonFaultError("is nested too deeply for Kubernetes objects", position - 1)
        if depth == 0:
            return after_blanks(text, position)
    return None


def after_blanks(text: bytes, position: int = 0) -> int:
    """The first position from `position` on that holds no blank."""
    return _end_of(_BLANKS, text, position)


def _end_of(pattern: re.Pattern[bytes], text: bytes, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _last_seam(text: bytes, start: int, mark: bytes) -> int:
    """Where the last `mark` ends, `start` if nowhere, that an object comes behind which begins as the one there."""
    head = _HEAD.match(text, start)
    stop = start + WINDOW_BYTES
    while head is not None and (stop := text.rfind(head[0], head.end(), stop)) > 0:
        before = text[stop - _MOST_BLANKS : stop] if stop > _MOST_BLANKS else text[:stop]
        if (ended := before.rstrip()).endswith(mark):
            return stop - len(before) + len(ended)
    return start


def is_json(text: bytes) -> bool:
    """Whether `text` is one JSON value. What is nested more deeply than the decoder goes is only measured."""
    try:
        _decode_one(text)
    except RecursionError:
        with suppress(JsonFaultError):
            return _measured_end(text, after_blanks(text)) == len(text)
        return False
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return True


def values(
    text: bytes, start: int, *, first: bytes = b"", in_array: bool = True, spare: int = 0
) -> Iterator[tuple[int, int]]:
    """Start and end of each value from `start` on: elements of an array, or values that follow each other.

    Ends before a value that begins with none of the bytes in `first`, before one that is not whole, and behind the last
    of an array; also, once there was one, when less than `spare` bytes are left. Raises JsonFaultError for what is not
    JSON.
    """
    position, unlike = start, start
    while not first or text[position : position + 1] in first:
        ends = _alike_ends(text, position, in_array) if position >= unlike else []
        if not ends:
            if start < position and len(text) - position < spare:
                return
            unlike = max(unlike, position + WINDOW_BYTES)
            end = value_end(text, position)
            if end is None or (in_array and end == len(text)):
                return
            ends = [end]
        for end in ends:
            if first and text[position : position + 1] not in first:
                return
            yield position, end
            position = after_blanks(text, end)
            if in_array:
                if text[position : position + 1] != b",":
                    return
                position = after_blanks(text, position + 1)


def _alike_ends(text: bytes, start: int, in_array: bool) -> list[int]:
    """Where the values from `start` to the last object end that begins as the one there does; none when unsure.

    Where no other begins so, values in a row are taken for whole to the end of the text.

    The decoder goes over many at once, a hundred times as fast as any loop in Python, but says in words alone where it
    came to a stop. So it is given what seems whole, and believed when it finds that so.
    """
    stop = _last_seam(text, start, b"," if in_array else b"}")
    if stop == start and not in_array and len(text) <= start + _MOST_ROWS_BYTES:
        stop = len(text)
    view = memoryview(text)[start:stop]
    try:
        found = _decode_array(b"".join((b"[", view[:-1], b"]"))) if in_array else _decode_row(view)
    except (msgspec.MsgspecError, RecursionError):
        return []
    ends: list[int] = []
    for value in found:
        ends.append(start + len(memoryview(value)))
        start = _end_of(_SEPARATOR, text, ends[-1])
    return ends


def elements(array: bytes) -> Iterator[tuple[bytes, int]]:
    """Each element of a whole JSON array, with its position. Raises JsonFaultError."""
    end = after_blanks(array, after_blanks(array) + 1)
    if array[end : end + 1] == b"]":
        return
    for start, stop in values(array, end):
        yield array[start:stop], start
        end = stop
    end = after_blanks(array, end)
    if array[end : end + 1] != b"]":
        raise JsonFaultError("expected ',' or ']'", min(end, len(array) - 1))


def members(text: bytes) -> dict[str, bytes]:
    """Key → value of a whole JSON object, however deeply its values are nested. Raises JsonFaultError."""
    found: dict[str, bytes] = {}
    position = after_blanks(text, after_blanks(text) + 1)
    while text[position : position + 1] not in (b"}", b""):
        colon = value_end(text, position) or position
        start = after_blanks(text, colon + 1)
        end = value_end(text, start) or start
        if text[end : end + 1] not in (b",", b"}"):
            raise JsonFaultError("expected ',' or '}'", min(end, len(text) - 1))
        found[_decode_text(text[position:colon])] = text[start:end].rstrip()
        position = end if text[end : end + 1] == b"}" else after_blanks(text, end + 1)
    return found
