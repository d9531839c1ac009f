"""Blocks of objects that many objects share, decoded once each.

A block is known by its bytes: replicas of a workload state their labels, tolerations, affinity and resources in the
same words, so a dictionary look-up replaces decoding, and all of them hold one shared, read-only value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from descheduler.cluster.decoding.wire import ABSENT

__all__ = ["BlockCache", "BlockNumbers", "LastBlock"]

Value = TypeVar("Value")

_NULL = b"null"


class BlockCache(dict[bytes, Value]):
    """Block of bytes → its value: decoded at its first sight by `cache[bytes(raw)]`, the same value ever after.

    Raises what the decoder raises on malformed content; nothing is kept then.
    """

    __slots__ = ("_decode",)

    def __init__(self, decode: Callable[[bytes], Value]) -> None:
        super().__init__()
        self._decode = decode

    def __missing__(self, block: bytes) -> Value:
        value = self[block] = self._decode(block)
        return value


class BlockNumbers(dict[bytes, int]):
    """Block of bytes → a number of its own, from 1."""

    def __missing__(self, block: bytes) -> int:
        number = self[block] = len(self) + 1
        return number


class LastBlock(Generic[Value]):
    """Looks blocks up in a cache, the one of the object before first.

    Lists are in name order, so that the replicas of a workload follow each other: comparing bytes where they lie is far
    cheaper than copying and hashing them.
    """

    __slots__ = ("_cache", "_last", "_value")

    def __init__(self, cache: BlockCache[Value]) -> None:
        self._cache = cache
        self._last = ABSENT
        self._value = cache[_NULL]

    def value(self, raw: msgspec.Raw) -> Value:
        """The value of `raw`; keeps the bytes that it is part of until `forget` or the next one that differs."""
        if raw != self._last:
            self._value = self._cache[bytes(raw)]
            self._last = raw
        return self._value

    def forget(self) -> None:
        """Frees the bytes of the last block."""
        self._last, self._value = ABSENT, self._cache[_NULL]
