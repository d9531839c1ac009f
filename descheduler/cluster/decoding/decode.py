"""From wire types to model values: one decoder a snapshot, so that equal parts of its objects are one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from sys import intern

import msgspec

from descheduler.cluster.decoding import wire
from descheduler.cluster.decoding.blocks import (
    AnnotationReader,
    BlockCache,
    LastBlock,
    decode_amounts,
    decode_features,
    decode_images,
    decode_labels,
    decode_owners,
    decode_reservation,
)
from descheduler.cluster.decoding.pods.resizes import ResizeDecoder
from descheduler.cluster.decoding.pods.specs import PodVolumes, SpecDecoder, read_volumes
from descheduler.cluster.decoding.pods.status import PodStatus, StatusDecoder, decode_conditions, is_ready
from descheduler.cluster.decoding.wire import ABSENT, PodPageWire, PodWire, set_time
from descheduler.model.annotations import KNOWN_ANNOTATIONS, AnnotationKeys
from descheduler.model.groups.volcano import COOLDOWN_KEY
from descheduler.model.node import NODE_RESERVATION_ANNOTATION, Node
from descheduler.model.pod import Owner, Pod, PodCondition, PodSpec
from descheduler.model.requests import ResizedRequests
from descheduler.model.selection.taints import Taint

_read_pod = msgspec.json.Decoder(wire.PodWire).decode
_read_node = msgspec.json.Decoder(wire.NodeWire).decode

_KNOWN = AnnotationKeys(KNOWN_ANNOTATIONS)
_NO_METADATA = wire.MetadataWire()
_NO_NODE_SPEC = wire.NodeSpecWire()
_NO_NODE_STATUS = wire.NodeStatusWire()


class AskedParts(msgspec.Struct, frozen=True, gc=False, eq=False):
    """What comes of a pod's spec alone; `rest` is that without volumes and node."""

    rest: wire.PodSpecWire
    volumes: PodVolumes
    spec: PodSpec


class ToldParts(msgspec.Struct, frozen=True, gc=False, eq=False):
    """What comes of a pod's status alone; `rest` is that without conditions and start."""

    rest: wire.StatusWire
    conditions: bytes
    status: PodStatus
    is_ready: bool


class PodParts(msgspec.Struct, frozen=True, gc=False, eq=False):
    """What replicas of a workload mostly have in common."""

    spec: PodSpec
    volumes: PodVolumes
    status: PodStatus
    is_ready: bool
    resized: ResizedRequests | None

    def pod(
        self,
        name: str,
        namespace: str,
        uid: str,
        node_name: str,
        created_at: datetime | None,
        started_at: datetime | None,
        deleted_at: datetime | None,
        labels: Mapping[str, str],
        annotations: Mapping[str, str],
        owners: tuple[Owner, ...],
        claim_names: tuple[str, ...],
        conditions: tuple[PodCondition, ...] | None,
        is_respecified: bool,
    ) -> Pod:
        """The pod that adds this of its own; arguments as the fields of `Pod`."""
        status = self.status
        return Pod(
            name,
            namespace,
            uid,
            self.spec,
            node_name,
            status.phase,
            created_at,
            started_at,
            deleted_at,
            labels,
            annotations,
            owners,
            claim_names,
            status.reason,
            status.qos_class,
            status.containers,
            status.init_containers,
            status.ephemeral_containers,
            self.is_ready,
            conditions,
            self.volumes.ephemeral,
            status.nominated_node_name,
            self.resized,
            is_respecified,
            status.generated_claims,
        )


def is_respecified(metadata: wire.MetadataWire) -> bool:
    """Whether the spec of a pod was changed after it was created; before kubernetes 1.33 pods have no generation."""
    return metadata.generation is not None and metadata.generation > 1


class PodDecoder:
    """Makes `Pod` values; specs, labels, owners and states that were seen before are shared.

    With `are_stored` an amount below zero, which no API server stores, is malformed.
    Conditions are the bulkiest part that is unique to each pod, so they are kept only where a plugin reads them, and of
    pods that state a cooldown, which is counted from one of them.
    """

    def __init__(
        self, *, keep_conditions: bool = True, annotation_keys: AnnotationKeys = _KNOWN, are_stored: bool = False
    ) -> None:
        self.keep_conditions = keep_conditions
        self.annotation_keys = annotation_keys
        self._label_blocks = BlockCache(decode_labels)
        self._owner_blocks = BlockCache(decode_owners)
        self._labels = LastBlock(self._label_blocks)
        self._owners = LastBlock(self._owner_blocks)
        self._annotations = AnnotationReader(annotation_keys)
        self._specs = SpecDecoder(self._label_blocks, are_stored=are_stored)
        self._statuses = StatusDecoder()
        self._resizes = ResizeDecoder()

    def decode(self, pod: wire.PodWire) -> Pod:
        """The model value of one pod; takes its wire value apart. Raises ValueError on content that is malformed."""
        metadata = pod.metadata or _NO_METADATA
        asked = pod.spec or wire.PodSpecWire()
        told = pod.status or wire.StatusWire()
        # What is the pod's own is taken out, so that the rest can be compared with the pod before as a whole.
        node_name, asked.node_name = asked.node_name, None
        started_at, told.start_time = told.start_time, None
        told_parts = self.told(told)
        parts = self.parts(self.asked(asked), told_parts)
        created_at, deleted_at = metadata.creation_timestamp, metadata.deletion_timestamp
        if started_at == created_at:
            started_at = created_at = set_time(created_at)
        else:
            created_at, started_at = set_time(created_at), set_time(started_at)
        labels, annotations = self._labels.value(metadata.labels), self._annotations.read(metadata.annotations)
        keeps_conditions = self.keep_conditions or COOLDOWN_KEY in labels or COOLDOWN_KEY in annotations
        return parts.pod(
            metadata.name or "",
            intern(metadata.namespace or ""),
            metadata.uid or "",
            intern(node_name) if node_name else "",
            created_at,
            started_at,
            None if deleted_at is None else set_time(deleted_at),
            labels,
            annotations,
            self._owners.value(metadata.owner_references),
            parts.volumes.claim_names,
            decode_conditions(told_parts.conditions) if keeps_conditions else None,
            is_respecified(metadata),
        )

    def asked(self, asked: wire.PodSpecWire) -> AskedParts:
        """What the pods of this spec have in common, but for their nodes; takes it apart.

        Raises ValueError on content that is malformed.
        """
        volumes, asked.volumes = read_volumes(asked.volumes), None
        return AskedParts(asked, volumes, self._specs.decode(asked, volumes))

    def told(self, told: wire.StatusWire) -> ToldParts:
        """What the pods of this status have in common, but for the time of their start; takes it apart.

        Raises ValueError on content that is malformed.
        """
        conditions, told.conditions = bytes(told.conditions), ABSENT
        return ToldParts(told, conditions, self._statuses.decode(told), is_ready(conditions))

    def parts(self, asked: AskedParts, told: ToldParts) -> PodParts:
        """What the pods of this spec and status have in common. Raises ValueError on content that is malformed."""
        resized = self._resizes.decode(asked.spec, told.status, asked.rest, told.rest, told.conditions)
        return PodParts(asked.spec, asked.volumes, told.status, told.is_ready, resized)

    def labels(self, block: bytes) -> Mapping[str, str]:
        """The shared value of `metadata.labels`."""
        return self._label_blocks[block]

    def owners(self, block: bytes) -> tuple[Owner, ...]:
        """The shared value of `metadata.ownerReferences`."""
        return self._owner_blocks[block]

    def forget(self) -> None:
        """Frees the bytes of the last pod, and of the page that they are part of."""
        self._labels.forget()
        self._owners.forget()
        self._specs.forget()
        self._statuses.forget()


class NodeDecoder:
    """Makes `Node` values; with `trims_reservations` what a node reserves is no longer in its `allocatable`.

    Koordinator trims likewise, when its informers hand a node out, so that no plugin sees the amounts reported.
    """

    def __init__(self, annotation_keys: AnnotationKeys = _KNOWN, *, trims_reservations: bool = False) -> None:
        self._trims_reservations = trims_reservations
        self._labels = BlockCache(decode_labels)
        self._annotations = AnnotationReader(annotation_keys)
        self._quantities = BlockCache(decode_amounts)
        self._images = BlockCache(decode_images)

    def decode(self, node: wire.NodeWire) -> Node:
        """The model value of one node. Raises ValueError on content that Kubernetes would not store."""
        metadata = node.metadata or _NO_METADATA
        spec = node.spec or _NO_NODE_SPEC
        status = node.status or _NO_NODE_STATUS
        annotations = self._annotations.read(metadata.annotations)
        reservation = decode_reservation(annotations.get(NODE_RESERVATION_ANNOTATION, ""))
        trimming = reservation if self._trims_reservations else None
        reported = self._quantities[bytes(status.allocatable)]
        return Node(
            name=metadata.name or "",
            uid=metadata.uid or "",
            labels=self._labels[bytes(metadata.labels)],
            annotations=annotations,
            unschedulable=bool(spec.unschedulable),
            taints=tuple(Taint(t.key or "", t.value or "", t.effect or "") for t in spec.taints or ()),
            allocatable=reported if trimming is None else trimming.rest_of(reported),
            capacity=self._quantities[bytes(status.capacity)],
            is_ready=all(c.type != "Ready" or c.status == "True" for c in status.conditions or ()),
            images=self._images[bytes(status.images)],
            declared_features=decode_features(bytes(status.declared_features)),
            reservation=reservation,
            is_trimmed=trimming is not None,
            true_conditions=frozenset(
                c.type for c in status.conditions or () if c.type and c.type != "Ready" and c.status == "True"
            ),
        )


class Decoding(msgspec.Struct, frozen=True):
    """What the objects of one snapshot are decoded with. Workloads are decoded with their pods if `keep_templates`."""

    pods: PodDecoder = msgspec.field(default_factory=PodDecoder)
    keep_templates: bool = False
    trims_reservations: bool = False


def pod_decoder(decoding: Decoding) -> Callable[[bytes], Pod]:
    """What makes a Pod from its bytes."""

    def decode(block: bytes) -> Pod:
        pod = decoding.pods.decode(_read_pod(block))
        _require_name(pod.name)
        return pod

    return decode


def node_decoder(decoding: Decoding) -> Callable[[bytes], Node]:
    """What makes a Node from its bytes."""
    nodes = NodeDecoder(decoding.pods.annotation_keys, trims_reservations=decoding.trims_reservations)

    def decode(block: bytes) -> Node:
        node = nodes.decode(_read_node(block))
        _require_name(node.name)
        return node

    return decode


def _require_name(name: str) -> None:
    if not name:
        raise ValueError("metadata.name is missing")


class PodPageReader:
    """Makes the pods of a page as it is read, and adds them to `pods`.

    A page is megabytes: what is read of a pod, and its bytes, would have left the processor's caches by the time that
    the whole page is read, and coming back to them would take as long again as making the pod.
    """

    def __init__(self, decoder: PodDecoder, pods: list[Pod]) -> None:
        class TakenPod(PodWire):
            def __post_init__(self) -> None:
                pod = decoder.decode(self)
                if not pod.name:
                    raise ValueError("metadata.name is missing")
                pods.append(pod)
                self.metadata = self.spec = self.status = None

        self._decoder = decoder
        self._pods = pods
        self._read = msgspec.json.Decoder(PodPageWire[TakenPod]).decode

    def read(self, page: bytes) -> PodPageWire[PodWire] | None:
        """The list, its items spent; None, with nothing added, when it or one of its pods is malformed."""
        num_before = len(self._pods)
        try:
            return self._read(page)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            del self._pods[num_before:]
            return None
        finally:
            self._decoder.forget()
