"""Paged lists as raw bytes: the next page is fetched while the caller decodes this one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import msgspec

from descheduler.json_values import JsonFaultError, members
from descheduler.kube.background import BackgroundCalls
from descheduler.kube.errors import ApiError, KindAbsent, KindForbidden, KubeError, ListExpired

__all__ = ["ListPage", "doing_of", "list_pages", "read_list"]

T = TypeVar("T")

_USER = re.compile(r'[Uu]ser "([^"]+)"')


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page: the body as the server sent it (decompressed JSON), and what its `metadata` says.

    `continue_token` is "" on the last page; `resource_version` is the same on all pages of one list.
    """

    body: bytes
    continue_token: str
    resource_version: str


class ListClient(Protocol):
    """What listing needs of a client."""

    def fetch(self, path: str, decode: Callable[[bytes], T], *, query: Mapping[str, str] | None = None) -> T:
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


class _Metadata(msgspec.Struct):
    continue_token: str = msgspec.field(default="", name="continue")
    resource_version: str = msgspec.field(default="", name="resourceVersion")


class _Page(msgspec.Struct):
    metadata: _Metadata


_PAGE_DECODER = msgspec.json.Decoder(_Page)
_METADATA_DECODER = msgspec.json.Decoder(_Metadata)


def list_pages(
    client: ListClient, path: str, *, limit: int, resource_version: str | None, label_selector: str | None
) -> Iterator[ListPage]:
    """The pages of one list, in order, at one resource version; one page at most is fetched ahead.

    `path` is that of the kind, such as `/api/v1/pods`. `limit` is the number of objects a page; `resource_version`
    as in the API ("0": whatever the server has at hand). Raises ListExpired when the list cannot be continued,
    KindAbsent, KindForbidden, ApiError, TransportError.
    """
    query = {"limit": str(limit)}
    if label_selector:
        query["labelSelector"] = label_selector
    first = query | ({"resourceVersion": resource_version} if resource_version is not None else {})
    calls: BackgroundCalls[ListPage] = BackgroundCalls(1, name="list")
    try:
        page = _fetch(client, path, first)
        version = page.resource_version
        while page.continue_token:
            # The API refuses a resourceVersion next to a continue token, which holds it already.
            ahead = calls.submit(partial(_fetch, client, path, query | {"continue": page.continue_token}))
            yield page
            page = ahead.result()
            if page.resource_version != version:
                raise ListExpired(f"list of {_kind(path)}: resource version changed between pages")
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
        f"list of {_kind(path)} expired {max_restarts + 1} times before it was read; "
        "the API server compacts faster than it answers, raise the page limit"
    )


def _fetch(client: ListClient, path: str, query: Mapping[str, str]) -> ListPage:
    try:
        return client.fetch(path, _decode_page, query=query)
    except ApiError as error:
        raise _meaning(path, error) from error


def _decode_page(body: bytes) -> ListPage:
    try:
        metadata = _PAGE_DECODER.decode(body).metadata
    except RecursionError:
        # One object is nested too deeply; which one is for those to say who read the objects.
        metadata = _METADATA_DECODER.decode(_metadata_of(body))
    return ListPage(body, metadata.continue_token, metadata.resource_version)


def _metadata_of(body: bytes) -> bytes:
    """The metadata of a list that is too deep to be decoded. Raises DecodeError."""
    try:
        return members(body).get("metadata", b"")
    except (JsonFaultError, RecursionError) as error:
        raise msgspec.DecodeError("the list is nested too deeply") from error


def _meaning(path: str, error: ApiError) -> KubeError:
    kind = _kind(path)
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
    return f"reading {_kind(path)}"


def _kind(path: str) -> str:
    """`pods` of `/api/v1/pods`, `poddisruptionbudgets.policy` of `/apis/policy/v1/poddisruptionbudgets`."""
    parts = path.strip("/").split("/")
    return f"{parts[-1]}.{parts[1]}" if parts[0] == "apis" else parts[-1]
