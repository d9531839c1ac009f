"""Collects decoded objects, page by page or one by one, and freezes them into a Snapshot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import TypeVar

import msgspec

from descheduler.cluster.decoding.culprit import explained_fault
from descheduler.cluster.decoding.decode import NodeDecoder, PodDecoder
from descheduler.cluster.decoding.deep_objects import deep_header, deep_name_in
from descheduler.cluster.decoding.pod_pages import PodPageReader
from descheduler.cluster.decoding.wire import ABSENT, ListMetadataWire, NodeWire, ObjectHeader, PodWire, Wire
from descheduler.cluster.decoding.workload_objects import with_template
from descheduler.cluster.kinds import Kind, SmallObject, kind_of
from descheduler.cluster.snapshot import Snapshot, SnapshotError
from descheduler.documents.json_values import JsonFaultError, elements
from descheduler.model.node import Node
from descheduler.model.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    DisruptionBudget,
    LimitRange,
    MigrationJob,
    Namespace,
    NodeUsage,
    PersistentVolume,
    PersistentVolumeClaim,
    PodUsage,
    PriorityClass,
    ResourceQuota,
    RuntimeClass,
    Service,
    StorageClass,
    VolumeAttachment,
    Workload,
)
from descheduler.model.pod import Pod

__all__ = ["MAX_LIST_DEPTH", "SnapshotBuilder", "printable"]


Object = TypeVar("Object")


class _Name(Wire):
    name: str | None = None
    namespace: str | None = None


class _Named(Wire):
    metadata: _Name | None = None


_NULL = b"null"
_Malformed = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_HEAD_BYTES = 200
MAX_LIST_DEPTH = 4
"""Lists in lists come from joining dumps, mostly with jq; more of them come from nobody."""
_MOST_SKIPPED = 10_000
_MOST_EXPLAINED = 100
_LONGEST_SHOWN = 200
_TOO_DEEP = "it is nested too deeply"

_decode_pod = msgspec.json.Decoder(PodWire).decode
_decode_node = msgspec.json.Decoder(NodeWire).decode
_decode_header = msgspec.json.Decoder(ObjectHeader).decode
_decode_named = msgspec.json.Decoder(_Named).decode


@dataclass
class SnapshotBuilder:
    """Objects read so far. A broken object is an error naming it, or with `skip_broken` is left out and named.

    `source` names the origin in messages (a file, `standard input`, a server), `line` the line of it that is being
    read, where it has lines. Pod templates of workloads, as large as pods, are only decoded where `keep_templates` asks
    for them.
    """

    source: str = ""
    line: int = 0
    skip_broken: bool = False
    keep_conditions: bool = True
    keep_templates: bool = False
    nodes: list[Node] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    small: list[SmallObject] = field(default_factory=list)
    kinds: set[str] = field(default_factory=set)
    skipped: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pod_decoder = PodDecoder(keep_conditions=self.keep_conditions)
        self._node_decoder = NodeDecoder()
        self._pod_pages = PodPageReader(self.pod_decoder, self.pods)

    def add_page(self, kind: Kind, page: bytes) -> int:
        """Reads a list of one kind, as the API server sends it; returns how many objects it held.

        The page is decoded in one go; only when that fails is it gone through object by object to name the culprit.
        Raises SnapshotError.
        """
        self.kinds.add(kind.name)
        decoded = self._pod_pages.read(page) if kind.name == "Pod" else None
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
                self.kinds.add("Pod")
                return len(page.items or ())
            del self.pods[num_before:]
        header = self._header(block)
        name, version = header.kind or "", header.api_version or ""
        if header.items is not ABSENT and name.endswith("List"):
            self._require_complete(name, header.metadata)
            kind = kind_of(version, name.removesuffix("List"))
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
        kind = kind_of(version, name)
        if kind is not None:
            self.add(kind, block)
        return 1

    def add_array(self, block: bytes) -> int:
        """Reads a JSON array of objects and lists; returns how many objects it held. Raises SnapshotError."""
        return self._add_list(block, block, 0)

    def add_deep(self, kind: Kind, name: str) -> None:
        """Refuses an object of this name that is nested too deeply to be written down. Raises SnapshotError."""
        self.kinds.add(kind.name)
        self._refuse(f"{kind.name} {_clipped(name) or 'without a name'} is broken: {_TOO_DEEP}")

    def add_unreadable(self, kind: Kind) -> None:
        """Refuses a message that is not one of `kind`, or holds text that is none. Raises SnapshotError."""
        self._refuse(f"{kind.name} without a name is broken: it cannot be read as protobuf")

    def add(self, kind: Kind, block: bytes) -> None:
        """Reads one object that is known to be of `kind`. Raises SnapshotError."""
        self.kinds.add(kind.name)
        self._add(kind, block)

    @property
    def place(self) -> str:
        """Where what is being read comes from, as messages name it."""
        return f"{self.source}:{self.line}" if self.line else self.source

    def mark(self) -> tuple[int, int, int, int]:
        """The present size of everything read, for `rollback`."""
        return len(self.nodes), len(self.pods), len(self.small), len(self.skipped)

    def rollback(self, mark: tuple[int, int, int, int]) -> None:
        """Forgets all objects read since `mark`."""
        num_nodes, num_pods, num_small, num_skipped = mark
        del self.nodes[num_nodes:]
        del self.pods[num_pods:]
        del self.small[num_small:]
        del self.skipped[num_skipped:]

    def require_once(self, kind: Kind, mark: tuple[int, int, int, int]) -> None:
        """Raises SnapshotError when two objects of `kind`, all read since `mark`, share a name.

        One list holds no object twice. Pods and nodes are looked through by `finish`, wherever they come from.
        """
        seen: set[tuple[str, str]] = set()
        for item in self.small[mark[2] :]:
            name = getattr(item, "namespace", ""), item.name
            if name in seen:
                shown = _clipped("/".join(filter(None, name)))
                raise SnapshotError(f"{self.source}: {kind.path}: {kind.name} {shown} is in the list twice")
            seen.add(name)

    def _require_complete(self, name: str, metadata: ListMetadataWire | None) -> None:
        if metadata is not None and not metadata.is_complete:
            raise SnapshotError(
                f"{self.place}: the {_clipped(name)} is one page of several, so the dump is not complete; "
                "take it with kubectl get, which joins pages, or descheduler snapshot"
            )

    def finish(
        self,
        *,
        taken_at: datetime | None = None,
        resource_version: str = "",
        node_samples: dict[str, dict[str, float]] | None = None,
    ) -> Snapshot:
        """The frozen snapshot of everything read. Raises SnapshotError when two objects of a kind share a name."""
        nodes = _sorted_unique(self.nodes, "node", self.source, lambda node: node.name)
        pods = _sorted_unique(self.pods, "pod", self.source, lambda pod: f"{pod.namespace}\0{pod.name}")
        small = self.small
        return Snapshot(
            nodes=nodes,
            pods=pods,
            namespaces={o.name: o for o in _of(small, Namespace)},
            priority_classes={o.name: o for o in _of(small, PriorityClass)},
            claims={(o.namespace, o.name): o for o in _of(small, PersistentVolumeClaim)},
            budgets=tuple(sorted(_of(small, DisruptionBudget), key=attrgetter("namespace", "name"))),
            workloads={o.uid or f"{o.kind}/{o.namespace}/{o.name}": o for o in _of(small, Workload)},
            migration_jobs=tuple(sorted(_of(small, MigrationJob), key=attrgetter("name"))),
            volumes={o.name: o for o in _of(small, PersistentVolume)},
            storage_classes={o.name: o for o in _of(small, StorageClass)},
            csi_nodes={o.name: o for o in _of(small, CSINode)},
            csi_drivers={o.name: o for o in _of(small, CSIDriver)},
            storage_capacities=tuple(sorted(_of(small, CSIStorageCapacity), key=attrgetter("namespace", "name"))),
            attachments=tuple(sorted(_of(small, VolumeAttachment), key=attrgetter("name"))),
            services=tuple(sorted(_of(small, Service), key=attrgetter("namespace", "name"))),
            quotas=tuple(sorted(_of(small, ResourceQuota), key=attrgetter("namespace", "name"))),
            limit_ranges=tuple(sorted(_of(small, LimitRange), key=attrgetter("namespace", "name"))),
            runtime_classes={o.name: o for o in _of(small, RuntimeClass)},
            node_usage={o.name: o for o in _of(small, NodeUsage)},
            pod_usage={(o.namespace, o.name): o for o in _of(small, PodUsage)},
            node_samples=node_samples or {},
            kinds=frozenset(self.kinds),
            skipped=tuple(self.skipped),
            warnings=(*self.warnings, *_strays(nodes, pods)),
            source=self.source,
            taken_at=taken_at,
            resource_version=resource_version,
        )

    def _header(self, block: bytes) -> ObjectHeader:
        try:
            return _decode_header(block)
        except RecursionError:
            return deep_header(block)
        except _Malformed as error:
            raise SnapshotError(f"{self.place}: not a Kubernetes object in JSON: {_fault(error)}") from error

    def _add_list(self, block: bytes, array: bytes, depth: int) -> int:
        if depth == MAX_LIST_DEPTH:
            raise SnapshotError(f"{self.place}: a list in {depth} lists, one within the other; join dumps into one")
        return sum(self.add_object(item, depth + 1) for item in self._items(block, array))

    def _add_one_by_one(self, kind: Kind, page: bytes) -> int:
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
            raise SnapshotError(f"{self.place}: the list cannot be read: {_fault(error)}") from error
        self.line = first_line

    def _add(self, kind: Kind, block: bytes) -> None:
        try:
            decoded = self._decoded(kind, block)
        except (ValueError, RecursionError) as error:
            self._broken(kind, block, error)
            return
        if isinstance(decoded, Pod):
            self.pods.append(decoded)
        elif isinstance(decoded, Node):
            self.nodes.append(decoded)
        else:
            self.small.append(decoded)

    def _decoded(self, kind: Kind, block: bytes) -> Pod | Node | SmallObject:
        if kind.name == "Pod":
            pod = self.pod_decoder.decode(_decode_pod(block))
            _require_name(pod.name)
            return pod
        if kind.name == "Node":
            node = self._node_decoder.decode(_decode_node(block))
            _require_name(node.name)
            return node
        assert kind.decode is not None, kind.name  # noqa: S101 - every other row of the table has one
        small = kind.decode(block)
        if self.keep_templates and isinstance(small, Workload):
            return with_template(small, block, self.pod_decoder)
        return small

    def _fault_of(self, kind: Kind, block: bytes) -> str:
        try:
            self._decoded(kind, block)
        except (ValueError, RecursionError) as error:
            return _fault(error)
        return ""

    def _broken(self, kind: Kind, block: bytes, error: Exception) -> None:
        fault = _fault(error)
        if len(self.skipped) < _MOST_EXPLAINED:
            fault = explained_fault(block, fault, partial(self._fault_of, kind))
        name = _clipped(_name_in(block)) or "without a name"
        self._refuse(f"{kind.name} {name} is broken: {_clipped(fault)}", error)

    def _refuse(self, sentence: str, error: Exception | None = None) -> None:
        if not self.skip_broken:
            raise SnapshotError(
                f"{self.place}: {sentence}; mend it, or leave such objects out with --skip-broken-objects"
            ) from error
        if len(self.skipped) == _MOST_SKIPPED:
            raise SnapshotError(f"{self.place}: {sentence}, as {_MOST_SKIPPED} objects before it; mend the source")
        self.skipped.append(sentence)


def _strays(nodes: Iterable[Node], pods: Iterable[Pod]) -> Iterator[str]:
    """A sentence when pods are bound to nodes that were not read, as in a dump of some nodes alone."""
    known = {node.name for node in nodes}
    strays = [pod for pod in pods if pod.node_name and pod.node_name not in known]
    if strays:
        example = f"such as {strays[0].key} to {strays[0].node_name}"
        bound = "1 pod is bound to a node" if len(strays) == 1 else f"{len(strays)} pods are bound to nodes"
        yield f"{bound} that the snapshot does not hold, {example}: passed over"


def printable(text: str) -> str:
    """`text` with control characters escaped, safe for a terminal and a log."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)


def _clipped(text: str) -> str:
    return printable(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")


def _fault(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return _TOO_DEEP
    return "it holds bytes that are not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)


def _require_name(name: str) -> None:
    if not name:
        raise ValueError("metadata.name is missing")


def _name_in(block: bytes) -> str:
    try:
        metadata = _decode_named(block).metadata or _Name()
    except RecursionError:
        return deep_name_in(block)
    except _Malformed:
        return ""
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name or ""


def _of(objects: list[SmallObject], kind: type[Object]) -> Iterator[Object]:
    return (item for item in objects if isinstance(item, kind))


def _sorted_unique(
    objects: list[Object], what: str, source: str, name_of: Callable[[Object], str]
) -> tuple[Object, ...]:
    ordered = sorted(objects, key=name_of)
    for previous, current in pairwise(ordered):
        if name_of(previous) == name_of(current):
            name = _clipped(name_of(current).replace("\0", "/"))
            raise SnapshotError(f"{source}: {what} {name} is there twice; one object stands for one name in a cluster")
    return tuple(ordered)
