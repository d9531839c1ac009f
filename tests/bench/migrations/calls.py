"""Calls to the API server by verb and resource, as its own metrics name them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from tests.e2e.witness import Exchange

_PATH = re.compile(
    r"/(?:api|apis/[^/]+)/[^/]+(?:/namespaces/[^/]+(?=/))?/(?P<resource>[^/]+)(?:/(?P<name>[^/]+))?(?:/(?P<part>.+))?"
)
_VERBS = {"POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}


def count_calls(exchanges: Iterable[Exchange]) -> Counter[str]:
    """`verb resource` → calls; whatever is no resource is one line."""
    return Counter(map(_kind_of, exchanges))


def _kind_of(exchange: Exchange) -> str:
    found = _PATH.fullmatch(exchange.path)
    if found is None:
        return "get (discovery)"
    reading = "get" if found["name"] else "list"
    part = f"/{found['part']}" if found["part"] else ""
    return f"{_VERBS.get(exchange.method, reading)} {found['resource']}{part}"
