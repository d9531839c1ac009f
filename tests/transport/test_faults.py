"""What a fault of the HTTP library means for the caller: whether anything was sent, and the words for it."""

from __future__ import annotations

import http.client
import ssl
from typing import Any, NoReturn, cast

import pytest
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NewConnectionError,
    ProtocolError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)

from descheduler.transport.errors import ExchangeError, NotConnected, TransportError
from descheduler.transport.exchange import exchange
from descheduler.transport.timed_connections import HandshakeError

POOL = cast(Any, None)


def caused(error: Exception, cause: BaseException | None) -> Exception:
    error.__cause__ = cause
    return error


def handshake(cause: BaseException | None) -> SSLError:
    """A handshake that failed for this."""
    return SSLError(cast(Any, caused(HandshakeError(), cause)))


def told(reason: str = "", verify_message: str = "") -> ssl.SSLError:
    """An error of the TLS library with these words."""
    error = ssl.SSLCertVerificationError() if verify_message else ssl.SSLError()
    error.reason = reason
    if isinstance(error, ssl.SSLCertVerificationError):
        error.verify_message = verify_message
    return error


def meaning(error: Exception, proxy: str = "") -> tuple[type[Exception], str]:
    """What a call raises that ends with `error` before an answer."""

    def fail() -> NoReturn:
        raise error

    with pytest.raises(ExchangeError) as caught:
        exchange(fail, what="GET /x", timeout_seconds=5, max_bytes=10, proxy=proxy)
    return type(caught.value), str(caught.value).removeprefix("GET /x: ")


CLOSED = "the connection was closed before the answer was complete"


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        pytest.param(handshake(told(verify_message="Self-signed certificate")), ExchangeError,
                     "TLS failed (self-signed certificate); check the certificate authority", id="an authority"),
        pytest.param(handshake(told("WRONG_VERSION_NUMBER")), ExchangeError,
                     "the server does not speak TLS on this port; use http:// or another port", id="no TLS"),
        pytest.param(handshake(told("ODD")), ExchangeError,
                     "TLS failed (odd); check the certificate authority", id="another reason"),
        pytest.param(handshake(told()), ExchangeError,
                     "TLS failed (handshake failed); check the certificate authority", id="no reason"),
        pytest.param(handshake(ssl.SSLEOFError()), NotConnected, CLOSED, id="a handshake that was cut short"),
        pytest.param(SSLError(cast(Any, ssl.SSLEOFError())), TransportError, CLOSED, id="TLS that was cut short"),
        pytest.param(SSLError(cast(Any, told("ODD"))), TransportError, "what came over TLS is damaged", id="damage"),
        pytest.param(SSLError(), TransportError, "what came over TLS is damaged", id="damage without a cause"),
        pytest.param(caused(NewConnectionError(POOL, "x"), OSError(111, "Refused")), NotConnected,
                     "no connection (Refused)", id="no connection"),
        pytest.param(NewConnectionError(POOL, "x"), NotConnected, "no connection (address unknown)", id="no address"),
        pytest.param(ConnectTimeoutError(), NotConnected, "no connection within 5 s", id="no connection in time"),
        pytest.param(ReadTimeoutError(POOL, "/", "x"), TransportError, "no complete answer within 5 s", id="no answer"),
        pytest.param(ProtocolError("x", http.client.BadStatusLine("x")), TransportError,
                     "the answer is not HTTP, or its header is too large", id="no HTTP"),
        pytest.param(ProtocolError("x", http.client.RemoteDisconnected("x")), TransportError, CLOSED, id="closed"),
        pytest.param(ProtocolError("x"), TransportError, CLOSED, id="closed without a cause"),
        pytest.param(HTTPError(), TransportError, "the connection failed (HTTPError)", id="something else"),
        pytest.param(OSError(), TransportError, "the connection failed (OSError)", id="the system"),
    ],
)  # fmt: skip
def test_fault_tells_whether_anything_was_sent(error: Exception, kind: type[Exception], words: str) -> None:
    assert meaning(error) == (kind, words)


TUNNEL = "Tunnel connection failed"
UNREACHED = "the proxy p:1 could not be reached; check the address of the proxy"


@pytest.mark.parametrize(
    ("cause", "kind", "words"),
    [
        pytest.param(OSError(f"{TUNNEL}: 407 Proxy Authentication Required"), NotConnected,
                     "the proxy p:1 refused the connection (407); check user and password of the proxy", id="a login"),
        pytest.param(OSError(f"{TUNNEL}: 403 Forbidden"), NotConnected,
                     "the proxy p:1 refused the connection; check the address of the proxy and its rules", id="rules"),
        pytest.param(NewConnectionError(POOL, "x"), NotConnected, UNREACHED, id="no connection"),
        pytest.param(ConnectTimeoutError(), NotConnected, UNREACHED, id="no connection in time"),
        pytest.param(http.client.RemoteDisconnected("x"), TransportError, UNREACHED, id="closed, perhaps later"),
        pytest.param(ValueError(TUNNEL), TransportError, UNREACHED, id="something else"),
    ],
)  # fmt: skip
def test_fault_of_a_proxy_tells_whether_anything_was_sent(cause: Exception, kind: type[Exception], words: str) -> None:
    """urllib3 blames the proxy also where the connection through it is lost behind the request."""
    assert meaning(ProxyError("x", cause), "p:1") == (kind, words)
