"""The label `koordinator.sh/evict-policy` chooses how a pod leaves only among what the policy allows."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cycle.options import RunResult
from tests.living.builders import budget, deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.migration.roads.test_users_limits import user_job
from tests.migration.roads.whole_runs import WAYS, live_run, policy_of

LABEL = "koordinator.sh/evict-policy"
SOFT = "scheduling.koordinator.sh/soft-eviction"
DIRECTLY = WAYS["directly"]
Object = dict[str, Any]


def world(policy: str, *, on: str, allowed: int = 0) -> LivingCluster:
    """A pod that has to leave, or that a user asks for, with the label on the pod or `on` the job of the user."""
    labels = {LABEL: policy} if on.endswith("pod") else {}
    cluster = living_cluster(
        [node("n1", taints=["gone=soon:NoSchedule"]), node("n2")],
        [deployment("web", 3, on=["n1" if on == "pod" else "n2", "n2", "n2"], labels=labels, grace_seconds=1)],
        [budget("web", maxUnavailable=allowed)],
    )
    if on != "pod":
        job = user_job("job", cluster.pods("web")[0])
        job["metadata"]["labels"] = {LABEL: policy} if on == "job" else {}
        cluster.add(job)
    return cluster


def run(cluster: LivingCluster, allowed: str = "", **args: str) -> RunResult:
    more = {"allowedEvictionPolicies": allowed} if allowed else {}
    return live_run(cluster, policy_of(DIRECTLY, **more, **args))


def num_deleted(cluster: LivingCluster) -> int:
    return sum("/pods/" in call.request.path for call in cluster.api.sent("DELETE"))


def is_annotated(cluster: LivingCluster) -> bool:
    return any(SOFT in (each["metadata"].get("annotations") or {}) for each in cluster.pods("web"))


WHERE = ["pod", "users pod", "job"]


@pytest.mark.parametrize("on", WHERE)
@pytest.mark.parametrize("allowed", ["", "[Eviction]", "[Eviction, SoftEviction]"])
def test_label_does_not_lead_past_a_budget(on: str, allowed: str) -> None:
    cluster = world("Delete", on=on)
    before = cluster.pods("web")

    run(cluster, allowed)

    assert num_deleted(cluster) == 0
    assert cluster.pods("web") == before


@pytest.mark.parametrize("on", WHERE)
def test_label_chooses_what_the_policy_allows(on: str) -> None:
    cluster = world("Delete", on=on, allowed=int(on == "pod"))  # budgets hold for the plan, however pods leave

    run(cluster, "[Delete]")

    assert num_deleted(cluster) == 1


@pytest.mark.parametrize("on", WHERE)
@pytest.mark.parametrize(("allowed", "is_soft"), [("", False), ("[Delete]", False), ("[SoftEviction]", True)])
def test_pod_is_annotated_only_where_the_policy_allows_it(on: str, allowed: str, *, is_soft: bool) -> None:
    cluster = world("SoftEviction", on=on, allowed=1)

    run(cluster, allowed)

    assert is_annotated(cluster) is is_soft
    assert len(cluster.api.sent("POST", "/eviction")) == int(not is_soft)


@pytest.mark.parametrize(("allowed", "num_evictions"), [("", 0), ("[Eviction]", 1)])
def test_milder_label_is_heeded_only_where_the_policy_allows_it(allowed: str, num_evictions: int) -> None:
    cluster = world("Eviction", on="pod", allowed=1)

    run(cluster, allowed, evictionPolicy="Delete")

    assert len(cluster.api.sent("POST", "/eviction")) == num_evictions
    assert num_deleted(cluster) == 1 - num_evictions


@pytest.mark.parametrize(("on", "noun"), [("pod", "pod"), ("users pod", "PodMigrationJob"), ("job", "PodMigrationJob")])
def test_run_tells_of_labels_that_are_not_heeded(on: str, noun: str) -> None:
    told = run(world("Delete", on=on, allowed=1)).decisions.notes

    assert [note for note in told if "label" in note] == [
        f"label koordinator.sh/evict-policy of 1 {noun} has no effect: "
        "allowedEvictionPolicies of MigrationController does not list Delete"
    ]


@pytest.mark.parametrize("policy", ["Eviction", "Magic"])
def test_run_says_nothing_of_labels_that_change_nothing(policy: str) -> None:
    told = run(world(policy, on="pod", allowed=1)).decisions.notes

    assert [note for note in told if "label" in note] == []
