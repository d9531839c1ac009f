"""Writes a dump of lists that are at hand, for samples and tests; `descheduler snapshot` reads them page by page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import BinaryIO

import msgspec

from descheduler.cluster.dumps.write import DumpWriter
from descheduler.cluster.kind import AnyKind, kind_key
from tests.builders import Object


def write_dump(
    lists: Sequence[tuple[AnyKind, Iterable[bytes]]],
    out: BinaryIO,
    *,
    taken_at: datetime,
    source: str = "",
    annotations: frozenset[str] = frozenset(),
) -> None:
    """Writes the pages of each kind, as they are at hand, to `out`. `annotations` and errors are as of `DumpWriter`."""
    writer = DumpWriter(out, taken_at, [kind for kind, _ in lists], source=source, annotations=annotations)
    for kind, pages in lists:
        writer.begin(kind)
        for page in pages:
            writer.add_page(page)
        writer.end("")
    writer.finish()


def pages_of(kind: AnyKind, objects: Iterable[Object]) -> Iterator[bytes]:
    """Those of `objects` that are of `kind`, as one page; none where there are none."""
    items = [item for item in objects if kind_key(item["kind"], item["apiVersion"]) == kind.key]
    if items:
        yield msgspec.json.encode({"kind": f"{kind.name}List", "apiVersion": kind.api_version, "items": items})
