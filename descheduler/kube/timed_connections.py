"""Connections on which a whole answer, not each wait for a part of it, has to arrive within the time-out."""

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

__all__ = ["HandshakeError", "keep_to_time", "whole_answer"]

_LONGEST_CONNECT_SECONDS = 10.0
_BUFFER_BYTES = 1 << 16
_LEAST_SECONDS = 0.001
"""Zero would have a socket not wait at all, which is something else than a time-out."""


class HandshakeError(ssl.SSLError):
    """TLS could not be agreed on, so no request was sent. The cause says why."""


def whole_answer(seconds: float) -> urllib3.Timeout:
    """The time-out of a request whose answer has to be there to its last byte after `seconds`."""
    return urllib3.Timeout(total=seconds, connect=min(_LONGEST_CONNECT_SECONDS, seconds), read=seconds)


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
        timed = _TimedSocket(sock, time.monotonic() + self.timeout)
        return HTTPResponse(timed, *args, **kwargs)  # type: ignore[arg-type]  # it calls makefile and nothing else


class _TimedSocket:
    """As much of a socket as `http.client.HTTPResponse` asks for; `until` is a time of `time.monotonic`."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._sock = sock
        self._until = until

    def makefile(self, mode: str) -> io.BufferedReader:
        """A reader of the socket that raises TimeoutError from `until` on."""
        return io.BufferedReader(_TimedReader(self._sock, self._until), _BUFFER_BYTES)


class _TimedReader(io.RawIOBase):
    def __init__(self, sock: socket.socket, until: float) -> None:
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._until = until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        seconds_left = self._until - time.monotonic()
        if seconds_left <= 0:
            raise TimeoutError("timed out")
        self._sock.settimeout(seconds_left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
