"""Pods from the API's protobuf: what replicas have in common is decoded once, and known again by its bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sys import intern
from typing import Any, TypeVar

import msgspec
from google.protobuf.message import DecodeError

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.decoding import wire
from descheduler.cluster.decoding.decode import AskedParts, PodDecoder, PodParts, ToldParts, is_respecified
from descheduler.cluster.kind import AnyKind
from descheduler.cluster.message_definitions import json_of, message_class, moment_of
from descheduler.model.pod import Owner, Pod, PodCondition

Key = TypeVar("Key")
Value = TypeVar("Value")

_MOST_REMEMBERED = 20_000
"""Keys take some hundred bytes each. Clusters have fewer workloads; one whose pods all differ gains nothing by them."""

_Pod: Any = message_class("Pod")
_BriefPod: Any = message_class("BriefPod")
_TimedPod: Any = message_class("TimedPod")
_Annotated: Any = message_class("AnnotatedPod")
_Metadata: Any = message_class("Metadata")
_PodSpec: Any = message_class("PodSpec")
_PodStatus: Any = message_class("PodStatus")

_decode_spec = msgspec.json.Decoder(wire.PodSpecWire).decode
_decode_status = msgspec.json.Decoder(wire.StatusWire).decode
_decode_metadata = msgspec.json.Decoder(wire.MetadataWire).decode
_decode_pod = msgspec.json.Decoder(wire.PodWire).decode


_OWN_METADATA = ("name", "uid", "creationTimestamp")
_NONE: Mapping[str, str] = {}


class _Common(msgspec.Struct, frozen=True, gc=False, eq=False):
    namespace: str
    labels: Mapping[str, str]
    owners: tuple[Owner, ...]
    is_respecified: bool
    has_annotations: bool
    """Whether there are some that a rule reads."""


class _Remembered(dict[Key, Value]):
    """Values by their bytes; all are forgotten when they become too many."""

    def keep(self, key: Key, value: Value) -> Value:
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        self[key] = value
        return value


class ProtoPodReader:
    """Makes `Pod` values through `decoder`, which sees what is new to it in JSON: there is one way to read a field.

    What is the pod's own is taken out of its message, and fields that nothing reads are dropped. The rest is written
    down again: pods of equal bytes say the same.
    """

    def __init__(self, decoder: PodDecoder) -> None:
        self._decoder = decoder
        self._parse = (_TimedPod if decoder.keep_conditions else _BriefPod).FromString
        self._known: _Remembered[bytes, tuple[_Common, PodParts]] = _Remembered()
        self._commons: _Remembered[bytes, _Common] = _Remembered()
        self._asked: _Remembered[bytes, AskedParts] = _Remembered()
        self._told: _Remembered[bytes, ToldParts] = _Remembered()

    def read(self, item: bytes) -> Pod:
        """The pod in `item`, a message `Pod`. Raises ValueError and DecodeError on content that is malformed."""
        message = self._parse(item)
        message.DiscardUnknownFields()
        metadata, asked, told = message.metadata, message.spec, message.status
        name, uid, node_name = metadata.name, metadata.uid, asked.nodeName
        # Each look into a message makes a value of what is there.
        created, started = metadata.creationTimestamp, told.startTime
        created_at, seconds = moment_of(created), created.seconds
        # Most pods start in the second in which they are created.
        is_same = seconds != 0 and started.seconds == seconds
        started_at = created_at if is_same else moment_of(started)
        deleted_at = None
        if metadata.HasField("deletionTimestamp"):
            deleted_at = moment_of(metadata.deletionTimestamp)
            metadata.ClearField("deletionTimestamp")
        for own in _OWN_METADATA:
            metadata.ClearField(own)
        asked.ClearField("nodeName")
        told.ClearField("startTime")
        conditions = _without_times(told) if self._decoder.keep_conditions else None
        known, claims = self._known.get(message.SerializeToString()), None
        if known is None:
            if _has_named_volume(asked):
                return self._decoder.decode(_decode_pod(json_of(_Pod.FromString(item))))
            # Claims of a StatefulSet are its pods' own: the rest is known without them.
            claims = _taken_claims(asked)
            known = self._without_own(message)
        common, parts = known
        return parts.pod(
            name,
            common.namespace,
            uid,
            intern(node_name),
            created_at,
            started_at,
            deleted_at,
            common.labels,
            self._annotations(item) if common.has_annotations else _NONE,
            common.owners,
            claims or parts.volumes.claim_names,
            conditions,
            common.is_respecified,
        )

    def _without_own(self, message: Any) -> tuple[_Common, PodParts]:
        """What the pod has in common with others, as nothing of its own is left in it."""
        key = message.SerializeToString()
        known = self._known.get(key)
        if known is None:
            parts = self._decoder.parts(self._asked_parts(message.spec), self._told_parts(message.status))
            known = self._known.keep(key, (self._common(message.metadata), parts))
        return known

    def _asked_parts(self, asked: Any) -> AskedParts:
        key = asked.SerializeToString()
        known = self._asked.get(key)
        return known or self._asked.keep(key, self._decoder.asked(_decode_spec(json_of(_PodSpec.FromString(key)))))

    def _told_parts(self, told: Any) -> ToldParts:
        key = told.SerializeToString()
        known = self._told.get(key)
        return known or self._told.keep(key, self._decoder.told(_decode_status(json_of(_PodStatus.FromString(key)))))

    def _common(self, metadata: Any) -> _Common:
        key = metadata.SerializeToString()
        known = self._commons.get(key)
        return known or self._commons.keep(key, self._new_common(_Metadata.FromString(key)))

    def _new_common(self, metadata: Any) -> _Common:
        names = [entry.key for entry in metadata.annotations]
        metadata.ClearField("annotations")
        block = _decode_metadata(json_of(metadata))
        return _Common(
            intern(block.namespace or ""),
            self._decoder.labels(bytes(block.labels)),
            self._decoder.owners(bytes(block.owner_references)),
            is_respecified(block),
            has_annotations=any(name in self._decoder.annotation_keys for name in names),
        )

    def _annotations(self, item: bytes) -> Mapping[str, str]:
        found = _Annotated.FromString(item).metadata.annotations
        keys = self._decoder.annotation_keys
        return {entry.key: entry.value for entry in found if entry.key in keys}


def _has_named_volume(spec: Any) -> bool:
    """Whether the claim of an ephemeral volume is named after it, so that its name is needed."""
    return any(volume.volumeSource.HasField("ephemeral") for volume in spec.volumes)


def _taken_claims(spec: Any) -> tuple[str, ...]:
    """The claims that a spec names, which are taken out of it."""
    claims = []
    for volume in spec.volumes:
        source = volume.volumeSource
        if source.HasField("persistentVolumeClaim"):
            claims.append(source.persistentVolumeClaim.claimName)
            source.persistentVolumeClaim.ClearField("claimName")
    return tuple(claims)


def _without_times(told: Any) -> tuple[PodCondition, ...]:
    """The conditions of a status, whose times are taken out: they are the pod's own."""
    conditions = []
    seen, time = -1, None
    for condition in told.conditions:
        # Conditions mostly change together: those of one moment share one value.
        if condition.lastTransitionTime.seconds != seen:
            time = moment_of(condition.lastTransitionTime)
            seen = condition.lastTransitionTime.seconds
        conditions.append(
            PodCondition(intern(condition.type), intern(condition.status), intern(condition.reason), time)
        )
        condition.ClearField("lastTransitionTime")
    return tuple(conditions)


class MessageAdder:
    """Adds messages to `builder`; whatever is wrong with one is found, and said, as for the same object in JSON."""

    def __init__(self, builder: SnapshotBuilder) -> None:
        self._builder = builder
        self._read_pod = ProtoPodReader(builder.pod_decoder).read

    def add(self, kind: AnyKind, items: Sequence[bytes]) -> None:
        """Reads messages of `kind`. Raises SnapshotError."""
        self._builder.kinds.add(kind.key)
        for item in items:
            if kind.key != "Pod" or not self._is_added(item):
                self._add_as_json(kind, item)

    def _is_added(self, item: bytes) -> bool:
        try:
            pod = self._read_pod(item)
        except (ValueError, DecodeError):
            return False
        if pod.name:
            self._builder.pods.append(pod)
        return bool(pod.name)

    def _add_as_json(self, kind: AnyKind, item: bytes) -> None:
        try:
            block = json_of(message_class(kind.name).FromString(item))
        except (ValueError, DecodeError):
            self._builder.add_unreadable(kind)
            return
        self._builder.add(kind, block)
