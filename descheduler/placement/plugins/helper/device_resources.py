"""Extended resources that dynamic resource allocation may serve: a DeviceClass names them, and no device plugin does.

Rules are those of Kubernetes 1.36 (`pkg/scheduler/framework/plugins/noderesources/fit.go`): NodeResourcesFit leaves
such a resource to the plugin DynamicResources on every node that has none of it. Where DeviceClasses were not read,
a resource that no node lists is taken for one that may be served so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from descheduler.model.names import is_extended_resource
from descheduler.model.resource_claims import DEVICE_CLASS_KIND, DeviceClass
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

IMPLICIT = "deviceclass.resource.kubernetes.io/"
"""What comes before the name of a class in the resource that it serves without naming one."""

_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_PLUGIN, _GATE = "DynamicResources", "DRAExtendedResource"


class ContestedResource(NamedTuple):
    """A resource by the name of a class that is not entered, as `holder` has its extended resource.

    A scheduler that runs since before `holder` was created has entered both.
    """

    resource: str
    holder: str

    @property
    def reason(self) -> str:
        return f"Insufficient {self.resource}"

    @property
    def short(self) -> str:
        since = f"unless kube-scheduler was started before DeviceClass {self.holder} was created"
        return f"insufficient {self.resource}, {since}"


class ServedResources(NamedTuple):
    """Extended resource → the class that serves it; resource by the name of a class that is not entered → why."""

    classes: Mapping[str, DeviceClass]
    contested: Mapping[str, ContestedResource]

    @classmethod
    def of(cls, classes: Iterable[DeviceClass]) -> ServedResources:
        """The youngest class serves a resource, of several the first by name.

        A class whose resource another keeps is not entered under its own name either, in a scheduler that reads the
        classes in the order of their names, as after its start.
        """
        found: dict[str, DeviceClass] = {}
        contested: dict[str, ContestedResource] = {}
        for each in sorted(classes, key=lambda each: each.name):
            own = IMPLICIT + each.name
            if each.extended_resource:
                holder = found.get(each.extended_resource)
                if holder is not None and (each.created_at or _LONG_AGO) <= (holder.created_at or _LONG_AGO):
                    contested[own] = ContestedResource(own, holder.name)
                    continue
                found[each.extended_resource] = each
            found[own] = each
        return cls(found, contested)


class ExtendedResources:
    """What a scheduler of `profile` serves by device classes: nothing where it serves none."""

    def __init__(self, cluster: ShadowCluster, profile: SchedulerProfile) -> None:
        self._table = cluster.table
        serves = profile.release(cluster.version).gate(_GATE) and _PLUGIN in profile.filters
        is_known = DEVICE_CLASS_KIND in cluster.snapshot.kinds
        self._is_unread = serves and not is_known
        found = cluster.snapshot.objects.get(DEVICE_CLASS_KIND, ()) if serves else ()
        self.served = ServedResources.of(found)

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
