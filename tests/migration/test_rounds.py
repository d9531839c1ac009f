"""What left in an earlier round of a run bears on the next, also when the plugins choose otherwise this time."""

from __future__ import annotations

import threading
from collections.abc import Set as AbstractSet

import msgspec

from descheduler.eviction.answers import BACKGROUND_TEXT, Answers, EvictionAnswer
from descheduler.eviction.evictor import Evictor
from descheduler.eviction.handle import Handle
from descheduler.eviction.landing_book import LandingBook
from descheduler.eviction.limits import EvictionLimits
from descheduler.eviction.migration_controller import MigrationController, MigrationControllerArgs, default_args
from descheduler.eviction.object_limiter import ObjectLimiter
from descheduler.kube.evict import EvictionResponse
from descheduler.migration.outcome import OutcomeCode
from descheduler.migration.rounds import MAX_ROUNDS, carry_out
from descheduler.migration.settings import ExecutorSettings
from descheduler.model.objects import Workload
from descheduler.model.pod import REQUEST_EVICT_ONLY_ANNOTATION
from descheduler.model.verdict import Reason
from descheduler.placement.cluster_view import ClusterView
from descheduler.placement.node_fit import NodeFit
from descheduler.policy.load import load_policy
from descheduler.strategies.decisions import Decisions
from descheduler.strategies.registry import REGISTRY
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.migration.worlds import Clock, ScriptedApi, no_disruption, not_sent
from tests.policy.builders import upstream

POLICY = load_policy(upstream(), REGISTRY)


def test_pod_handed_over_before_uses_the_limit_up_before_it_is_asked_for_again() -> None:
    other = make_pod("other")
    vm = make_pod("vm", annotations={REQUEST_EVICT_ONLY_ANNOTATION: ""})
    evictor = Evictor(
        ClusterView(make_snapshot([], [other, vm]), moves_take_effect=False),
        EvictionLimits(total=1),
        answers={"default/vm": EvictionAnswer(429, BACKGROUND_TEXT)},
        evicted=frozenset({"default/vm"}),
        evictions_in_background=True,
    )

    verdicts = [evictor.request(pod, profile="p", plugin="q") for pod in (other, vm)]

    assert [verdict.reason for verdict in verdicts] == [Reason.TOTAL_LIMIT, None]
    assert [booked.pod.name for booked in evictor.background] == ["vm"]
    assert evictor.booked == []


def test_pods_moved_before_count_against_what_may_migrate_and_may_be_asked_for_again() -> None:
    moved, other = (make_pod(name, scheduler="koord-scheduler", owners=[f"ReplicaSet/{name}"]) for name in "mo")
    workloads = {
        f"replicaset-{name}": Workload("ReplicaSet", "default", name, f"replicaset-{name}", 40) for name in "mo"
    }
    snapshot = make_snapshot([make_node("a")], [moved, other], workloads=workloads)
    view = ClusterView(snapshot, moves_take_effect=True, evicted=frozenset({"default/m"}))
    args = msgspec.structs.replace(default_args(MigrationControllerArgs()), max_migrating_per_node=1)
    controller = MigrationController(args, Handle(POLICY, view, NodeFit(view), NOW, LandingBook(view.snapshot)))

    reasons = [controller.filter(pod).reason for pod in (moved, other)]

    assert reasons == [None, Reason.MIGRATING_LIMIT]


def test_pod_moved_before_uses_the_burst_of_its_workload_up() -> None:
    moved, other = make_pod("moved"), make_pod("other")
    workloads = {"replicaset-web": Workload("ReplicaSet", "default", "web", "replicaset-web", 40)}
    snapshot = make_snapshot([], [moved, other], workloads=workloads)
    limiter = ObjectLimiter(default_args(MigrationControllerArgs()), snapshot, evicted=frozenset({"default/moved"}))

    reasons = [limiter.verdict(pod).reason for pod in (moved, other)]

    assert reasons == [None, Reason.MIGRATING_LIMIT]


def test_every_eviction_of_the_last_decision_has_an_outcome_when_rounds_run_out() -> None:
    """Each round wants one pod that no round before has wanted, and the API refuses them all."""
    pods = [make_pod(f"p{number:03}") for number in range(MAX_ROUNDS + 5)]
    snapshot = make_snapshot([], pods)

    def decide(answers: Answers, evicted: AbstractSet[str]) -> Decisions:
        view = ClusterView(snapshot, moves_take_effect=False)
        evictor = Evictor(view, EvictionLimits(total=1), answers=answers, evicted=evicted)
        for pod in pods:
            evictor.request(pod, profile="p", plugin="q")
        return Decisions(POLICY, snapshot, evictor, NOW)

    responses: dict[str, list[EvictionResponse | Exception]] = {pod.name: [no_disruption()] for pod in pods}
    clock = Clock()
    api = ScriptedApi(clock, **responses)

    decisions, outcomes = carry_out(
        decide,
        api,
        ExecutorSettings(qps=1000, burst=1000),
        stop=threading.Event(),
        sink=None,
        clock=clock.now,
        sleep=clock.sleep,
    )

    assert len(outcomes) == MAX_ROUNDS
    booked = {booked.pod.name for booked in decisions.evictor.booked}
    assert booked <= {outcome.eviction.name for outcome in outcomes}
    assert decisions.notes[-1].endswith("and gave up; the next run goes on")


def test_nobody_looks_for_other_pods_while_the_api_server_is_away() -> None:
    pods = [make_pod(name) for name in ("first", "second")]
    snapshot = make_snapshot([], pods)
    decided: list[Answers] = []

    def decide(answers: Answers, evicted: AbstractSet[str]) -> Decisions:
        decided.append(answers)
        evictor = Evictor(ClusterView(snapshot, moves_take_effect=False), EvictionLimits(total=1), answers=answers)
        for pod in pods:
            evictor.request(pod, profile="p", plugin="q")
        return Decisions(POLICY, snapshot, evictor, NOW)

    clock = Clock()
    api = ScriptedApi(clock, first=[not_sent()] * 99)

    _, outcomes = carry_out(
        decide, api, ExecutorSettings(), stop=threading.Event(), sink=None, clock=clock.now, sleep=clock.sleep
    )

    assert [outcome.code for outcome in outcomes] == [OutcomeCode.NO_CONNECTION]
    assert decided == [{}]
