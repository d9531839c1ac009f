from __future__ import annotations

from datetime import timedelta

import pytest

from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.shard import WHOLE_CLUSTER, Shard
from descheduler.report.document import PodReference, PolicyIdentity, ShardIdentity, SnapshotIdentity
from descheduler.report.formats.json_text import json_text
from descheduler.report.identities import shard_of
from descheduler.report.plan.document import ApiAnswer, PlanMove, PlannedLanding, PlannedRefusal, RefusalCount
from tests.builders import NOW, make_budget, make_node, make_pod
from tests.report.decided_cycles import OLD, make_test_plan, pod_life_time_policy


def test_every_eviction_is_a_move_with_its_sentence() -> None:
    plan = make_test_plan([make_pod("old")])

    assert plan.moves == (
        PlanMove(
            pod=PodReference(namespace="default", name="old", uid="default-old"),
            from_node="a",
            to_node="a",
            holds_target=False,
            room_for=(),
            landing=PlannedLanding(
                verdict="lands",
                returns="at once",
                cold="lands",
                settled="lands",
                nodes=("a", "b"),
                margin=None,
                node_cause="",
                returns_to_source=False,
                conditions=(),
                message="",
                cause="",
                allocations=(),
            ),
            profile="main",
            plugin="PodLifeTime",
            reason="1 h old (maxPodLifeTimeSeconds: 60)",
            wave=1,
            cost=None,
        ),
    )


def test_a_refused_request_is_told_from_a_candidate_that_was_not_asked_for() -> None:
    pods = [make_pod("bare", owners=()), make_pod("old")]

    plan = make_test_plan(pods, policy=pod_life_time_policy(maxNoOfPodsToEvictTotal=0))

    by_name = {refusal.pod.name: (refusal.code, refusal.is_attempt) for refusal in plan.refusals}
    assert by_name == {"old": ("LimitReached", True), "bare": ("BarePod", False)}


def test_a_refusal_names_the_object_at_fault() -> None:
    plan = make_test_plan([make_pod("old")], policy=pod_life_time_policy(maxNoOfPodsToEvictPerNode=0))

    assert plan.refusals == (
        PlannedRefusal(
            pod=PodReference(namespace="default", name="old", uid="default-old"),
            node="a",
            profile="main",
            plugin="PodLifeTime",
            reason="1 h old (maxPodLifeTimeSeconds: 60)",
            code="LimitReached",
            message="maxNoOfPodsToEvictPerNode (0) reached for node a",
            subject="a",
            limit="maxNoOfPodsToEvictPerNode",
            is_attempt=True,
            others=(),
            api_answer=None,
        ),
    )


@pytest.mark.parametrize(
    ("budgets", "answer"),
    [
        pytest.param(
            [make_budget("web", {"app": "web"}, disruptions_allowed=0, current_healthy=1, desired_healthy=1)],
            ApiAnswer(
                code=429,
                cause="The disruption budget web needs 1 healthy pods and has 1 currently",
                retry_after_seconds=None,
            ),
            id="nothing is left of it",
        ),
        pytest.param(
            [make_budget("web", {"app": "web"})],
            ApiAnswer(
                code=429,
                cause="The disruption budget web is still being processed by the server.",
                retry_after_seconds=10,
            ),
            id="its status is not current",
        ),
        pytest.param(
            [make_budget(name, {"app": "web"}, disruptions_allowed=1) for name in ("web", "all")],
            ApiAnswer(
                code=500,
                cause="This pod has more than one PodDisruptionBudget,"
                " which the eviction subresource does not support.",
                retry_after_seconds=None,
            ),
            id="several",
        ),
    ],
)
def test_refusal_for_a_budget_holds_what_the_eviction_api_would_answer(
    budgets: list[DisruptionBudget], answer: ApiAnswer
) -> None:
    plan = make_test_plan([make_pod("old", labels={"app": "web"})], budgets=tuple(budgets))

    assert [refusal.api_answer for refusal in plan.refusals] == [answer]


def test_refusals_are_counted_by_reason_with_what_the_reason_means() -> None:
    pods = [make_pod("bare-1", owners=()), make_pod("bare-2", owners=()), make_pod("old")]

    plan = make_test_plan(pods, policy=pod_life_time_policy(maxNoOfPodsToEvictTotal=0))

    assert plan.refusal_counts == (
        RefusalCount(
            code="BarePod", summary="the pod has no owner that recreates it", key="", num_refusals=2, num_attempts=0
        ),
        RefusalCount(
            code="LimitReached",
            summary="an eviction limit of the policy is reached",
            key="",
            num_refusals=1,
            num_attempts=1,
        ),
    )


def test_each_enabled_plugin_has_figures_also_when_it_found_nothing() -> None:
    policy = pod_life_time_policy(balance=["RemoveDuplicates"], maxNoOfPodsToEvictTotal=2)
    pods = [make_pod(name, owners=(f"ReplicaSet/{name}",)) for name in OLD]

    plan = make_test_plan(pods, policy=policy)

    figures = [(each.plugin, each.evicted, each.background, each.refused) for each in plan.plugins]
    assert figures == [("PodLifeTime", 2, 0, {"LimitReached": 1}), ("RemoveDuplicates", 0, 0, {})]


def test_a_further_request_for_a_pod_is_no_move() -> None:
    plan = make_test_plan([make_pod("old", cpu="1")], policy=pod_life_time_policy(["main", "again"]))

    assert [move.profile for move in plan.moves] == ["main"]
    assert [(request.pod.name, request.profile) for request in plan.repeated_requests] == [("old", "again")]
    assert [(plugin.profile, plugin.evicted) for plugin in plan.plugins] == [("main", 1), ("again", 0)]
    assert plan.figures.total.displaced.cpu_milli == 1000


def test_plan_says_which_policy_judged_which_view_of_the_cluster() -> None:
    plan = make_test_plan([make_pod("p")], resource_version="17", skipped=("pod x is invalid",))

    assert plan.snapshot == SnapshotIdentity(
        source="dump.json",
        resource_version="17",
        taken_at=NOW - timedelta(seconds=90),
        age_seconds=90.0,
        num_nodes=2,
        num_pods=1,
        skipped_objects=("pod x is invalid",),
        missing_kinds=(),
        shard=None,
    )
    assert plan.policy == PolicyIdentity(
        path="policy.yaml",
        digest=plan.policy.digest,
        kind="DeschedulerPolicy",
        compatibility="upstream",
        scheduler_files=(),
    )
    assert len(plan.policy.digest) == 64


def test_plan_of_a_shard_names_the_shard() -> None:
    nodes = [make_node(name, labels={"rack": name}) for name in "abc"]
    shard = Shard(1, 2, label="rack", turn="job-17")

    plan = make_test_plan(nodes=nodes, shard=shard)

    assert plan.snapshot.shard == ShardIdentity(
        index=1, count=2, label="rack", turn="job-17", num_nodes=shard.num_owned(nodes)
    )
    assert shard_of(plan.snapshot.shard) == shard


def test_empty_plans_of_two_shards_have_two_ids() -> None:
    plans = [make_test_plan([], shard=shard) for shard in (Shard(0, 2), Shard(1, 2), WHOLE_CLUSTER)]

    assert len({plan.plan_id for plan in plans}) == 3


def test_age_of_a_dump_without_a_date_is_unknown() -> None:
    plan = make_test_plan(taken_at=None)

    assert plan.snapshot.age_seconds is None


def test_a_run_that_judged_nothing_says_why() -> None:
    plan = make_test_plan(nodes=[make_node("a")])

    assert plan.skipped == "only 1 ready node matches the policy; at least 2 are required"


def test_a_plan_without_nodes_names_the_node_selector_that_matches_none() -> None:
    plan = make_test_plan(policy=pod_life_time_policy(nodeSelector="pool=gpu"))

    assert plan.skipped == "no ready node matches nodeSelector (pool=gpu); at least 2 are required"
    assert plan.moves == ()


def test_warnings_of_policy_and_snapshot_stand_together() -> None:
    policy = pod_life_time_policy(metricsProviders=[{"source": "Unknown"}])

    plan = make_test_plan(policy=policy, warnings=("the dump holds no Namespace",))

    assert len(plan.warnings) == 2
    assert plan.warnings[0].startswith("policy.yaml: metricsProviders[0].source:")
    assert plan.warnings[1] == "the dump holds no Namespace"


def test_the_same_decisions_give_the_same_bytes() -> None:
    first, second = make_test_plan(), make_test_plan()

    assert json_text(first) == json_text(second)
