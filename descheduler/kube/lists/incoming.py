"""A list of any length that is taken apart as it comes in: what of it is in memory, and its bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NoReturn

from descheduler.transport.errors import AnswerBroken, AnswerTooLarge, ExchangeError

__all__ = ["FEW_BYTES", "MOST_TOGETHER", "MOST_VALUES", "IncomingList", "require_few_values"]

MOST_TOGETHER = 2000
"""Objects that are handed on together."""
_MOST_OBJECT_BYTES = 16 << 20
"""An API server takes objects of 1.5 MiB, or a few more where its etcd is told so; JSON makes more of it."""
_MOST_OBJECTS = 1_000_000
"""Six times the pods that Kubernetes supports in a cluster."""
_TOGETHER_BYTES = 1 << 18
"""An API server sends every object by itself, which would be a batch each."""
MOST_VALUES = 500_000
"""In one object. The smallest value, `{}`, becomes a hundred times as much in memory: 16 MiB of them, a gigabyte."""
FEW_BYTES = 1 << 20
"""An object of fewer has fewer values."""
_MOST_BEHIND_BYTES = 1 << 10
"""Behind a list in protobuf stand the names of its encoding and its type, mostly empty; behind JSON, a line break."""


def require_few_values(item: bytes, what: str) -> None:
    """Raises AnswerTooLarge for one object in JSON that holds too many values."""
    if len(item) > FEW_BYTES and item.count(b",") > MOST_VALUES:
        raise AnswerTooLarge(
            f"{what}: one object holds more than {MOST_VALUES:,} values, which no API server stores; "
            "check the server and the proxies in front of it"
        )


class IncomingList:
    """The part of a list that is in memory: `_bytes`, of which those before `_at` were taken already.

    `parts` are all its bytes, `what` names the request in messages, and `_passed` counts the bytes before `_bytes`.
    """

    _form: ClassVar[str]

    def __init__(self, parts: Iterator[bytes], what: str) -> None:
        self._parts = parts
        self._what = what
        self._bytes = b""
        self._at = 0
        self._passed = 0
        self._num_objects = 0

    def _more(self) -> bool:
        """Reads on, and frees what was taken; whether there was more."""
        parts, num_new = [self._bytes[self._at :]], 0
        # Twice as much as is there, so that a large object is not copied again and again.
        while num_new < max(_TOGETHER_BYTES, len(parts[0])) and (part := next(self._parts, b"")):
            parts.append(part)
            num_new += len(part)
        self._passed += self._at
        self._bytes, self._at = b"".join(parts), 0
        return num_new > 0

    def _read_ahead(self) -> None:
        """Reads on where little is left, so that most of what comes next is whole."""
        if len(self._bytes) - self._at < _TOGETHER_BYTES:
            self._more()

    def _require_more(self) -> None:
        """Reads on. Raises AnswerBroken at the end."""
        if not self._more():
            raise AnswerBroken(f"{self._what}: the answer was cut short")

    def _count(self, num_objects: int) -> None:
        """Takes note of further objects. Raises ExchangeError when there are too many."""
        self._num_objects += num_objects
        if self._num_objects > _MOST_OBJECTS:
            self._refuse(f"it holds more than {_MOST_OBJECTS:,} objects")

    def _require_size(self, num_bytes: int) -> None:
        """Raises AnswerTooLarge when one object has more than `num_bytes` may be."""
        if num_bytes > _MOST_OBJECT_BYTES:
            raise AnswerTooLarge(
                f"{self._what}: one object is larger than {_MOST_OBJECT_BYTES >> 20} MiB, which no API server stores; "
                "check the server and the proxies in front of it"
            )

    def _pass_end(self) -> bytes:
        """What stands behind the list, read to its end. Raises ExchangeError when that is too much."""
        is_more = True
        while is_more:
            if len(self._bytes) - self._at > _MOST_BEHIND_BYTES:
                self._refuse("it continues after its end")
            is_more = self._more()
        return self._bytes[self._at :]

    def _refuse(self, why: str) -> NoReturn:
        raise ExchangeError(
            f"{self._what}: the answer is not {self._form}: {why}; check the server and the proxies in front of it"
        )
