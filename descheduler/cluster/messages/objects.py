"""Pods and nodes in the API's protobuf, added to a snapshot."""

from __future__ import annotations

from collections.abc import Sequence

from google.protobuf.message import DecodeError

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.kind import AnyKind
from descheduler.cluster.messages.as_json import json_of
from descheduler.cluster.messages.definitions import message_class
from descheduler.cluster.messages.pods import ProtoPodReader

__all__ = ["MessageAdder"]


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
