"""NodeMetrics of Koordinator, from the bytes of the API to model values.

There are few of them and they hold as much as all pods together, so that each is decoded in one step, and what many of
their pods have in common is kept once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from sys import intern
from typing import TYPE_CHECKING

import msgspec

from descheduler.cluster.decoding.wire import ABSENT, Int64, ObjectReader, Wire, set_time
from descheduler.model.koordinator.node_reports import NodeMetric, PodMetric
from descheduler.model.quantity import parse_quantity
from descheduler.model.requests import ResourceList
from descheduler.model.text.duration import parse_duration

if TYPE_CHECKING:
    from descheduler.cluster.decoding.decode import Decoding

_Spelled = dict[str, str | float | None]
"""Resource name → quantity as it is written."""


class _UsageWire(Wire):
    resources: _Spelled | None = None


class _NodeUsageWire(Wire):
    node_usage: _UsageWire | None = None
    system_usage: _UsageWire | None = None
    aggregated_node_usages: msgspec.Raw = ABSENT


class _AggregateWire(Wire):
    duration: str | None = None
    usage: dict[str, _UsageWire] | None = None


class _PodMetricWire(Wire):
    namespace: str | None = None
    name: str | None = None
    priority: str | None = None
    pod_usage: _UsageWire | None = None


class _StatusWire(Wire):
    update_time: datetime | None = None
    node_metric: _NodeUsageWire | None = None
    pods_metric: list[_PodMetricWire] | None = None


class _CollectPolicyWire(Wire):
    report_interval_seconds: Int64 | None = None


class _SpecWire(Wire):
    metric_collect_policy: _CollectPolicyWire | None = None


_PROD = "koord-prod"
_REPORT_SECONDS = 60
"""How often koordlet reports unless the NodeMetric says otherwise."""
_read = ObjectReader(_SpecWire, _StatusWire)
_decode_aggregates = msgspec.json.Decoder(list[_AggregateWire] | None).decode


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
        metadata, spec, status = _read(block)
        measured = status.node_metric
        policy = spec.metric_collect_policy
        stated = None if policy is None else policy.report_interval_seconds
        aggregated = ABSENT if measured is None else measured.aggregated_node_usages
        return NodeMetric(
            name=metadata.name or "",
            updated_at=set_time(status.update_time),
            system_usage=None if measured is None else self._by_name(measured.system_usage),
            pods=tuple([self._pod_metric(pod) for pod in status.pods_metric or ()]),
            node_usage={} if measured is None else self._by_name(measured.node_usage),
            aggregated_usage=None if aggregated is ABSENT else bytes(aggregated),
            report_seconds=_REPORT_SECONDS if stated is None else stated,
        )

    def _by_name(self, wire: _UsageWire | None) -> ResourceList:
        return dict(zip(*self._usage(wire), strict=True))

    def _pod_metric(self, wire: _PodMetricWire) -> PodMetric:
        usage = self._usage(wire.pod_usage)
        return PodMetric(intern(wire.namespace or ""), wire.name or "", *usage, is_prod=wire.priority == _PROD)

    def _usage(self, wire: _UsageWire | None) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """Names of resources, and nano units of each."""
        spelled = (wire.resources if wire else None) or {}
        names = tuple(spelled)
        return self._resources.setdefault(names, names), tuple([self._amounts[text] for text in spelled.values()])


def node_metric_decoder(decoding: Decoding) -> Callable[[bytes], NodeMetric]:
    """The decoder of the NodeMetrics of one snapshot."""
    return NodeMetricDecoder().decode


def decode_aggregates(metric: NodeMetric) -> Mapping[tuple[str, timedelta], ResourceList]:
    """The aggregated usage of a node by kind, such as `p95`, and duration, in nano units; empty ones are left out.

    Raises QuantityError, msgspec.DecodeError, and ValueError for what is no duration.
    """
    amounts = _Amounts()
    found: dict[tuple[str, timedelta], ResourceList] = {}
    for each in _decode_aggregates(metric.aggregated_usage or b"null") or ():
        for kind, usage in (each.usage or {}).items():
            if usage.resources:
                measured = {name: amounts[text] for name, text in usage.resources.items()}
                found[kind, parse_duration(each.duration or "0s")] = measured
    return found
