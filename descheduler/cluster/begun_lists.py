"""Lists in protobuf, asked for before what decodes them is loaded: a server thinks about a large list meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Protocol

from descheduler.cluster.request import SnapshotRequest
from descheduler.kube.lists.begun import BegunLists
from descheduler.kube.lists.listing import doing_of
from descheduler.model.kube_version import encodes_as_stream

if TYPE_CHECKING:
    from descheduler.kube.lists.streamed import MessageBatch

_PAGE_SIZE = 5000
"""Objects a page of protobuf from servers that make an answer whole before they send it."""


class MessageSource(Protocol):
    """What these lists need of `descheduler.kube.client.KubeClient`."""

    def list_messages(self, path: str, *, limit: int = 0) -> Generator[MessageBatch, None, None]:
        """The list at `path` in protobuf, `limit` objects a page, 0 for all.

        Raises ListExpired, AnswerBroken, NotProtobuf, KindAbsent, KindForbidden or another ExchangeError.
        """


def message_lists(
    client: MessageSource,
    request: SnapshotRequest,
    git_version: str,
    tell: Callable[[str], None] = lambda doing: None,
) -> BegunLists[MessageBatch]:
    """The lists that are read in protobuf, by the keys of their kinds; none is asked for yet.

    `git_version` is the server's, "" where it hides that: it tells how a list is best asked for. `tell` is told which
    of them is read from now on, such as `reading pods`: what the client tells of last may be another one.
    """
    limit = 0 if encodes_as_stream(git_version) else _PAGE_SIZE
    ask: dict[str, Callable[[], Generator[MessageBatch, None, None]]] = {
        kind.key: partial(client.list_messages, kind.path, limit=limit)
        for kind in (*request.needed_kinds(), *request.wanted_kinds())
        if kind.is_message
    }
    return BegunLists(ask, lambda key: tell(doing_of(request.kinds[key].path)))


def begin_lists(
    client: MessageSource,
    request: SnapshotRequest,
    git_version: str,
    tell: Callable[[str], None] = lambda doing: None,
) -> BegunLists[MessageBatch]:
    """`message_lists`, of which the first is asked for if it is read before all others."""
    lists = message_lists(client, request, git_version, tell)
    first = next(request.needed_kinds(), None)
    if first is not None and first.is_message:
        lists.begin(first.key)
    return lists
