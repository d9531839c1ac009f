"""Lists as raw bytes: pages of JSON, one fetched ahead of the caller, or protobuf, object by object as it comes in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

from descheduler.kube.background import BackgroundCalls
from descheduler.kube.bounded_body import LIST_BYTES, UNPAGED_BYTES
from descheduler.kube.errors import (
    AnswerBroken,
    AnswerTooLarge,
    ApiError,
    KindAbsent,
    KindForbidden,
    KubeError,
    ListExpired,
    NotProtobuf,
)
from descheduler.kube.found import Head
from descheduler.kube.list_body import ListBodyReader, ListPage, comes_in_one_piece, kind_in, version_in
from descheduler.kube.list_progress import ListProgress
from descheduler.kube.message_list import MessageList
from descheduler.kube.transport import StreamedResponse

__all__ = ["ListPage", "MessageBatch", "doing_of", "list_messages", "list_pages", "read_list"]

T = TypeVar("T")

_USER = re.compile(r'[Uu]ser "([^"]+)"')
_SHRINKING = 8
"""By what a page that is too large is divided: a server that answers so whatever is asked for is soon found out."""


PROTOBUF = "application/vnd.kubernetes.protobuf, application/json"
"""What is asked for; the second for an error, and for servers that know nothing else."""
_PROTOBUF_TYPE = PROTOBUF.partition(",")[0]


class StreamClient(Protocol):
    """What listing messages needs of a client."""

    def open_stream(self, path: str, *, query: Mapping[str, str], accept: str) -> StreamedResponse:
        """The body of a successful GET, still to be read; asking is retried on faults."""

    def pause(self) -> None:
        """Waits for a moment."""


class ListClient(Protocol):
    """What listing needs of a client."""

    def fetch(
        self, path: str, decode: Callable[[bytes], T], *, query: Mapping[str, str] | None = None, max_bytes: int
    ) -> T:
        """What `decode` makes of the body of a successful GET, retried on faults."""

    def list_pages(
        self,
        path: str,
        *,
        limit: int = 500,
        resource_version: str | None = None,
        label_selector: str | None = None,
    ) -> Iterator[ListPage]:
        """The pages of the list at `path`."""


def list_pages(
    client: ListClient, path: str, *, limit: int, resource_version: str | None, label_selector: str | None
) -> Iterator[ListPage]:
    """The pages of one list, in order, at one resource version; one page at most is fetched ahead.

    `path` is that of the kind, such as `/api/v1/pods`. `limit` is the number of objects a page; `resource_version`
    as in the API ("0": whatever the server has at hand). Raises ListExpired when the list cannot be continued,
    KindAbsent, KindForbidden, ApiError, TransportError.
    """
    query = {"labelSelector": label_selector} if label_selector else {}
    first = query | ({"resourceVersion": resource_version} if resource_version is not None else {})
    pages = _PageFetcher(client, path, limit)
    progress = ListProgress(kind_in(path))
    calls: BackgroundCalls[ListPage] = BackgroundCalls(1, name="list")
    try:
        page = pages.fetch(first)
        version = page.resource_version
        progress.note(page)
        while page.continue_token:
            # The API refuses a resourceVersion next to a continue token, which holds it already.
            ahead = calls.submit(partial(pages.fetch, query | {"continue": page.continue_token}))
            yield page
            page = ahead.result()
            if page.resource_version != version:
                raise ListExpired(f"list of {kind_in(path)}: resource version changed between pages")
            progress.note(page)
        yield page
    finally:
        calls.close()


def read_list(
    client: ListClient,
    path: str,
    consume: Callable[[Iterator[ListPage]], T],
    *,
    limit: int = 500,
    label_selector: str | None = None,
    max_restarts: int = 3,
) -> T:
    """What `consume` makes of all pages, called anew with a fresh list whenever the former one expired.

    `consume` must keep nothing between calls. Raises KubeError after `max_restarts` restarts, else as `list_pages`.
    """
    for _ in range(max_restarts + 1):
        try:
            return consume(client.list_pages(path, limit=limit, label_selector=label_selector))
        except ListExpired:
            continue
    raise KubeError(
        f"list of {kind_in(path)} expired {max_restarts + 1} times before it was read; "
        "the API server compacts faster than it answers, raise the page limit"
    )


@dataclass(frozen=True, slots=True)
class MessageBatch:
    """Some objects of a list, each the bytes of its protobuf message; `kind` is that of the list, such as `PodList`."""

    items: Sequence[bytes]
    resource_version: str
    kind: str


def list_messages(client: StreamClient, path: str, *, limit: int = 0) -> Iterator[MessageBatch]:
    """One list in protobuf, in order, at one resource version, as it comes in; `limit` objects a page, 0 in one go.

    Of the list no more is in memory than a batch. Raises NotProtobuf before anything else when the server does not
    speak it, AnswerBroken and ListExpired when the list has to be started again, else as `list_pages`.
    """
    try:
        yield from _message_pages(client, path, {"limit": str(limit)} if limit else {})
    except AnswerBroken:
        client.pause()
        raise


def _message_pages(client: StreamClient, path: str, query: Mapping[str, str]) -> Iterator[MessageBatch]:
    token, version = "", ""
    progress = ListProgress(kind_in(path))
    while True:
        try:
            response = client.open_stream(path, query={**query, "continue": token} if token else query, accept=PROTOBUF)
        except ApiError as error:
            raise _meaning(path, error) from error
        with closing(response):
            page = _message_list(response, path)
            if token and page.resource_version != version:
                raise ListExpired(f"list of {kind_in(path)}: resource version changed between pages")
            version, first = page.resource_version, b""
            for items in page.batches():
                first = first or items[0]
                yield MessageBatch(items, version, page.kind)
            # An empty list has a kind and a version, too.
            yield MessageBatch((), version, page.kind)
        progress.note(ListPage(b"", page.continue_token, version, page.kind, first))
        token = page.continue_token
        if not token:
            return


def _message_list(response: StreamedResponse, path: str) -> MessageList:
    if response.content_type != _PROTOBUF_TYPE:
        raise NotProtobuf(f"{response.what}: answered in {response.content_type or 'no known format'}")
    page = MessageList(response.parts(), response.what)
    if not page.kind.endswith("List") or page.api_version != version_in(path):
        found = Head(page.kind, page.api_version).words
        raise KubeError(
            f"GET {path}: the answer is not the list of {kind_in(path)}, but {found}; check the server and the proxies "
            "in front of it"
        )
    return page


class _PageFetcher:
    """Fetches pages of one list, one at a time; smaller ones from the first that is too large on."""

    def __init__(self, client: ListClient, path: str, limit: int) -> None:
        self._client = client
        self._path = path
        self._limit = limit
        self._read = ListBodyReader(path).read
        self._is_paged = not comes_in_one_piece(path)

    def fetch(self, query: Mapping[str, str]) -> ListPage:
        max_bytes = LIST_BYTES if self._is_paged else UNPAGED_BYTES
        while True:
            asked = {"limit": str(self._limit), **query}
            try:
                return self._client.fetch(self._path, self._read, query=asked, max_bytes=max_bytes)
            except ApiError as error:
                raise _meaning(self._path, error) from error
            except AnswerTooLarge:
                if self._limit == 1 or not self._is_paged:
                    raise
                self._limit = max(1, self._limit // _SHRINKING)


def _meaning(path: str, error: ApiError) -> KubeError:
    kind = kind_in(path)
    match error.status_code:
        case 410:
            return ListExpired(f"list of {kind}: resource version expired between pages")
        case 404:
            return KindAbsent(f"the API server does not serve {kind} ({path})", status_code=404, reason=error.reason)
        case 403:
            user = _USER.search(str(error))
            who = f"user {user.group(1)!r}" if user else "this user"
            text = f"{who} may not list {kind}; grant the verb list on it with a ClusterRole"
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
