"""A list as the table that kubectl shows: a row of some hundred bytes where an object has ten thousand and more."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

import msgspec

from descheduler.kube.http.bounded_body import LIST_BYTES

__all__ = ["column_cells"]

T = TypeVar("T")

_ACCEPT = "application/json;as=Table;v=v1;g=meta.k8s.io, application/json"
_QUERY = {"includeObject": "None", "resourceVersion": "0"}
"""Rows without their objects, from the cache of the API server: some seconds old at most, and nothing for etcd."""


class TableClient(Protocol):
    """What tables need of a client."""

    def fetch(
        self,
        path: str,
        decode: Callable[[bytes], T],
        *,
        query: Mapping[str, str] | None = None,
        max_bytes: int,
        accept: str,
    ) -> T:
        """What `decode` makes of the body of a successful GET, retried on faults."""


class _Column(msgspec.Struct):
    name: str = ""


class _Row(msgspec.Struct):
    cells: list[object]


class _Table(msgspec.Struct, rename="camel"):
    kind: str = ""
    column_definitions: list[_Column] = msgspec.field(default_factory=list)
    rows: list[_Row] = msgspec.field(default_factory=list)


_decode = msgspec.json.Decoder(_Table).decode


def column_cells(client: TableClient, path: str, column: str) -> tuple[str, ...] | None:
    """The cells of one column of the list at `path`, such as `Status`, a row each; None where there is no such table.

    Raises as `KubeClient.fetch`.
    """
    table = client.fetch(path, _decode, query=_QUERY, max_bytes=LIST_BYTES, accept=_ACCEPT)
    names = [each.name for each in table.column_definitions]
    if table.kind != "Table" or column not in names:
        return None
    at = names.index(column)
    return tuple(str(row.cells[at]) if at < len(row.cells) else "" for row in table.rows)
