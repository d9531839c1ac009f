"""What `explain` says of pods is what a run decides about them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.request import Landings, snapshot_request
from descheduler.eviction.checks.scope import Scope
from descheduler.explanation.explaining import explain, settings_for
from descheduler.explanation.subjects.pod import PodExplanation, explain_pod
from descheduler.explanation.watched_run import watched_run
from descheduler.model.groups.workloads import Workload
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from tests.builders import NOW, make_snapshot
from tests.eviction.placement_verification.test_in_any_order import by_jobs, seven_pods
from tests.eviction.placement_verification.test_placement_verification import policy_of
from tests.series import Part, parts

pytestmark = pytest.mark.long

CONFIG = Path(__file__).parents[2] / "config"
WHEN = datetime(2026, 1, 15, 12, tzinfo=UTC)
OPTIONS = [
    pytest.param(RunSetting(), id="whole cluster"),
    pytest.param(RunSetting(scope=Scope(frozenset({"batch"}))), id="one namespace", marks=pytest.mark.rest),
]


@pytest.fixture(scope="module")
def policy() -> Policy:
    return load_policy(CONFIG / "policy.yaml", REGISTRY)


@pytest.fixture(scope="module")
def snapshot(policy: Policy) -> Snapshot:
    return read_dump([CONFIG / "samples" / "openb.jsonl.gz"], snapshot_request(policy, Landings.EXPLAINED))


def decided(policy: Policy, snapshot: Snapshot, options: RunSetting) -> Decisions:
    return decide(policy, snapshot, now=WHEN, setting=options)


@pytest.mark.parametrize("options", OPTIONS)
def test_every_pod_of_a_sample_has_the_decision_of_the_run(
    policy: Policy, snapshot: Snapshot, options: RunSetting
) -> None:
    decisions = decided(policy, snapshot, options)
    evicted = {move.pod.uid for move in decisions.leaving}

    run = watched_run(policy, snapshot, snapshot.pods, WHEN, options)

    asked = [*(move.pod for move in decisions.leaving), *(refusal.pod for refusal in decisions.refusals)]
    differing = [pod.key for pod in asked if (run.decision_about(pod).outcome == "evicted") is not (pod.uid in evicted)]
    assert differing == []
    assert {pod.uid for pod in run.watch.granted} == evicted


@pytest.mark.parametrize("part", parts(16))
def test_an_evicted_pod_has_the_landing_of_the_plan(policy: Policy, snapshot: Snapshot, part: Part) -> None:
    decisions = decided(policy, snapshot, RunSetting())
    moves = part.of(decisions.leaving[:: len(decisions.leaving) // part.number])
    assert moves

    found = []
    for move in moves:
        explanation = explain(
            "pod", move.pod.key, snapshot, policy=policy, settings=settings_for(policy), now=WHEN
        ).answer
        assert isinstance(explanation, PodExplanation)
        assert explanation.landing is not None
        found.append((explanation.landing.verdict, explanation.landing.node, explanation.landing.cause))

    landings = [move.landing for move in moves if move.landing is not None]
    assert found == [(landing.verdict.value, landing.node, landing.cause) for landing in landings]


def test_pods_that_stay_because_of_the_order_have_the_decision_of_the_run() -> None:
    """The plugins are asked again until no order matters; what they asked for before is not shown."""
    nodes, pods = seven_pods("b", "a")
    snapshot, policy = make_snapshot(nodes=nodes, pods=pods), load_policy(policy_of(), REGISTRY)
    evicted = {move.pod.uid for move in decide(policy, snapshot, now=NOW).leaving}

    run = watched_run(policy, snapshot, snapshot.pods, NOW, RunSetting())

    told = {pod.uid for pod in snapshot.pods if run.decision_about(pod).outcome == "evicted"}
    assert told == evicted
    assert len(evicted) == 4
    assert {wish.verdict.code for wish in run.watch.wishes} == {"", "OrderDependentLanding"}
    assert len(run.watch.wishes) == len(pods)


def test_pods_that_are_put_ahead_have_the_decision_and_the_landing_of_the_run() -> None:
    """A large pod is refused where its plugin comes to it, and accepted ahead of the small ones."""
    nodes, pods = seven_pods("a", "b")
    web = Workload("ReplicaSet", "default", "web", "replicaset-web", 7)
    snapshot, policy = make_snapshot(nodes=nodes, pods=pods, workloads={web.uid: web}), load_policy(by_jobs(), REGISTRY)
    moves = decide(policy, snapshot, now=NOW).leaving
    expected = {move.pod.name: (move.wave, number, move.to_node) for number, move in enumerate(moves)}

    run = watched_run(policy, snapshot, snapshot.pods, NOW, RunSetting())
    told = {}
    for pod in snapshot.pods:
        explanation, _ = explain_pod(pod, snapshot, settings_for(policy), now=NOW, run=run)
        assert explanation.decision is not None
        assert explanation.landing is not None
        decision = explanation.decision
        assert [answer.result for answer in decision.answers] == ["evicted"]
        told[pod.name] = decision.wave, decision.num_moves_before, explanation.landing.node

    assert told == expected
    assert told["b-0"][0] == 1
    assert not any(run.watch.turned_down("p", "PodLifeTime").values())
