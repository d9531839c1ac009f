"""Queues of Volcano, and what its PodGroups say beside the size of a gang (`scheduling.volcano.sh/v1beta1`)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from descheduler.model.koordinator.gang_settings import PodGroup
from descheduler.model.requests import ResourceList

__all__ = ["POD_GROUP_KIND", "QUEUE_KIND", "VOLCANO_ANNOTATIONS", "VolcanoPodGroup", "VolcanoQueue"]

QUEUE_KIND = "Queue.scheduling.volcano.sh"
POD_GROUP_KIND = "PodGroup.scheduling.volcano.sh"
VOLCANO_ANNOTATIONS = ("volcano.sh/", "sla-waiting-time", "nvidia.com/use-gputype", "nvidia.com/nouse-gputype")
"""Annotations of pods, PodGroups, queues and nodes that Volcano reads; the first stands for a whole domain."""


class VolcanoPodGroup(PodGroup, frozen=True):
    """A PodGroup of Volcano: a job of its scheduler. `min_resources` is None where the group states none."""

    uid: str = ""
    labels: Mapping[str, str] = {}
    queue: str = "default"
    priority_class_name: str = ""
    min_resources: ResourceList | None = None
    phase: str = ""
    conditions: tuple[tuple[str, str], ...] = ()
    """Type and reason of those that are true."""


class VolcanoQueue(msgspec.Struct, frozen=True):
    """A Queue. Resources are in nano units; `reclaimable` is true where the queue does not say."""

    name: str
    uid: str = ""
    created_at: datetime | None = None
    annotations: Mapping[str, str] = {}
    weight: int = 1
    priority: int = 0
    capability: ResourceList = {}
    guarantee: ResourceList = {}
    deserved: ResourceList = {}
    reclaimable: bool = True
    parent: str = ""
    state: str = ""
