"""How much memory it takes to read a dump that is made while it is read; run as a program, in a process of its own."""

from __future__ import annotations

import io
import resource
import sys
from collections.abc import Callable, Iterator
from itertools import chain, repeat

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.snapshot import SnapshotError

_MEBIBYTE = 1 << 20
_TIMES = 128
_NODE = b'{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a", '
_MANAGED = b'{"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e", "managedFields": [%s]}},\n'
_MANAGED_YAML = b"- kind: Event\n  apiVersion: v1\n  metadata: {name: e, managedFields: [%s]}\n"


def _filled(start: bytes, part: bytes, end: bytes = b"", times: int = _TIMES) -> Iterator[bytes]:
    """`part` again and again between `start` and `end`, a MiB at a time."""
    return chain([start], repeat(part * (_MEBIBYTE // len(part)), times), [end])


TEXTS: dict[str, Callable[[], Iterator[bytes]]] = {
    "an array of numbers": lambda: _filled(b"[", b"1,", b"1]"),
    "an array of texts": lambda: _filled(b"[", b'"a",', b'"a"]'),
    "an array of arrays": lambda: _filled(b"[", b"[],", b"[]]"),
    "an array of empty objects": lambda: _filled(b"[", b"{},", b"{}]"),
    "a list of numbers": lambda: _filled(b'{"kind":"List","apiVersion":"v1","items":[', b"1,", b"1]}"),
    "a list of empty pods": lambda: _filled(b'{"kind":"PodList","apiVersion":"v1","items":[', b"{},", b"{}]}"),
    "lists in lists": lambda: _filled(b'{"kind":"List","apiVersion":"v1","items":[' * 99, b'{"kind":"X"},'),
    "one long text": lambda: _filled(b'"', b"a"),
    "a long name": lambda: _filled(_NODE + b'"uid": "', b"a", b'"}}'),
    "many annotations": lambda: _filled(_NODE + b'"annotations": {', b'"a":1,', b'"a":1}}}'),
    "many managed fields": lambda: _filled(_NODE + b'"managedFields": [', b"{},", b"{}]}}"),
    "YAML of numbers": lambda: _filled(b"items:\n", b"- 1\n", times=48),
    "YAML of long text": lambda: _filled(b"kind: ", b"a ", times=48),
    "a large dump": lambda: _filled(
        b'{"items": [\n', _MANAGED % b"{},".join([b""] * 9999)[:-1], _NODE + b'"uid": "1"}}], "kind": "List"}'
    ),
    "a large dump in YAML": lambda: _filled(
        b"items:\n", _MANAGED_YAML % b"abc,".join([b""] * 9999), b"- " + _NODE + b"}}\nkind: List\n", times=8
    ),
}


class _Stream(io.RawIOBase):
    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]  # all that BufferedReader gives
        while not self._rest:
            part = next(self._parts, None)
            if part is None:
                return 0
            self._rest = part
        piece, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> None:
    """Reads the text that is named; prints how many MiB that took, and what was said."""
    stream = io.BufferedReader(_Stream(TEXTS[sys.argv[1]]()), _MEBIBYTE)
    before = _peak_bytes()
    try:
        said = f"read {len(read_dump(['-'], stdin=stream).nodes)} nodes"
    except SnapshotError as error:
        said = str(error)
    print(f"{(_peak_bytes() - before) >> 20} {said}")


if __name__ == "__main__":
    main()
