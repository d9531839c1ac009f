"""Documents as JSON."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterator

import msgspec

from descheduler.documents.fields import Fields

_PIECE_BYTES = 1 << 18


def json_pieces(document: Fields) -> Iterator[str]:
    """The whole document, indented, with a newline at its end, in pieces: a large one is copied no more than needed."""
    text = memoryview(msgspec.json.format(msgspec.json.encode(document), indent=2))
    decode = getincrementaldecoder("utf-8")().decode
    for at in range(0, len(text), _PIECE_BYTES):
        yield decode(text[at : at + _PIECE_BYTES])
    yield "\n"


def json_text(document: Fields) -> str:
    """The whole document, indented, with a newline at its end."""
    return "".join(json_pieces(document))
