"""The JSON of a list of any length, made into short lists of the same kind and version as it comes in."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NoReturn

from descheduler.documents.json_values import WINDOW_BYTES, JsonFaultError, after_blanks, value_end, values
from descheduler.kube.answers import LIST_BYTES, OBJECT_BYTES, describe_body
from descheduler.kube.lists.body import MOST_TOGETHER, IncomingList, require_few_values
from descheduler.transport.errors import AnswerBroken, AnswerTooLarge

_HEAD = {b'"kind"', b'"metadata"'}
_MOST_BLANKS = 1 << 20


class JsonList(IncomingList):
    """One list, of which `parts` are the bytes."""

    _form = "a list in JSON"

    def bodies(self) -> Iterator[bytes]:
        """The list in pieces, each a whole document with all that stands before the items; at least one.

        An API server writes what it says of a list before the items. Where somebody does not, the list stays in one
        piece, up to the size of one that comes so whatever is asked for. Raises AnswerBroken for what is no whole JSON
        object, AnswerTooLarge, ExchangeError.
        """
        if not self._more() or self._next() != b"{":
            self._break()
        self._at += 1
        head: dict[bytes, bytes] = {}
        is_in_pieces = False
        while self._next() != b"}":
            key, mark = self._value(OBJECT_BYTES).rstrip(), self._next()
            if mark != b":" or key in head:
                self._break()
            self._at += 1
            if key == b'"items"' and self._next() == b"[" and head.keys() >= _HEAD:
                is_in_pieces, head[key] = True, b"[]"
                yield from self._pieces(_object(head)[: -len("]}")])
            else:
                head[key] = self._value(LIST_BYTES if key == b'"items"' else OBJECT_BYTES)
            if self._next() == b",":
                self._at += 1
            elif self._next() != b"}":
                self._break()
        self._at += 1
        if self._pass_end().strip():
            self._break()
        if not is_in_pieces:
            yield _object(head)

    def _pieces(self, opening: bytes) -> Iterator[bytes]:
        """The items of the array that starts here, some at a time, behind `opening` and closed again."""
        self._at += 1
        is_ended = self._next() == b"]"
        if is_ended:
            self._at += 1
            yield opening + b"]}"
        while not is_ended:
            self._read_ahead()
            self._next()
            start, text = self._at, self._bytes
            end, is_ended = self._whole_objects()
            if end > start:
                yield opening + text[start:end] + b"]}"
            else:
                self._require_size(len(text) - start)
                self._require_more()

    def _whole_objects(self) -> tuple[int, bool]:
        """Goes over the objects that are at hand as a whole: where the last ends, and whether the array ends there."""
        try:
            together = list(islice(values(self._bytes, self._at, spare=WINDOW_BYTES), MOST_TOGETHER))
        except JsonFaultError:
            self._break()
        if not together:
            return self._at, False
        self._count(len(together))
        for start, end in together:
            require_few_values(self._bytes[start:end], self._what)
        end = self._at = together[-1][1]
        mark = self._next()
        if mark not in (b",", b"]"):
            self._break()
        self._at += 1
        return end, mark == b"]"

    def _value(self, max_bytes: int) -> bytes:
        """Takes the value that is next. Raises AnswerTooLarge."""
        self._next()
        # Something stands behind each value of an object.
        while (end := self._end()) is None or end == len(self._bytes):
            if len(self._bytes) - self._at > max_bytes:
                raise AnswerTooLarge(
                    f"{self._what}: a part of the answer is larger than {max_bytes >> 20} MiB; check the server and "
                    "the proxies in front of it"
                )
            self._require_more()
        value, self._at = self._bytes[self._at : end], end
        return value

    def _next(self) -> bytes:
        """The first byte that is no blank, which `_at` is moved to."""
        start = self._passed + self._at
        self._at = after_blanks(self._bytes, self._at)
        while self._at == len(self._bytes):
            if self._passed + self._at - start > _MOST_BLANKS:
                self._refuse("it is blank")
            self._require_more()
            self._at = after_blanks(self._bytes, self._at)
        return self._bytes[self._at : self._at + 1]

    def _end(self) -> int | None:
        try:
            return value_end(self._bytes, self._at)
        except JsonFaultError:
            self._break()

    def _break(self) -> NoReturn:
        found = describe_body(self._bytes) if not self._passed else "not whole JSON"
        raise AnswerBroken(f"{self._what}: the answer is cut short or not what was asked ({found})")


def _object(members: dict[bytes, bytes]) -> bytes:
    return b"{" + b",".join(key + b":" + value for key, value in members.items()) + b"}"
