"""With `requireGain` every strategy converges, wherever the scheduler puts the replacements."""

from __future__ import annotations

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.load import load_policy
from descheduler.policy.types import PolicyKind
from descheduler.simulation.simulating import SimulationOptions, Start, simulate
from tests.builders import NOW, Object
from tests.eviction.placement_verification.gains import verifying
from tests.simulation.loops import FIVE_MINUTES
from tests.simulation.random_worlds import random_cluster

pytestmark = pytest.mark.long

AFFINITY_TYPES = ["requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"]
LEVELS = [{"name": f"l{n}", "nodeSelector": {"matchLabels": {"tier": f"t{n}"}}} for n in range(3)]
UPSTREAM: dict[str, Object] = {
    "HighNodeUtilization": {"thresholds": {"cpu": 60}},
    "LowNodeUtilization": {"thresholds": {"cpu": 30}, "targetThresholds": {"cpu": 60}},
    "RemoveDuplicates": {},
    "RemovePodsViolatingTopologySpreadConstraint": {
        "constraints": ["DoNotSchedule", "ScheduleAnyway"],
        "topologyBalanceNodeFit": False,
    },
    "RemovePodsViolatingNodeAffinity": {"nodeAffinityType": AFFINITY_TYPES},
    "RemovePodsViolatingNodeTaints": {"includePreferNoSchedule": True},
    "RemovePodsViolatingInterPodAntiAffinity": {},
}
KOORDINATOR: dict[str, Object] = {
    "CustomPriority": {"evictionOrder": LEVELS, "nodeFit": True},
    "FragmentationAware": {"resources": ["cpu", "memory"], "imbalanceThreshold": 0.1, "minImprovementThreshold": 0.01},
    "ScaleDownBinPack": {"strategy": "EvictDirectly", "maxPodsToEvict": 3},
}
SEEDS = (216, 223, 225, 235, 237, 241, 247, 248, 249, 251, 254, 256)
ALLOWING = {"onReturnToSource": "allow", "onConditional": "allow"}


def ending(plugin: str, args: Object, seed: int, kind: PolicyKind, **verification: object) -> str:
    policy = load_policy(verifying(plugin, kind=kind, verification={**ALLOWING, **verification}, **args), REGISTRY)
    start = Start(policy, random_cluster(seed))
    (found,) = simulate([start], now=NOW, options=SimulationOptions(8, FIVE_MINUTES)).policies
    return found.ending


@pytest.mark.parametrize("plugin", [*UPSTREAM, *KOORDINATOR])
def test_every_strategy_converges(plugin: str) -> None:
    """Each of them under both kinds of policies that know it, also where returns and conditions are allowed."""
    args = (UPSTREAM | KOORDINATOR)[plugin]
    kinds: list[PolicyKind] = ["DeschedulerConfiguration"]
    if plugin in UPSTREAM:
        kinds.append("DeschedulerPolicy")

    endings = {(seed, kind): ending(plugin, args, seed, kind) for seed in SEEDS for kind in kinds}

    assert {key: found for key, found in endings.items() if found != "converges"} == {}


def test_without_it_strategies_go_on_for_ever() -> None:
    """The clusters are such that the law above is not empty."""
    going_on = {
        plugin
        for plugin, args in UPSTREAM.items()
        for seed in SEEDS
        if ending(plugin, args, seed, "DeschedulerPolicy", requireGain=False) == "repeats"
    }

    assert going_on == set(UPSTREAM)
