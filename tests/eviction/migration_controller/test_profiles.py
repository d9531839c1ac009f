"""Profiles that evict through MigrationController: what each asks for, and what operators are told of it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.migration_controller.arbitration import is_unclaimed, jobs_to_judge
from descheduler.eviction.migration_controller.args import creates_placeholders, creates_reservations, needs
from descheduler.eviction.migration_controller.profiles import (
    dry_profiles,
    eviction_policy_notes,
    history_args,
    is_dry,
    jobs_left_out,
    migration_controllers,
    migration_notes,
    unheeded_notes,
    unheeded_policy,
)
from descheduler.eviction.migration_controller.surging_pods import (
    SurgingPods,
    can_be_surged,
    keeps_single_replicas,
    surge_notes,
)
from descheduler.model.groups.workloads import Workload
from descheduler.model.koordinator.migration_job import JobCondition, MigrationJob
from descheduler.model.pod import Pod
from descheduler.plan.moves import Move
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from tests.builders import make_pod, make_snapshot, owner
from tests.eviction.migration_controller.koordinator_clusters import make_args, make_job, make_workload
from tests.policy.builders import koordinator, upstream

LABEL = "koordinator.sh/evict-policy"
WEB = make_pod("web")
PLAIN = load_policy(upstream("profiles: [{name: p}]\n"), REGISTRY)
WITH_JOBS = {"PodMigrationJob.scheduling.koordinator.sh"}


def policy(*args: str, top: str = "") -> Policy:
    """A policy with a profile for each of these arguments of MigrationController."""
    profiles = "".join(
        f"- {{name: p{number}, pluginConfig: [{{name: MigrationController, args: {{{each}}}}}]}}\n"
        for number, each in enumerate(args)
    )
    return load_policy(koordinator(f"{top}profiles:\n{profiles}"), REGISTRY)


@pytest.mark.parametrize(
    ("found", "dry", "is_whole"),
    [
        pytest.param(policy(""), set(), False, id="live"),
        pytest.param(policy("dryRun: true"), {"p0"}, True, id="its only profile is dry"),
        pytest.param(policy("dryRun: true", ""), {"p0"}, False, id="one of two is dry"),
        pytest.param(policy("", top="dryRun: true\n"), set(), True, id="the policy is dry"),
        pytest.param(PLAIN, set(), False, id="without MigrationController"),
    ],
)
def test_run_is_dry_where_the_policy_or_all_of_its_profiles_are(found: Policy, dry: set[str], is_whole: bool) -> None:
    notes = [f"profile {name} evicts nothing (dryRun: true of MigrationController)" for name in sorted(dry)]

    assert dry_profiles(found) == dry
    assert is_dry(found) is is_whole
    assert list(migration_notes(found)) == ([] if is_whole else notes)


def test_arguments_are_those_of_profiles_that_evict_by_the_controller() -> None:
    assert set(migration_controllers(policy("", ""))) == {"p0", "p1"}
    assert migration_controllers(PLAIN) == {}


@pytest.mark.parametrize(("args", "has_history"), [("", False), ("moveHistory: {}", True), ("dryRun: true", False)])
def test_history_counts_where_it_is_asked_for(args: str, has_history: bool) -> None:
    (profile,) = policy(args).profiles

    assert (history_args(profile) is not None) is has_history
    assert history_args(PLAIN.profiles[0]) is None


@pytest.mark.parametrize(
    ("pod", "job", "args", "unheeded"),
    [
        pytest.param({}, {}, {}, "", id="nobody asks"),
        pytest.param({LABEL: "Delete"}, {}, {}, "Delete", id="the pod"),
        pytest.param({}, {LABEL: "Delete"}, {}, "Delete", id="the job"),
        pytest.param({LABEL: "SoftEviction"}, {LABEL: "Delete"}, {}, "SoftEviction", id="the pod comes first"),
        pytest.param({LABEL: "Eviction"}, {}, {}, "", id="what it is anyway"),
        pytest.param({LABEL: "Eviction"}, {}, {"evictionPolicy": "Delete"}, "Eviction", id="what it is not"),
        pytest.param({LABEL: "Delete"}, {}, {"allowedEvictionPolicies": ["Delete"]}, "", id="what is allowed"),
        pytest.param({LABEL: "Remove"}, {}, {}, "", id="an unknown policy"),
    ],
)
def test_label_asks_in_vain_for_what_is_not_allowed(
    pod: dict[str, str], job: dict[str, str], args: dict[str, Any], unheeded: str
) -> None:
    assert unheeded_policy(make_args(**args), pod, job) == unheeded


def test_labels_that_ask_in_vain_are_counted() -> None:
    assert list(unheeded_notes([], "pod")) == []
    assert list(unheeded_notes(["SoftEviction", "Delete", "Delete"], "pod")) == [
        f"label {LABEL} of 3 pods has no effect: "
        "allowedEvictionPolicies of MigrationController does not list Delete, SoftEviction"
    ]


WITHOUT_JOBS = "has no effect: the cluster has no PodMigrationJobs, so pods are evicted through the eviction API"
IN_VAIN = f"label {LABEL} of 1 pod has no effect: allowedEvictionPolicies of MigrationController does not list Delete"


@pytest.mark.parametrize(
    ("args", "label", "kinds", "notes"),
    [
        pytest.param("", "", set(), [], id="nobody asks"),
        pytest.param("", "Delete", set(), [f"label {LABEL} of 1 pod {WITHOUT_JOBS}"], id="a label, without jobs"),
        pytest.param("", "Eviction", set(), [], id="a label that asks for what it is"),
        pytest.param("", "Remove", set(), [], id="a label that asks for what there is not"),
        pytest.param("evictionPolicy: Delete", "", set(), [f"evictionPolicy Delete {WITHOUT_JOBS}"], id="arguments"),
        pytest.param("evictionPolicy: Delete", "", WITH_JOBS, [], id="arguments, with jobs"),
        pytest.param("", "Delete", WITH_JOBS, [IN_VAIN], id="a label, with jobs"),
        pytest.param("allowedEvictionPolicies: [Delete]", "Delete", WITH_JOBS, [], id="a label that is allowed"),
        pytest.param("reservationProvider: placeholder", "Delete", set(), [IN_VAIN], id="jobs in ConfigMaps"),
        pytest.param(
            "reservationProvider: placeholder, defaultJobMode: EvictDirectly",
            "Delete",
            set(),
            [f"label {LABEL} of 1 pod {WITHOUT_JOBS}"],
            id="no jobs by arguments",
        ),
        pytest.param(
            "reservationProvider: koordinator",
            "Delete",
            set(),
            [f"label {LABEL} of 1 pod {WITHOUT_JOBS}"],
            id="Reservations that the cluster does not have",
        ),
    ],
)
def test_operators_are_told_of_policies_that_have_no_effect(
    args: str, label: str, kinds: set[str], notes: list[str]
) -> None:
    pod = make_pod("web", labels={LABEL: label} if label else {})

    found = eviction_policy_notes(policy(args), [Move(pod, "p0", "q"), Move(make_pod("x"), "p0", "q")], kinds)

    assert list(found) == notes
    assert list(eviction_policy_notes(policy(args), [Move(pod, "other", "q")], kinds)) == [
        note for note in notes if note.startswith("evictionPolicy")
    ]


CLAIMED = {"koordinator.sh/job-created-by": "koord-descheduler"}
EVICTING = (JobCondition("Eviction", False),)


@pytest.mark.parametrize(
    ("job", "pod", "is_judged"),
    [
        pytest.param(make_job(WEB, phase=""), WEB, True, id="new"),
        pytest.param(make_job(WEB, phase="Pending"), WEB, True, id="pending"),
        pytest.param(make_job(WEB, phase="Running"), WEB, True, id="running, and nothing was evicted"),
        pytest.param(make_job(WEB, phase="Running"), make_pod("web", deleted=1), False, id="its pod is about to go"),
        pytest.param(make_job(WEB, phase="Pending"), make_pod("web", deleted=1), True, id="pending, its pod goes"),
        pytest.param(make_job(WEB, phase="Running", conditions=EVICTING), WEB, False, id="the eviction has begun"),
        pytest.param(make_job(WEB, phase="Succeeded"), WEB, False, id="over"),
        pytest.param(make_job(WEB, phase="", is_terminating=True), WEB, False, id="being deleted"),
    ],
)
def test_jobs_are_judged_whose_eviction_has_not_begun(job: MigrationJob, pod: Pod, is_judged: bool) -> None:
    assert jobs_to_judge(make_snapshot(pods=[pod], migration_jobs=(job,))) == ((job,) if is_judged else ())


@pytest.mark.parametrize(
    ("jobs", "note"),
    [
        pytest.param([], "", id="no jobs"),
        pytest.param([{}], "1 PodMigrationJob of users is not in this plan: because", id="one"),
        pytest.param([{}, {}], "2 PodMigrationJobs of users are not in this plan: because", id="two"),
        pytest.param([{"annotations": CLAIMED}], "", id="of another program"),
        pytest.param([{"is_paused": True}], "", id="paused"),
        pytest.param([{"phase": "Failed"}], "", id="over"),
    ],
)
def test_jobs_of_users_that_a_run_leaves_out_are_counted(jobs: list[dict[str, Any]], note: str) -> None:
    made = tuple(make_job(WEB, name=f"j{number}", **{"phase": "", **facts}) for number, facts in enumerate(jobs))
    snapshot = make_snapshot(pods=[WEB], migration_jobs=made)

    assert jobs_left_out(policy(""), snapshot, "because") == ((note,) if note else ())
    assert jobs_left_out(PLAIN, snapshot, "because") == ()
    assert [is_unclaimed(job) for job in made] == ["annotations" not in facts for facts in jobs]


@pytest.mark.parametrize(
    ("args", "reservations", "placeholders"),
    [
        ({}, False, False),
        ({"reservationProvider": "koordinator"}, True, False),
        ({"reservationProvider": "placeholder"}, False, True),
        ({"reservationProvider": "koordinator", "defaultJobMode": "EvictDirectly"}, False, False),
        ({"reservationProvider": "placeholder", "defaultJobMode": "EvictDirectly"}, False, False),
        ({"reservationProvider": "none"}, False, False),
    ],
)
def test_room_is_held_for_certain_where_provider_and_mode_say_so(
    args: dict[str, Any], reservations: bool, placeholders: bool
) -> None:
    made = make_args(**args)

    assert (creates_reservations(made), creates_placeholders(made)) == (reservations, placeholders)
    assert ("ResourceQuota" in needs(made).kinds) is placeholders


def test_quotas_are_read_where_workloads_surge() -> None:
    args = make_args(singleReplicas="Surge", reservationProvider="koordinator")

    assert "ResourceQuota" in needs(args).kinds


@pytest.mark.parametrize(
    ("args", "keeps"),
    [
        ({}, True),
        ({"skipCheckExpectedReplicas": False}, True),
        ({"skipCheckExpectedReplicas": True}, False),
        ({"skipEvictionGates": ["ExpectedReplicas"]}, False),
        ({"skipEvictionGates": ["PVC"]}, True),
    ],
)
def test_single_replicas_stay_unless_a_setting_lets_them_go(args: dict[str, Any], keeps: bool) -> None:
    assert keeps_single_replicas(make_args(**args)) is keeps


@pytest.mark.parametrize(
    ("pod", "workload", "is_surged"),
    [
        pytest.param(WEB, make_workload(1), True, id="the only pod of a ReplicaSet"),
        pytest.param(WEB, make_workload(1, kind="Deployment"), True, id="or of the Deployment behind"),
        pytest.param(WEB, make_workload(2), False, id="one of two"),
        pytest.param(WEB, None, False, id="a workload that is gone"),
        pytest.param(make_pod("web", owners=["StatefulSet/db"]), make_workload(1), False, id="of a StatefulSet"),
        pytest.param(
            make_pod("web", owners=[owner("ReplicaSet/web", group="acme.example/v1")]),
            make_workload(1),
            False,
            id="else",
        ),
        pytest.param(make_pod("web", owners=()), make_workload(1), False, id="of nobody"),
    ],
)
def test_only_pod_of_a_replica_set_can_be_surged(pod: Pod, workload: Workload | None, is_surged: bool) -> None:
    assert can_be_surged(pod, workload) is is_surged


SURGE = "singleReplicas: Surge, reservationProvider: placeholder"


def test_pods_surge_in_profiles_that_ask_for_it_and_are_named_up_to_a_number() -> None:
    pods = [make_pod(f"p{number}", owners=[f"ReplicaSet/w{number}"]) for number in range(4)]
    workloads = [make_workload(1, name=f"w{number}") for number in range(4)]
    snapshot = make_snapshot(pods=pods, workloads={each.uid: each for each in workloads})
    found = policy("", SURGE)
    surging = SurgingPods(found.profiles, snapshot)

    assert [surging.has(pods[0], index) for index in (0, 1)] == [False, True]
    moves = [Move(pod, "p1", "q") for pod in pods]
    assert surge_notes(found, [replace(move, profile="p0") for move in moves], snapshot) == ()
    assert surge_notes(found, moves[:3], snapshot) == (
        "profile p1: singleReplicas (Surge) applies to 3 pods (default/p0, default/p1, default/p2): "
        "their workloads are scaled to 2 replicas first",
    )
    assert surge_notes(found, moves, snapshot) == (
        "profile p1: singleReplicas (Surge) applies to 4 pods (default/p0, default/p1, default/p2, …): "
        "their workloads are scaled to 2 replicas first",
    )
