"""One HTTP exchange with the API server: the pool and the credentials of the official client, bytes in and out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from http.client import HTTPException, RemoteDisconnected
from http.client import IncompleteRead as BrokenRead
from ssl import SSLEOFError
from typing import Protocol
from urllib.parse import urlencode

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    DecodeError,
    HTTPError,
    IncompleteRead,
    NewConnectionError,
    ProtocolError,
    SSLError,
)
from urllib3.exceptions import TimeoutError as NoAnswerInTime

from descheduler.kube.bounded_body import STATUS_BYTES, BodyTooLargeError, read_body
from descheduler.kube.errors import AnswerTooLarge, KubeError, NotConnected, TransportError
from descheduler.kube.status import RawResponse
from descheduler.kube.timed_connections import keep_to_time, whole_answer

__all__ = ["Connection", "Transport", "exchange"]


class Connection(Protocol):
    """What `descheduler.kube.kubeconfig` hands over: an address, a pool and the current credentials."""

    @property
    def host(self) -> str:
        """Base URL of the API server, without a slash at the end."""

    @property
    def pool(self) -> urllib3.PoolManager:
        """The connection pool with the TLS settings of the configuration."""

    def auth_headers(self) -> Mapping[str, str]:
        """Header fields with the credentials as of now; tokens that have expired are renewed here."""


class Transport:
    """Sends single requests. Never retries, never follows a redirect, keeps no state but the pool."""

    def __init__(self, connection: Connection, *, headers: Mapping[str, str], timeout_seconds: float) -> None:
        self.host = connection.host
        self._connection = connection
        keep_to_time(connection.pool)
        self._headers = {"Accept": "application/json", "Accept-Encoding": "gzip", **headers}
        self._timeout_seconds = timeout_seconds
        # The hook that renews a token rewrites the shared configuration, and is not made for several threads.
        self._auth_lock = threading.Lock()

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        max_bytes: int = STATUS_BYTES,
    ) -> RawResponse:
        """The answer to one request, whatever its status code.

        Raises TransportError when there is no complete answer in time (NotConnected when nothing was sent),
        AnswerTooLarge when its body takes more than `max_bytes`, and KubeError for a TLS failure, which no repetition
        mends. No text holds the query or a header field.
        """
        url = self.host + path + (f"?{urlencode(query)}" if query else "")
        headers = self._headers | self._current_auth()
        if body is not None:
            headers["Content-Type"] = "application/json"
        return exchange(
            lambda: self._open(method, url, headers, body),
            what=f"{method} {path} on {self.host}",
            timeout_seconds=self._timeout_seconds,
            max_bytes=max_bytes,
        )

    def close(self) -> None:
        """Closes the idle connections of the pool."""
        self._connection.pool.clear()

    def _current_auth(self) -> dict[str, str]:
        with self._auth_lock:
            return dict(self._connection.auth_headers())

    def _open(self, method: str, url: str, headers: dict[str, str], body: bytes | None) -> urllib3.BaseHTTPResponse:
        return self._connection.pool.request(
            method,
            url,
            body=body,
            headers=headers,
            timeout=whole_answer(self._timeout_seconds),
            retries=False,
            redirect=False,
            preload_content=False,
            enforce_content_length=True,
        )


def exchange(
    open_response: Callable[[], urllib3.BaseHTTPResponse], *, what: str, timeout_seconds: float, max_bytes: int
) -> RawResponse:
    """The whole answer of a request that `open_response` starts; errors as `Transport.send`, naming `what`.

    `open_response` asks a pool of `keep_to_time` with the time-out `whole_answer(timeout_seconds)`.
    """
    try:
        response = open_response()
    except (HTTPError, OSError) as error:
        raise _meaning(error, what, timeout_seconds) from error
    try:
        body = read_body(response, max_bytes=max_bytes)
    except BodyTooLargeError as error:
        raise AnswerTooLarge(
            f"{what}: the answer is larger than {max_bytes >> 20} MiB, more than a correct answer can be; check the "
            "server and the proxies in front of it"
        ) from error
    except (HTTPError, OSError) as error:
        raise TransportError(f"{what}: {_describe_fault(error, timeout_seconds)}") from error
    headers = {name.lower(): text for name, text in response.headers.items()}
    return RawResponse(response.status, response.reason or "", headers, body)


def _meaning(error: Exception, what: str, timeout_seconds: float) -> KubeError:
    if isinstance(error, SSLError) and not isinstance(_inner(error), SSLEOFError):
        return KubeError(f"{what}: TLS failed ({_tls_fault(error)}); check the certificate authority")
    fault = NotConnected if isinstance(error, NewConnectionError | ConnectTimeoutError) else TransportError
    return fault(f"{what}: {_describe_fault(error, timeout_seconds)}")


def _describe_fault(error: Exception, timeout_seconds: float) -> str:
    """A few words on a transport fault, without the object addresses that urllib3 puts into its texts."""
    match error:
        case NewConnectionError():
            cause = error.__cause__ or error.__context__
            return f"no connection ({getattr(cause, 'strerror', None) or 'address unknown'})"
        case ConnectTimeoutError():
            return f"no connection within {whole_answer(timeout_seconds).connect_timeout:g} s"
        case NoAnswerInTime():
            return f"no complete answer within {timeout_seconds:g} s"
        case IncompleteRead():
            return "the answer was cut short"
        case DecodeError():
            return "the compressed answer is damaged"
        case ProtocolError() if _is_malformed(error):
            return "the answer is not HTTP, or its header is too large"
        case ProtocolError() | SSLError():
            return "the connection was closed before the answer was complete"
        case _:
            return f"the connection failed ({type(error).__name__})"


def _is_malformed(error: ProtocolError) -> bool:
    """Whether the server answered with what no HTTP server answers, rather than not at all."""
    cause = error.args[1] if len(error.args) > 1 else None
    return isinstance(cause, HTTPException) and not isinstance(cause, RemoteDisconnected | BrokenRead)


def _tls_fault(error: SSLError) -> str:
    inner = _inner(error)
    return str(getattr(inner, "verify_message", "") or getattr(inner, "reason", "") or "handshake failed").lower()


def _inner(error: SSLError) -> object:
    return error.args[0] if error.args else error
