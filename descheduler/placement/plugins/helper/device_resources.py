"""Extended resources that dynamic resource allocation may serve: a DeviceClass names them, and no device plugin does.

Rules are those of Kubernetes 1.36 (`pkg/scheduler/framework/plugins/noderesources/fit.go`): NodeResourcesFit leaves
such a resource to the plugin DynamicResources on every node that does not list it. DeviceClasses are in no snapshot, so
that only a resource which no node lists is taken for one that may be served so.
"""

from __future__ import annotations

from descheduler.model.names import is_extended_resource
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.shadow.node_table import NodeTable
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["is_served_by_devices", "serves_devices", "unlisted_sentence"]

_PLUGIN, _GATE = "DynamicResources", "DRAExtendedResource"
_OF_CLASSES = "deviceclass.resource.kubernetes.io/"
"""What comes before the name of a DeviceClass in the resource that every class has without naming one."""


def serves_devices(cluster: ShadowCluster, profile: SchedulerProfile) -> bool:
    """Whether a scheduler of `profile` may serve extended resources by dynamic resource allocation."""
    return profile.release(cluster.version).gate(_GATE) and _PLUGIN in profile.filters


def is_served_by_devices(table: NodeTable, resource: str) -> bool:
    """Whether nothing but a DeviceClass can serve a resource, which some pod requests: no node lists any of it."""
    is_possible = is_extended_resource(resource) or resource.startswith(_OF_CLASSES)
    return is_possible and not table.allocatable[table.resources.index(resource)].any()


def unlisted_sentence(resource: str) -> str:
    """What is not known of such a resource, and which DeviceClass would serve it."""
    name = resource.removeprefix(_OF_CLASSES)
    device_class = f"with extendedResourceName: {resource}" if name == resource else f"named {name}"
    return f"no node lists {resource}; a DeviceClass {device_class} may serve it"
