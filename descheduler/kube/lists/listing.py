"""Lists as raw bytes: pages of JSON, one fetched ahead of the caller."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from descheduler.kube.answers import LIST_BYTES
from descheduler.kube.background import BackgroundCalls
from descheduler.kube.errors import ApiError, KindAbsent, KindForbidden, ListExpired
from descheduler.kube.lists.body import ListBodyReader, ListPage, kind_in
from descheduler.kube.lists.progress import ListProgress
from descheduler.transport.errors import AnswerTooLarge, ExchangeError

if TYPE_CHECKING:
    from descheduler.transport.exchange import StreamedResponse

__all__ = ["ListClient", "ListPage", "doing_of", "list_pages", "list_refusal"]

T = TypeVar("T")

_USER = re.compile(r'[Uu]ser "([^"]+)"')
_SHRINKING = 8
"""By what a page that is too large is divided: a server that answers so whatever is asked for is soon found out."""


class ListClient(Protocol):
    """What listing needs of a client."""

    def fetch(
        self,
        path: str,
        decode: Callable[[bytes], T],
        *,
        query: Mapping[str, str] | None = None,
        max_bytes: int,
        accept: str = "application/json",
    ) -> T:
        """What `decode` makes of the body of a successful GET, retried on faults."""

    def open_stream(self, path: str, *, query: Mapping[str, str], accept: str) -> StreamedResponse:
        """The body of a successful GET, still to be read; asking is retried on faults."""


def list_pages(client: ListClient, path: str, *, limit: int, query: Mapping[str, str]) -> Iterator[ListPage]:
    """The pages of one list, in order, at one resource version; one page at most is fetched ahead.

    `path` is that of the kind, such as `/api/v1/pods`. `limit` is the number of objects a page, `query` selects them.
    Raises ListExpired when the list cannot be continued, KindAbsent, KindForbidden, ApiError, TransportError.
    """
    pages = _PageFetcher(client, path, limit)
    progress = ListProgress(kind_in(path))
    calls: BackgroundCalls[ListPage] = BackgroundCalls(1, name="list")
    try:
        page = pages.fetch(query)
        version = page.resource_version
        progress.note(page)
        while page.continue_token:
            ahead = calls.submit(partial(pages.fetch, {**query, "continue": page.continue_token}))
            yield page
            page = ahead.result()
            if page.resource_version != version:
                raise ListExpired(f"list of {kind_in(path)}: resource version changed between pages")
            progress.note(page)
        yield page
    finally:
        calls.close()


class _PageFetcher:
    """Fetches pages of one list, one at a time; smaller ones from the first that is too large on."""

    def __init__(self, client: ListClient, path: str, limit: int) -> None:
        self._client = client
        self._path = path
        self._limit = limit
        self._read = ListBodyReader(path).read

    def fetch(self, query: Mapping[str, str]) -> ListPage:
        while True:
            asked = {"limit": str(self._limit), **query}
            try:
                return self._client.fetch(self._path, self._read, query=asked, max_bytes=LIST_BYTES)
            except ApiError as error:
                raise list_refusal(self._path, error) from error
            except AnswerTooLarge:
                if self._limit == 1:
                    raise
                self._limit = max(1, self._limit // _SHRINKING)


def list_refusal(path: str, error: ApiError) -> ExchangeError:
    """What a refusal of the list at `path` means."""
    kind = kind_in(path)
    match error.status_code:
        case 410:
            return ListExpired(f"list of {kind}: resource version expired between pages")
        case 404:
            return KindAbsent(f"the API server does not serve {kind} ({path})", status_code=404, reason=error.reason)
        case 403:
            user = _USER.search(str(error))
            who = f"user {user.group(1)!r}" if user else "this user"
            text = f"{who} is not allowed to list {kind} (RBAC); grant the verb list on it in a ClusterRole"
            return KindForbidden(text, status_code=403, reason=error.reason)
        case _:
            return error


def doing_of(path: str) -> str:
    """What a GET of `path` is for, such as "reading pods", for a message."""
    parts = path.strip("/").split("/")
    if len(parts) < 3:
        return "asking the API server for its version and groups"
    if "namespaces" in parts[:-2]:  # a namespaced object: .../namespaces/NAMESPACE/KIND/NAME
        return f"reading {parts[parts.index('namespaces') + 2]}"
    return f"reading {kind_in(path)}"
