"""What MigrationController asks again at each request of a DeschedulerConfiguration's run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.migration_controller.migration_controller import MigrationGate
from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.eviction.migration_controller.koordinator_clusters import make_cluster, make_workload
from tests.policy.builders import koordinator

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


def gate_of(*args: str, pods: Sequence[Pod]) -> MigrationGate:
    """The gate of a profile for each of these arguments of MigrationController, and of one without it."""
    profiles = "".join(
        f"- {{name: p{number}, pluginConfig: [{{name: MigrationController, args: {{{each}}}}}]}}\n"
        for number, each in enumerate(args)
    )
    plain = "- name: plain\n  plugins:\n    evict: {enabled: [{name: DefaultEvictor}], disabled: [{name: '*'}]}\n"
    policy = load_policy(koordinator(f"profiles:\n{profiles}{plain}"), REGISTRY)
    return MigrationGate(policy.profiles, make_cluster(pods, [make_workload(10), make_workload(10, name="api")]))


def asked(gate: MigrationGate, *pods: Pod, profile: int = 0) -> Reason | None:
    return gate.verdict(Bundle("p0", "q", tuple(map(Candidate, pods)), profile)).reason


WEB = [make_koord_pod(f"web-{number}", "web") for number in range(3)]
API = [make_koord_pod(f"api-{number}", "api") for number in range(3)]


def test_limits_of_a_profile_hold_for_its_own_requests() -> None:
    gate = gate_of("maxMigratingPerNode: 5", pods=[*WEB, *API])

    gate.charge(Bundle("p0", "q", (Candidate(WEB[0]),)))

    assert asked(gate, WEB[1]) is Reason.MIGRATING_LIMIT
    assert asked(gate, API[0]) is None
    assert asked(gate, WEB[1], profile=1) is None


def test_pods_of_a_bundle_count_against_the_limits_one_after_the_other() -> None:
    gate = gate_of("maxMigratingPerNode: 1", pods=[*WEB, *API])

    assert asked(gate, WEB[0]) is None
    assert asked(gate, WEB[0], API[0]) is Reason.MIGRATING_LIMIT
    assert asked(gate, WEB[0], API[0], profile=1) is None
    assert asked(gate, WEB[0]) is None


def test_what_earlier_rounds_have_started_counts_for_its_profile() -> None:
    gate = gate_of("maxMigratingPerNode: 5", "maxMigratingPerNode: 5", pods=[*WEB, *API])

    gate.adopt([Move(WEB[0], "p0", "q")])

    assert [asked(gate, WEB[1], profile=profile) for profile in (0, 1, 2)] == [Reason.MIGRATING_LIMIT, None, None]


def test_what_is_left_is_that_of_all_limits_of_a_profile() -> None:
    gate = gate_of("maxMigratingPerNode: 5, maxMigratingGlobally: 7", pods=[*WEB, *API])

    found = [(each, each.key_of(WEB[0])) for each in gate.allowances(0)]

    assert {each.name_of(key): each.left(key) for each, key in found if key is not None} == {
        "maxMigratingGlobally (7)": 7,
        "maxMigratingPerNode (5)": 5,
        "maxMigratingPerWorkload (default)": 2,
        "maxUnavailablePerWorkload (default)": 2,
        "objectLimiters.workload.burst (1)": 1,
    }
    assert gate.allowances(1) == ()
