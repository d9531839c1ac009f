"""What Koordinator's agent has measured on a node: the load of the system, and of each pod."""

from __future__ import annotations

from datetime import datetime

import msgspec

from descheduler.model.requests import ResourceList

NODE_METRIC_KIND = "NodeMetric.slo.koordinator.sh"
"""Its key in the table of kinds."""

RAW_ALLOCATABLE_ANNOTATION = "node.koordinator.sh/raw-allocatable"
"""What a node can give in truth, where its allocatable resources are amplified; a resource list in JSON."""


class PodMetric(msgspec.Struct, frozen=True, gc=False):
    """The usage of one pod: `amounts` in nano units, of `resources` in the same order.

    There are as many as pods, and nearly all have the same resources, so that these are shared.
    """

    namespace: str
    name: str
    resources: tuple[str, ...]
    amounts: tuple[int, ...]
    is_prod: bool = False
    """Whether the agent takes the pod for one of class koord-prod."""

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def usage(self) -> ResourceList:
        """Resource name → nano units."""
        return dict(zip(self.resources, self.amounts, strict=True))


class NodeMetric(msgspec.Struct, frozen=True):
    """A NodeMetric of Koordinator; its name is that of the node.

    `updated_at` is None before the first report. `system_usage` is what nothing but pods leaves out, in nano units;
    None while the agent has measured no node, in which case nothing here counts. `node_usage` is that of the node as a
    whole, averaged over minutes. `aggregated_usage` are its percentiles as they are written, None without any: few
    schedulers read them. A report follows the one before after `report_seconds`.
    """

    name: str
    updated_at: datetime | None
    system_usage: ResourceList | None
    pods: tuple[PodMetric, ...]
    node_usage: ResourceList = {}
    aggregated_usage: bytes | None = None
    report_seconds: int = 60
