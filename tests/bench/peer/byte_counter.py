"""Counts the bytes that pass between a program and the API server, without looking into them."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress
from types import TracebackType

_CHUNK_BYTES = 1 << 20


class ByteCounter:
    """A TCP relay on loopback in front of `target_port`, for as long as the context is entered.

    TLS passes through untouched. The bytes move inside the kernel, so that the relay costs the measured program
    little and both programs the same.
    """

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._received = 0

    @property
    def port(self) -> int:
        """Where the program is to connect."""
        return int(self._listener.getsockname()[1])

    @property
    def bytes_received(self) -> int:
        """What the server has sent so far, TLS included."""
        with self._lock:
            return self._received

    def __enter__(self) -> ByteCounter:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # closed by __exit__
                return
            server = socket.create_connection(("127.0.0.1", self._target_port))
            threading.Thread(target=self._relay, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._relay, args=(server, client, True), daemon=True).start()

    def _relay(self, source: socket.socket, sink: socket.socket, counts: bool) -> None:
        reader, writer = os.pipe()
        try:
            while size := os.splice(source.fileno(), writer, _CHUNK_BYTES):
                if counts:
                    with self._lock:
                        self._received += size
                while size:
                    size -= os.splice(reader, sink.fileno(), size)
        except OSError:
            pass  # either side hung up, which is how connections end
        finally:
            _hang_up(source, sink)
            os.close(reader)
            os.close(writer)


def _hang_up(*sockets: socket.socket) -> None:
    """Ends both directions; the descriptors are closed with the last reference, for the other thread still has them."""
    for each in sockets:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
