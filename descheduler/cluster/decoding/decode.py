"""From wire types to model values: one decoder a snapshot, so that equal parts of its objects are one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from sys import intern

import msgspec

from descheduler.cluster.decoding import wire
from descheduler.cluster.decoding.annotations import AnnotationReader
from descheduler.cluster.decoding.block_cache import BlockCache, LastBlock
from descheduler.cluster.decoding.blocks import (
    decode_features,
    decode_images,
    decode_labels,
    decode_owners,
    decode_quantities,
)
from descheduler.cluster.decoding.pods.specs import SpecDecoder
from descheduler.cluster.decoding.pods.status import ResizeDecoder, StatusDecoder, decode_conditions, is_ready
from descheduler.cluster.decoding.pods.volumes import read_volumes
from descheduler.cluster.decoding.times import set_time
from descheduler.cluster.decoding.wire import ABSENT
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.taints import Taint

__all__ = ["Decoding", "NodeDecoder", "PodDecoder", "node_decoder", "pod_decoder"]

_read_pod = msgspec.json.Decoder(wire.PodWire).decode
_read_node = msgspec.json.Decoder(wire.NodeWire).decode

_NO_METADATA = wire.MetadataWire()
_NO_NODE_SPEC = wire.NodeSpecWire()
_NO_NODE_STATUS = wire.NodeStatusWire()


class PodDecoder:
    """Makes `Pod` values; specs, labels, owners and states that were seen before are shared.

    Conditions are the bulkiest part that is unique to each pod, so they are kept only where a plugin reads them.
    """

    def __init__(self, *, keep_conditions: bool = True) -> None:
        self._keep_conditions = keep_conditions
        labels = BlockCache(decode_labels)
        self._labels = LastBlock(labels)
        self._owners = LastBlock(BlockCache(decode_owners))
        self._annotations = AnnotationReader()
        self._specs = SpecDecoder(labels)
        self._statuses = StatusDecoder()
        self._resizes = ResizeDecoder()

    def decode(self, pod: wire.PodWire) -> Pod:
        """The model value of one pod; takes its wire value apart. Raises ValueError on content that is malformed."""
        metadata = pod.metadata or _NO_METADATA
        asked = pod.spec or wire.PodSpecWire()
        told = pod.status or wire.StatusWire()
        # What is the pod's own is taken out, so that the rest can be compared with the pod before as a whole.
        node_name, asked.node_name = asked.node_name, None
        volumes, asked.volumes = read_volumes(asked.volumes), None
        started_at, told.start_time = told.start_time, None
        conditions, told.conditions = bytes(told.conditions), ABSENT
        spec = self._specs.decode(asked, volumes)
        status = self._statuses.decode(told)
        created_at, deleted_at = metadata.creation_timestamp, metadata.deletion_timestamp
        if started_at == created_at:
            started_at = created_at = set_time(created_at)
        else:
            created_at, started_at = set_time(created_at), set_time(started_at)
        return Pod(
            metadata.name or "",
            intern(metadata.namespace or ""),
            metadata.uid or "",
            spec,
            intern(node_name) if node_name else "",
            status.phase,
            created_at,
            started_at,
            None if deleted_at is None else set_time(deleted_at),
            self._labels.value(metadata.labels),
            self._annotations.read(metadata.annotations),
            self._owners.value(metadata.owner_references),
            volumes.claim_names,
            status.reason,
            status.qos_class,
            status.containers,
            status.init_containers,
            status.ephemeral_containers,
            is_ready(conditions),
            decode_conditions(conditions) if self._keep_conditions else None,
            volumes.ephemeral,
            status.nominated_node_name,
            self._resizes.decode(spec, status, asked, told, conditions),
        )

    def forget(self) -> None:
        """Lets go of the bytes of the last pod, and of the page that they are part of."""
        self._labels.forget()
        self._owners.forget()
        self._specs.forget()
        self._statuses.forget()


class NodeDecoder:
    """Makes `Node` values."""

    def __init__(self) -> None:
        self._labels = BlockCache(decode_labels)
        self._annotations = AnnotationReader()
        self._quantities = BlockCache(decode_quantities)
        self._images = BlockCache(decode_images)

    def decode(self, node: wire.NodeWire) -> Node:
        """The model value of one node. Raises ValueError on content that Kubernetes would not store."""
        metadata = node.metadata or _NO_METADATA
        spec = node.spec or _NO_NODE_SPEC
        status = node.status or _NO_NODE_STATUS
        return Node(
            name=metadata.name or "",
            uid=metadata.uid or "",
            labels=self._labels[bytes(metadata.labels)],
            annotations=self._annotations.read(metadata.annotations),
            unschedulable=bool(spec.unschedulable),
            taints=tuple(Taint(t.key or "", t.value or "", t.effect or "") for t in spec.taints or ()),
            allocatable=self._quantities[bytes(status.allocatable)],
            capacity=self._quantities[bytes(status.capacity)],
            is_ready=all(c.type != "Ready" or c.status == "True" for c in status.conditions or ()),
            images=self._images[bytes(status.images)],
            declared_features=decode_features(bytes(status.declared_features)),
        )


@dataclass(frozen=True, slots=True)
class Decoding:
    """What the objects of one snapshot are decoded with. Workloads are decoded with their pods if `keep_templates`."""

    pods: PodDecoder = field(default_factory=PodDecoder)
    keep_templates: bool = False


def pod_decoder(decoding: Decoding) -> Callable[[bytes], Pod]:
    """What makes a Pod from its bytes."""

    def decode(block: bytes) -> Pod:
        pod = decoding.pods.decode(_read_pod(block))
        _require_name(pod.name)
        return pod

    return decode


def node_decoder(_decoding: Decoding) -> Callable[[bytes], Node]:
    """What makes a Node from its bytes."""
    nodes = NodeDecoder()

    def decode(block: bytes) -> Node:
        node = nodes.decode(_read_node(block))
        _require_name(node.name)
        return node

    return decode


def _require_name(name: str) -> None:
    if not name:
        raise ValueError("metadata.name is missing")
