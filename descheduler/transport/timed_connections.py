"""Connections on which a whole answer, or a good part of a long one, has to arrive within the time-out."""

from __future__ import annotations

import io
import socket
import ssl
import time
from functools import cache
from http.client import HTTPResponse
from typing import TYPE_CHECKING, Any

import urllib3
from urllib3.util.ssl_match_hostname import CertificateError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_LONGEST_CONNECT_SECONDS = 10.0
_BUFFER_BYTES = 1 << 16
_LEAST_PROGRESS_BYTES = 1 << 16
_TOLERANCE = 0.01
"""By what part of its time-out an answer may come late."""
_LEAST_SECONDS = 0.001
"""Zero would have a socket not wait at all, which is something else than a time-out."""


class HandshakeError(ssl.SSLError):
    """TLS could not be agreed on, so no request was sent. The cause says why."""


def whole_answer(seconds: float) -> urllib3.Timeout:
    """The time-out of a request whose answer has to be there to its last byte after `seconds`."""
    return urllib3.Timeout(total=seconds, connect=min(_LONGEST_CONNECT_SECONDS, seconds), read=seconds)


class _Steady(float):
    """Seconds within which the next part of an answer has to arrive, and not the whole of it."""


def steady_answer(seconds: float) -> urllib3.Timeout:
    """The time-out of a request whose answer may take as long as 64 KiB, or its end, come every `seconds`."""
    return urllib3.Timeout(connect=min(_LONGEST_CONNECT_SECONDS, seconds), read=_Steady(seconds))


def keep_to_time(pool: urllib3.PoolManager) -> urllib3.PoolManager:
    """Has all further connections of `pool` take the time-out of a request for that of its whole answer.

    urllib3 alone applies it to every single wait, so that a server which sends a byte now and then holds a request
    for ever. Proxies of all sorts stay as they are set up. Returns `pool`.
    """
    pool.pool_classes_by_scheme = {
        scheme: _in_time(pool_class) for scheme, pool_class in pool.pool_classes_by_scheme.items()
    }
    return pool


@cache
def _in_time(pool_class: type[urllib3.HTTPConnectionPool]) -> type[urllib3.HTTPConnectionPool]:
    if issubclass(pool_class.ConnectionCls, _InTime):
        return pool_class
    connection_class = type("TimedConnection", (_InTime, pool_class.ConnectionCls), {})
    return type("TimedPool", (pool_class,), {"ConnectionCls": connection_class})


class _InTime:
    """Put before a connection class of urllib3, which sets `timeout` to the seconds left before it waits."""

    timeout: float | None

    def _new_conn(self) -> socket.socket:
        """The new socket; TLS and a proxy's answer get what connecting has left of the time."""
        until = None if self.timeout is None else time.monotonic() + self.timeout
        connected: socket.socket = super()._new_conn()  # type: ignore[misc]  # of the class this is put before
        if until is not None:
            self.timeout = max(_LEAST_SECONDS, until - time.monotonic())
            connected.settimeout(self.timeout)
        return connected

    def connect(self) -> None:
        """Connects, with the TLS handshake. Raises HandshakeError where that fails, with nothing sent yet."""
        try:
            super().connect()  # type: ignore[misc]  # of the class this is put before
        except (ssl.SSLError, CertificateError) as error:
            raise HandshakeError(*error.args) from error

    def response_class(self, sock: socket.socket, *args: Any, **kwargs: Any) -> HTTPResponse:
        """What `http.client` reads an answer with, a proxy's to CONNECT included."""
        if self.timeout is None:
            return HTTPResponse(sock, *args, **kwargs)
        timed = _TimedSocket(sock, self.timeout)
        return HTTPResponse(timed, *args, **kwargs)  # type: ignore[arg-type]  # it calls makefile and nothing else


class _TimedSocket:
    """As much of a socket as `http.client.HTTPResponse` asks for."""

    def __init__(self, sock: socket.socket, seconds: float) -> None:
        self._sock = sock
        self._seconds = seconds

    def makefile(self, mode: str) -> io.BufferedReader:
        """A reader of the socket that raises TimeoutError when the time is over."""
        return io.BufferedReader(_TimedReader(self._sock, self._seconds), _BUFFER_BYTES)


class _TimedReader(io.RawIOBase):
    """`seconds` are those of the whole answer, or when they are `_Steady` of each part of it.

    Of a part the time counts in which it is waited for: a list may stay unread while another one is decoded.
    """

    def __init__(self, sock: socket.socket, seconds: float) -> None:
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._seconds = seconds
        self._is_steady = isinstance(seconds, _Steady)
        self._waited_at = time.monotonic()
        self._until = self._waited_at + seconds
        self._longest_wait = 0.0
        """What the socket was told last."""
        self._num_since = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        now = time.monotonic()
        if self._is_steady:
            self._until += now - self._waited_at
        seconds_left = self._until - now
        if seconds_left <= 0:
            raise TimeoutError("timed out")
        # Telling a socket is a system call, and a large list takes some ten thousand reads.
        if not seconds_left <= self._longest_wait <= seconds_left + self._seconds * _TOLERANCE:
            self._sock.settimeout(seconds_left)
            self._longest_wait = seconds_left
        num_read = self._sock.recv_into(buffer)
        if self._is_steady:
            self._note_progress(num_read)
        return num_read

    def _note_progress(self, num_bytes: int) -> None:
        self._waited_at = time.monotonic()
        self._num_since += num_bytes
        if self._num_since >= _LEAST_PROGRESS_BYTES:
            self._num_since = 0
            self._until = self._waited_at + self._seconds

    def close(self) -> None:
        self._raw.close()
        super().close()
