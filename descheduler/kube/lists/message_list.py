"""The protobuf of a list, taken apart into its objects as it comes in; none of them is decoded here.

An answer is the bytes `k8s`, a zero byte and a message `runtime.Unknown`, whose field 1 states version and kind, and
whose field 2 is the list: its metadata in field 1, one object in each field 2. (`k8s.io/apimachinery`
`pkg/runtime/generated.proto`, `pkg/runtime/serializer/protobuf` 1.36)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from descheduler.kube.lists.body import MOST_TOGETHER, IncomingList

_MAGIC = b"k8s\0"
_LONGEST_VARINT = 10
_OF_LENGTH = 2
_TAG_1, _TAG_2 = 1 << 3 | _OF_LENGTH, 2 << 3 | _OF_LENGTH


class MessageList(IncomingList):
    """One list, of which `parts` are the bytes; its head is read at once.

    `kind`, `api_version`, `resource_version` and `continue_token` are what it states, "" for what it does not. Raises
    AnswerBroken when the parts end too early, ExchangeError for bytes that are no such list, AnswerTooLarge.
    """

    _form = "a list in protobuf"

    def __init__(self, parts: Iterator[bytes], what: str) -> None:
        super().__init__(parts, what)
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
        while self._position < self._end:
            # Where no whole object is at hand, the rest of one is waited for.
            batch = self._whole_objects() or [self._content(_TAG_2)]
            self._count(len(batch))
            if self._position > self._end:
                self._refuse("an object goes beyond the end of the list")
            yield batch
        self._pass_end()

    @property
    def _position(self) -> int:
        return self._passed + self._at

    def _whole_objects(self) -> list[bytes]:
        """The objects that are at hand as a whole."""
        found: list[bytes] = []
        text, at = self._bytes, self._at
        last = min(len(text), self._end - self._passed)
        while len(found) < MOST_TOGETHER and at + _LONGEST_VARINT < last and text[at] == _TAG_2:
            length, shift, start = text[at + 1] & 127, 7, at + 2
            while text[start - 1] > 127 and shift < 35:
                length |= (text[start] & 127) << shift
                shift += 7
                start += 1
            if text[start - 1] > 127 or start + length > last:
                break
            at = start + length
            found.append(text[start:at])
        self._at = at
        return found

    def _content(self, tag: int) -> bytes:
        self._expect(tag)
        length = self._varint()
        self._require_size(length)
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
            self._require_more()
        taken = self._bytes[self._at : self._at + num_bytes]
        self._at += num_bytes
        return taken

    def _fields(self, message: bytes) -> Mapping[int, str]:
        """Field number → text of the fields of a small message that are text."""
        try:
            return _Fields(message).texts()
        except (IndexError, UnicodeDecodeError):
            self._refuse("its head is damaged")


class _Fields:
    """Walks over the fields of one message in memory. Raises IndexError for one that is damaged or cut short."""

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
                if value > len(self._message) - self._at:
                    raise IndexError("a text is cut short")
                found[tag >> 3] = self._message[self._at : self._at + value].decode()
                self._at += value
        return found

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 7 * _LONGEST_VARINT, 7):
            byte = self._message[self._at]
            self._at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise IndexError("a number has no end")
