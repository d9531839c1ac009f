"""What left in an earlier round of a run bears on the next, also when the plugins choose otherwise this time."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from descheduler.cycle.deciding.decide import decide, decisions_of
from descheduler.cycle.deciding.round import Round
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.background import BACKGROUND_TEXT, Answers, EvictionAnswer
from descheduler.eviction.checks.limits import RunLimits
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.args import MigrationControllerArgs, default_args
from descheduler.eviction.migration_controller.migration_controller import MigrationController
from descheduler.eviction.migration_controller.object_limiter import ObjectLimiter
from descheduler.eviction.node_fit import NodeFit
from descheduler.kube.evict import EvictionResponse
from descheduler.migration.rounds import MAX_FAULTY_ROUNDS, MAX_ROUNDS, Decide, carry_out
from descheduler.migration.settings import DispatchSettings
from descheduler.model.groups.workloads import Workload
from descheduler.model.held_room import HeldRoom
from descheduler.model.pod import REQUEST_EVICT_ONLY_ANNOTATION, Pod
from descheduler.model.verdict import EvictionLimit, Reason
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.plan.outcome import Outcome, OutcomeCode
from descheduler.plan.planned import PlannedRoom
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.eviction.drained_gangs import policy_of, snapshot_of, train
from tests.eviction.evictors import ask, make_evictor, make_setting
from tests.migration.stand_ins import Clock, ScriptedApi, around, broken_off, no_disruption, not_sent
from tests.placement.plugins.coscheduling.worlds import group_of
from tests.policy.builders import koordinator, upstream

POLICY = load_policy(upstream(), REGISTRY)


def test_pod_handed_over_before_uses_the_limit_up_before_it_is_asked_for_again() -> None:
    other = make_pod("other")
    vm = make_pod("vm", annotations={REQUEST_EVICT_ONLY_ANNOTATION: ""})
    view = ClusterView(make_snapshot([], [other, vm]), moves_take_effect=False, prior_moves=[Move(vm, "p", "q")])
    evictor = make_evictor(
        view,
        RunLimits(total=1),
        answers={"default/vm": EvictionAnswer(429, BACKGROUND_TEXT)},
        evictions_in_background=True,
    )

    verdicts = [ask(evictor, pod) for pod in (other, vm)]

    assert [verdict.limit for verdict in verdicts] == [EvictionLimit.TOTAL, None]
    assert [booked.pod.name for booked in evictor.book.background] == ["vm"]
    assert evictor.book.moves == []


def test_pod_evicted_before_is_charged_once_and_left_to_the_plugin_that_took_it() -> None:
    gone, other = make_pod("gone"), make_pod("other")
    move = Move(gone, "p", "first", "was too old")
    view = ClusterView(make_snapshot([], [gone, other]), moves_take_effect=False, prior_moves=[move])
    setting = make_setting(view, RunLimits(total=2))

    verdicts = [ask(setting.evictor, pod, plugin="second") for pod in (gone, other)]

    assert [verdict.reason for verdict in verdicts] == [None, None]
    assert setting.counters.total == 2
    assert [booked.pod.name for booked in setting.evictor.book.moves] == ["other"]


def test_pod_evicted_before_is_booked_when_its_plugin_asks_for_it_again() -> None:
    gone = make_pod("gone")
    move = Move(gone, "p", "q", "was too old")
    view = ClusterView(make_snapshot([], [gone]), moves_take_effect=False, prior_moves=[move])
    setting = make_setting(view, RunLimits(total=1))

    verdict = ask(setting.evictor, gone, reason="is too old")

    assert verdict.is_accepted
    assert [(booked.pod.name, booked.reason) for booked in setting.evictor.book.moves] == [("gone", "was too old")]
    assert setting.counters.total == 1


def test_pod_evicted_before_that_nobody_asks_for_again_is_booked_when_its_plugin_is_done() -> None:
    gone = make_pod("gone")
    view = ClusterView(make_snapshot([], [gone]), moves_take_effect=True, prior_moves=[Move(gone, "p", "q")])
    setting = make_setting(view)

    setting.evictor.end_turn(profile="p", plugin="other")
    before = list(view.changes)
    setting.evictor.end_turn(profile="p", plugin="q")

    assert (before, [change.pod for change in view.changes]) == ([], [gone])
    assert [booked.pod for booked in setting.evictor.book.moves] == [gone]
    assert setting.counters.total == 1


def koord_pods(*names: str) -> list[Pod]:
    """Pods that koord-scheduler places, each of a ReplicaSet of its name."""
    return [make_pod(name, scheduler="koord-scheduler", owners=[f"ReplicaSet/{name}"]) for name in names]


def workloads_of(*names: str) -> dict[str, Workload]:
    """A ReplicaSet of 40 replicas for each name."""
    return {f"replicaset-{name}": Workload("ReplicaSet", "default", name, f"replicaset-{name}", 40) for name in names}


def test_pods_moved_before_count_against_what_may_migrate() -> None:
    moved, other = koord_pods("m", "o")
    snapshot = make_snapshot([make_node("a")], [moved, other], workloads=workloads_of("m", "o"))
    view = ClusterView(snapshot, moves_take_effect=True, prior_moves=[Move(moved, "p", "q")])
    args = msgspec.structs.replace(default_args(MigrationControllerArgs()), max_migrating_per_node=1)
    controller = MigrationController(args, Handle(POLICY, view, NodeFit(view), NOW))

    reasons = [controller.filter(pod).reason for pod in (moved, other)]

    assert reasons == [Reason.ALREADY_MIGRATING, Reason.MIGRATING_LIMIT]


def test_pod_moved_before_passes_the_filters_and_gates_that_it_has_passed() -> None:
    policy = load_policy(
        koordinator(
            "profiles:\n"
            "- name: p\n"
            "  pluginConfig: [{name: RemovePodsViolatingNodeTaints}, {name: MigrationController}]\n"
            "  plugins: {deschedule: {enabled: [{name: RemovePodsViolatingNodeTaints}]}}\n"
        ),
        REGISTRY,
    )
    moved, other = koord_pods("m", "o")
    nodes = [make_node("a", taints=["gone=soon:NoSchedule"]), make_node("b")]
    snapshot = make_snapshot(nodes, [moved, other], workloads=workloads_of("m", "o"))

    decisions = decide(
        policy, snapshot, now=NOW, this_round=Round(prior_moves=[Move(moved, "p", "RemovePodsViolatingNodeTaints")])
    )

    assert [move.pod.name for move in decisions.moves] == ["m", "o"]


def test_pod_moved_before_uses_the_burst_of_its_workload_up() -> None:
    moved, other = make_pod("moved"), make_pod("other")
    workloads = {"replicaset-web": Workload("ReplicaSet", "default", "web", "replicaset-web", 40)}
    snapshot = make_snapshot([], [moved, other], workloads=workloads)
    limiter = ObjectLimiter(default_args(MigrationControllerArgs()), snapshot)

    limiter.adopt([Move(moved, "p", "q")])

    assert limiter.verdict(other).reason is Reason.MIGRATING_LIMIT


def carried_out(
    decide: Decide, api: ScriptedApi, settings: DispatchSettings, clock: Clock
) -> tuple[Decisions, tuple[Outcome, ...]]:
    """The last decisions and all outcomes of a run whose time passes on `clock` only."""
    return carry_out(decide, api, settings, around(settings, clock))


def test_every_eviction_of_the_last_decision_has_an_outcome_when_rounds_run_out() -> None:
    """Each round wants one pod that no round before has wanted, and the API refuses them all."""
    pods = [make_pod(f"p{number:03}") for number in range(MAX_ROUNDS + 5)]
    snapshot = make_snapshot([], pods)

    def decide_again(answers: Answers, prior_moves: Sequence[Move]) -> Decisions:
        view = ClusterView(snapshot, moves_take_effect=False, prior_moves=prior_moves)
        evictor = make_evictor(view, RunLimits(total=1), answers=answers)
        for pod in pods:
            ask(evictor, pod)
        return decisions_of(evictor, POLICY, snapshot, NOW)

    responses: dict[str, list[EvictionResponse | Exception]] = {pod.name: [no_disruption()] for pod in pods}
    clock = Clock()
    api = ScriptedApi(clock, **responses)

    decisions, outcomes = carried_out(decide_again, api, DispatchSettings(qps=1000, burst=1000), clock)

    assert len(outcomes) == MAX_ROUNDS
    booked = {booked.pod.name for booked in decisions.moves}
    assert booked <= {outcome.eviction.name for outcome in outcomes}
    assert decisions.notes[-1].endswith("rounds with refusals; the next run continues")


def test_nobody_looks_for_other_pods_while_the_api_server_is_away() -> None:
    pods = [make_pod(name) for name in ("first", "second")]
    snapshot = make_snapshot([], pods)
    decided: list[Answers] = []

    def decide_again(answers: Answers, prior_moves: Sequence[Move]) -> Decisions:
        del prior_moves
        decided.append(answers)
        evictor = make_evictor(ClusterView(snapshot, moves_take_effect=False), RunLimits(total=1), answers=answers)
        for pod in pods:
            ask(evictor, pod)
        return decisions_of(evictor, POLICY, snapshot, NOW)

    clock = Clock()
    api = ScriptedApi(clock, first=[not_sent()] * 99)

    _, outcomes = carried_out(decide_again, api, DispatchSettings(), clock)

    assert [outcome.code for outcome in outcomes] == [OutcomeCode.NO_CONNECTION]
    assert decided == [{}]


def decide_over(pods: Sequence[Pod], calls: list[Answers], *, explode_at: int = 0) -> Decide:
    """Decides to evict the first of `pods` that nothing is known of, and notes each call; the last one may fail."""
    snapshot = make_snapshot([], pods)

    def decide_again(answers: Answers, prior_moves: Sequence[Move]) -> Decisions:
        calls.append(answers)
        if len(calls) == explode_at:
            raise ZeroDivisionError
        view = ClusterView(snapshot, moves_take_effect=False, prior_moves=prior_moves)
        evictor = make_evictor(view, RunLimits(total=2), answers=answers)
        for pod in pods:
            ask(evictor, pod)
        return decisions_of(evictor, POLICY, snapshot, NOW)

    return decide_again


def test_server_that_fails_again_and_again_is_not_asked_for_one_pod_after_the_other() -> None:
    """Each such call takes the time in which it can still take effect."""
    pods = [make_pod(f"p{number:03}") for number in range(40)]
    clock = Clock()
    calls: list[Answers] = []
    api = ScriptedApi(clock, **{pod.name: [broken_off()] * 9 for pod in pods})

    decisions, outcomes = carried_out(decide_over(pods, calls), api, DispatchSettings(), clock)

    assert len(calls) == MAX_FAULTY_ROUNDS
    assert {outcome.code for outcome in outcomes} == {OutcomeCode.SERVER_ERROR}
    assert decisions.notes[-1] == "stopped selecting other pods after 3 rounds with server errors; see the results"


def test_what_a_round_has_evicted_is_not_asked_for_again_by_the_next() -> None:
    clock = Clock()
    api = ScriptedApi(clock, second=[no_disruption()])

    decisions, outcomes = carried_out(
        decide_over([make_pod(name) for name in ("first", "second", "third")], []), api, DispatchSettings(), clock
    )

    assert [move.pod.name for move in decisions.moves] == ["first", "third"]
    assert [name for name, _ in api.calls] == ["first", "second", "third"]
    assert [outcome.code for outcome in outcomes] == [OutcomeCode.DONE, OutcomeCode.BUDGET, OutcomeCode.DONE]


def test_defect_in_a_later_decision_leaves_the_report_of_what_was_done() -> None:
    pods = [make_pod(name) for name in ("first", "second", "third")]
    clock = Clock()
    api = ScriptedApi(clock, second=[no_disruption()])

    decisions, outcomes = carried_out(decide_over(pods, [], explode_at=2), api, DispatchSettings(), clock)

    assert [outcome.code for outcome in outcomes] == [OutcomeCode.DONE, OutcomeCode.BUDGET]
    assert decisions.notes[-1] == "could not select other pods after refusals: internal error (ZeroDivisionError)"


def gang_carried_out(api: ScriptedApi) -> tuple[Decisions, dict[str, OutcomeCode]]:
    """A live run of a policy that moves gangs whole, over a gang of which two pods are on a drained node."""
    clock = Clock()
    policy = load_policy(policy_of(), REGISTRY)
    snapshot = snapshot_of(train(), group_of("train", 3))

    def decide_with(answers: Answers, prior_moves: Sequence[Move]) -> Decisions:
        return decide(policy, snapshot, now=NOW, this_round=Round(answers=answers, prior_moves=prior_moves))

    decisions, outcomes = carried_out(decide_with, api, DispatchSettings(qps=1000.0), clock)
    return decisions, {outcome.eviction.name: outcome.code for outcome in outcomes}


def test_gang_of_which_the_api_refuses_the_first_pod_stays_whole() -> None:
    decisions, codes = gang_carried_out(ScriptedApi(m0=[no_disruption()]))

    assert codes == {"m0": OutcomeCode.BUDGET, "m1": OutcomeCode.BUNDLE, "m2": OutcomeCode.BUNDLE}
    assert decisions.moves == ()
    assert {refusal.verdict.reason for refusal in decisions.refusals} == {Reason.API_REFUSED}


def test_gang_of_which_one_has_left_is_not_decided_again_pod_by_pod() -> None:
    decisions, codes = gang_carried_out(ScriptedApi(m1=[no_disruption()]))

    assert codes == {"m0": OutcomeCode.DONE, "m1": OutcomeCode.BUDGET, "m2": OutcomeCode.DONE}
    assert sorted(move.pod.name for move in decisions.moves) == ["m0", "m2"]


def test_rooms_are_held_for_those_pods_alone_that_have_no_node() -> None:
    waits, moves = make_pod("waits", node=""), make_pod("moves", node="n2")
    rooms = (HeldRoom(waits, "n1"), HeldRoom(moves, "n3"))
    pods = [make_pod("leaves")]
    decided = decide_over(pods, [])({}, ())
    decisions = replace(decided, moves=tuple(replace(move, rooms=rooms) for move in decided.moves))

    _, (outcome,) = carried_out(lambda answers, prior: decisions, ScriptedApi(), DispatchSettings(), Clock())

    assert outcome.eviction.rooms == (PlannedRoom(waits.namespace, "waits", waits.uid, "n1"),)
