"""Random policies of both kinds as plain facts, which the observer reads, and as the document that states them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

DESCHEDULE = (
    "RemovePodsViolatingNodeTaints",
    "PodLifeTime",
    "RemoveFailedPods",
    "RemovePodsHavingTooManyRestarts",
    "RemovePodsViolatingInterPodAntiAffinity",
    "RemovePodsViolatingNodeAffinity",
)
"""Strategies of the extension point deschedule; all others balance."""

_BALANCE = (
    "RemoveDuplicates",
    "RemovePodsViolatingTopologySpreadConstraint",
    "LowNodeUtilization",
    "HighNodeUtilization",
)
_COUNTING = (*_BALANCE, "RemovePodsViolatingInterPodAntiAffinity")
"""Strategies that count, so that an eviction which is not charged misleads them."""


@dataclass(frozen=True)
class ProfileFacts:
    """A profile: its plugins in order, and limits of its own. Thresholds are percent of CPU; None and 0 are no limit.

    The last seven are MigrationController's, and count in a DeschedulerConfiguration alone.
    """

    name: str
    plugins: tuple[str, ...]
    underused: int
    overused: int
    node_limit: int | None
    min_replicas: int
    max_per_node: int
    max_per_namespace: int
    max_globally: int
    max_per_workload: int
    max_unavailable: int
    burst: int
    verifies_placement: bool


@dataclass(frozen=True)
class PolicyFacts:
    """A policy; None is no limit."""

    is_upstream: bool
    total: int | None
    per_node: int | None
    per_namespace: int | None
    profiles: tuple[ProfileFacts, ...]


def make_policy(random: Random) -> PolicyFacts:
    """One or two profiles of one to five plugins each, with tight limits."""
    is_upstream = random.random() < 0.6
    names = ("first", "second")[: random.choice((1, 1, 2))]
    return PolicyFacts(
        is_upstream=is_upstream,
        total=random.choice((None, None, None, 3, 6)),
        per_node=random.choice((None, None, None, 2, 4)),
        per_namespace=random.choice((None, 1, 2, 3, 4)),
        profiles=tuple(_make_profile(random, name) for name in names),
    )


def _make_profile(random: Random, name: str) -> ProfileFacts:
    underused = random.randrange(10, 60, 10)
    plugins = random.sample((*DESCHEDULE, *_COUNTING, *_COUNTING), k=random.randint(1, 5))
    return ProfileFacts(
        name=name,
        plugins=tuple(dict.fromkeys(plugins)),
        underused=underused,
        overused=random.randrange(underused, 90, 10),
        node_limit=random.choice((None, 1, 2)),
        min_replicas=random.choice((0, 0, 2, 3)),
        max_per_node=random.choice((0, 0, 2, 4)),
        max_per_namespace=random.choice((0, 0, 2, 4)),
        max_globally=random.choice((0, 0, 3, 5)),
        max_per_workload=random.choice((2, 5, 9)),
        max_unavailable=random.choice((5, 9, 20)),
        burst=random.choice((0, 0, 1, 2)),
        verifies_placement=random.random() < 0.15,
    )


def document_of(policy: PolicyFacts) -> dict[str, Any]:
    """The policy as an operator writes it."""
    limits = {
        "maxNoOfPodsToEvictTotal": policy.total,
        "maxNoOfPodsToEvictPerNode": policy.per_node,
        "maxNoOfPodsToEvictPerNamespace": policy.per_namespace,
    }
    write = _upstream_profile if policy.is_upstream else _koordinator_profile
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy" if policy.is_upstream else "DeschedulerConfiguration",
        **{key: limit for key, limit in limits.items() if limit is not None},
        "profiles": [write(profile) for profile in policy.profiles],
    }


def _upstream_profile(profile: ProfileFacts) -> dict[str, Any]:
    evictor = {"name": "DefaultEvictor", "args": {"minReplicas": profile.min_replicas}}
    points = {
        "deschedule": {"enabled": [name for name in profile.plugins if name in DESCHEDULE]},
        "balance": {"enabled": [name for name in profile.plugins if name not in DESCHEDULE]},
    }
    return {"name": profile.name, "pluginConfig": [*_configs(profile), evictor], "plugins": points}


def _koordinator_profile(profile: ProfileFacts) -> dict[str, Any]:
    controller = {
        "name": "MigrationController",
        "args": {
            "skipCheckExpectedReplicas": True,
            "maxMigratingPerNode": profile.max_per_node,
            "maxMigratingPerNamespace": profile.max_per_namespace,
            "maxMigratingGlobally": profile.max_globally,
            "maxMigratingPerWorkload": profile.max_per_workload,
            "maxUnavailablePerWorkload": profile.max_unavailable,
            "objectLimiters": {"workload": {"duration": "5m" if profile.burst else "0s", "burst": profile.burst}},
        },
    }
    evictor = {"name": "DefaultEvictor", "args": {"minReplicas": profile.min_replicas}}
    left_out = [] if profile.verifies_placement else [{"name": "PlacementVerification"}]
    points = {
        "deschedule": {"enabled": [{"name": name} for name in profile.plugins if name in DESCHEDULE]},
        "balance": {"enabled": [{"name": name} for name in profile.plugins if name not in DESCHEDULE]},
        "filter": {"enabled": [{"name": "DefaultEvictor"}], "disabled": left_out},
    }
    return {"name": profile.name, "pluginConfig": [*_configs(profile), controller, evictor], "plugins": points}


def _configs(profile: ProfileFacts) -> list[dict[str, Any]]:
    low_args: dict[str, Any] = {
        "thresholds": {"cpu": profile.underused},
        "targetThresholds": {"cpu": profile.overused},
    }
    if profile.node_limit is not None:
        low_args["evictionLimits"] = {"node": profile.node_limit}
    args: dict[str, dict[str, Any]] = {
        "PodLifeTime": {"maxPodLifeTimeSeconds": 6000},
        "RemoveFailedPods": {"minPodLifetimeSeconds": 0},
        "RemovePodsHavingTooManyRestarts": {"podRestartThreshold": 10},
        "RemovePodsViolatingNodeAffinity": {"nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]},
        "LowNodeUtilization": low_args,
        "HighNodeUtilization": {"thresholds": {"cpu": profile.underused}},
        "RemovePodsViolatingTopologySpreadConstraint": {"topologyBalanceNodeFit": False},
    }
    return [{"name": name, "args": args.get(name, {})} for name in profile.plugins]
