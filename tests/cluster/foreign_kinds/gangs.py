"""PodGroup.example.com: a third kind of this name, beside those of scheduler-plugins and Volcano."""

from __future__ import annotations

import msgspec

from descheduler.cluster.kept.shapes import an_object, scalars
from descheduler.cluster.kind import Kind, unshared


class Gang(msgspec.Struct, frozen=True):
    """Pods that are placed together."""

    namespace: str
    name: str
    size: int


class _Metadata(msgspec.Struct, frozen=True):
    name: str
    namespace: str


class _Spec(msgspec.Struct, frozen=True):
    size: int


class _PodGroup(msgspec.Struct, frozen=True):
    metadata: _Metadata
    spec: _Spec


def _decode(block: bytes) -> Gang:
    group = msgspec.json.decode(block, type=_PodGroup)
    return Gang(group.metadata.namespace, group.metadata.name, group.spec.size)


GANGS: Kind[Gang] = Kind(
    "PodGroup",
    "example.com/v1",
    "podgroups",
    purpose="how many pods of a gang are placed together",
    decoder=unshared(_decode),
    kept=an_object(spec=scalars("size")),
    is_optional=True,
)
"""The row."""
