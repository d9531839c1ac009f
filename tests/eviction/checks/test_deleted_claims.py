"""Pods that have a device of a resource claim which is being deleted."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.load import load_policy
from tests.builders import NOW
from tests.placement.plugins.dynamic_resources.test_replacements import (
    TEMPLATE,
    X_ON_A,
    X_ON_B,
    A,
    B,
    pod_with_own_claim,
    world,
)

DELETED = {"deletionTimestamp": "2026-01-01T00:00:00Z"}


def refused(kind: str, **metadata: Any) -> list[tuple[str, str]]:
    """Code and message of the refusal of an old pod, whose replacement gets a claim of its own."""
    pod, own = pod_with_own_claim("old", "a")
    own["metadata"] |= metadata
    is_ours = kind == "DeschedulerConfiguration"
    jobs = {"defaultJobMode": "EvictDirectly", "skipEvictionGates": ["ExpectedReplicas", "MaxUnavailablePerWorkload"]}
    direct = [{"name": "MigrationController", "args": jobs}] if is_ours else []
    policy = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": kind,
        "profiles": [
            {
                "name": "p",
                "plugins": {"deschedule": {"enabled": [{"name": "PodLifeTime"} if is_ours else "PodLifeTime"]}},
                "pluginConfig": [{"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}}, *direct],
            }
        ],
    }
    decisions = decide(load_policy(policy, REGISTRY), world(A, B, X_ON_A, X_ON_B, pod, own, TEMPLATE), now=NOW)
    return [(each.verdict.code, each.verdict.message) for each in decisions.refusals]


def test_pod_stays_while_its_claim_is_being_deleted() -> None:
    assert refused("DeschedulerConfiguration", **DELETED) == [
        ("ClaimTerminating", "resource claim old-gpu of the pod is being deleted")
    ]


@pytest.mark.parametrize(
    ("kind", "metadata"),
    [
        pytest.param("DeschedulerConfiguration", {}, id="the claim stays"),
        pytest.param("DeschedulerPolicy", DELETED, id="the policy is of upstream, which reads no claims"),
    ],
)
def test_pod_with_a_claim_may_be_evicted_where(kind: str, metadata: dict[str, Any]) -> None:
    assert refused(kind, **metadata) == []
