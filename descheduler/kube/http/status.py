"""An answer of the API server, and the `Status` object that says what it means."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

__all__ = ["ApiStatus", "RawResponse", "StatusCause", "decode_status"]


class RawResponse(msgspec.Struct, frozen=True):
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
    # A number may have any length; nobody waits for that long.
    return min(float(str(seconds)), _LONGEST_WAIT_SECONDS) if seconds else None
