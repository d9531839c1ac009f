"""One call that makes a pod leave, by the eviction API or as another eviction policy says."""

from __future__ import annotations

import json
from collections.abc import Callable

from descheduler.kube.evict import EvictionResponse
from descheduler.migration.ports import RemovalPort
from descheduler.plan.planned import PlannedEviction

__all__ = ["SOFT_EVICTION", "remove"]

SOFT_EVICTION = "SoftEviction"
"""The policy by which another program evicts the pod, which it is asked to do by an annotation."""

_SOFT_EVICTION_ANNOTATION = "scheduling.koordinator.sh/soft-eviction"
_INITIATOR = "descheduler"


def remove(
    port: RemovalPort, policy: str, eviction: PlannedEviction, at: str, may_send: Callable[[], bool]
) -> EvictionResponse | None:
    """The response to one call that makes the pod leave as `policy` says, at `at` (RFC 3339); None where withheld.

    With SoftEviction the pod stays until another party that reads the annotation deletes it.
    """
    grace_period_seconds = eviction.grace_period_seconds
    namespace, name, uid = eviction.namespace, eviction.name, eviction.uid
    if policy == "Delete":
        return port.delete(namespace, name, uid=uid, grace_period_seconds=grace_period_seconds, may_send=may_send)
    if policy == SOFT_EVICTION:
        asked = {
            "timestamp": at,
            "deleteOptions": {} if grace_period_seconds is None else {"gracePeriodSeconds": grace_period_seconds},
            "initiator": _INITIATOR,
            "reason": eviction.reason,
        }
        annotations = {_SOFT_EVICTION_ANNOTATION: json.dumps(asked)}
        return port.annotate(namespace, name, annotations, uid=uid, may_send=may_send)
    return port.evict(
        namespace,
        name,
        uid=uid,
        grace_period_seconds=grace_period_seconds,
        annotations_reason=eviction.annotation,
        may_send=may_send,
    )
