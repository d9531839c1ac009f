"""ResourceQuotas that have no room for the placeholders by which room is held."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cycle.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.checks.placeholder_quotas import PlaceholderQuotaCheck
from descheduler.model.pod import Pod
from descheduler.model.resource_quota import QuotaScope, ResourceQuota
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from tests.builders import NOW, make_node, make_pod, make_snapshot

CPU = 10**9
NODES = [make_node("a", cpu="8"), make_node("b", cpu="8")]
NO_OTHER_CHECKS = ["ExpectedReplicas", "MaxMigratingPerNode", "MaxMigratingPerWorkload", "MaxUnavailablePerWorkload"]


def quota(*scopes: QuotaScope, **amounts: tuple[int, int]) -> ResourceQuota:
    """One of namespace shop; amounts are (used, hard)."""
    used, hard = ({name.replace("_", "."): pair[which] for name, pair in amounts.items()} for which in (0, 1))
    return ResourceQuota("shop", "compute", hard=hard, used=used, scopes=scopes)


def policy_with(**args: Any) -> Policy:
    """A policy that evicts old pods and holds room by placeholders, with further `args` of MigrationController."""
    held = {"reservationProvider": "placeholder", "skipEvictionGates": NO_OTHER_CHECKS, **args}
    configs = {"PodLifeTime": {"maxPodLifeTimeSeconds": 60}, "MigrationController": held}
    document = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration",
        "profiles": [
            {
                "name": "p",
                "pluginConfig": [{"name": name, "args": each} for name, each in configs.items()],
                "plugins": {"deschedule": {"enabled": [{"name": "PodLifeTime"}]}},
            }
        ],
    }
    return load_policy(document, REGISTRY)


def old_pod(name: str = "old", namespace: str = "shop") -> Pod:
    return make_pod(name, namespace=namespace, node="a", cpu="2", age=3600, owners=["ReplicaSet/web"])


def refusals(found: ResourceQuota, namespace: str = "shop", **args: Any) -> list[tuple[str, str]]:
    """Code and message of what is not evicted of a pod of 2 CPU that is old."""
    snapshot = make_snapshot(NODES, [old_pod(namespace=namespace)], quotas=(found,))
    decisions = decide(policy_with(**args), snapshot, now=NOW)
    told = ((each.verdict.reason, each.verdict.message) for each in decisions.refusals)
    return [(reason.code, message) for reason, message in told if reason is not None]


@pytest.mark.parametrize(
    ("found", "short_of"),
    [
        pytest.param(quota(pods=(5 * CPU, 5 * CPU)), "pods", id="pods"),
        pytest.param(quota(requests_cpu=(3 * CPU, 4 * CPU)), "requests.cpu", id="requests"),
        pytest.param(quota(limits_cpu=(3 * CPU, 4 * CPU)), "limits.cpu", id="limits, which its pod has none of"),
        pytest.param(
            quota(QuotaScope("PriorityClass", "In", frozenset({"descheduler-placeholder"})), pods=(CPU, CPU)),
            "pods",
            id="of its PriorityClass",
        ),
    ],
)
def test_a_pod_stays_whose_placeholder_would_be_refused(found: ResourceQuota, short_of: str) -> None:
    assert refusals(found) == [
        (
            "ResourceQuota",
            f"ResourceQuota shop/compute ({short_of}) has no room for the placeholder"
            " (reservationProvider: placeholder); raise the quota, or set reservationProvider: none",
        )
    ]


@pytest.mark.parametrize(
    ("found", "others"),
    [
        pytest.param(quota(pods=(4 * CPU, 5 * CPU)), {}, id="it has room for one"),
        pytest.param(quota(pods=(5 * CPU, 5 * CPU)), {"namespace": "other"}, id="it is of another namespace"),
        pytest.param(quota(pods=(5 * CPU, 5 * CPU)), {"reservationProvider": "none"}, id="no room is held"),
        pytest.param(quota(pods=(5 * CPU, 5 * CPU)), {"defaultJobMode": "EvictDirectly"}, id="no room is asked for"),
        pytest.param(quota(QuotaScope("BestEffort"), pods=(CPU, CPU)), {}, id="it is of other pods"),
    ],
)
def test_a_pod_leaves_where_that_is_not_so(found: ResourceQuota, others: dict[str, Any]) -> None:
    assert refusals(found, **others) == []


@pytest.mark.parametrize(("hard", "code"), [(7, None), (6, "ResourceQuota")])
def test_a_bundle_needs_room_for_all_of_its_placeholders(hard: int, code: str | None) -> None:
    pods = [old_pod(f"old-{number}") for number in range(3)]
    snapshot = make_snapshot(NODES, pods, quotas=(quota(pods=(4 * CPU, hard * CPU)),))
    check = PlaceholderQuotaCheck(policy_with().profiles, snapshot)

    verdict = check.verdict(Bundle("p", "PodLifeTime", tuple(map(Candidate, pods))))

    assert (verdict.reason and verdict.reason.code) == code
    assert code is None or "no room for the 3 placeholders of its bundle" in verdict.message
