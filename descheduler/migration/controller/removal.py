"""The ways in which a pod is made to leave: `Eviction`, `Delete` and `SoftEviction`.

Source: koordinator 1.8 `pkg/descheduler/controllers/migration/evictor`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Protocol

from descheduler.kube.evict import EvictionResponse
from descheduler.migration.ports import EvictPort
from descheduler.plan.planned import PlannedEviction

__all__ = ["SOFT_EVICTION_ANNOTATION", "RemovalPort", "remove"]

SOFT_EVICTION_ANNOTATION = "scheduling.koordinator.sh/soft-eviction"
_INITIATOR = "descheduler"


class RemovalPort(EvictPort, Protocol):
    """What an evicting client can do beside evicting; `descheduler.kube.evict.EvictionClient` is the real one."""

    def delete(
        self,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_period_seconds: int | None,
        may_send: Callable[[], bool] = lambda: True,
    ) -> EvictionResponse | None:
        """As `evict`, past disruption budgets."""

    def annotate(
        self,
        namespace: str,
        name: str,
        annotations: Mapping[str, str],
        *,
        uid: str,
        may_send: Callable[[], bool] = lambda: True,
    ) -> EvictionResponse | None:
        """As `evict`, with nothing but annotations changed."""


def remove(
    port: RemovalPort, policy: str, eviction: PlannedEviction, at: str, may_send: Callable[[], bool]
) -> EvictionResponse | None:
    """The response to one call that makes the pod leave as `policy` says, at `at` (RFC 3339); None where withheld.

    With SoftEviction the pod stays until another party that reads the annotation deletes it.
    """
    grace_period_seconds = eviction.grace_period_seconds
    namespace, name, uid = eviction.namespace, eviction.name, eviction.uid
    match policy:
        case "Delete":
            return port.delete(namespace, name, uid=uid, grace_period_seconds=grace_period_seconds, may_send=may_send)
        case "SoftEviction":
            asked = {
                "timestamp": at,
                "deleteOptions": {} if grace_period_seconds is None else {"gracePeriodSeconds": grace_period_seconds},
                "initiator": _INITIATOR,
                "reason": eviction.reason,
            }
            annotations = {SOFT_EVICTION_ANNOTATION: json.dumps(asked)}
            return port.annotate(namespace, name, annotations, uid=uid, may_send=may_send)
    return port.evict(
        namespace,
        name,
        uid=uid,
        grace_period_seconds=grace_period_seconds,
        annotations_reason=eviction.annotation,
        may_send=may_send,
    )
