"""Collects decoded objects, page by page or one by one, and freezes them into a Snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import msgspec

from descheduler.cluster.decoding.culprit import TOO_DEEP, deep_header, deep_name_in, explained_fault, fault_of
from descheduler.cluster.decoding.decode import Decoding, PodDecoder, PodPageReader
from descheduler.cluster.decoding.wire import ABSENT, ListMetadataWire, ObjectHeader, Wire
from descheduler.cluster.kind import AnyKind, Kind, NamedObject, name_of
from descheduler.cluster.kinds import kind_of
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot, SnapshotError, snapshot_fields
from descheduler.documents.json_values import JsonFaultError, elements
from descheduler.model.annotations import KNOWN_ANNOTATIONS, AnnotationKeys
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import clipped

ObjectT = TypeVar("ObjectT", bound=NamedObject)


class _Name(Wire):
    name: str | None = None
    namespace: str | None = None


class _Named(Wire):
    metadata: _Name | None = None


_NULL = b"null"
_Malformed = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_HEAD_BYTES = 200
MAX_LIST_DEPTH = 4
"""Lists in lists come from joining dumps, mostly with jq; no tool nests more of them."""
_MOST_OF_A_KIND = 500_000
"""Three times the pods that Kubernetes supports in a cluster. Half a million of the smallest are 350 MiB."""
_MOST_OBJECTS = 1_000_000
_MOST_SKIPPED = 10_000
_MOST_EXPLAINED = 100
_LONGEST_SHOWN = 200
_clipped = partial(clipped, most=_LONGEST_SHOWN)
"""Other people's words in a message."""

_decode_header = msgspec.json.Decoder(ObjectHeader).decode
_decode_named = msgspec.json.Decoder(_Named).decode


_NODE, _POD = "Node", "Pod"


class BuilderMark(msgspec.Struct, frozen=True):
    """How much was read: objects by the key of their kind, and those that were left out."""

    num_objects: Mapping[str, int]
    num_skipped: int
    num_unlisted: int


@dataclass
class SnapshotBuilder:
    """Objects read so far. A broken object is an error naming it, or left out and named if `request` says so.

    Of a live cluster (`is_live`), where objects are other people's, it is left out and named unless its kind is
    essential.
    `source` names the origin in messages (a file, `standard input`, a server), `line` the line of it that is being
    read, where it has lines. `objects` are those read so far, by the key of their kind, `kinds` the keys of the kinds
    that were read.
    """

    source: str = ""
    request: SnapshotRequest = field(default_factory=SnapshotRequest)
    line: int = 0
    is_live: bool = False
    objects: dict[str, list[Any]] = field(default_factory=dict, init=False)
    kinds: set[str] = field(default_factory=set, init=False)
    skipped: list[str] = field(default_factory=list, init=False)
    warnings: list[str] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.pod_decoder = PodDecoder(
            keep_conditions=self.request.keep_conditions,
            annotation_keys=AnnotationKeys(KNOWN_ANNOTATIONS | self.request.annotations),
            are_stored=True,
        )
        decoding = Decoding(
            self.pod_decoder,
            keep_templates=self.request.keep_templates,
            trims_reservations=self.request.trims_reservations,
        )
        decoders = {key: kind.decoder for key, kind in self.request.kinds.items()}
        self._decoders = {key: decoder(decoding) for key, decoder in decoders.items()}
        self.objects = {key: [] for key in decoders}
        self._pod_pages = PodPageReader(self.pod_decoder, self.pods)
        self._num_unlisted = 0
        """Objects that were left out beyond those in `skipped`."""

    @property
    def nodes(self) -> list[Node]:
        """The nodes read so far."""
        return self.objects[_NODE]

    @property
    def pods(self) -> list[Pod]:
        """The pods read so far."""
        return self.objects[_POD]

    def add_page(self, kind: AnyKind, page: bytes) -> int:
        """Reads a list of one kind, as the API server sends it; returns how many objects it held.

        The page is decoded in one go; only when that fails is it gone through object by object to name the culprit.
        Raises SnapshotError.
        """
        self.kinds.add(kind.key)
        decoded = self._pod_pages.read(page) if kind.key == _POD else None
        return self._add_one_by_one(kind, page) if decoded is None else len(decoded.items or ())

    def add_object(self, block: bytes, depth: int = 0) -> int:
        """Reads one object or list of any kind; returns how many objects it held. Other kinds are passed over.

        Raises SnapshotError, also for a list that is only one page of several. `depth` is the number of lists around.
        """
        if b'"PodList"' in block[:_HEAD_BYTES]:
            # The bulk of a dump: reading such a page straight away saves a pass over its bytes.
            num_before = len(self.pods)
            page = self._pod_pages.read(block)
            if page is not None and page.kind == "PodList":
                self._require_complete("PodList", page.metadata)
                self.kinds.add(_POD)
                return len(page.items or ())
            del self.pods[num_before:]
        header = self._header(block)
        name, version = header.kind or "", header.api_version or ""
        if header.items is not ABSENT and name.endswith("List"):
            self._require_complete(name, header.metadata)
            kind = kind_of(self.request.kinds, version, name.removesuffix("List"))
            if kind is not None:
                return self.add_page(kind, block)
            if name == "List":
                return self._add_list(block, bytes(header.items), depth)
            return sum(1 for _ in self._items(block, bytes(header.items)))
        if name == "Status" and version == "v1":
            raise SnapshotError(
                f"{self.place}: an answer of the API server instead of objects: {_clipped(header.message or '')}"
            )
        if not name:
            raise SnapshotError(f"{self.place}: an object without kind; a dump holds whole Kubernetes objects")
        kind = kind_of(self.request.kinds, version, name)
        if kind is not None:
            self.add(kind, block)
        return 1

    def add_array(self, block: bytes) -> int:
        """Reads a JSON array of objects and lists; returns how many objects it held. Raises SnapshotError."""
        return self._add_list(block, block, 0)

    def add_deep(self, kind: AnyKind, name: str) -> None:
        """Refuses an object of this name that is nested too deeply to be written down. Raises SnapshotError."""
        self.kinds.add(kind.key)
        self._refuse(kind, f"{kind.name} {_clipped(name) or 'without a name'} is invalid: {TOO_DEEP}")

    def add_unreadable(self, kind: AnyKind) -> None:
        """Refuses a message that is not one of `kind`, or holds text that is none. Raises SnapshotError."""
        self._refuse(kind, f"{kind.name} without a name is invalid: it cannot be read as protobuf")

    def add(self, kind: AnyKind, block: bytes) -> None:
        """Reads one object that is known to be of `kind`. Raises SnapshotError."""
        self.kinds.add(kind.key)
        self._add(kind, block)

    @property
    def place(self) -> str:
        """Where what is being read comes from, as messages name it."""
        return f"{self.source}:{self.line}" if self.line else self.source

    def mark(self) -> BuilderMark:
        """How much was read so far, for `rollback`."""
        num_objects = {key: len(items) for key, items in self.objects.items()}
        return BuilderMark(num_objects, len(self.skipped), self._num_unlisted)

    def rollback(self, mark: BuilderMark) -> None:
        """Forgets all objects read since `mark`."""
        for key, num_objects in mark.num_objects.items():
            del self.objects[key][num_objects:]
        del self.skipped[mark.num_skipped :]
        self._num_unlisted = mark.num_unlisted

    def require_few(self, kind: AnyKind) -> None:
        """Raises SnapshotError when there are more objects of `kind` than a cluster holds, or more than that of all."""
        num_of_kind, num_objects = len(self.objects[kind.key]), sum(map(len, self.objects.values()))
        if num_of_kind > _MOST_OF_A_KIND or num_objects > _MOST_OBJECTS:
            raise SnapshotError(
                f"{self.source}: {kind.path}: more than {_MOST_OF_A_KIND:,} objects of a kind, or {_MOST_OBJECTS:,} "
                "objects, which no cluster holds; check the server and the proxies in front of it"
            )

    def require_once(self, kind: AnyKind, mark: BuilderMark) -> None:
        """Has each object of `kind`, all read since `mark`, once: one list holds no object twice.

        Raises SnapshotError when two of an essential kind share a name; of others the first one counts. Pods and nodes
        are looked through by `finish`, wherever they come from.
        """
        if kind.key in (_NODE, _POD):
            return
        found = self.objects[kind.key]
        read = found[mark.num_objects[kind.key] :]
        first: dict[tuple[str, str], Any] = {}
        for item in read:
            if first.setdefault(name := name_of(item), item) is item:
                continue
            sentence = f"{kind.name} {_clipped('/'.join(filter(None, name)))} is in the list twice"
            if kind.is_essential:
                raise SnapshotError(f"{self.source}: {kind.path}: {sentence}")
            self._refuse(kind, sentence)
        if len(first) < len(read):
            found[mark.num_objects[kind.key] :] = first.values()

    def _require_complete(self, name: str, metadata: ListMetadataWire | None) -> None:
        if metadata is not None and not metadata.is_complete:
            raise SnapshotError(
                f"{self.place}: the {_clipped(name)} is one page of several, so the dump is not complete; "
                "take it with kubectl get, which joins pages, or descheduler snapshot"
            )

    def finish(self, *, taken_at: datetime | None = None, resource_version: str = "") -> Snapshot:
        """The frozen snapshot of everything read. Raises SnapshotError when two objects of a kind share a name."""
        nodes = _sorted_unique(self.nodes, "node", self.source, lambda node: node.name)
        pods = _sorted_unique(self.pods, "pod", self.source, lambda pod: f"{pod.namespace}\0{pod.name}")
        others = {key: items for key, items in self.objects.items() if key not in (_NODE, _POD)}
        return Snapshot(
            **snapshot_fields(nodes, pods, others),
            kinds=frozenset(self.kinds),
            skipped=tuple(self.skipped),
            warnings=(*self.warnings, *self._unlisted(), *_strays(nodes, pods), *_without_uid(pods)),
            source=self.source,
            taken_at=taken_at,
            resource_version=resource_version,
        )

    def _unlisted(self) -> Iterator[str]:
        if self._num_unlisted:
            yield f"{counted(self._num_unlisted, 'more object')} skipped as invalid, not listed"

    def _header(self, block: bytes) -> ObjectHeader:
        try:
            return _decode_header(block)
        except RecursionError:
            return deep_header(block)
        except _Malformed as error:
            raise SnapshotError(f"{self.place}: not a Kubernetes object in JSON: {fault_of(error)}") from error

    def _add_list(self, block: bytes, array: bytes, depth: int) -> int:
        if depth == MAX_LIST_DEPTH:
            raise SnapshotError(f"{self.place}: lists are nested {depth} deep; join the dumps into one list")
        return sum(self.add_object(item, depth + 1) for item in self._items(block, array))

    def _add_one_by_one(self, kind: AnyKind, page: bytes) -> int:
        num_items = 0
        for item in self._items(page, bytes(self._header(page).items)):
            self._add(kind, item)
            num_items += 1
        return num_items

    def _items(self, block: bytes, array: bytes) -> Iterator[bytes]:
        """Each object of `array`, a part of `block`; meanwhile `line` is the one that it starts on."""
        if array == _NULL:
            return
        if not array.startswith(b"["):
            shown = array[:_LONGEST_SHOWN].decode(errors="replace")
            raise SnapshotError(f"{self.place}: the list cannot be read: its items are {_clipped(shown)}")
        first_line, counted = self.line, 0
        is_of_lines = first_line > 0 and b"\n" in block
        if is_of_lines:
            self.line += block.count(b"\n", 0, block.find(array))
        try:
            for item, position in elements(array):
                if is_of_lines:
                    self.line += array.count(b"\n", counted, position)
                    counted = position
                if not item.startswith(b"{"):
                    text = item[:_LONGEST_SHOWN].decode(errors="replace")
                    raise SnapshotError(f"{self.place}: not a Kubernetes object but {_clipped(text)}")
                yield item
        except JsonFaultError as error:
            raise SnapshotError(f"{self.place}: the list cannot be read: {fault_of(error)}") from error
        self.line = first_line

    def _add(self, kind: AnyKind, block: bytes) -> None:
        try:
            decoded = self._decoded(kind, block)
        except (ValueError, RecursionError) as error:
            self._broken(kind, block, error)
            return
        self.objects[kind.key].append(decoded)

    def _decoded(self, kind: Kind[ObjectT], block: bytes) -> ObjectT:
        decoded: ObjectT = self._decoders[kind.key](block)
        if not decoded.name:  # asked last, so that another fault stays the same without the name
            raise ValueError("metadata.name is missing")
        return decoded

    def _fault_of(self, kind: AnyKind, block: bytes) -> str:
        try:
            self._decoded(kind, block)
        except (ValueError, RecursionError) as error:
            return fault_of(error)
        return ""

    def _broken(self, kind: AnyKind, block: bytes, error: Exception) -> None:
        fault = fault_of(error)
        if len(self.skipped) < _MOST_EXPLAINED:
            fault = explained_fault(block, fault, partial(self._fault_of, kind))
        name = _clipped(_name_in(block)) or "without a name"
        self._refuse(kind, f"{kind.name} {name} is invalid: {_clipped(fault)}", error)

    def _refuse(self, kind: AnyKind, sentence: str, error: Exception | None = None) -> None:
        """Leaves an object of `kind` out. Raises SnapshotError where that is not allowed."""
        can_do_without = self.is_live and not kind.is_essential
        if not (self.request.skip_broken or can_do_without):
            raise SnapshotError(
                f"{self.place}: {sentence}; fix it, or skip such objects with --skip-broken-objects"
            ) from error
        if len(self.skipped) < _MOST_SKIPPED:
            self.skipped.append(sentence)
        elif can_do_without:
            self._num_unlisted += 1
        else:
            raise SnapshotError(
                f"{self.place}: {sentence}; {_MOST_SKIPPED:,} invalid objects are already skipped, no more are allowed"
            )


def _strays(nodes: Iterable[Node], pods: Iterable[Pod]) -> Iterator[str]:
    """A sentence when pods are bound to nodes that were not read, as in a dump of some nodes alone."""
    known = {node.name for node in nodes}
    strays = [pod for pod in pods if pod.node_name and pod.node_name not in known]
    if strays:
        example = f"such as {strays[0].key} to {strays[0].node_name}"
        bound = "1 pod is bound to a node" if len(strays) == 1 else f"{len(strays)} pods are bound to nodes"
        yield f"{bound} not in the snapshot, {example}; ignored"


def _without_uid(pods: Sequence[Pod]) -> Iterator[str]:
    """A sentence about pods that no API server has stored, as in objects written by hand."""
    number = sum(not pod.uid for pod in pods)
    if number:
        verb = "has" if number == 1 else "have"
        yield (
            f"{number:,} of {counted(len(pods), 'pod')} {verb} no metadata.uid, which the API server gives"
            " to every pod; pods without one are never evicted"
        )


def _name_in(block: bytes) -> str:
    try:
        metadata = _decode_named(block).metadata or _Name()
    except RecursionError:
        return deep_name_in(block)
    except _Malformed:
        return ""
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name or ""


def _sorted_unique(
    objects: list[ObjectT], what: str, source: str, name_of: Callable[[ObjectT], str]
) -> tuple[ObjectT, ...]:
    ordered = sorted(objects, key=name_of)
    for previous, current in pairwise(ordered):
        if name_of(previous) == name_of(current):
            name = _clipped(name_of(current).replace("\0", "/"))
            raise SnapshotError(f"{source}: {what} {name} appears twice; names must be unique")
    return tuple(ordered)
