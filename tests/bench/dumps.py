"""Dumps to measure on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from descheduler.cluster.decoding.wire import ObjectHeader
from descheduler.cluster.kind import kind_key
from descheduler.cluster.kinds import KINDS
from tests.worlds.dumps import write_dump
from tests.worlds.generate import GENERATED_AT, generate_cluster


def write_generated(path: str, nodes: int, pods: int) -> Sequence[float]:
    """Writes a generated cluster as `descheduler snapshot` would; no figures."""
    pages: dict[str, list[bytes]] = {}
    for page in generate_cluster(nodes=nodes, pods=pods, seed=1):
        header = msgspec.json.decode(page, type=ObjectHeader)
        key = kind_key((header.kind or "").removesuffix("List"), header.api_version or "")
        pages.setdefault(key, []).append(page)
    with Path(path).open("wb") as out:
        write_dump([(KINDS[kind], group) for kind, group in pages.items()], out, taken_at=GENERATED_AT)
    return ()
