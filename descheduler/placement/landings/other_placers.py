"""Pods that somebody else than the modelled schedulers gives a node: Kueue by topology, and KAI."""

from __future__ import annotations

from descheduler.model.annotations import KAI_ANNOTATIONS, KUEUE_ANNOTATIONS
from descheduler.model.koordinator.scheduler_name import scheduler_name_of
from descheduler.model.pod import Pod

__all__ = ["KAI", "KUEUE", "WAY_OUT", "other_placer"]

KUEUE = "Kueue places the pod by topology (topology-aware scheduling), which is not modelled"
KAI = "the KAI scheduler places the pod, which is not modelled"
WAY_OUT = (
    "to leave such pods out, use labelSelector of DefaultEvictor; to evict them all the same, set onUnknown: allow of"
    " PlacementVerification"
)
_KAI_SCHEDULER = "kai-scheduler"
_GATE = f"{KUEUE_ANNOTATIONS}topology"
_LABEL = f"{KUEUE_ANNOTATIONS}tas"
_PODSET, _TOPOLOGY = f"{KUEUE_ANNOTATIONS}podset-", "-topology"


def other_placer(pod: Pod, *, is_foreign: bool) -> str:
    """Who places `pod`, the same words for all of its kind; "" where that is its scheduler.

    `is_foreign` says that the scheduler which it names is not modelled.
    """
    if _GATE in pod.spec.scheduling_gates or pod.labels.get(_LABEL) == "true":
        return KUEUE
    for key in pod.annotations:
        if key.startswith(_PODSET) and key.endswith(_TOPOLOGY):
            return KUEUE
        if is_foreign and key.startswith(KAI_ANNOTATIONS):
            return KAI
    return KAI if is_foreign and scheduler_name_of(pod) == _KAI_SCHEDULER else ""
