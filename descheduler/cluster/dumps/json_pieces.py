"""JSON of any size in pieces of bounded size: a long list becomes shorter lists of the same kind."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from itertools import islice
from typing import NoReturn

import msgspec

from descheduler.cluster.builder import MAX_LIST_DEPTH
from descheduler.cluster.snapshot import SnapshotError
from descheduler.documents.json_values import WINDOW_BYTES, JsonFaultError, after_blanks, value_end, values
from descheduler.model.text.printable import printable

WAY_OUT = "a dump is what kubectl get nodes,pods,... -A -o json prints, or descheduler snapshot"
MAX_OBJECT_BYTES = 16 << 20
"""An API server takes objects of 1.5 MiB, or a few more where its etcd is told so; blanks can double that."""
_MAX_ITEMS_BYTES = 1 << 30
_WHOLE_BYTES = 1 << 20
_READ_BYTES = 2 << 20
_MOST_TOGETHER = 2500
_NUM_SHOWN = 40
_ITEMS = b'"items"'
LATE_KIND = "a list that names its kind after its items is too long; put kind and apiVersion first"
_BRACE, _BRACKET, _COMMA, _COLON, _CLOSING_BRACE, _CLOSING_BRACKET, _QUOTE = (bytes([code]) for code in b'{[,:}]"')


class _Kinded(msgspec.Struct):
    kind: object = None


_decode_text = msgspec.json.Decoder(str).decode
_decode_kinded = msgspec.json.Decoder(_Kinded).decode


def read_json(chunks: Iterable[bytes], source: str, first_line: int) -> Iterator[tuple[bytes, int]]:
    """Objects, lists and arrays that follow each other in `chunks`, each with the line it starts on.

    A list that is longer than a few MiB comes in several, its own members in the last of them, which is empty. Raises
    SnapshotError for what is no JSON, and for an object that is larger than any of Kubernetes.
    """
    return _JsonText(iter(chunks), source, first_line).documents()


def too_large(num_bytes: int) -> str:
    """Says that one object is larger than `num_bytes`."""
    return f"one object is larger than {num_bytes >> 20} MiB, which no API server stores"


class _JsonText:
    """The part of the text that is in memory, of which `_at` is the first byte that was not taken yet.

    `_line` is the line, counted from 1, of the byte `_counted`, and `_column` the number of bytes before the part on
    the line that it starts in.
    """

    def __init__(self, chunks: Iterator[bytes], source: str, first_line: int) -> None:
        self._chunks = chunks
        self._source = source
        self._line = first_line
        self._counted = 0
        self._column = 0
        self._text = b""
        self._at = 0

    def documents(self) -> Iterator[tuple[bytes, int]]:
        while first := self._next():
            if first not in (_BRACE, _BRACKET):
                self._refuse_value()
            if not (yield from self._whole_values(in_array=False)):
                yield from self._long(0)

    def _whole_values(self, opening: bytes = b"", *, in_array: bool) -> Generator[tuple[bytes, int], None, bool]:
        """The documents or elements from `_at` on that are in memory as a whole; returns whether there were some.

        They come some together in a list that `opening` opens, else each alone.
        """
        while len(self._text) - self._at <= _WHOLE_BYTES and self._more():
            pass
        first = _BRACE if in_array else _BRACE + _BRACKET
        found = values(self._text, self._at, first=first, in_array=in_array, spare=WINDOW_BYTES)
        most, is_any = _MOST_TOGETHER if opening else 1, False
        try:
            while together := list(islice(found, most)):
                start, self._at = together[0][0], together[-1][1]
                yield opening + self._text[start : self._at] + (b"]}" if opening else b""), self._line_at(start)
                is_any = True
        except JsonFaultError as fault:
            self._refuse(fault)
        return is_any

    def _long(self, depth: int) -> Iterator[tuple[bytes, int]]:
        """What starts here and is too long to be taken as a whole."""
        if len(self._text) - self._at <= _WHOLE_BYTES:
            self._refuse_end()
        if depth == MAX_LIST_DEPTH:
            raise SnapshotError(f"{self._place(self._at)}: lists are nested {depth} deep; {WAY_OUT}")
        yield from self._elements(b"", depth) if self._next() == _BRACKET else self._object(depth)

    def _object(self, depth: int) -> Iterator[tuple[bytes, int]]:
        """The list that starts here, piece by piece, or the object as a whole."""
        line, members, num_bytes = self._line_at(self._at), dict[bytes, bytes](), 0
        self._at += 1
        while True:
            key = self._key()
            if key != _ITEMS or self._next() != _BRACKET or not _may_be_list(members):
                members[key] = self._value(MAX_OBJECT_BYTES, too_large(MAX_OBJECT_BYTES))
                num_bytes += len(key) + len(members[key])
            elif (opening := self._opening(members)) is None:
                members[key] = self._value(_MAX_ITEMS_BYTES, LATE_KIND)
            else:
                members[key] = b"[]"
                yield from self._elements(opening, depth)
            if num_bytes > MAX_OBJECT_BYTES:
                raise SnapshotError(f"{self._source}:{line}: {too_large(MAX_OBJECT_BYTES)}; {WAY_OUT}")
            if self._next() != _COMMA:
                break
            self._at += 1
        self._expect(_CLOSING_BRACE, "expected ',' or '}'")
        yield b"{" + b",".join(key + b":" + value for key, value in members.items()) + b"}", line

    def _opening(self, members: dict[bytes, bytes]) -> bytes | None:
        """What a list of some of the items starts with; empty when they name their kind, None when nothing says it yet.

        kubectl writes the kind of a list behind its items, but then these name theirs.
        """
        kind, version = members.get(b'"kind"', b"").rstrip(), members.get(b'"apiVersion"')
        if kind == b'"List"':
            return b""
        if kind and version is not None:
            return b'{"kind":' + kind + b',"apiVersion":' + version + b',"items":['
        return b"" if self._has_kind_in_first() else None

    def _has_kind_in_first(self) -> bool:
        position = after_blanks(self._text, self._at + 1)
        while position == len(self._text) and self._more():
            position = after_blanks(self._text, self._at + 1)
        if self._text[position : position + 1] != _BRACE:
            return True
        # A list within the list may be too long to be looked into, and has a kind.
        end = self._end_within(_WHOLE_BYTES, skip=1)
        if end is None:
            return True
        try:
            return _decode_kinded(memoryview(self._text)[self._at + 1 : end]).kind is not None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return True

    def _elements(self, opening: bytes, depth: int) -> Iterator[tuple[bytes, int]]:
        """The elements of the array that starts here: some together in a list that `opening` opens, else each alone."""
        self._at += 1
        if self._next() == _CLOSING_BRACKET:
            self._at += 1
            return
        while True:
            if self._next() != _BRACE:
                self._refuse_value()
            if not (yield from self._whole_values(opening, in_array=True)):
                if opening:
                    line = self._line_at(self._at)
                    yield opening + self._value(MAX_OBJECT_BYTES, too_large(MAX_OBJECT_BYTES)) + b"]}", line
                else:
                    yield from self._long(depth + 1)
            if self._separator():
                return

    def _separator(self) -> bool:
        """Goes over the comma or the bracket behind an element; whether it was the bracket."""
        found = self._next()
        if found not in (_COMMA, _CLOSING_BRACKET):
            self._expect(_COMMA, "expected ',' or ']'")
        self._at += 1
        return found == _CLOSING_BRACKET

    def _key(self) -> bytes:
        if self._next() != _QUOTE:
            self._expect(_QUOTE, "expected a key in double quotes")
        key = self._value(MAX_OBJECT_BYTES, too_large(MAX_OBJECT_BYTES)).rstrip()
        self._expect(_COLON, "expected ':'")
        try:
            return msgspec.json.encode(_decode_text(key))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise SnapshotError(f"{self._place(self._at)}: a key is not UTF-8 text; {WAY_OUT}") from error

    def _value(self, max_bytes: int, complaint: str) -> bytes:
        self._next()
        end = self._end_within(max_bytes)
        if end is None:
            raise SnapshotError(f"{self._place(self._at)}: {complaint}; {WAY_OUT}")
        value, self._at = self._text[self._at : end], end
        return value

    def _expect(self, mark: bytes, message: str) -> None:
        if self._next() != mark:
            if self._at == len(self._text):
                self._refuse_end()
            self._refuse(JsonFaultError(message, self._at))
        self._at += 1

    def _end_within(self, max_bytes: int, skip: int = 0) -> int | None:
        """Where the value at `_at`, or `skip` bytes behind it, ends; None when it has more than `max_bytes`."""
        while True:
            start = self._at + skip
            try:
                end = value_end(self._text, start)
            except JsonFaultError as fault:
                self._refuse(fault)
            # A number at the end of what is in memory may go on.
            if end is not None and (end < len(self._text) or self._text[-1:] in b'}]"'):
                return end
            if len(self._text) - start > max_bytes:
                return None
            if not self._more():
                if end is None:
                    self._refuse_end()
                return end

    def _next(self) -> bytes:
        """The first byte that is no blank, which `_at` is moved to; empty at the end of the text."""
        self._at = after_blanks(self._text, self._at)
        while self._at == len(self._text) and self._more():
            self._at = after_blanks(self._text, self._at)
        return self._text[self._at : self._at + 1]

    def _more(self) -> bool:
        """Reads at least as much as was not taken yet, so that nothing is looked at more than twice on average."""
        taken, rest = self._text[: self._at], self._text[self._at :]
        parts, num_wanted = [rest], max(_READ_BYTES, len(rest))
        for chunk in self._chunks:
            parts.append(chunk)
            num_wanted -= len(chunk)
            if num_wanted <= 0:
                break
        self._line_at(self._at)
        self._column = len(taken) - taken.rfind(b"\n") - 1 + (0 if b"\n" in taken else self._column)
        self._text, self._at, self._counted = b"".join(parts), 0, 0
        return len(parts) > 1

    def _line_at(self, position: int) -> int:
        """The line of a byte that is not before those that were asked for."""
        self._line += self._text.count(b"\n", self._counted, position)
        self._counted = position
        return self._line

    def _place(self, position: int) -> str:
        start = self._text.rfind(b"\n", 0, position) + 1
        column = position - start + (0 if start else self._column) + 1
        return f"{self._source}:{self._line_at(position)}:{column}"

    def _refuse(self, fault: JsonFaultError) -> NoReturn:
        raise SnapshotError(f"{self._place(fault.position)}: not JSON: {fault}; {WAY_OUT}") from fault

    def _refuse_value(self) -> NoReturn:
        while len(self._text) - self._at < _NUM_SHOWN and self._more():
            pass
        if self._at == len(self._text):
            self._refuse_end()
        try:
            end = value_end(self._text, self._at)
        except JsonFaultError:
            end = None
        last = self._at + _NUM_SHOWN
        shown = self._text[self._at : min(end or last, last)].decode(errors="replace").rstrip()
        raise SnapshotError(f"{self._place(self._at)}: not a Kubernetes object but {printable(shown)}; {WAY_OUT}")

    def _refuse_end(self) -> NoReturn:
        num_lines = self._line_at(len(self._text.rstrip()))
        lines = "1 line" if num_lines == 1 else f"{num_lines} lines"
        raise SnapshotError(f"{self._source}: the JSON ends after {lines}: the dump is truncated; create it again")


def _may_be_list(members: dict[bytes, bytes]) -> bool:
    return members.get(b'"kind"', b'List"').rstrip().endswith(b'List"')
