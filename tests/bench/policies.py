"""The policies that are measured: every strategy of upstream, alone and together."""

from __future__ import annotations

from typing import Any

_THRESHOLDS = {
    "thresholds": {"cpu": 25, "memory": 25, "pods": 60},
    "targetThresholds": {"cpu": 45, "memory": 45, "pods": 80},
}

STRATEGIES: dict[str, tuple[str, dict[str, Any]]] = {
    "PodLifeTime": ("deschedule", {"maxPodLifeTimeSeconds": 86400 * 30}),
    "RemoveFailedPods": ("deschedule", {"minPodLifetimeSeconds": 3600}),
    "RemovePodsHavingTooManyRestarts": ("deschedule", {"podRestartThreshold": 100, "includingInitContainers": True}),
    "RemovePodsViolatingInterPodAntiAffinity": ("deschedule", {}),
    "RemovePodsViolatingNodeAffinity": (
        "deschedule",
        {
            "nodeAffinityType": [
                "requiredDuringSchedulingIgnoredDuringExecution",
                "preferredDuringSchedulingIgnoredDuringExecution",
            ]
        },
    ),
    "RemovePodsViolatingNodeTaints": ("deschedule", {}),
    "RemoveDuplicates": ("balance", {}),
    "RemovePodsViolatingTopologySpreadConstraint": ("balance", {"constraints": ["DoNotSchedule", "ScheduleAnyway"]}),
    "LowNodeUtilization": ("balance", _THRESHOLDS),
    "HighNodeUtilization": ("balance", {"thresholds": {"cpu": 20, "memory": 20, "pods": 50}}),
}


def policy_of(names: list[str], *, node_fit: bool, verifies: bool = False) -> dict[str, Any]:
    """A DeschedulerPolicy that runs `names`; bare pods, local storage and system pods are fair game.

    With `verifies`, pods whose replacement does not land stay.
    """
    plugins: dict[str, dict[str, list[str]]] = {}
    for name in names:
        plugins.setdefault(STRATEGIES[name][0], {"enabled": []})["enabled"].append(name)
    if verifies:
        plugins["preevictionfilter"] = {"enabled": ["PlacementVerification"]}
    evictor = {"nodeFit": node_fit, "evictLocalStoragePods": True, "evictFailedBarePods": True}
    configs: list[dict[str, Any]] = [{"name": name, "args": STRATEGIES[name][1]} for name in names]
    configs += [{"name": "PlacementVerification"}] if verifies else []
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [
            {
                "name": "bench",
                "pluginConfig": [{"name": "DefaultEvictor", "args": evictor}, *configs],
                "plugins": plugins,
            }
        ],
    }
