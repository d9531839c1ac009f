"""Which key of the policy decides that pods with a reason code are not evicted."""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.model.verdict import Reason

__all__ = ["KEYS", "policy_key"]

KEYS: Mapping[Reason, str] = {
    Reason.NO_EVICTION_ANNOTATION: "noEvictionPolicy",
    Reason.SYSTEM_CRITICAL: "evictSystemCriticalPods",
    Reason.PRIORITY_THRESHOLD: "priorityThreshold",
    Reason.LOCAL_STORAGE: "evictLocalStoragePods",
    Reason.PERSISTENT_VOLUME_CLAIM: "ignorePvcPods",
    Reason.DO_NOT_DISRUPT: "podProtections.extraEnabled",
    Reason.RESOURCE_CLAIMS: "podProtections.extraEnabled",
    Reason.LABEL_SELECTOR: "labelSelector",
    Reason.NAMESPACE: "namespaces",
    Reason.NAMESPACE_LABELS: "namespaceLabelSelector",
    Reason.TOO_FEW_REPLICAS: "minReplicas",
    Reason.TOO_YOUNG: "minPodAge",
    Reason.NO_NODE_FITS: "nodeFit",
    Reason.TOO_FEW_OBSERVATIONS: "consecutiveObservations",
    Reason.GANG_MINIMUM: "onGangMinimum",
    Reason.SCHEDULER_NAME: "reservationProvider",
    Reason.RESOURCE_QUOTA: "reservationProvider",
    Reason.WORKLOAD_REPLICAS: "skipCheckExpectedReplicas",
    Reason.WORKLOAD_UNAVAILABLE: "maxUnavailablePerWorkload",
    Reason.CONDITIONAL_LANDING: "onConditional",
    Reason.UNKNOWN_LANDING: "onUnknown",
    Reason.SELECTED_AGAIN: "requireGain",
    Reason.DRY_RUN: "dryRun",
    Reason.WINDOW: "windows",
    Reason.BLACKOUT: "blackouts",
    Reason.COOLDOWN: "moveHistory.cooldown",
    Reason.MOVES_PER_WINDOW: "moveHistory.maxMovesPerWindow",
    Reason.PING_PONG: "moveHistory.refuseReturn",
    Reason.TOO_LARGE: "moveHistory.refuseTooLarge",
}
"""Keys of a policy, or of the arguments of its plugins. Reasons that no key decides are not in it, and LimitReached,
whose refusals name the key of their limit."""

_OF_UPSTREAM: Mapping[Reason, str] = {
    Reason.DAEMON_SET: "evictDaemonSetPods",
    Reason.NO_DISRUPTION_BUDGET: "ignorePodsWithoutPDB",
}
_OF_KOORDINATOR: Mapping[Reason, str] = {Reason.BARE_POD: "evictAllBarePods"}
"""Keys that the evictors of one kind of policy alone have."""
_BY_CODE: Mapping[str, Mapping[str, str]] = {
    kind: {reason.code: key for reason, key in {**KEYS, **own}.items()}
    for kind, own in (("DeschedulerPolicy", _OF_UPSTREAM), ("DeschedulerConfiguration", _OF_KOORDINATOR))
}


def policy_key(code: str, kind: str) -> str:
    """The key that decides in a policy of this kind; "" where the policy does not."""
    return _BY_CODE[kind].get(code, "")
