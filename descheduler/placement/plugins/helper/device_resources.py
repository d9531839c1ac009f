"""Extended resources that dynamic resource allocation may serve: a DeviceClass names them, and no device plugin does.

Rules are those of Kubernetes 1.36 (`pkg/scheduler/framework/plugins/noderesources/fit.go`): NodeResourcesFit leaves
such a resource to the plugin DynamicResources on every node that has none of it. Where DeviceClasses were not read,
a resource that no node lists is taken for one that may be served so.
"""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.model.names import is_extended_resource
from descheduler.model.resource_claims import DEVICE_CLASS_KIND, DeviceClass
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.plugins.dynamic_resources.extended import IMPLICIT, classes_by_resource
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["ExtendedResources", "unlisted_sentence"]

_PLUGIN, _GATE = "DynamicResources", "DRAExtendedResource"


class ExtendedResources:
    """What a scheduler of `profile` serves by device classes; `classes` are by resource, none where it serves none."""

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._table = cluster.table
        serves = (profile.made_of or cluster.version).gate(_GATE) and _PLUGIN in profile.filters
        is_known = DEVICE_CLASS_KIND in cluster.snapshot.kinds
        self._is_unread = serves and not is_known
        found = cluster.snapshot.objects.get(DEVICE_CLASS_KIND, ()) if serves else ()
        self.classes: Mapping[str, DeviceClass] = classes_by_resource(found)

    def is_unknown(self, resource: str) -> bool:
        """Whether a class that was not read may serve a resource, which some pod requests: no node lists any of it."""
        if not self._is_unread:
            return False
        is_possible = is_extended_resource(resource) or resource.startswith(IMPLICIT)
        return is_possible and not self._table.allocatable[self._table.resources.index(resource)].any()


def unlisted_sentence(resource: str) -> str:
    """What is not known of such a resource, and which DeviceClass would serve it."""
    name = resource.removeprefix(IMPLICIT)
    device_class = f"with extendedResourceName: {resource}" if name == resource else f"named {name}"
    return f"no node lists {resource}; a DeviceClass {device_class} may serve it"
