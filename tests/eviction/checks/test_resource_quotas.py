"""ResourceQuotas that have no room for placeholders, or for the second pods of workloads that surge."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.checks.resource_quotas import ResourceQuotaCheck
from descheduler.eviction.migration_controller.surging_pods import SurgingPods
from descheduler.model.groups.resource_quota import QuotaScope, ResourceQuota
from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from tests.builders import NOW, make_node, make_pod, make_snapshot, owner

CPU = 10**9
_KOORD = {"scheduler": "koord-scheduler"}
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
    profiles = policy_with().profiles
    check = ResourceQuotaCheck(profiles, snapshot, SurgingPods(profiles, snapshot))

    verdict = check.verdict(Bundle("p", "PodLifeTime", tuple(map(Candidate, pods))))

    assert (verdict.reason and verdict.reason.code) == code
    assert code is None or "no room for the 3 placeholders of its bundle" in verdict.message


def surge_refusals(found: ResourceQuota, *, kind: str = "ReplicaSet", **args: Any) -> list[str]:
    """The messages about the only pod of a workload of this kind, which may surge."""
    pod = make_pod(
        "old", namespace="shop", node="a", cpu="2", age=3600, owners=[owner(f"{kind}/web", group="apps/v1")], **_KOORD
    )
    workload = Workload(kind, "shop", "web", f"{kind}-web".lower(), 1)
    snapshot = make_snapshot(NODES, [pod], quotas=(found,), workloads={workload.uid: workload})
    decisions = decide(policy_with(singleReplicas="Surge", **args), snapshot, now=NOW)
    return [each.verdict.message for each in decisions.refusals if each.verdict.reason is Reason.RESOURCE_QUOTA]


def test_a_workload_that_surges_needs_room_for_a_second_pod_beside_its_placeholder() -> None:
    one, two = quota(pods=(4 * CPU, 5 * CPU)), quota(pods=(4 * CPU, 6 * CPU))

    assert surge_refusals(two) == []
    assert surge_refusals(one) == [
        "ResourceQuota shop/compute (pods) has no room for the placeholder (reservationProvider: placeholder)"
        " and the second pod of its workload (singleReplicas: Surge); raise the quota, or set reservationProvider: none"
        " and singleReplicas: Evict"
    ]


def test_reservations_count_for_no_quota_and_second_pods_do() -> None:
    full = quota(pods=(5 * CPU, 5 * CPU))

    assert surge_refusals(full, reservationProvider="koordinator") == [
        "ResourceQuota shop/compute (pods) has no room for the second pod of its workload (singleReplicas: Surge)"
        "; raise the quota, or set singleReplicas: Evict"
    ]
    assert surge_refusals(full, kind="StatefulSet", reservationProvider="koordinator") == []


@pytest.mark.parametrize(
    ("hard", "waves", "wanted"),
    [
        pytest.param(7, (1, 1), "", id="for all"),
        pytest.param(6, (1, 1), "the second pods of 2 workloads of its bundle", id="for one of two"),
        pytest.param(6, (1, 2), "", id="for one of two in waves of their own"),
        pytest.param(5, (1, 2), "the second pod of its workload", id="for none"),
    ],
)
def test_a_bundle_needs_room_for_the_second_pods_of_a_wave_at_once(
    hard: int, waves: tuple[int, int], wanted: str
) -> None:
    names = ("one", "two")
    pods = [
        make_pod(name, namespace="shop", node="a", owners=[owner(f"ReplicaSet/{name}", group="apps/v1")], **_KOORD)
        for name in names
    ]
    workloads = {f"replicaset-{name}": Workload("ReplicaSet", "shop", name, f"replicaset-{name}", 1) for name in names}
    snapshot = make_snapshot(NODES, pods, quotas=(quota(pods=(5 * CPU, hard * CPU)),), workloads=workloads)
    profiles = policy_with(singleReplicas="Surge", reservationProvider="koordinator").profiles
    check = ResourceQuotaCheck(profiles, snapshot, SurgingPods(profiles, snapshot))
    candidates = tuple(Candidate(pod, wave=wave) for pod, wave in zip(pods, waves, strict=True))

    message = check.verdict(Bundle("p", "PodLifeTime", candidates)).message

    assert (f"has no room for {wanted} (singleReplicas: Surge)" in message) if wanted else message == ""


def test_a_second_pod_without_limits_is_charged_none() -> None:
    assert surge_refusals(quota(limits_cpu=(3 * CPU, 3 * CPU)), reservationProvider="koordinator") == []


def test_only_pods_that_the_quota_counts_are_named() -> None:
    placeholders = QuotaScope("PriorityClass", "In", frozenset({"descheduler-placeholder"}))

    assert surge_refusals(quota(placeholders, pods=(CPU, CPU))) == [
        "ResourceQuota shop/compute (pods) has no room for the placeholder (reservationProvider: placeholder)"
        "; raise the quota, or set reservationProvider: none"
    ]
