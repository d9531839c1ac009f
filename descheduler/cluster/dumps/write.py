"""Writes a dump: gzip JSON Lines, one page of objects a line, between a header and a trailer.

Of an object is left what its kind keeps, and no more: whatever is not listed is dropped, so that a field that
Kubernetes or an operator adds tomorrow is in no dump either.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

import msgspec

from descheduler.cluster.decoding.culprit import deep_object_in
from descheduler.cluster.dumps.chunks import API_VERSION, DumpHeader, DumpTrailer
from descheduler.cluster.kept.shapes import VOLUME, ByName, Leaf, Shape
from descheduler.cluster.kind import AnyKind
from descheduler.cluster.snapshot import SnapshotError
from descheduler.model.annotations import KNOWN_ANNOTATIONS, AnnotationKeys
from descheduler.model.text.printable import printable
from descheduler.model.text.urls import without_user_part

REFUSED_KINDS = frozenset({"Secret", "ConfigMap"})
"""Kinds whose content stays in the cluster; no row of a table puts them into a dump."""
_KNOWN = AnnotationKeys(KNOWN_ANNOTATIONS)
# This way zlib writes neither a name nor a time into the header, so that equal dumps are equal bytes.
_GZIP = zlib.MAX_WBITS | 16
_encode = msgspec.json.Encoder().encode


class _Page(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""
    items: list[dict[str, object]] | None = None


_decode_page = msgspec.json.Decoder(_Page).decode


@dataclass
class DumpWriter:
    """Writes one dump to `out`, kind by kind, in the memory of one page and of one kind's compressed bytes.

    Call `begin`, then `add_page` for its pages and `end` for each kind, and `finish` at last. `restart` forgets the
    pages of the present kind, for a list that expired halfway.
    """

    out: BinaryIO
    taken_at: datetime
    kinds: Sequence[AnyKind]
    server_version: str = ""
    source: str = ""
    annotations: frozenset[str] = frozenset()
    """Keys of annotations that plugins read beside those that are always known, see `SnapshotRequest`."""
    _num_objects: dict[str, int] = field(default_factory=dict, init=False)
    _versions: dict[str, str] = field(default_factory=dict, init=False)
    _absent: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._annotation_keys = AnnotationKeys(KNOWN_ANNOTATIONS | self.annotations)
        header = DumpHeader(
            api_version=API_VERSION,
            kind="DumpHeader",
            taken_at=self.taken_at.isoformat().replace("+00:00", "Z"),
            kinds=tuple(kind.key for kind in self.kinds),
            server_version=self.server_version,
            source=self.source,
        )
        self._write_member([_encode(header)])

    def begin(self, kind: AnyKind) -> None:
        """Starts a kind. Raises ValueError for one that never goes into a dump."""
        if kind.name in REFUSED_KINDS:
            raise ValueError(f"a {kind.name} never goes into a dump")
        self._kind = kind
        self.restart()

    def restart(self) -> None:
        """Forgets what was added since `begin`."""
        self._compressor = zlib.compressobj(wbits=_GZIP)
        self._pending: list[bytes] = []
        self._num_objects[self._kind.key] = 0

    def add_page(self, page: bytes) -> None:
        """Adds a list of the present kind, as the API server sent it. Raises SnapshotError when it is none."""
        kind = self._kind
        try:
            decoded = _decode_page(page)
        except RecursionError as error:
            raise SnapshotError(f"{kind.path}: {deep_object_in(page)} is nested too deeply for a dump") from error
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise SnapshotError(f"{kind.path}: the list cannot be read: {error}") from error
        if decoded.kind != f"{kind.name}List":
            raise SnapshotError(f"{kind.path}: a {printable(decoded.kind)!r} where a {kind.name}List was expected")
        items = [redact(kind, item, self._annotation_keys) for item in decoded.items or ()]
        if not items:
            return
        line = _encode({"kind": decoded.kind, "apiVersion": decoded.api_version, "items": items})
        self._pending.append(self._compressor.compress(line + b"\n"))
        self._num_objects[kind.key] += len(items)

    def end(self, resource_version: str) -> None:
        """Ends the present kind, whose pages were all of this version."""
        self._pending.append(self._compressor.flush())
        for data in self._pending:
            self.out.write(data)
        self._pending = []
        if resource_version:
            self._versions[self._kind.key] = resource_version

    def absent(self, kind: AnyKind) -> None:
        """Notes that the cluster does not serve `kind`."""
        self._num_objects.pop(kind.key, None)
        self._absent.append(kind.key)

    def finish(self) -> None:
        """Writes the trailer; without it, a reader takes the dump for cut short."""
        trailer = DumpTrailer(
            api_version=API_VERSION,
            kind="DumpTrailer",
            num_objects=self._num_objects,
            resource_versions=self._versions,
            absent_kinds=tuple(self._absent),
        )
        self._write_member([_encode(trailer)])

    def _write_member(self, lines: Iterable[bytes]) -> None:
        compressor = zlib.compressobj(wbits=_GZIP)
        for line in lines:
            self.out.write(compressor.compress(line + b"\n"))
        self.out.write(compressor.flush())


def redact(kind: AnyKind, obj: Mapping[str, object], annotations: AnnotationKeys = _KNOWN) -> dict[str, object]:
    """A copy of `obj` with what a dump keeps of its kind, in the order that it had, and the annotations of these keys.

    Raises ValueError for a kind that never goes into a dump.
    """
    for name in (kind.name, obj.get("kind")):
        if name in REFUSED_KINDS:
            raise ValueError(f"a {name} never goes into a dump")
    shape = kind.kept
    return {name: _kept(shape[name], value, annotations) for name, value in obj.items() if name in shape}


def _kept(shape: Shape, value: object, annotations: AnnotationKeys) -> object:
    """What is kept of one value. One of another type than its field has stays of that type, and so stays an error."""
    if isinstance(value, list):
        items = [_kept(shape, item, annotations) for item in value]
        return [item for item in items if not _is_idle(item)] if shape is VOLUME else items
    if isinstance(shape, ByName):
        if isinstance(value, dict):
            return {name: _kept(shape.fields, member, annotations) for name, member in value.items()}
        return _emptied(value)
    if isinstance(shape, Mapping):
        if isinstance(value, dict):
            return {name: _kept(shape[name], member, annotations) for name, member in value.items() if name in shape}
        return _emptied(value)
    if shape is Leaf.SCALAR:
        return _scalar(value)
    if shape is Leaf.HANDLE:
        return without_user_part(value) if isinstance(value, str) else _scalar(value)
    if not isinstance(value, dict):
        return _emptied(value)
    if shape is Leaf.ANNOTATIONS:
        return {key: _scalar(member) for key, member in value.items() if key in annotations}
    return {key: _scalar(member) for key, member in value.items()}


def _is_idle(volume: object) -> bool:
    """Whether nothing is left of a volume but its name: no rule asks for it, and tokens differ from pod to pod."""
    return isinstance(volume, dict) and volume.keys() <= {"name"}


def _scalar(value: object) -> object:
    return {} if isinstance(value, dict) else value


def _emptied(value: object) -> object:
    """A value of the same type that says nothing; numbers and null can be no secret."""
    return type(value)() if isinstance(value, (dict, str)) else value
