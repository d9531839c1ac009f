"""A snapshot, or a dump, from a live API server: each list at one version, pods and nodes in protobuf; usage samples
from Prometheus, one query a request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime
from functools import partial
from typing import Protocol

import msgspec

from descheduler.cluster.begun_lists import MessageSource, message_lists
from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.dumps.write import DumpWriter
from descheduler.cluster.kind import AnyKind
from descheduler.cluster.loading import paused_gc
from descheduler.cluster.pod_messages import MessageAdder
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot, SnapshotError
from descheduler.kube.client import KubeClient
from descheduler.kube.errors import KindAbsent, KindForbidden, ListExpired, NotProtobuf
from descheduler.kube.lists.begun import BegunLists
from descheduler.kube.lists.body import ListPage
from descheduler.kube.lists.streamed import MessageBatch
from descheduler.kube.prometheus import PrometheusClient, read_prometheus_token, read_service_account_token
from descheduler.model.kube_version import encodes_as_stream
from descheduler.model.text.printable import printable
from descheduler.model.text.urls import is_https
from descheduler.transport.errors import AnswerBroken, ExchangeError, TransportError


class NodeSamples(msgspec.Struct, frozen=True):
    """Query → node name, or `namespace/name` of a pod → sample.

    A query that failed has a sentence in `faults` instead.
    """

    by_query: Mapping[str, Mapping[str, float]]
    faults: Mapping[str, str] = msgspec.field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def read_node_samples(
    client: KubeClient, url: str, queries: Iterable[str], *, token_secret: tuple[str, str] | None
) -> NodeSamples:
    """The samples of `queries` from the Prometheus server at `url`.

    `token_secret` names the namespace and the Secret that hold the bearer token; without it the token of the service
    account is used, where there is one, but never over plain http: it is not meant for whoever listens
    there. A failure concerns only the strategy that asked, so none is raised.
    """
    by_query: dict[str, Mapping[str, float]] = {}
    faults: dict[str, str] = {}
    warnings: list[str] = []
    try:
        token = _token(client, url, token_secret)
    except ExchangeError as error:
        return NodeSamples({}, dict.fromkeys(queries, str(error)))
    for query in dict.fromkeys(queries):
        try:
            answer = PrometheusClient(url, token).query(query)
        except ExchangeError as error:
            faults[query] = f"prometheus query {query!r}: {error}"
            continue
        by_query[query] = answer.by_node
        warnings += answer.warnings
    return NodeSamples(by_query, faults, tuple(warnings))


def _token(client: KubeClient, url: str, token_secret: tuple[str, str] | None) -> str:
    if token_secret is not None:
        return read_prometheus_token(client, *token_secret)
    return read_service_account_token() if is_https(url) else ""


_MAX_RESTARTS = 3


class PageSource(MessageSource, Protocol):
    """What reading needs of `descheduler.kube.client.KubeClient`."""

    def list_pages(self, path: str, *, limit: int = 500) -> Iterator[ListPage]:
        """The pages of the list at `path`, of `limit` objects; 0 asks for all, which come in pieces.

        Raises ListExpired, AnswerBroken, KindAbsent, KindForbidden or another ExchangeError.
        """


def read_live(
    client: PageSource,
    request: SnapshotRequest,
    *,
    source: str = "the API server",
    taken_at: datetime | None = None,
    git_version: str = "",
    begun: BegunLists[MessageBatch] | None = None,
) -> Snapshot:
    """The snapshot of the kinds that are needed, in the order of the kinds table: nodes, then pods, then others.

    A pod may so be bound to a node that joined after nodes were listed; such a pod is on no node of the snapshot.
    An optional kind that the cluster does not serve is named in `warnings` and not in `kinds`. `resource_version` is
    that of the pods. Wanted kinds are read as well as far as they can be: one that cannot is passed over, and is
    not among the snapshot's `kinds`; `warnings` say so unless it is forbidden or absent. Raises SnapshotError when
    anything else but measured usage cannot be read whole; kinds that may not be read are all named.
    `git_version` is the server's, "" where it hides that: it tells how a list is best asked for. `begun` are its lists
    in protobuf, where some are asked for already; none is left open.
    """
    builder = SnapshotBuilder(source, request, is_live=True)
    lists = message_lists(client, request, git_version) if begun is None else begun
    reader = _SnapshotReader(client, builder, lists, in_one_go=encodes_as_stream(git_version))
    unserved: list[AnyKind] = []

    def note_absent(kind: AnyKind, why: str) -> None:
        if why:
            builder.warnings.append(f"{kind.name} cannot be read ({why}); assuming there are none")
        else:
            unserved.append(kind)

    with paused_gc(), closing(lists):
        _read_all(client, request.needed_kinds(), reader.read, note_absent)
        if unserved:
            names = ", ".join(sorted(f"{kind.name} ({kind.group})" for kind in unserved))
            builder.warnings.append(f"the cluster does not serve {names}; assuming there are none")
        for kind in request.wanted_kinds():
            _read_wanted(kind, reader.read, builder)
        return builder.finish(taken_at=taken_at, resource_version=reader.versions.get("Pod", ""))


def _read_wanted(kind: AnyKind, read: Callable[[AnyKind], None], builder: SnapshotBuilder) -> None:
    """Reads a kind that no decision needs: without it the run goes on."""
    mark = builder.mark()
    try:
        _read_served(kind, read)
    except (KindForbidden, KindAbsent):
        return
    except (ExchangeError, SnapshotError) as error:
        builder.rollback(mark)
        builder.kinds.discard(kind.key)
        builder.warnings.append(f"{kind.name} objects cannot be read, so replacements are predicted without: {error}")


def dump_live(client: PageSource, kinds: Sequence[AnyKind], writer: DumpWriter, *, git_version: str = "") -> None:
    """Writes all objects of `kinds` through `writer`, and ends the dump. Raises SnapshotError as `read_live`.

    `git_version` as in `read_live`.
    """
    in_one_go = encodes_as_stream(git_version)

    def read_once(kind: AnyKind) -> str:
        return _read_once(client, kind, writer.add_page, in_one_go=in_one_go)

    def read(kind: AnyKind) -> None:
        writer.begin(kind)
        writer.end(_read_list(kind, lambda: read_once(kind), restart=writer.restart))

    _read_all(client, kinds, read, lambda kind, _: writer.absent(kind))
    writer.finish()


def _read_all(
    client: PageSource,
    kinds: Iterable[AnyKind],
    read: Callable[[AnyKind], None],
    note_absent: Callable[[AnyKind, str], None],
) -> None:
    """Reads `kinds`. `note_absent` hears of those that are not there: not served, or why they cannot be read."""
    forbidden: list[AnyKind] = []
    for kind in kinds:
        try:
            if forbidden:
                # The run fails anyhow: what is left is only asked whether it may be read.
                next(client.list_pages(kind.path, limit=1), None)
            else:
                _read_served(kind, read)
        except KindForbidden:
            forbidden.append(kind)
        except KindAbsent as error:
            if not kind.is_optional:
                raise SnapshotError(
                    f"{error}; every Kubernetes cluster has this kind; check the address of the server"
                ) from error
            note_absent(kind, "")
        except ExchangeError as error:
            if kind.is_measured:
                note_absent(kind, str(error))
            elif not forbidden:
                raise SnapshotError(f"{kind.path}: {error}; the snapshot would not be complete") from error
    if forbidden:
        raise SnapshotError(_forbidden_message(forbidden))


def _read_served(kind: AnyKind, read: Callable[[AnyKind], None]) -> None:
    """Reads a kind in the newest version in which the server has it. Raises KindAbsent where it has none."""
    *newer, oldest = kind, *kind.in_older_versions
    for version in newer:
        with suppress(KindAbsent):
            read(version)
            return
    read(oldest)


def _read_list(kind: AnyKind, read_once: Callable[[], str], *, restart: Callable[[], None]) -> str:
    """The version of a list that `read_once` reads; `restart` before it is read again, as it expired or was cut off."""
    for num_left in reversed(range(_MAX_RESTARTS + 1)):
        try:
            return read_once()
        except ListExpired:
            restart()
        except AnswerBroken as error:
            restart()
            if not num_left:
                raise TransportError(f"{error} (tried {_MAX_RESTARTS + 1} times)") from error
        except ExchangeError:
            restart()
            raise
    raise SnapshotError(
        f"{kind.path}: the list expired {_MAX_RESTARTS + 1} times before all its pages were read; raise the page size"
    )


class _SnapshotReader:
    """Reads lists into `builder`, in protobuf until it turns out that the server has none; `versions` by key of kind.

    `in_one_go` as in `_read_once`.
    """

    def __init__(
        self, client: PageSource, builder: SnapshotBuilder, lists: BegunLists[MessageBatch], *, in_one_go: bool
    ) -> None:
        self._client = client
        self._builder = builder
        self._lists = lists
        self._in_one_go = in_one_go
        self._adder = MessageAdder(builder)
        self._speaks_protobuf = True
        self.versions: dict[str, str] = {}

    def read(self, kind: AnyKind) -> None:
        """Adds all objects of `kind`. Raises ExchangeError and SnapshotError."""
        mark = self._builder.mark()

        def restart() -> None:
            self._lists.give_up()
            self._builder.rollback(mark)
            self._builder.kinds.discard(kind.key)

        def read_once() -> str:
            if kind.is_message and self._speaks_protobuf:
                try:
                    return self._read_messages(kind)
                except NotProtobuf:
                    self._speaks_protobuf = False
                    restart()  # pages before it may have been in protobuf
            return _read_once(self._client, kind, partial(self._add_page, kind), in_one_go=self._in_one_go)

        self.versions[kind.key] = _read_list(kind, read_once, restart=restart)
        self._builder.require_once(kind, mark)

    def _add_page(self, kind: AnyKind, page: bytes) -> None:
        self._builder.add_page(kind, page)
        self._builder.require_few(kind)

    def _read_messages(self, kind: AnyKind) -> str:
        """The version of the list, whose objects are all added. Raises NotProtobuf, else ExchangeError."""
        version = ""
        for batch in self._lists.parts(kind.key):
            version = batch.resource_version
            _require_kind(kind, batch.kind)
            self._adder.add(kind, batch.items)
            self._builder.require_few(kind)
        return version


def _read_once(client: PageSource, kind: AnyKind, add_page: Callable[[bytes], object], *, in_one_go: bool) -> str:
    """The version of a list whose pages are all added; `in_one_go` asks for all objects at once."""
    version: str | None = None
    for page in client.list_pages(kind.path, limit=0 if in_one_go else kind.page_size):
        if version is not None and page.resource_version != version:
            raise ListExpired(f"{kind.path}: pages of versions {version} and {page.resource_version}")
        version = page.resource_version
        _require_kind(kind, page.kind)
        add_page(page.body)
    return version or ""


def _require_kind(kind: AnyKind, found: str) -> None:
    if found not in ("", f"{kind.name}List"):
        raise ExchangeError(
            f"the answer is a {printable(found)}, not a {kind.name}List; check the server and the proxies in "
            "front of it"
        )


def _forbidden_message(kinds: Sequence[AnyKind]) -> str:
    names = ", ".join(kind.plural for kind in kinds)
    by_group: dict[str, list[str]] = {}
    for kind in kinds:
        by_group.setdefault(kind.group, []).append(kind.plural)
    rules = " ".join(
        f'- {{apiGroups: ["{group}"], resources: [{", ".join(plurals)}], verbs: [list]}}'
        for group, plurals in by_group.items()
    )
    return f"not allowed to list {names} (RBAC); add to the rules of the ClusterRole: {rules}"
