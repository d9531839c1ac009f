"""A snapshot, or a dump, from a live API server. Lists come in pages of raw bytes, each list at one version."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Protocol

from descheduler.cluster.builder import SnapshotBuilder, printable
from descheduler.cluster.dumps.write import DumpWriter
from descheduler.cluster.kind import AnyKind
from descheduler.cluster.loading import paused_gc
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot, SnapshotError
from descheduler.kube.errors import KindAbsent, KindForbidden, KubeError, ListExpired

__all__ = ["Page", "PageSource", "dump_live", "read_live"]

_MAX_RESTARTS = 3


class Page(Protocol):
    """One page of a list."""

    @property
    def body(self) -> bytes:
        """The list as the server sent it."""

    @property
    def resource_version(self) -> str:
        """The version of the list, the same on all its pages."""

    @property
    def kind(self) -> str:
        """The kind of the list, such as `PodList`."""


class PageSource(Protocol):
    """What reading needs of `descheduler.kube.client.KubeClient`."""

    def list_pages(self, path: str, *, limit: int = 500) -> Iterator[Page]:
        """The pages of the list at `path`. Raises ListExpired, KindAbsent, KindForbidden or another KubeError."""


def read_live(
    client: PageSource,
    request: SnapshotRequest,
    *,
    source: str = "the API server",
    taken_at: datetime | None = None,
) -> Snapshot:
    """The snapshot of the kinds that are needed, in the order of the kinds table: nodes, then pods, then others.

    A pod may so be bound to a node that joined after nodes were listed; such a pod is on no node of the snapshot.
    An optional kind that the cluster does not serve is named in `warnings` and not in `kinds`. `resource_version` is
    that of the pods. Wanted kinds are read as well as far as they may be: one that may not is passed over, and is
    not among the snapshot's `kinds`. Raises SnapshotError when anything else but measured usage cannot be read whole;
    kinds that may not be read are all named.
    """
    builder = SnapshotBuilder(source, request)
    versions: dict[str, str] = {}

    def read(kind: AnyKind) -> None:
        mark = builder.mark()

        def restart() -> None:
            builder.rollback(mark)
            builder.kinds.discard(kind.key)

        versions[kind.key] = _read_list(
            client, kind, add_page=lambda page: builder.add_page(kind, page), restart=restart
        )
        builder.require_once(kind, mark)

    def note_absent(kind: AnyKind, why: str) -> None:
        builder.warnings.append(f"{why}: none are assumed")

    with paused_gc():
        _read_all(client, request.needed_kinds(), read, note_absent)
        for kind in request.wanted_kinds():
            with suppress(KindForbidden, KindAbsent):
                read(kind)
        return builder.finish(taken_at=taken_at, resource_version=versions.get("Pod", ""))


def dump_live(client: PageSource, kinds: Sequence[AnyKind], writer: DumpWriter) -> None:
    """Writes all objects of `kinds` through `writer`, and ends the dump. Raises SnapshotError as `read_live`."""

    def read(kind: AnyKind) -> None:
        writer.begin(kind)
        writer.end(_read_list(client, kind, add_page=writer.add_page, restart=writer.restart))

    _read_all(client, kinds, read, lambda kind, _: writer.absent(kind))
    writer.finish()


def _read_all(
    client: PageSource,
    kinds: Iterable[AnyKind],
    read: Callable[[AnyKind], None],
    note_absent: Callable[[AnyKind, str], None],
) -> None:
    forbidden: list[AnyKind] = []
    for kind in kinds:
        try:
            if forbidden:
                # The run fails anyhow: what is left is only asked whether it may be read.
                next(client.list_pages(kind.path, limit=1), None)
            else:
                read(kind)
        except KindForbidden:
            forbidden.append(kind)
        except KindAbsent as error:
            if not kind.is_optional:
                raise SnapshotError(
                    f"{error}; every Kubernetes cluster has this kind, is this the right server"
                ) from error
            note_absent(kind, f"the cluster does not serve {kind.name} ({kind.path})")
        except KubeError as error:
            if kind.is_measured:
                note_absent(kind, f"{kind.name} cannot be read ({error})")
            elif not forbidden:
                raise SnapshotError(f"{kind.path}: {error}; the snapshot would not be complete") from error
    if forbidden:
        raise SnapshotError(_forbidden_message(forbidden))


def _read_list(
    client: PageSource, kind: AnyKind, *, add_page: Callable[[bytes], object], restart: Callable[[], None]
) -> str:
    """Hands all pages of one list over, and returns its version; starts afresh when the list expires on the way."""
    for _ in range(_MAX_RESTARTS + 1):
        try:
            return _read_once(client, kind, add_page)
        except ListExpired:
            restart()
        except KubeError:
            restart()
            raise
    raise SnapshotError(
        f"{kind.path}: the list expired {_MAX_RESTARTS + 1} times before all its pages were read; raise the page size"
    )


def _read_once(client: PageSource, kind: AnyKind, add_page: Callable[[bytes], object]) -> str:
    version: str | None = None
    for page in client.list_pages(kind.path, limit=kind.page_size):
        if version is not None and page.resource_version != version:
            raise ListExpired(f"{kind.path}: pages of versions {version} and {page.resource_version}")
        version = page.resource_version
        if page.kind not in ("", f"{kind.name}List"):
            raise KubeError(
                f"the answer is a {printable(page.kind)}, not a {kind.name}List; check the server and the proxies in "
                "front of it"
            )
        add_page(page.body)
    return version or ""


def _forbidden_message(kinds: Sequence[AnyKind]) -> str:
    names = ", ".join(kind.plural for kind in kinds)
    by_group: dict[str, list[str]] = {}
    for kind in kinds:
        by_group.setdefault(kind.group, []).append(kind.plural)
    rules = " ".join(
        f'- {{apiGroups: ["{group}"], resources: [{", ".join(plurals)}], verbs: [list]}}'
        for group, plurals in by_group.items()
    )
    return f"may not list {names}; add to the rules of the ClusterRole: {rules}"
