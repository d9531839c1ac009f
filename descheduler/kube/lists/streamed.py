"""Lists that are taken apart as they come in: protobuf, or JSON in shorter pieces than the server sends it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing

import msgspec
from msgspec.structs import replace

from descheduler.kube.answers import ObjectHead
from descheduler.kube.errors import ApiError, ListExpired, NotProtobuf
from descheduler.kube.lists.body import ListBodyReader, ListPage, kind_in, version_in
from descheduler.kube.lists.json_list import JsonList
from descheduler.kube.lists.listing import ListClient, ListProgress, list_refusal
from descheduler.kube.lists.message_list import MessageList
from descheduler.transport.errors import AnswerBroken, ExchangeError
from descheduler.transport.exchange import StreamedResponse

_JSON = "application/json"
_PROTOBUF_TYPE = "application/vnd.kubernetes.protobuf"
_PROTOBUF = f"{_PROTOBUF_TYPE}, {_JSON}"
"""What is asked for; the second for an error, and for servers that know nothing else."""


class MessageBatch(msgspec.Struct, frozen=True):
    """Some objects of a list, each the bytes of its protobuf message; `kind` is that of the list, such as `PodList`."""

    items: Sequence[bytes]
    resource_version: str
    kind: str


def list_messages(client: ListClient, path: str, *, limit: int = 0) -> Generator[MessageBatch, None, None]:
    """One list in protobuf, in order, at one resource version, as it comes in; `limit` objects a page, 0 in one go.

    Of the list no more is in memory than a batch. Raises NotProtobuf at the first answer in another format,
    AnswerBroken and ListExpired when the list has to be started again, else as `list_pages`.
    """
    answers = _Answers(client, path, {"limit": str(limit)} if limit else {}, accept=_PROTOBUF)
    for response in answers:
        with closing(response):
            page = _message_list(response, path)
            stated = ListPage(b"", page.continue_token, page.resource_version, page.kind)
            for items in page.batches():
                answers.note(replace(stated, first=items[0]))
                yield MessageBatch(items, page.resource_version, page.kind)
            # An empty list has a kind and a version, too.
            answers.note(stated)
            yield MessageBatch((), page.resource_version, page.kind)


def list_pieces(client: ListClient, path: str, query: Mapping[str, str]) -> Generator[ListPage, None, None]:
    """One list in JSON, in order, at one resource version, asked for as a whole and read as it comes in.

    Each piece is a page of some of the objects. Raises AnswerBroken and ListExpired when the list has to be started
    again, else as `list_pages`.
    """
    answers, read = _Answers(client, path, query, accept=_JSON), ListBodyReader(path).read
    for response in answers:
        with closing(response):
            for body in JsonList(response.parts(), response.what).bodies():
                page = _piece(read, body, response)
                answers.note(page)
                yield page


def _piece(read: Callable[[bytes], ListPage], body: bytes, response: StreamedResponse) -> ListPage:
    try:
        with response.credentials_hidden():
            return read(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise AnswerBroken(f"{response.what}: the answer is damaged") from error


class _Answers:
    """The answers that make up one list; each is read to its end, and told of by `note`, before the next is asked for.

    Servers may send a list in pages, whatever they are asked for.
    """

    def __init__(self, client: ListClient, path: str, query: Mapping[str, str], *, accept: str) -> None:
        self._client = client
        self._path = path
        self._query = query
        self._accept = accept
        self._progress = ListProgress(kind_in(path))
        self._version: str | None = None
        self._page = ListPage(b"", "", "")

    def __iter__(self) -> Iterator[StreamedResponse]:
        # The API refuses a resourceVersion next to a continue token, which holds it already.
        rest = {name: text for name, text in self._query.items() if name != "resourceVersion"}
        query = self._query
        while True:
            self._page = ListPage(b"", "", "")
            yield self._open(query)
            self._progress.note(self._page)
            if not self._page.continue_token:
                return
            query = {**rest, "continue": self._page.continue_token}

    def note(self, page: ListPage) -> None:
        """Takes the next part of the present answer into account. Raises ListExpired."""
        if self._version not in (None, page.resource_version):
            raise ListExpired(f"list of {kind_in(self._path)}: resource version changed between pages")
        self._version = page.resource_version
        self._page = replace(page, body=b"", first=self._page.first or page.first)

    def _open(self, query: Mapping[str, str]) -> StreamedResponse:
        try:
            return self._client.open_stream(self._path, query=query, accept=self._accept)
        except ApiError as error:
            raise list_refusal(self._path, error) from error


def _message_list(response: StreamedResponse, path: str) -> MessageList:
    if response.content_type != _PROTOBUF_TYPE:
        raise NotProtobuf(f"{response.what}: answered in {response.content_type or 'no known format'}")
    page = MessageList(response.parts(), response.what)
    if not page.kind.endswith("List") or page.api_version != version_in(path):
        with response.credentials_hidden():
            found = ObjectHead(page.kind, page.api_version).words
            raise ExchangeError(
                f"GET {path}: the answer is not the list of {kind_in(path)}, but {found}; check the server and the "
                "proxies in front of it"
            )
    return page
