"""A body that should be one page of a list, and a list of any length that is taken apart as it comes in, with its
bounds.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Generic, NoReturn, TypeVar

import msgspec

from descheduler.documents.json_values import JsonFaultError, elements, members
from descheduler.kube.answers import ObjectHead, describe_body
from descheduler.transport.errors import AnswerBroken, AnswerTooLarge, ExchangeError

MOST_TOGETHER = 2000
"""Objects that are handed on together."""
_MOST_OBJECT_BYTES = 16 << 20
"""An API server takes objects of 1.5 MiB, or a few more where its etcd is told so; JSON makes more of it."""
_MOST_STREAMED_OBJECTS = 1_000_000
"""Six times the pods that Kubernetes supports in a cluster."""
_TOGETHER_BYTES = 1 << 18
"""An API server sends every object by itself, which would be a batch each."""
_MOST_VALUES = 500_000
"""In one object. The smallest value, `{}`, becomes a hundred times as much in memory: 16 MiB of them, a gigabyte."""
_FEW_BYTES = 1 << 20
"""An object of fewer has fewer values."""
_MOST_BEHIND_BYTES = 1 << 10
"""Behind a list in protobuf stand the names of its encoding and its type, mostly empty; behind JSON, a line break."""


def require_few_values(item: bytes, what: str) -> None:
    """Raises AnswerTooLarge for one object in JSON that holds too many values."""
    if len(item) > _FEW_BYTES and item.count(b",") > _MOST_VALUES:
        raise AnswerTooLarge(
            f"{what}: one object holds more than {_MOST_VALUES:,} values, which no API server stores; "
            "check the server and the proxies in front of it"
        )


class IncomingList:
    """The part of a list that is in memory: `_bytes`, of which those before `_at` were taken already.

    `parts` are all its bytes, `what` names the request in messages, and `_passed` counts the bytes before `_bytes`.
    """

    _form: ClassVar[str]

    def __init__(self, parts: Iterator[bytes], what: str) -> None:
        self._parts = parts
        self._what = what
        self._bytes = b""
        self._at = 0
        self._passed = 0
        self._num_objects = 0

    def _more(self) -> bool:
        """Reads on, and frees what was taken; whether there was more."""
        parts, num_new = [self._bytes[self._at :]], 0
        # Twice as much as is there, so that a large object is not copied again and again.
        while num_new < max(_TOGETHER_BYTES, len(parts[0])) and (part := next(self._parts, b"")):
            parts.append(part)
            num_new += len(part)
        self._passed += self._at
        self._bytes, self._at = b"".join(parts), 0
        return num_new > 0

    def _read_ahead(self) -> None:
        """Reads on where little is left, so that most of what comes next is whole."""
        if len(self._bytes) - self._at < _TOGETHER_BYTES:
            self._more()

    def _require_more(self) -> None:
        """Reads on. Raises AnswerBroken at the end."""
        if not self._more():
            raise AnswerBroken(f"{self._what}: the answer was cut short")

    def _count(self, num_objects: int) -> None:
        """Takes note of further objects. Raises ExchangeError when there are too many."""
        self._num_objects += num_objects
        if self._num_objects > _MOST_STREAMED_OBJECTS:
            self._refuse(f"it holds more than {_MOST_STREAMED_OBJECTS:,} objects")

    def _require_size(self, num_bytes: int) -> None:
        """Raises AnswerTooLarge when one object has more than `num_bytes` may be."""
        if num_bytes > _MOST_OBJECT_BYTES:
            raise AnswerTooLarge(
                f"{self._what}: one object is larger than {_MOST_OBJECT_BYTES >> 20} MiB, which no API server stores; "
                "check the server and the proxies in front of it"
            )

    def _pass_end(self) -> bytes:
        """What stands behind the list, read to its end. Raises ExchangeError when that is too much."""
        is_more = True
        while is_more:
            if len(self._bytes) - self._at > _MOST_BEHIND_BYTES:
                self._refuse("it continues after its end")
            is_more = self._more()
        return self._bytes[self._at :]

    def _refuse(self, why: str) -> NoReturn:
        raise ExchangeError(
            f"{self._what}: the answer is not {self._form}: {why}; check the server and the proxies in front of it"
        )


Item = TypeVar("Item")

_MOST_OBJECTS = 500_000
"""Three times the pods that Kubernetes supports in a cluster, in one page. Lists of nothing at all, such as `[{},{},…`,
compress a thousandfold and take thirty times the memory of their text."""
_ABSENT = msgspec.Raw(b"null")
_CORE = "v1"
"""What aggregated and home-made API servers state for lists of any group; the kind tells what the list holds."""


class ListPage(msgspec.Struct, frozen=True):
    """One page: the body as the server sent it (decompressed JSON), and what it says about itself.

    `continue_token` is "" on the last page; `resource_version` is the same on all pages of one list. `kind` is that of
    the list, such as `PodList`, "" when it says nothing of its objects; `first` is the metadata of the first object in
    JSON, b"" on a page without objects.
    """

    body: bytes
    continue_token: str
    resource_version: str
    kind: str = ""
    first: bytes = b""


class _Metadata(msgspec.Struct):
    continue_token: str = msgspec.field(default="", name="continue")
    resource_version: str = msgspec.field(default="", name="resourceVersion")


class _Item(msgspec.Struct, rename="camel", gc=False):
    kind: str = ""
    api_version: str = ""
    metadata: msgspec.Raw = _ABSENT


class _Page(msgspec.Struct, Generic[Item], rename="camel"):
    metadata: _Metadata | None = None
    kind: str = ""
    api_version: str = ""
    message: str = ""
    items: list[Item] | msgspec.UnsetType | None = msgspec.UNSET


class _Count(threading.local):
    num_items = 0


_count = _Count()


class _CountedItem(_Item):
    """An item of the page that the thread reads."""

    def __post_init__(self) -> None:
        _count.num_items += 1
        if _count.num_items > _MOST_OBJECTS:
            raise ValueError(f"more than {_MOST_OBJECTS:,} objects in one page")


_decode_page = msgspec.json.Decoder(_Page[_Item]).decode
_decode_counted = msgspec.json.Decoder(_Page[_CountedItem]).decode


class ListBodyReader:
    """Reads the pages of the list at `path`, one at a time."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._version = version_in(path)
        self._may_be_null = comes_in_one_piece(path)

    def read(self, body: bytes) -> ListPage:
        """The page in `body`.

        Raises ExchangeError for a whole JSON document that is not a list of the group and version of the path, and
        msgspec.DecodeError or UnicodeDecodeError for everything else, which may have been cut short.
        """
        _count.num_items = 0
        page: _Page[Any]
        try:
            page = _decode_counted(body)
        except msgspec.ValidationError as error:
            raise self._not_the_list(f"{describe_body(body)}: {error}") from error
        except RecursionError:
            # One object is nested too deeply; which one is for those to say who read the objects.
            page = _head_of_deep_page(body)
        if page.metadata is None or page.items is msgspec.UNSET:
            raise self._not_the_list(self._missing(page))
        if not (page.kind.endswith("List") or (not page.kind and page.metadata.resource_version)):
            raise self._not_the_list(ObjectHead(page.kind, page.api_version, page.message).words)
        if page.api_version not in ("", _CORE, self._version):
            raise self._not_the_list(ObjectHead(page.kind, page.api_version, page.message).words)
        if page.items is None and not self._may_be_null:
            raise self._not_the_list(f"a {page.kind} with items: null")
        if len(body) > _FEW_BYTES and body.count(b",") > _MOST_VALUES:
            for item, _ in elements(members(body)["items"]):
                require_few_values(item, f"GET {self._path}")
        items = page.items or []
        kind = self._kind_of_list(page.kind, items)
        first = bytes(items[0].metadata) if items else b""
        return ListPage(body, page.metadata.continue_token, page.metadata.resource_version, kind, first)

    def _missing(self, page: _Page[Any]) -> str:
        if not page.kind.endswith("List"):
            return ObjectHead(page.kind, page.api_version, page.message).words
        return f"a {page.kind} without {'metadata' if page.metadata is None else 'items'}"

    def _kind_of_list(self, kind: str, items: Sequence[_Item]) -> str:
        """The kind of the list, by what it and its objects state. Raises ExchangeError when they do not agree.

        Objects of built-in kinds state neither kind nor version: the list has done so for them. A list that leaves it
        to its objects is a `List`.
        """
        item_kind = kind.removesuffix("List") or (items[0].kind if items else "")
        for item in items:
            if (item.kind and item.kind != item_kind) or (item.api_version and item.api_version != self._version):
                held = ObjectHead(item.kind, item.api_version).words
                raise self._not_the_list(f"a {kind or 'list'} that holds {held}")
        return f"{item_kind}List" if item_kind else ""

    def _not_the_list(self, found: str) -> ExchangeError:
        return ExchangeError(
            f"GET {self._path}: the answer is not the list of {kind_in(self._path)}, but {found}; check the server and "
            "the proxies in front of it"
        )


def _head_of_deep_page(body: bytes) -> _Page[_Item]:
    """What the page in `body`, which is too deep to be decoded, says about itself. Raises msgspec.DecodeError."""
    try:
        head = {name: msgspec.Raw(value) for name, value in members(body).items()}
    except (JsonFaultError, RecursionError) as error:
        raise msgspec.DecodeError("the list is nested too deeply") from error
    return _decode_page(msgspec.json.encode({**head, "items": []}))


def kind_in(path: str) -> str:
    """`pods` of `/api/v1/pods`, `poddisruptionbudgets.policy` of `/apis/policy/v1/poddisruptionbudgets`."""
    parts = path.strip("/").split("/")
    return f"{parts[-1]}.{parts[1]}" if parts[0] == "apis" else parts[-1]


def comes_in_one_piece(path: str) -> bool:
    """Whether the servers of the kind, metrics-server and its like, know no `limit`.

    They are not the API server itself, which never writes `items: null`, but programs that may for an empty list.
    """
    return path.startswith("/apis/metrics.k8s.io/")


def version_in(path: str) -> str:
    """`v1` of `/api/v1/pods`, `policy/v1` of `/apis/policy/v1/poddisruptionbudgets`."""
    parts = path.strip("/").split("/")
    return f"{parts[1]}/{parts[2]}" if parts[0] == "apis" else parts[1]
