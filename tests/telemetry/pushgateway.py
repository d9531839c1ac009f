"""A Pushgateway on loopback, which keeps what was pushed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.loopback import Exchange, Listener


class Pushgateway:
    """Group, as in the path → the text that was pushed to it last. `status_code` is that of every answer."""

    def __init__(self) -> None:
        self.groups: dict[str, str] = {}
        self.status_code = 200
        self.listener = Listener(_Exchange, self)
        self.url = self.listener.url


@pytest.fixture
def pushgateway() -> Iterator[Pushgateway]:
    """A Pushgateway that is serving."""
    gateway = Pushgateway()
    with gateway.listener:
        yield gateway


class _Exchange(Exchange[Pushgateway]):
    def answer(self, body: bytes) -> None:
        if self.owner.status_code < 300:
            self.owner.groups[self.path] = body.decode()
        self.send_response(self.owner.status_code)
        self.send_header("Content-Length", "0")
        self.end_headers()
