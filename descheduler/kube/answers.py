"""Answers of the API server: how large they are at most, what their `Status` says, and what they are without one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import msgspec

from descheduler.model.text.printable import clipped
from descheduler.transport.answer import RawResponse

_MEBIBYTE = 1 << 20

OBJECT_BYTES = 8 * _MEBIBYTE
"""Most of one object, or of a discovery document. etcd takes 1.5 MiB an object, in protobuf, of which JSON makes two or
three times as much; 1,000 API groups are 0.3 MiB."""
LIST_BYTES = 64 * _MEBIBYTE
"""Most of one page of a list: 2,500 pods of 26 KB, while usual ones have 4 to 10 KB. Where objects are larger, smaller
pages are asked for. With two pages in memory a run stays within the 512 MiB that the manifests grant."""


class StatusCause(msgspec.Struct, frozen=True):
    """One cause of a failure: a machine-readable `reason` such as `DisruptionBudget`, and a sentence."""

    reason: str = ""
    message: str = ""


class ApiStatus(msgspec.Struct, frozen=True):
    """What an answer says: `metav1.Status` reduced to what decisions need.

    `is_told` says whether the body is a `Status`; else a proxy has spoken, or the server in plain text. `is_done` says
    whether it confirms success: by a `Status` that says so, or by the object that was created.
    """

    code: int
    reason: str
    message: str
    causes: tuple[StatusCause, ...]
    retry_after_seconds: float | None
    is_told: bool
    is_done: bool = False


class _Details(msgspec.Struct, frozen=True):
    causes: tuple[StatusCause, ...] | None = None
    retry_after_seconds: int | None = msgspec.field(default=None, name="retryAfterSeconds")


class _Status(msgspec.Struct, frozen=True):
    kind: str | None = None
    status: object = None
    reason: str | None = None
    message: str | None = None
    details: _Details | None = None


_LONGEST_WAIT_SECONDS = 86_400.0

_DECODER = msgspec.json.Decoder(_Status)


def decode_status(response: RawResponse) -> ApiStatus:
    """The status an answer carries; one without a readable `Status` body is described by its HTTP phrase.

    The body of such an answer (a proxy's HTML, say) is not repeated: it may hold anything.
    """
    try:
        status = _DECODER.decode(response.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        status = _Status()
    details = status.details or _Details()
    return ApiStatus(
        code=response.status_code,
        reason=status.reason or "",
        message=status.message or response.phrase or f"HTTP status {response.status_code}",
        causes=details.causes or (),
        retry_after_seconds=_retry_after(response.headers, details),
        is_told=status.kind == "Status",
        is_done=response.is_success and (status.kind == "Eviction" or status.status == "Success"),
    )


def _retry_after(headers: Mapping[str, str], details: _Details) -> float | None:
    text = headers.get("retry-after", "").strip()
    # The API server always writes seconds, never the date form that HTTP also allows.
    seconds = text if text.isdecimal() else details.retry_after_seconds
    # A number may have any length; no run waits for that long.
    return min(float(str(seconds)), _LONGEST_WAIT_SECONDS) if seconds else None


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
