"""What an answer is, in a few words, when it is not what was asked for."""

from __future__ import annotations

from functools import partial

import msgspec

from descheduler.model.text.printable import clipped

__all__ = ["ObjectHead", "describe_body"]

_LONGEST_SHOWN = 200
_shown = partial(clipped, most=_LONGEST_SHOWN)


class ObjectHead(msgspec.Struct, rename="camel"):
    """What every object of the API states about itself; `message` is that of a Status."""

    kind: str = ""
    api_version: str = ""
    message: str = ""

    @property
    def words(self) -> str:
        """`a PodList of v1`, or what it says if it is a Status."""
        if self.kind == "Status" and self.message:
            return f"a Status: {_shown(self.message)}"
        if not self.kind:
            return "JSON without a kind"
        return f"a {_shown(self.kind)} of {_shown(self.api_version) or 'no apiVersion'}"


_decode_head = msgspec.json.Decoder(ObjectHead).decode


def describe_body(body: bytes) -> str:
    """What `body` is, such as `a Status: not found` or `HTML`; its content is repeated as far as a Status goes."""
    text = body[:_LONGEST_SHOWN].lstrip()
    if not text:
        return "empty"
    if text.startswith(b"<"):
        return "HTML"
    try:
        return _decode_head(body).words
    except msgspec.ValidationError:
        return "JSON of another shape"
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "not whole JSON"
