"""A webhook on loopback, which keeps what it was told."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.loopback import Exchange, Listener

SECRET = "T0K3N-of-the-hook"
"""A part of its URL."""


class Webhook:
    """Keeps the requests that it gets: path, header fields, body."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.status_code = 200
        self.listener = Listener(_Answer, self)
        self.url = f"{self.listener.url}/services/{SECRET}?key={SECRET}"


class _Answer(Exchange[Webhook]):
    def answer(self, body: bytes) -> None:
        self.owner.requests.append((self.path, dict(self.headers), body))
        self.send_response(self.owner.status_code)
        self.send_header("Location", f"/elsewhere/{SECRET}")
        self.send_header("Content-Length", "0")
        self.end_headers()


@pytest.fixture
def webhook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Webhook]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    hook = Webhook()
    with hook.listener:
        yield hook
