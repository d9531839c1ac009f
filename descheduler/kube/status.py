"""An answer of the API server, and the `Status` object that says what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

__all__ = ["ApiStatus", "RawResponse", "StatusCause", "decode_status"]


@dataclass(frozen=True, slots=True)
class RawResponse:
    """Status code, header fields (names in lower case) and decompressed body of one answer."""

    status_code: int
    phrase: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether the status code is 2xx."""
        return 200 <= self.status_code < 300


class StatusCause(msgspec.Struct, frozen=True):
    """One cause of a failure: a machine-readable `reason` such as `DisruptionBudget`, and a sentence."""

    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class ApiStatus:
    """What an answer says: `metav1.Status` reduced to what decisions need.

    `is_told` says whether the body is a `Status`; else a proxy has spoken, or the server in plain text.
    """

    code: int
    reason: str
    message: str
    causes: tuple[StatusCause, ...]
    retry_after_seconds: float | None
    is_told: bool


class _Details(msgspec.Struct, frozen=True):
    causes: tuple[StatusCause, ...] | None = None
    retry_after_seconds: int | None = msgspec.field(default=None, name="retryAfterSeconds")


class _Status(msgspec.Struct, frozen=True):
    kind: str | None = None
    reason: str | None = None
    message: str | None = None
    details: _Details | None = None


_DECODER = msgspec.json.Decoder(_Status)


def decode_status(response: RawResponse) -> ApiStatus:
    """The status an answer carries; one without a readable `Status` body is described by its HTTP phrase.

    The body of such an answer (a proxy's HTML, say) is not repeated: nobody vouches for what it holds.
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
    )


def _retry_after(headers: Mapping[str, str], details: _Details) -> float | None:
    text = headers.get("retry-after", "").strip()
    if text.isdecimal():  # the API server always writes seconds, never the date form that HTTP also allows
        return float(text)
    return float(details.retry_after_seconds) if details.retry_after_seconds else None
