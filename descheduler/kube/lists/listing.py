"""Lists as raw bytes: pages of JSON, one fetched ahead of the caller."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec

from descheduler.kube.answers import LIST_BYTES
from descheduler.kube.background import BackgroundCalls
from descheduler.kube.errors import ApiError, KindAbsent, KindForbidden, ListExpired
from descheduler.kube.lists.body import ListBodyReader, ListPage, kind_in
from descheduler.transport.errors import AnswerTooLarge, ExchangeError

if TYPE_CHECKING:
    from descheduler.transport.exchange import StreamedResponse

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


_ACCEPT = "application/json;as=Table;v=v1;g=meta.k8s.io, application/json"
_QUERY = {"includeObject": "None", "resourceVersion": "0"}
"""Rows without their objects, from the cache of the API server: some seconds old at most, and nothing for etcd."""


class _Column(msgspec.Struct):
    name: str = ""


class _Row(msgspec.Struct):
    cells: list[object]


class _Table(msgspec.Struct, rename="camel"):
    kind: str = ""
    column_definitions: list[_Column] = msgspec.field(default_factory=list)
    rows: list[_Row] = msgspec.field(default_factory=list)


_decode = msgspec.json.Decoder(_Table).decode


def column_cells(client: ListClient, path: str, column: str) -> tuple[str, ...] | None:
    """The cells of one column of the list at `path`, such as `Status`, a row each; None where there is no such table.

    Raises as `KubeClient.fetch`.
    """
    table = client.fetch(path, _decode, query=_QUERY, max_bytes=LIST_BYTES, accept=_ACCEPT)
    names = [each.name for each in table.column_definitions]
    if table.kind != "Table" or column not in names:
        return None
    at = names.index(column)
    return tuple(str(row.cells[at]) if at < len(row.cells) else "" for row in table.rows)
