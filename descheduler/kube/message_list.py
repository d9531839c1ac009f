"""The protobuf of a list, taken apart into its objects as it comes in; none of them is decoded here.

An answer is the bytes `k8s`, a zero byte and a message `runtime.Unknown`, whose field 1 states version and kind, and
whose field 2 is the list: its metadata in field 1, one object in each field 2. (`k8s.io/apimachinery`
`pkg/runtime/generated.proto`, `pkg/runtime/serializer/protobuf` 1.36)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NoReturn

from descheduler.kube.errors import AnswerBroken, AnswerTooLarge, KubeError

__all__ = ["MessageList"]

_MAGIC = b"k8s\0"
_MOST_OBJECT_BYTES = 16 << 20
"""An API server takes objects of 1.5 MiB, or a few more where its etcd is told so."""
_MOST_OBJECTS = 1_000_000
"""Six times the pods that Kubernetes supports in a cluster."""
_MOST_BATCH = 2000
_TOGETHER_BYTES = 1 << 18
"""An API server sends every object by itself, which would be a batch each."""
_MOST_BEHIND_BYTES = 1 << 10
"""Behind the list stand the names of its encoding and its type, mostly empty."""
_LONGEST_VARINT = 10
_OF_LENGTH = 2
_TAG_1, _TAG_2 = 1 << 3 | _OF_LENGTH, 2 << 3 | _OF_LENGTH


class MessageList:
    """One list, of which `parts` are the bytes; its head is read at once.

    `kind`, `api_version`, `resource_version` and `continue_token` are what it states, "" for what it does not. Raises
    AnswerBroken when the parts end too early, KubeError for bytes that are no such list, AnswerTooLarge.
    """

    def __init__(self, parts: Iterator[bytes], what: str) -> None:
        self._parts = parts
        self._what = what
        self._bytes = b""
        self._at = 0
        self._passed = 0
        if self._take(len(_MAGIC)) != _MAGIC:
            self._refuse("it does not begin as protobuf does")
        stated = self._fields(self._content(_TAG_1))
        self.api_version, self.kind = stated.get(1, ""), stated.get(2, "")
        self._expect(_TAG_2)
        length = self._varint()
        self._end = self._position + length
        metadata = self._fields(self._content(_TAG_1)) if length else {}
        self.resource_version, self.continue_token = metadata.get(2, ""), metadata.get(3, "")

    def batches(self) -> Iterator[list[bytes]]:
        """The objects in order, some at a time. Raises as the class."""
        num_objects = 0
        while self._position < self._end:
            # Where no whole object is at hand, the rest of one is waited for.
            batch = self._whole_objects() or [self._content(_TAG_2)]
            num_objects += len(batch)
            if self._position > self._end:
                self._refuse("an object goes beyond the end of the list")
            if num_objects > _MOST_OBJECTS:
                self._refuse(f"it holds more than {_MOST_OBJECTS:,} objects")
            yield batch
        is_more = True
        while is_more:
            if len(self._bytes) - self._at > _MOST_BEHIND_BYTES:
                self._refuse("it goes on behind its end")
            is_more = self._more()

    @property
    def _position(self) -> int:
        return self._passed + self._at

    def _whole_objects(self) -> list[bytes]:
        """The objects that are at hand as a whole."""
        found: list[bytes] = []
        text, at = self._bytes, self._at
        last = min(len(text), self._end - self._passed)
        while len(found) < _MOST_BATCH and at + _LONGEST_VARINT < last and text[at] == _TAG_2:
            length, shift, start = text[at + 1] & 127, 7, at + 2
            while text[start - 1] > 127 and shift < 35:
                length |= (text[start] & 127) << shift
                shift += 7
                start += 1
            if start + length > last:
                break
            at = start + length
            found.append(text[start:at])
        self._at = at
        return found

    def _content(self, tag: int) -> bytes:
        self._expect(tag)
        length = self._varint()
        if length > _MOST_OBJECT_BYTES:
            raise AnswerTooLarge(
                f"{self._what}: one object is larger than {_MOST_OBJECT_BYTES >> 20} MiB, which no API server stores; "
                "check the server and the proxies in front of it"
            )
        return self._take(length)

    def _expect(self, tag: int) -> None:
        found = self._varint()
        if found != tag:
            self._refuse(f"it holds field {found >> 3} where field {tag >> 3} is expected")

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._take(1)[0]) > 127:
            value |= (byte & 127) << shift
            shift += 7
            if shift == 7 * _LONGEST_VARINT:
                self._refuse("a number has no end")
        return value | byte << shift

    def _take(self, num_bytes: int) -> bytes:
        while len(self._bytes) - self._at < num_bytes:
            if not self._more():
                raise AnswerBroken(f"{self._what}: the answer was cut short")
        taken = self._bytes[self._at : self._at + num_bytes]
        self._at += num_bytes
        return taken

    def _more(self) -> bool:
        """Reads on, and lets go of what was taken; whether there was more."""
        parts, num_new = [self._bytes[self._at :]], 0
        # Twice as much as is there, so that a large object is not copied again and again.
        while num_new < max(_TOGETHER_BYTES, len(parts[0])) and (part := next(self._parts, b"")):
            parts.append(part)
            num_new += len(part)
        self._passed += self._at
        self._bytes, self._at = b"".join(parts), 0
        return num_new > 0

    def _fields(self, message: bytes) -> Mapping[int, str]:
        """Field number → text of the fields of a small message that are text."""
        try:
            return _Fields(message).texts()
        except (IndexError, UnicodeDecodeError):
            self._refuse("its head is damaged")

    def _refuse(self, why: str) -> NoReturn:
        raise KubeError(
            f"{self._what}: the answer is not a list in protobuf: {why}; check the server and the proxies in front of "
            "it"
        )


class _Fields:
    """Walks over the fields of one message in memory. Raises IndexError for one that is cut short."""

    def __init__(self, message: bytes) -> None:
        self._message = message
        self._at = 0

    def texts(self) -> dict[int, str]:
        """Field number → its text; numbers are passed over."""
        found = {}
        while self._at < len(self._message):
            tag = self._varint()
            value = self._varint()
            if tag & 7 == _OF_LENGTH:
                found[tag >> 3] = self._message[self._at : self._at + value].decode()
                self._at += value
        return found

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._message[self._at]
            self._at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
