"""The scheduling plugins of this program: one table, a row for each of them."""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.placement.framework.foreign.rows import admit_row
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.plugins import (
    image_locality,
    node_affinity,
    node_declared_features,
    node_name,
    node_ports,
    node_resources_balanced_allocation,
    node_unschedulable,
    node_volume_limits,
    scheduling_gates,
    taint_toleration,
    unmodelled,
    volume_binding,
    volume_restrictions,
    volume_zone,
)
from descheduler.placement.plugins.coscheduling import plugin as coscheduling
from descheduler.placement.plugins.device_share import row as device_share
from descheduler.placement.plugins.dynamic_resources import plugin as dynamic_resources
from descheduler.placement.plugins.elastic_quota import elastic_quota
from descheduler.placement.plugins.inter_pod_affinity import plugin as inter_pod_affinity
from descheduler.placement.plugins.load_aware_scheduling import plugin as load_aware_scheduling
from descheduler.placement.plugins.node_numa_resource import row as node_numa_resource
from descheduler.placement.plugins.node_resources_fit import plugin as node_resources_fit
from descheduler.placement.plugins.pod_topology_spread import plugin as pod_topology_spread
from descheduler.placement.plugins.reservation import row as reservation
from descheduler.policy.plugin_packages import SCHEDULING_GROUP, WithPackages

_ROWS: dict[str, SchedulingPlugin] = {
    "SchedulingGates": scheduling_gates.ROW,
    "PrioritySort": unmodelled.PRIORITY_SORT,
    "NodeName": node_name.ROW,
    "NodeUnschedulable": node_unschedulable.ROW,
    "TaintToleration": taint_toleration.ROW,
    "NodeAffinity": node_affinity.ROW,
    "NodePorts": node_ports.ROW,
    "NodeResourcesFit": node_resources_fit.ROW,
    "VolumeRestrictions": volume_restrictions.ROW,
    "NodeVolumeLimits": node_volume_limits.ROW,
    "VolumeBinding": volume_binding.ROW,
    "VolumeZone": volume_zone.ROW,
    "PodTopologySpread": pod_topology_spread.ROW,
    "InterPodAffinity": inter_pod_affinity.ROW,
    "DynamicResources": dynamic_resources.ROW,
    "DefaultPreemption": unmodelled.DEFAULT_PREEMPTION,
    "NodeResourcesBalancedAllocation": node_resources_balanced_allocation.ROW,
    "ImageLocality": image_locality.ROW,
    "DefaultBinder": unmodelled.DEFAULT_BINDER,
    "NodeDeclaredFeatures": node_declared_features.ROW,
    "GangScheduling": unmodelled.GANG_SCHEDULING,
    "PodGroupPodsCount": unmodelled.POD_GROUP_PODS_COUNT,
    "TopologyPlacementGenerator": unmodelled.TOPOLOGY_PLACEMENT_GENERATOR,
    "Coscheduling": coscheduling.ROW,
    "DefaultPreBind": unmodelled.DEFAULT_PRE_BIND,
    "DeviceShare": device_share.ROW,
    "ElasticQuota": elastic_quota.ROW,
    "LoadAwareScheduling": load_aware_scheduling.ROW,
    "NodeNUMAResource": node_numa_resource.ROW,
    "Reservation": reservation.ROW,
    "SchedulingHint": unmodelled.SCHEDULING_HINT,
}
"""kube-scheduler's own plugins, in the order in which they run by default, as of Kubernetes 1.37
(`pkg/scheduler/apis/config/v1/default_plugins.go`), then those of koord-scheduler 1.8, of which none runs by default.
A profile says which run, in which order and with which weight."""

PLUGINS: Mapping[str, SchedulingPlugin] = WithPackages(_ROWS, SCHEDULING_GROUP, SchedulingPlugin, admit_row)
"""The same, and those of other packages that a scheduler's configuration names."""
