"""NodeMetrics of Koordinator, from the bytes of the API to model values.

There are few of them and they hold as much as all pods together, so that each is decoded in one step, and what many of
their pods have in common is kept once.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from sys import intern
from typing import TYPE_CHECKING

import msgspec

from descheduler.cluster.decoding.times import set_time
from descheduler.cluster.decoding.wire import MetadataWire, Wire
from descheduler.model.koordinator.node_metric import NodeMetric, PodMetric
from descheduler.model.quantity import parse_quantity

if TYPE_CHECKING:
    from descheduler.cluster.decoding.decode import Decoding

__all__ = ["node_metric_decoder"]

_Spelled = dict[str, str | float | None]
"""Resource name → quantity as it is written."""


class _UsageWire(Wire):
    resources: _Spelled | None = None


class _NodeUsageWire(Wire):
    system_usage: _UsageWire | None = None


class _PodMetricWire(Wire):
    namespace: str | None = None
    name: str | None = None
    pod_usage: _UsageWire | None = None


class _StatusWire(Wire):
    update_time: datetime | None = None
    node_metric: _NodeUsageWire | None = None
    pods_metric: list[_PodMetricWire] | None = None


class _NodeMetricWire(Wire):
    metadata: MetadataWire | None = None
    status: _StatusWire | None = None


_decode = msgspec.json.Decoder(_NodeMetricWire).decode


class _Amounts(dict[str | float | None, int]):
    """Quantity as it is written → nano units. Raises QuantityError.

    Pods of one kind use the same few thousandths of a core, so that many are looked up.
    """

    def __missing__(self, spelled: str | float | None) -> int:
        text = spelled.strip() if isinstance(spelled, str) else str(spelled or 0)
        nano = self[spelled] = parse_quantity(text)
        return nano


class NodeMetricDecoder:
    """Makes `NodeMetric` values that share the names of what was measured."""

    def __init__(self) -> None:
        self._resources: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._amounts = _Amounts()

    def decode(self, block: bytes) -> NodeMetric:
        """One NodeMetric. Raises QuantityError, msgspec.DecodeError, and ValueError for a time without a zone."""
        wire = _decode(block)
        status = wire.status or _StatusWire()
        measured = status.node_metric
        return NodeMetric(
            name=(wire.metadata.name if wire.metadata else None) or "",
            updated_at=set_time(status.update_time),
            system_usage=None if measured is None else dict(zip(*self._usage(measured.system_usage), strict=True)),
            pods=tuple([self._pod_metric(pod) for pod in status.pods_metric or ()]),
        )

    def _pod_metric(self, wire: _PodMetricWire) -> PodMetric:
        return PodMetric(intern(wire.namespace or ""), wire.name or "", *self._usage(wire.pod_usage))

    def _usage(self, wire: _UsageWire | None) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Names of resources, and nano units of each."""
        spelled = (wire.resources if wire else None) or {}
        names = tuple(spelled)
        return self._resources.setdefault(names, names), tuple([self._amounts[text] for text in spelled.values()])


def node_metric_decoder(decoding: Decoding) -> Callable[[bytes], NodeMetric]:
    """The decoder of the NodeMetrics of one snapshot."""
    del decoding
    return NodeMetricDecoder().decode
