"""What can go wrong at the edge to the API server; a class only where a caller acts on it."""

from __future__ import annotations

from descheduler.model.text.urls import is_https
from descheduler.transport.errors import ExchangeError, NotConnected, TransportError

_REFUSALS = frozenset({400, 401, 403, 404, 405, 409, 410, 413, 415, 422, 429})
"""With these the API server itself says that it has done nothing."""


class NotProtobuf(ExchangeError):  # noqa: N818 - an answer callers act on, named after what it says
    """The server answers in JSON although protobuf was asked for."""


class ListExpired(ExchangeError):  # noqa: N818 - an answer callers act on, named after what it says
    """A paged list can no longer be continued at its resource version; drop what was read and start again."""


class ApiError(ExchangeError):
    """An answer of the API server that is not a success.

    `status_code` is the HTTP status, `reason` the machine-readable word of the `Status` body ("" without one),
    `retry_after_seconds` the wait the server asked for, None when it asked for none.
    """

    def __init__(
        self, message: str, *, status_code: int, reason: str = "", retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.reason = reason
        self.retry_after_seconds = retry_after_seconds

    @property
    def is_transient(self) -> bool:
        """Whether asking again can help: overload (429) and server-side faults that say nothing about the request."""
        return self.status_code in {429, 500, 502, 503, 504}

    @property
    def is_forbidden(self) -> bool:
        """Whether the caller has no right to the call (403)."""
        return self.status_code == 403


class KindAbsent(ApiError):  # noqa: N818 - an answer callers act on, named after what it says
    """The API server does not serve the kind that was asked for (404 for a list)."""


class KindForbidden(ApiError):  # noqa: N818 - an answer callers act on, named after what it says
    """The caller may not read the kind (403); the text names the kind, the verb and, when told, the user."""


def may_have_acted(error: ExchangeError) -> bool:
    """Whether the call that ended so may have had its effect, or may have it yet.

    Only a `Status` of the API server refuses for certain: another answer can come from a proxy, or from a server that
    gave up while the call was under way in etcd.
    """
    if isinstance(error, ApiError):
        return not error.reason or error.status_code not in _REFUSALS
    return isinstance(error, TransportError) and not isinstance(error, NotConnected)


def credentials_refused(host: str) -> str:
    """The sentence for an answer of 401 by the API server at `host`."""
    if not is_https(host):
        return f"{host} requires credentials (401), which are not sent over plain http; use an https server"
    return f"{host} does not accept the credentials (401); renew the credentials or choose another --context"
