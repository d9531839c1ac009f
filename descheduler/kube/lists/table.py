"""A list as the table that kubectl shows: a row of some hundred bytes where an object has ten thousand and more."""

from __future__ import annotations

import msgspec

from descheduler.kube.answers import LIST_BYTES
from descheduler.kube.lists.listing import ListClient

__all__ = ["column_cells"]

_ACCEPT = "application/json;as=Table;v=v1;g=meta.k8s.io, application/json"
_QUERY = {"includeObject": "None", "resourceVersion": "0"}
"""Rows without their objects, from the cache of the API server: some seconds old at most, and nothing for etcd."""


class _Column(msgspec.Struct):
    name: str = ""


class _Row(msgspec.Struct):
    cells: list[object]


class _Table(msgspec.Struct, rename="camel"):
    kind: str = ""
    column_definitions: list[_Column] = msgspec.field(default_factory=list)
    rows: list[_Row] = msgspec.field(default_factory=list)


_decode = msgspec.json.Decoder(_Table).decode


def column_cells(client: ListClient, path: str, column: str) -> tuple[str, ...] | None:
    """The cells of one column of the list at `path`, such as `Status`, a row each; None where there is no such table.

    Raises as `KubeClient.fetch`.
    """
    table = client.fetch(path, _decode, query=_QUERY, max_bytes=LIST_BYTES, accept=_ACCEPT)
    names = [each.name for each in table.column_definitions]
    if table.kind != "Table" or column not in names:
        return None
    at = names.index(column)
    return tuple(str(row.cells[at]) if at < len(row.cells) else "" for row in table.rows)
