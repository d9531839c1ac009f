"""One HTTP exchange with a server over a pool of connections: credentials and bytes in, bytes out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException, RemoteDisconnected
from http.client import IncompleteRead as BrokenRead
from ssl import SSLEOFError
from typing import NamedTuple, Protocol, TypeVar
from urllib.parse import urlencode

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    DecodeError,
    HTTPError,
    IncompleteRead,
    NewConnectionError,
    ProtocolError,
    ProxyError,
    SSLError,
)
from urllib3.exceptions import TimeoutError as NoAnswerInTime

from descheduler.transport.answer import RawResponse, text_without_credentials, without_credentials
from descheduler.transport.bounded_body import SHORT_BYTES, BodyTooLargeError, read_body, stream_body
from descheduler.transport.errors import (
    AnswerBroken,
    AnswerTooLarge,
    ExchangeError,
    NotConnected,
    TransportError,
    Withheld,
)
from descheduler.transport.timed_connections import HandshakeError, keep_to_time, steady_answer, whole_answer

_OK = 200
_TEXT = "application/json"
_UNCONNECTED = (NewConnectionError, ConnectTimeoutError)


class Connection(Protocol):
    """The way to a server: its address, a pool and the current credentials."""

    @property
    def host(self) -> str:
        """Base URL of the server, without a slash at the end."""

    @property
    def pool(self) -> urllib3.PoolManager:
        """The connection pool with the TLS settings of the configuration."""

    def authorization(self) -> str:
        """The value of the Authorization field as of now, "" for none; a token past its time is renewed here."""

    def refuse(self, authorization: str) -> None:
        """Takes note that the server did not accept this value, so that the next one is another where possible."""


class _Answer(Protocol):
    @property
    def status_code(self) -> int: ...


Answer = TypeVar("Answer", bound=_Answer)


class Transport:
    """Sends single requests. Never retries, never follows a redirect, keeps no state but the pool."""

    def __init__(self, connection: Connection, *, headers: Mapping[str, str], timeout_seconds: float) -> None:
        self.host = connection.host
        self._connection = connection
        keep_to_time(connection.pool)
        proxy = getattr(connection.pool, "proxy", None)
        self._proxy = "" if proxy is None else f"{proxy.host}:{proxy.port}"
        self._headers = {"Accept-Encoding": "gzip", **headers}
        self.timeout_seconds = timeout_seconds
        # Renewing credentials is not made for several threads.
        self._auth_lock = threading.Lock()

    def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: bytes | None = None,
        max_bytes: int = SHORT_BYTES,
        accept: str = _TEXT,
        content_type: str = _TEXT,
        may_send: Callable[[], bool] = lambda: True,
    ) -> RawResponse:
        """The answer to one request, whatever its status code.

        Raises TransportError when there is no complete answer in time (NotConnected when nothing was sent),
        AnswerTooLarge when its body takes more than `max_bytes`, and ExchangeError for a TLS handshake that failed, so
        that nothing was sent, which no repetition mends. No text holds the query or a header field. `accept` is the
        media type asked for, `content_type` that of `body`. `may_send` is asked when nothing is left but to send the
        request, after the wait for new credentials: Withheld is raised when it says no.
        """
        request = _Request(method, _target(path, query), body, max_bytes, accept, may_send, content_type)
        return self._renewing(request, self._send_as)

    def stream(self, path: str, *, query: Mapping[str, str], accept: str) -> RawResponse | StreamedResponse:
        """The answer to a GET, read as it comes when it is the whole (200) and of the first type of `accept`.

        Raises as `send`. The time-out bounds the time without progress.
        """
        request = _Request("GET", _target(path, query), None, SHORT_BYTES, accept, lambda: True)
        return self._renewing(request, self._stream_as)

    def _renewing(self, request: _Request, send: Callable[[str, _Request], Answer]) -> Answer:
        authorization = self._authorization()
        answer = send(authorization, request)
        if answer.status_code != 401 or not authorization:
            return answer
        # A token may have been rotated meanwhile. What creates something is for its caller to ask for again, who knows
        # what an answer of 401 leaves open.
        renewed = self._authorization(refused=authorization)
        if request.method == "POST" or renewed in ("", authorization):
            return answer
        return send(renewed, request)

    def close(self) -> None:
        """Closes the idle connections of the pool."""
        self._connection.pool.clear()

    def _authorization(self, *, refused: str = "") -> str:
        with self._auth_lock:
            if refused:
                self._connection.refuse(refused)
            return self._connection.authorization()

    def _send_as(self, authorization: str, request: _Request) -> RawResponse:
        if not request.may_send():
            raise Withheld(f"{request.method} on {self.host} was not sent")
        headers = self._headers | {"Accept": request.accept}
        if authorization:
            headers["Authorization"] = authorization
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        answer = exchange(
            lambda: self._open(request, headers, whole_answer(self.timeout_seconds)),
            what=self._what(request),
            timeout_seconds=self.timeout_seconds,
            max_bytes=request.max_bytes,
            proxy=self._proxy,
        )
        return without_credentials(answer, authorization)

    def _stream_as(self, authorization: str, request: _Request) -> RawResponse | StreamedResponse:
        headers = self._headers | {"Accept": request.accept}
        if not request.accept.startswith(_TEXT):
            # Compressing what is dense already costs the server more than all else about it.
            headers["Accept-Encoding"] = "identity"
        headers |= {"Authorization": authorization} if authorization else {}
        what, seconds = self._what(request), self.timeout_seconds
        response = _opened(lambda: self._open(request, headers, steady_answer(seconds)), what, seconds, self._proxy)
        if response.status == _OK:
            return StreamedResponse(response, what, seconds, authorization)
        return without_credentials(_whole(response, what, seconds, request.max_bytes), authorization)

    def _what(self, request: _Request) -> str:
        return f"{request.method} {request.path.partition('?')[0]} on {self.host}"

    def _open(self, request: _Request, headers: dict[str, str], timeout: urllib3.Timeout) -> urllib3.BaseHTTPResponse:
        return self._connection.pool.request(
            request.method,
            self.host + request.path,
            body=request.body,
            headers=headers,
            timeout=timeout,
            retries=False,
            redirect=False,
            preload_content=False,
            enforce_content_length=True,
        )


class StreamedResponse:
    """A success whose body is still to come. It has to be read to its end, or closed."""

    status_code = _OK

    def __init__(
        self, response: urllib3.BaseHTTPResponse, what: str, timeout_seconds: float, authorization: str
    ) -> None:
        self.what = what
        self.content_type = response.headers.get("content-type", "").partition(";")[0].strip()
        self._response = response
        self._timeout_seconds = timeout_seconds
        self._authorization = authorization

    @contextmanager
    def credentials_hidden(self) -> Iterator[None]:
        """Lets no ExchangeError say a credential of the request that the body repeats."""
        try:
            yield
        except ExchangeError as error:
            hidden = text_without_credentials(str(error), self._authorization)
            raise ExchangeError(hidden) from None

    def parts(self) -> Iterator[bytes]:
        """The body, part by part. Raises AnswerBroken when it does not come whole, AnswerTooLarge for a bomb."""
        try:
            yield from stream_body(self._response)
        except BodyTooLargeError as error:
            raise AnswerTooLarge(f"{self.what}: the compressed answer holds nothing; check the server") from error
        except (HTTPError, OSError) as error:
            raise AnswerBroken(f"{self.what}: {_describe_fault(error, self._timeout_seconds)}") from error

    def close(self) -> None:
        """Gives the rest of the body up."""
        self._response.close()


class _Request(NamedTuple):
    """What is sent, but for the credentials; `path` holds the query."""

    method: str
    path: str
    body: bytes | None
    max_bytes: int
    accept: str
    may_send: Callable[[], bool]
    content_type: str = _TEXT


def _target(path: str, query: Mapping[str, str] | None) -> str:
    return path + (f"?{urlencode(query)}" if query else "")


def exchange(
    open_response: Callable[[], urllib3.BaseHTTPResponse],
    *,
    what: str,
    timeout_seconds: float,
    max_bytes: int,
    proxy: str = "",
) -> RawResponse:
    """The whole answer of a request that `open_response` starts; errors as `Transport.send`, naming `what`.

    `proxy` is host and port of the proxy on the way, "" for none.

    `open_response` asks a pool of `keep_to_time` with the time-out `whole_answer(timeout_seconds)`.
    """
    return _whole(_opened(open_response, what, timeout_seconds, proxy), what, timeout_seconds, max_bytes)


def _opened(
    open_response: Callable[[], urllib3.BaseHTTPResponse], what: str, timeout_seconds: float, proxy: str
) -> urllib3.BaseHTTPResponse:
    try:
        return open_response()
    except ProxyError as error:
        fault = NotConnected if _is_before_proxy(error) else TransportError
        raise fault(f"{what}: {_describe_proxy_fault(error, proxy)}") from error
    except (HTTPError, OSError) as error:
        raise _meaning(error, what, timeout_seconds) from error


def _whole(response: urllib3.BaseHTTPResponse, what: str, timeout_seconds: float, max_bytes: int) -> RawResponse:
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


def _meaning(error: Exception, what: str, timeout_seconds: float) -> ExchangeError:
    """What it means that no answer began to come: only until the handshake has ended nothing was sent for certain."""
    cause = error.args[0] if isinstance(error, SSLError) and error.args else None
    if isinstance(cause, HandshakeError) and not isinstance(cause.__cause__, SSLEOFError):
        why = _tls_fault(cause.__cause__)
        if why == "wrong_version_number":
            return ExchangeError(f"{what}: the server does not speak TLS on this port; use http:// or another port")
        return ExchangeError(f"{what}: TLS failed ({why}); check the certificate authority")
    was_sent = not (isinstance(cause, HandshakeError) or isinstance(error, _UNCONNECTED))
    fault = TransportError if was_sent else NotConnected
    return fault(f"{what}: {_describe_fault(error, timeout_seconds)}")


def _is_before_proxy(error: ProxyError) -> bool:
    """Whether the connection was not made for certain: urllib3 blames the proxy for one that is lost later, too."""
    return isinstance(error.original_error, _UNCONNECTED) or _is_refused_tunnel(error.original_error)


def _is_refused_tunnel(cause: Exception) -> bool:
    return isinstance(cause, OSError) and str(cause).startswith("Tunnel connection failed")


def _describe_proxy_fault(error: ProxyError, proxy: str) -> str:
    """As `_describe_fault`, where the fault lies between this program and the proxy."""
    cause = error.original_error
    if "407" in str(cause):  # http.client tells the status of an answer to CONNECT in the text alone
        return f"the proxy {proxy} refused the connection (407); check user and password of the proxy"
    if _is_refused_tunnel(cause):
        return f"the proxy {proxy} refused the connection; check the address of the proxy and its rules"
    return f"the proxy {proxy} could not be reached; check the address of the proxy"


def _describe_fault(error: Exception, timeout_seconds: float) -> str:
    """A few words on a transport fault, without the object addresses that urllib3 puts into its texts."""
    match error:
        case NewConnectionError():
            return f"no connection ({getattr(error.__cause__, 'strerror', None) or 'address unknown'})"
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
        case SSLError() if not isinstance(error.args[0] if error.args else None, HandshakeError | SSLEOFError):
            return "what came over TLS is damaged"
        case ProtocolError() | SSLError():
            return "the connection was closed before the answer was complete"
        case _:
            return f"the connection failed ({type(error).__name__})"


def _is_malformed(error: ProtocolError) -> bool:
    """Whether the server answered with what no HTTP server answers, rather than not at all."""
    cause = error.args[1] if len(error.args) > 1 else None
    return isinstance(cause, HTTPException) and not isinstance(cause, RemoteDisconnected | BrokenRead)


def _tls_fault(error: BaseException | None) -> str:
    return str(getattr(error, "verify_message", "") or getattr(error, "reason", "") or "handshake failed").lower()
