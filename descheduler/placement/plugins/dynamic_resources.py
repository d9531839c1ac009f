"""DynamicResources (kube-scheduler 1.36): devices are allocated by expressions over what drivers publish.

A snapshot holds neither the devices nor the expressions, so a pod with claims is neither accepted nor refused: its
landing is likely at best. The same holds of a pod that requests an extended resource which no node lists, as a
DeviceClass may serve it.
"""

from __future__ import annotations

from datetime import timedelta

from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.configuration.kube_scheduler.plugin_settings import ByDefault
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import SKIP, PreFilterResult, ReasonBits
from descheduler.placement.framework.obstacle import Code, Obstacle, Unchecked
from descheduler.placement.framework.scheduling_plugin import About, SchedulingPlugin, own_node
from descheduler.placement.plugins.helper.device_resources import (
    is_served_by_devices,
    serves_devices,
    unlisted_sentence,
)
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.policy.shared_args import Args

__all__ = ["DynamicResources"]


class DynamicResources:
    """Says of pods with resource claims, stated or made of extended resources, that their placement cannot be told."""

    name = "DynamicResources"
    is_static = True

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._table = cluster.table
        self._serves = serves_devices(cluster, profile)

    def pre_filter(self, cycle: Cycle) -> PreFilterResult:
        """Undecided for pods with claims; others are left out."""
        unchecked = self._unchecked(cycle.pod)
        return PreFilterResult(Obstacle.of(self.name, Code.UNDECIDED, *unchecked)) if unchecked else SKIP

    def filter(self, cycle: Cycle) -> ReasonBits | None:
        """Nothing: no pod with claims gets as far as this."""
        return None

    def obstacle(self, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """What `pre_filter` says."""
        return Obstacle.of(self.name, Code.UNDECIDED, *self._unchecked(cycle.pod))

    def _unchecked(self, pod: PlacementClass) -> tuple[Unchecked, ...]:
        spec, found = pod.spec, []
        if spec.has_resource_claims:
            names = f": {', '.join(spec.resource_claim_names)}" if spec.resource_claim_names else ""
            reason = f"uses resource claims, which a snapshot cannot allocate{names}"
            found.append(Unchecked(reason, "resource claims are not modelled"))
        found += [Unchecked(sentence, sentence) for sentence in map(unlisted_sentence, self._unlisted(pod))]
        return tuple(found)

    def _unlisted(self, pod: PlacementClass) -> list[str]:
        """The extended resources of which no node lists any."""
        names = (self._table.resources[row] for row, _ in pod.demand.amounts) if self._serves else ()
        return sorted(name for name in names if is_served_by_devices(self._table, name))


class DynamicResourcesSection(Args, frozen=True):
    """`DynamicResourcesArgs`."""

    filter_timeout: timedelta | None = None
    """10s by default; without effect here."""
    binding_timeout: timedelta | None = None
    """10m by default; without effect here."""


def _read_args(block: ArgsBlock, section: DynamicResourcesSection) -> None:
    if section.filter_timeout is not None and section.filter_timeout < timedelta(0):
        block.fail(("filterTimeout",), "is negative; 0s means no limit")
    if section.binding_timeout is not None and section.binding_timeout < timedelta(seconds=1):
        block.fail(("bindingTimeout",), "is below 1s")


ROW = SchedulingPlugin(
    plugin=DynamicResources,
    points=frozenset({"pre_filter", "filter", "pre_enqueue", "post_filter", "score", "reserve", "pre_bind"}),
    by_default=ByDefault(weight=2, gate="DynamicResourceAllocation"),
    prepared_for=frozenset({"filter", "reserve"}),
    args=ArgsKind(DynamicResourcesSection, _read_args),
    interactions=own_node,
    about=About(
        check="Devices for the pod's resource claims, and for extended resources that no node lists. A snapshot holds"
        " no devices; predictions are unknown.",
        reasons=(
            "uses resource claims, which a snapshot cannot allocate",
            "no node lists <resource>; a DeviceClass with extendedResourceName: <resource> may serve it",
        ),
    ),
)
