"""A snapshot, or a dump, from a live API server. Lists come in pages of raw bytes, each list at one version."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Protocol

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.dumps.write import DumpWriter
from descheduler.cluster.kinds import KINDS, Kind
from descheduler.cluster.loading import paused_gc
from descheduler.cluster.snapshot import Snapshot, SnapshotError
from descheduler.kube.errors import KindAbsent, KindForbidden, KubeError, ListExpired
from descheduler.model.printable import printable

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
    *,
    needed: Collection[str],
    wanted: Collection[str] = (),
    source: str = "the API server",
    skip_broken: bool = False,
    keep_conditions: bool = True,
    keep_templates: bool = False,
    taken_at: datetime | None = None,
) -> Snapshot:
    """The snapshot of the kinds `needed` (names of `KINDS`), in the order of that table: nodes, then pods, then others.

    A pod may so be bound to a node that joined after nodes were listed; such a pod is on no node of the snapshot.
    An optional kind that the cluster does not serve is named in `warnings` and not in `kinds`. `resource_version` is
    that of the pods. `wanted` kinds are read as well as far as they may be: one that may not is passed over, and is
    not among the snapshot's `kinds`. Raises SnapshotError when anything else but measured usage cannot be read whole;
    kinds that may not be read are all named.
    """
    builder = SnapshotBuilder(
        source, skip_broken=skip_broken, keep_conditions=keep_conditions, keep_templates=keep_templates
    )
    versions: dict[str, str] = {}

    def read(kind: Kind) -> None:
        mark = builder.mark()

        def restart() -> None:
            builder.rollback(mark)
            builder.kinds.discard(kind.name)

        versions[kind.name] = _read_list(
            client, kind, add_page=lambda page: builder.add_page(kind, page), restart=restart
        )
        builder.require_once(kind, mark)

    def note_absent(kind: Kind, why: str) -> None:
        builder.warnings.append(f"{why}: none are assumed")

    with paused_gc():
        _read_all(client, [kind for kind in KINDS.values() if kind.name in needed], read, note_absent)
        for kind in KINDS.values():
            if kind.name in wanted and kind.name not in needed:
                with suppress(KindForbidden, KindAbsent):
                    read(kind)
        return builder.finish(taken_at=taken_at, resource_version=versions.get("Pod", ""))


def dump_live(client: PageSource, kinds: Sequence[Kind], writer: DumpWriter) -> None:
    """Writes all objects of `kinds` through `writer`, and ends the dump. Raises SnapshotError as `read_live`."""

    def read(kind: Kind) -> None:
        writer.begin(kind)
        writer.end(_read_list(client, kind, add_page=writer.add_page, restart=writer.restart))

    _read_all(client, kinds, read, lambda kind, _: writer.absent(kind))
    writer.finish()


def _read_all(
    client: PageSource, kinds: Iterable[Kind], read: Callable[[Kind], None], note_absent: Callable[[Kind, str], None]
) -> None:
    forbidden: list[Kind] = []
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
    client: PageSource, kind: Kind, *, add_page: Callable[[bytes], object], restart: Callable[[], None]
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


def _read_once(client: PageSource, kind: Kind, add_page: Callable[[bytes], object]) -> str:
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


def _forbidden_message(kinds: Sequence[Kind]) -> str:
    names = ", ".join(kind.path.rpartition("/")[2] for kind in kinds)
    by_group: dict[str, list[str]] = {}
    for kind in kinds:
        by_group.setdefault(kind.group, []).append(kind.path.rpartition("/")[2])
    rules = " ".join(
        f'- {{apiGroups: ["{group}"], resources: [{", ".join(plurals)}], verbs: [list]}}'
        for group, plurals in by_group.items()
    )
    return f"may not list {names}; add to the rules of the ClusterRole: {rules}"
