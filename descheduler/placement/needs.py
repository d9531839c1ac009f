"""What has to be read of a cluster to tell where pods land: what plugins, admission and the pods' owners go by."""

from __future__ import annotations

from descheduler.model.resource_claims import DEVICE_KINDS
from descheduler.placement.framework.scheduling_plugin import annotations_read_by, kinds_read_by
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.replacements.controllers.table import CONTROLLERS
from descheduler.placement.schedulers.table import SCHEDULERS

_ADMISSION_KINDS = frozenset(
    {"Namespace", "ResourceQuota", "LimitRange", "RuntimeClass.node.k8s.io", "PriorityClass.scheduling.k8s.io"}
)

OWNER_KINDS_AT_HAND = frozenset(
    {"ControllerRevision.apps"} | {key for key, row in CONTROLLERS.items() if row.knows_by_pod or row.doubts_unread}
)
"""Kinds that a run does without: the pods tell almost as much, or what comes for them is unknown."""

OWNER_KINDS = frozenset(CONTROLLERS).union(*(row.reads for row in CONTROLLERS.values())) - OWNER_KINDS_AT_HAND
"""Kinds whose templates say what is created instead of an evicted pod; old revisions make them many."""

ENDING_OWNER_KINDS = frozenset(key for key, row in CONTROLLERS.items() if row.may_end)
"""Those whose objects an eviction can end."""


_UNREAD_ROWS = tuple(row for row in PLUGINS.values() if row.unread is not None)
SCHEDULER_KINDS = kinds_read_by((*SCHEDULERS.values(), *_UNREAD_ROWS)) | DEVICE_KINDS
"""Kinds of schedulers that few clusters run, and of devices: where objects are missing that is said of their pods."""


def landing_kinds() -> frozenset[str]:
    """Kinds that decide where a pod lands, beside nodes and pods; there are few objects of them."""
    needed = kinds_read_by(row for row in PLUGINS.values() if row.unread is None)
    return _ADMISSION_KINDS | (needed - DEVICE_KINDS)


def landing_annotations() -> frozenset[str]:
    """Keys of annotations that decide where a pod lands; all of a domain for one that ends with `/`."""
    return annotations_read_by((*PLUGINS.values(), *SCHEDULERS.values()))
