"""Bundles: pods that move together are let go together or not at all."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.plan.moves import Move
from tests.builders import Object, make_budget, make_node, make_pod, make_snapshot
from tests.eviction.runs import Run, bundle_of, make_run

APP = {"app": "x"}


def policy_of(*, verifies: bool = False, **limits: int) -> Object:
    """A DeschedulerPolicy of one profile."""
    profile: Object = {
        "name": "p",
        "pluginConfig": [{"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}}],
        "plugins": {"deschedule": {"enabled": ["PodLifeTime"]}},
    }
    if verifies:
        profile["pluginConfig"].append({"name": "PlacementVerification"})
        profile["plugins"]["preevictionfilter"] = {"enabled": ["PlacementVerification"]}
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **limits}


def migrating(**args: object) -> Object:
    """A DeschedulerConfiguration whose MigrationController has these arguments, and that verifies nothing."""
    profile = {
        "name": "p",
        "pluginConfig": [{"name": "MigrationController", "args": {"skipCheckExpectedReplicas": True, **args}}],
        "plugins": {"filter": {"disabled": [{"name": "PlacementVerification"}]}},
    }
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerConfiguration", "profiles": [profile]}


def three(**facts: Any) -> list[Pod]:
    """Three pods of one node, each of an owner of its own."""
    return [make_pod(name, owners=[f"ReplicaSet/{name}"], **facts) for name in ("one", "two", "three")]


def run_of(policy: Object, pods: list[Pod], **facts: Any) -> Run:
    """Pods on node `a`, which is cordoned, beside node `b` of two cores; ten replicas of every workload."""
    nodes = [make_node("a", unschedulable=True), make_node("b", cpu="2")]
    workloads = {}
    for pod in pods:
        uid = f"replicaset-{pod.owners[0].name}"
        workloads[uid] = Workload("ReplicaSet", "default", pod.owners[0].name, uid, 10)
    return make_run(policy, make_snapshot(nodes, pods, workloads=workloads, **facts))


REFUSALS = [
    pytest.param(policy_of(maxNoOfPodsToEvictTotal=2), {}, Reason.LIMIT_REACHED, id="above the limit of the run"),
    pytest.param(policy_of(maxNoOfPodsToEvictPerNode=2), {}, Reason.LIMIT_REACHED, id="above the limit of a node"),
    pytest.param(
        policy_of(),
        {"budgets": (make_budget("b", APP, disruptions_allowed=2),)},
        Reason.DISRUPTION_BUDGET,
        id="more than a budget allows",
    ),
    pytest.param(migrating(maxMigratingPerNode=2), {}, Reason.MIGRATING_LIMIT, id="more than may migrate at once"),
    pytest.param(policy_of(verifies=True), {}, Reason.NO_LANDING, id="more than land together"),
]


@pytest.mark.parametrize(("policy", "facts", "expected"), REFUSALS)
def test_bundle_of_three_stays_where_two_may_go(policy: Object, facts: Object, expected: Reason) -> None:
    pods = three(labels=APP, cpu="1", scheduler="koord-scheduler")

    verdict = run_of(policy, pods, **facts).evictor.request(bundle_of(*pods))

    assert verdict.reason is expected
    assert run_of(policy, pods, **facts).evictor.request(bundle_of(*pods[:2])).is_accepted


@pytest.mark.parametrize(("policy", "facts", "expected"), REFUSALS)
def test_refused_bundle_leaves_room_for_a_smaller_one(policy: Object, facts: Object, expected: Reason) -> None:
    pods = three(labels=APP, cpu="1", scheduler="koord-scheduler")
    run = run_of(policy, pods, **facts)

    reasons = [run.evictor.request(bundle_of(*bundle)).reason for bundle in (pods, pods[1:], pods[:1])]

    assert reasons == [expected, None, expected]
    assert [move.pod.name for move in run.evictor.book.moves] == ["two", "three"]


def test_refusal_is_noted_for_every_pod_of_the_bundle() -> None:
    pods = three()
    run = run_of(policy_of(maxNoOfPodsToEvictTotal=2), pods)

    run.evictor.request(bundle_of(*pods))

    refusals = run.evictor.book.refusals
    assert [refusal.pod.name for refusal in refusals] == ["one", "two", "three"]
    assert {refusal.verdict.message for refusal in refusals} == {
        "none of the 3 pods that have to leave together is evicted: maxNoOfPodsToEvictTotal (2) reached"
    }


def test_pods_that_an_earlier_round_evicted_are_not_asked_for_again() -> None:
    """The rest of a bundle of which one pod is gone already follows, within what the limits leave."""
    pods = three()
    run = make_run(
        policy_of(maxNoOfPodsToEvictTotal=3),
        make_snapshot([make_node("a")], pods),
        prior_moves=[Move(pods[0], "p", "q")],
    )

    verdict = run.evictor.request(bundle_of(*pods))

    assert verdict.is_accepted
    assert [move.pod.name for move in run.evictor.book.moves] == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        pytest.param("", None, id="any node will do"),
        pytest.param("b", None, id="the node that the scheduler takes"),
        pytest.param("c", Reason.OTHER_LANDING, id="another one"),
    ],
)
def test_candidate_is_meant_to_land_on_its_target(target: str, expected: Reason | None) -> None:
    pod = make_pod("p", cpu="1")
    run = run_of(policy_of(verifies=True), [pod])

    assert run.evictor.request(bundle_of(pod, target_node=target)).reason is expected
