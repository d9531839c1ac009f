"""koord-scheduler as Koordinator sets it up: what its pods are placed by where no file says otherwise.

The document is that of the manifest of koordinator-sh/koordinator 1.8.0 (`config/manager/scheduler-config.yaml`). It
lists no `Reservation` under `reserve`: a pod is placed on the room of a Reservation, which is never marked as used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from descheduler.model.kube_version import KubeVersion
from descheduler.placement.configuration.kube_scheduler.plugin_args import SCHEDULER_API_VERSION
from descheduler.placement.schedulers.row import SchedulerRow

if TYPE_CHECKING:
    from descheduler.placement.configuration.kube_scheduler.plugin_args import PluginSettings
    from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile

KOORD_SCHEDULER = "koord-scheduler"
"""The scheduler of Koordinator, as pods name it."""
KOORD_KUBE_VERSION = KubeVersion.parse("1.35")
"""The kube-scheduler that koord-scheduler 1.8 is made of, whatever the version of the cluster."""
_ENABLED: Mapping[str, Sequence[str]] = {
    "preEnqueue": ("Coscheduling",),
    "queueSort": ("PrioritySort",),
    "preFilter": ("SchedulingHint", "Reservation", "NodeNUMAResource", "DeviceShare", "Coscheduling", "ElasticQuota"),
    "filter": ("LoadAwareScheduling", "NodeNUMAResource", "DeviceShare", "Reservation"),
    "postFilter": ("Reservation", "Coscheduling", "ElasticQuota", "DefaultPreemption"),
    "preScore": ("Reservation", "Coscheduling"),
    "score": ("LoadAwareScheduling", "NodeNUMAResource", "DeviceShare", "Reservation", "Coscheduling"),
    "reserve": ("LoadAwareScheduling", "NodeNUMAResource", "DeviceShare", "Coscheduling", "ElasticQuota"),
    "permit": ("Coscheduling",),
    "preBind": ("NodeNUMAResource", "DeviceShare", "Reservation", "Coscheduling", "DefaultPreBind"),
    "bind": ("Reservation", "DefaultBinder"),
    "postBind": ("Coscheduling",),
}
_ALONE = frozenset({"queueSort", "postFilter", "bind"})
"""Points at which none of kube-scheduler's defaults is left."""
_WEIGHTS = {"Reservation": 5000}
_NO_LIMIT = {"cpu": 0, "memory": 0}
_SCORED = ("cpu", "memory", "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory")


def _plugin_set(point: str, names: Sequence[str]) -> dict[str, Any]:
    weighted = point == "score"
    enabled = [{"name": name, **({"weight": _WEIGHTS.get(name, 1)} if weighted else {})} for name in names]
    return {"enabled": enabled, **({"disabled": [{"name": "*"}]} if point in _ALONE else {})}


MANIFEST: Mapping[str, Any] = {
    "apiVersion": SCHEDULER_API_VERSION,
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": KOORD_SCHEDULER,
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "scoringStrategy": {
                            "type": "LeastAllocated",
                            "resources": [{"name": name, "weight": 1} for name in _SCORED],
                        }
                    },
                },
                {"name": "LoadAwareScheduling", "args": {"usageThresholds": _NO_LIMIT}},
                {"name": "ElasticQuota", "args": {"quotaGroupNamespace": "koordinator-system"}},
            ],
            "plugins": {point: _plugin_set(point, names) for point, names in _ENABLED.items()},
        }
    ],
}
"""The manifest's document, as far as placement hangs on it."""


def koord_profile(plugins: Mapping[str, PluginSettings]) -> SchedulerProfile:
    """The profile of koord-scheduler out of its manifest; `plugins` are those that are known."""
    from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration

    configuration = load_scheduler_configuration(
        MANIFEST,
        name="the manifest of koord-scheduler",
        version=KOORD_KUBE_VERSION,
        plugins=plugins,
        made_of={KOORD_SCHEDULER: KOORD_KUBE_VERSION},
    )
    return configuration.profiles[0]


ROW = SchedulerRow(name=KOORD_SCHEDULER, profile=koord_profile, made_of=KOORD_KUBE_VERSION, is_assumed=True)
