"""What MigrationController asks again at each request of a DeschedulerConfiguration's run."""

from __future__ import annotations

from typing import Any

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_node, make_pod, make_snapshot

LABEL = "koordinator.sh/evict-policy"
TAINT = "maintenance:NoSchedule"


def run_taints(pods: list[Pod], replicas: dict[str, int], **args: Any) -> Decisions:
    """RemovePodsViolatingNodeTaints over tainted node `a`, with MigrationController at `args` besides its defaults."""
    policy = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration",
        "profiles": [
            {
                "name": "p",
                "plugins": {"deschedule": {"enabled": [{"name": "RemovePodsViolatingNodeTaints"}]}},
                "pluginConfig": [{"name": "MigrationController", "args": args}],
            }
        ],
    }
    workloads = {
        f"replicaset-{name}": Workload("ReplicaSet", "default", name, f"replicaset-{name}", count)
        for name, count in replicas.items()
    }
    snapshot = make_snapshot([make_node("a", taints=[TAINT]), make_node("b")], pods, workloads=workloads)
    return decide(load_policy(policy, REGISTRY), snapshot, now=NOW)


def make_koord_pod(name: str, workload: str, **facts: Any) -> Pod:
    """A pod of a ReplicaSet that koord-scheduler places."""
    return make_pod(name, owners=[f"ReplicaSet/{workload}"], scheduler="koord-scheduler", **facts)


def test_a_node_gives_no_more_pods_at_once_than_allowed_although_all_were_listed_before() -> None:
    names = ["api", "cart", "mail", "shop"]

    decisions = run_taints([make_koord_pod(name, name) for name in names], dict.fromkeys(names, 5))

    assert [booked.pod.name for booked in decisions.moves] == ["api", "cart"]
    assert {refusal.verdict.reason.value for refusal in decisions.refusals if refusal.verdict.reason} == {
        "MigratingLimit"
    }


def test_one_workload_starts_one_migration_a_run() -> None:
    pods = [make_koord_pod(name, "cart") for name in ("cart-1", "cart-2")]

    decisions = run_taints(pods, {"cart": 10}, maxMigratingPerNode=0)

    assert [booked.pod.name for booked in decisions.moves] == ["cart-1"]


def test_limiter_of_no_duration_is_off() -> None:
    pods = [make_koord_pod(name, "cart") for name in ("cart-1", "cart-2")]

    decisions = run_taints(pods, {"cart": 10}, maxMigratingPerNode=0, objectLimiters={"workload": {"duration": "0s"}})

    assert [booked.pod.name for booked in decisions.moves] == ["cart-1", "cart-2"]


def test_section_2_5_evict_annotation_does_not_bypass_the_limiter() -> None:
    evict = {"descheduler.alpha.kubernetes.io/evict": "false"}
    pods = [make_koord_pod(name, "cart", annotations=evict) for name in ("cart-1", "cart-2")]

    decisions = run_taints(pods, {"cart": 2}, maxMigratingPerNode=1)

    assert [booked.pod.name for booked in decisions.moves] == ["cart-1"]


def test_operators_are_told_of_pods_that_ask_for_another_eviction_policy() -> None:
    stated = ("SoftEviction", "Delete", "Eviction", "Unknown")
    pods = [make_koord_pod(name.lower(), name.lower(), labels={LABEL: name}) for name in stated]
    pods.append(make_koord_pod("none", "none"))
    replicas = {pod.name: 5 for pod in pods}

    decisions = run_taints(pods, replicas, maxMigratingPerNode=0)

    assert len(decisions.leaving) == len(pods)
    assert decisions.notes[-1] == (
        "label koordinator.sh/evict-policy of 2 pods has no effect: "
        "the cluster has no PodMigrationJobs, so pods are evicted through the eviction API"
    )


def test_operators_are_told_of_an_eviction_policy_that_has_no_effect() -> None:
    decisions = run_taints([], {}, evictionPolicy="Delete")

    assert "evictionPolicy Delete has no effect" in " ".join(decisions.notes)


def test_where_pods_are_evicted_by_jobs_the_eviction_policy_has_its_effect() -> None:
    policy = load_policy(DELETING, REGISTRY)
    jobs = make_snapshot([make_node("a"), make_node("b")], kinds={"PodMigrationJob.scheduling.koordinator.sh"})

    assert decide(policy, jobs, now=NOW).notes == ()


DELETING = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerConfiguration",
    "profiles": [
        {
            "name": "p",
            "plugins": {"deschedule": {"enabled": [{"name": "RemovePodsViolatingNodeTaints"}]}},
            "pluginConfig": [{"name": "MigrationController", "args": {"evictionPolicy": "Delete"}}],
        }
    ],
}
