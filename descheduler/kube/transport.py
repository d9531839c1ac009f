"""One HTTP exchange with the API server: the pool and the credentials of the official client, bytes in and out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
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

from descheduler.kube.errors import KubeError, NotConnected, TransportError
from descheduler.kube.status import RawResponse

__all__ = ["Connection", "Transport", "exchange"]


class Connection(Protocol):
    """What `descheduler.kube.kubeconfig` hands over: an address, a pool and the current credentials."""

    @property
    def host(self) -> str:
        """Base URL of the API server, without a slash at the end."""

    @property
    def pool(self) -> urllib3.PoolManager:
        """The connection pool with the TLS settings of the configuration."""

    def authorization(self) -> str:
        """The value of the Authorization field as of now, "" for none; a token past its time is renewed here."""

    def refuse(self, authorization: str) -> None:
        """Takes note that the server did not accept this value, so that the next one is another where possible."""


class Transport:
    """Sends single requests. Never retries, never follows a redirect, keeps no state but the pool."""

    def __init__(self, connection: Connection, *, headers: Mapping[str, str], timeout_seconds: float) -> None:
        self.host = connection.host
        self._connection = connection
        self._headers = {"Accept": "application/json", "Accept-Encoding": "gzip", **headers}
        self.timeout_seconds = timeout_seconds
        # Renewing credentials is not made for several threads.
        self._auth_lock = threading.Lock()

    def send(
        self, method: str, path: str, *, query: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> RawResponse:
        """The answer to one request, whatever its status code.

        Raises TransportError when there is no complete answer (NotConnected when nothing was sent), and KubeError for
        a TLS failure, which no repetition mends. Neither text holds the query or a header field.
        """
        authorization = self._authorization()
        answer = self._send_as(authorization, method, path, query, body)
        if answer.status_code != 401 or not authorization:
            return answer
        # The server has done nothing yet: it looks at credentials first. A token may have been rotated meanwhile.
        renewed = self._authorization(refused=authorization)
        return answer if renewed in ("", authorization) else self._send_as(renewed, method, path, query, body)

    def close(self) -> None:
        """Closes the idle connections of the pool."""
        self._connection.pool.clear()

    def _authorization(self, *, refused: str = "") -> str:
        with self._auth_lock:
            if refused:
                self._connection.refuse(refused)
            return self._connection.authorization()

    def _send_as(
        self, authorization: str, method: str, path: str, query: Mapping[str, str] | None, body: bytes | None
    ) -> RawResponse:
        url = self.host + path + (f"?{urlencode(query)}" if query else "")
        headers = self._headers | ({"Authorization": authorization} if authorization else {})
        if body is not None:
            headers["Content-Type"] = "application/json"
        return exchange(
            lambda: self._open(method, url, headers, body),
            what=f"{method} {path} on {self.host}",
            timeout_seconds=self.timeout_seconds,
        )

    def _open(self, method: str, url: str, headers: dict[str, str], body: bytes | None) -> urllib3.BaseHTTPResponse:
        return self._connection.pool.request(
            method,
            url,
            body=body,
            headers=headers,
            timeout=urllib3.Timeout(connect=min(10.0, self.timeout_seconds), read=self.timeout_seconds),
            retries=False,
            redirect=False,
            preload_content=False,
            enforce_content_length=True,
        )


def exchange(
    open_response: Callable[[], urllib3.BaseHTTPResponse], *, what: str, timeout_seconds: float
) -> RawResponse:
    """The whole answer of a request that `open_response` starts; errors as `Transport.send`, naming `what`."""
    try:
        response = open_response()
        try:
            body = response.read(decode_content=True)
        finally:
            response.release_conn()
    except SSLError as error:
        raise KubeError(f"{what}: TLS failed ({_tls_fault(error)}); check the certificate authority") from error
    except (HTTPError, OSError) as error:
        fault = NotConnected if isinstance(error, NewConnectionError | ConnectTimeoutError) else TransportError
        raise fault(f"{what}: {_describe_fault(error, timeout_seconds)}") from error
    headers = {name.lower(): text for name, text in response.headers.items()}
    return RawResponse(response.status, response.reason or "", headers, body)


def _describe_fault(error: Exception, timeout_seconds: float) -> str:
    """A few words on a transport fault, without the object addresses that urllib3 puts into its texts."""
    match error:
        case NewConnectionError():
            cause = error.__cause__ or error.__context__
            return f"no connection ({getattr(cause, 'strerror', None) or 'address unknown'})"
        case NoAnswerInTime():
            return f"no answer within {timeout_seconds:g} s"
        case IncompleteRead():
            return "the answer was cut short"
        case DecodeError():
            return "the compressed answer is damaged"
        case ProtocolError():
            return "the connection was closed before the answer was complete"
        case _:
            return f"the connection failed ({type(error).__name__})"


def _tls_fault(error: SSLError) -> str:
    inner = error.args[0] if error.args else error
    return str(getattr(inner, "verify_message", "") or getattr(inner, "reason", "") or "handshake failed").lower()
