"""Whether the pages of a list get anywhere: a server can hand out continue tokens for ever."""

from __future__ import annotations

import hashlib

from descheduler.kube.lists.body import ListPage
from descheduler.transport.errors import ExchangeError

__all__ = ["ListProgress"]

_MOST_EMPTY_PAGES = 100
"""Pages without objects in a row. The API server fills its pages, also under a selector; servers that look through
`limit` objects a page for matches get through 50,000 and more."""
_MOST_PAGES = 10_000
"""Pages of a list. At 500 objects a page that is five million; pages are smaller only where objects are so large that
as many of them would be beyond the 8 GiB that etcd holds."""


class ListProgress:
    """Watches the pages of one list at one resource version, in order.

    The API server lists in the order of names, each continue token names where the next page starts, and so neither a
    token nor an object comes twice. `remainingItemCount` is not relied on: the API says that it may be wrong.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._tokens: set[bytes] = set()
        self._firsts: set[bytes] = set()
        self._num_pages = 0
        self._num_empty = 0

    def note(self, page: ListPage) -> None:
        """Takes the next page into account. Raises ExchangeError when the list has no end."""
        self._num_pages += 1
        self._num_empty = 0 if page.first else self._num_empty + 1
        if page.first and not _is_new(page.first, self._firsts):
            raise self._endless("the API server sent the same objects again")
        if not page.continue_token:
            return
        if not _is_new(page.continue_token.encode(), self._tokens):
            raise self._endless("the API server sent the same continue token again")
        if self._num_empty == _MOST_EMPTY_PAGES:
            raise self._endless(f"the API server sent {_MOST_EMPTY_PAGES} pages without objects, one after the other")
        if self._num_pages == _MOST_PAGES:
            raise self._endless("the API server always announces one more page")

    def _endless(self, why: str) -> ExchangeError:
        return ExchangeError(
            f"list of {self._kind} has no end after page {self._num_pages}: {why}; check the server and the proxies in "
            "front of it"
        )


def _is_new(content: bytes, seen: set[bytes]) -> bool:
    """Whether `content` was not seen before; from now on it is. It may be large, so a digest of it is kept."""
    digest, num_seen = hashlib.sha256(content).digest(), len(seen)
    seen.add(digest)
    return len(seen) > num_seen
