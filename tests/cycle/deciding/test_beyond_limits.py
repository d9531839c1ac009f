"""Pods that match beyond the limits that stopped a plugin: which they are, and which limit stands against each."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.beyond_limits import with_beyond, with_beyond_in_time
from descheduler.cycle.deciding.decide import decide, decide_again
from descheduler.cycle.deciding.round import Round, RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.pod import Pod
from descheduler.model.verdict import EvictionLimit
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import EarlierPlan
from descheduler.plan.staying import staying_pods
from descheduler.planner.search.plan_search import PlanSearch
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from descheduler.strategies.framework import StrategyError
from descheduler.supervision import Watch
from tests.bench.policies import STRATEGIES, policy_of
from tests.builders import NOW, Object, make_budget, make_node, make_pod, make_snapshot
from tests.report.decided_cycles import pod_life_time_policy
from tests.worlds.generate import GENERATED_AT, generate_cluster

TOTAL, NODE, NAMESPACE = "maxNoOfPodsToEvictTotal", "maxNoOfPodsToEvictPerNode", "maxNoOfPodsToEvictPerNamespace"
PLUGIN_NODE = "evictionLimits.node"


def load(document: Mapping[str, object]) -> Policy:
    return load_policy(document, REGISTRY)


def planned(
    document: Mapping[str, object], snapshot: Snapshot, *, now: Any = NOW, most_judged: int | None = None
) -> Decisions:
    decisions = decide(load(document), snapshot, now=now)
    return with_beyond(decisions, decide_again(snapshot, now=now), most_judged=most_judged)


def old_pods_policy(top: Mapping[str, int]) -> Mapping[str, object]:
    return {**pod_life_time_policy(), **top}


def cluster(*pods: Pod, **facts: Any) -> Snapshot:
    return make_snapshot([make_node("a"), make_node("b")], pods, **facts)


def old(*names: str, **facts: Any) -> list[Pod]:
    return [make_pod(name, age=3600 - index, **facts) for index, name in enumerate(names)]


def blocks(decisions: Decisions) -> dict[str, str]:
    """Name of every pod that stays → what blocks it first."""
    return {each.pod.name: each.first.verdict.message for each in staying_pods(decisions)}


def limits(decisions: Decisions) -> dict[str, str]:
    """`namespace/name` of every pod that a limit blocks → the key of the limit."""
    by_pod = {each.pod.key: each.first.verdict.limit for each in staying_pods(decisions)}
    return {key: limit.value for key, limit in by_pod.items() if limit is not None}


def evicted(decisions: Decisions) -> set[str]:
    return {move.pod.key for move in decisions.leaving}


def tainted(*pods: Pod, **facts: Any) -> Snapshot:
    """`pods` on the tainted node `a`, and the free node `b`."""
    return make_snapshot([make_node("a", taints=["gone=soon:NoSchedule"]), make_node("b")], pods, **facts)


def taints_policy(**top: object) -> Object:
    plugins = {"deschedule": {"enabled": ["RemovePodsViolatingNodeTaints"]}}
    profile = {"name": "p", "pluginConfig": [{"name": "RemovePodsViolatingNodeTaints"}], "plugins": plugins}
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **top}


def test_pods_that_a_plugin_never_came_to_are_blocked_by_the_limit_that_stopped_it() -> None:
    decisions = planned(old_pods_policy({TOTAL: 1}), cluster(*old("one", "two", "three")))

    assert evicted(decisions) == {"default/one"}
    assert blocks(decisions) == dict.fromkeys(("two", "three"), "maxNoOfPodsToEvictTotal (1) reached")


def test_only_what_was_asked_for_in_the_run_is_an_attempt() -> None:
    decisions = planned(old_pods_policy({TOTAL: 1}), cluster(*old("one", "two", "three")))

    assert {each.pod.name: each.is_attempt for each in staying_pods(decisions)} == {"two": True, "three": False}


def test_they_carry_the_reason_with_which_the_plugin_selects_them() -> None:
    decisions = planned(old_pods_policy({TOTAL: 1}), cluster(*old("one", "two", "three")))

    assert all("maxPodLifeTimeSeconds: 60" in each.first.reason for each in staying_pods(decisions))


def test_the_limit_of_a_node_is_named_with_the_node() -> None:
    pods = [make_pod(name) for name in ("one", "two", "three")]

    decisions = planned(taints_policy(**{NODE: 1}), tainted(*pods))

    assert len(evicted(decisions)) == 1
    assert list(blocks(decisions).values()) == ["maxNoOfPodsToEvictPerNode (1) reached for node a"] * 2


def test_a_pod_that_a_namespace_limit_refuses_beyond_the_limit_of_the_run_names_the_namespace() -> None:
    pods = [*old("one", "two"), *old("three", namespace="other")]

    decisions = planned(old_pods_policy({TOTAL: 1, NAMESPACE: 1}), cluster(*pods))

    assert limits(decisions) == {"default/two": NAMESPACE, "other/three": TOTAL}


def test_the_limit_of_a_plugin_is_one_too() -> None:
    args = {
        "thresholds": {"pods": 10},
        "targetThresholds": {"pods": 20},
        "evictionLimits": {"node": 1},
    }
    plugins = {"balance": {"enabled": ["LowNodeUtilization"]}}
    profile = {"name": "p", "pluginConfig": [{"name": "LowNodeUtilization", "args": args}], "plugins": plugins}
    policy = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}
    nodes = [make_node("a", pods="10"), make_node("b", pods="20")]

    decisions = planned(policy, make_snapshot(nodes, [make_pod(f"p{index}") for index in range(4)]))

    assert len(evicted(decisions)) == 1
    assert set(limits(decisions).values()) == {PLUGIN_NODE}
    assert len(limits(decisions)) == 1  # 2 of 10 pods are the target, so a fourth one would not be asked for


def test_a_pod_that_stays_without_the_limit_as_well_says_what_else_blocks_it() -> None:
    budget = make_budget("web", {"app": "web"}, disruptions_allowed=0)
    pods = [*old("one"), *old("two", "three", labels={"app": "web"})]

    decisions = planned(old_pods_policy({TOTAL: 0}), cluster(*pods, budgets=(budget,)))

    codes = {each.pod.name: each.first.verdict.code for each in staying_pods(decisions)}
    assert codes == {"one": "LimitReached", "two": "DisruptionBudget", "three": "DisruptionBudget"}
    assert blocks(decisions)["two"].startswith("maxNoOfPodsToEvictTotal (0) reached; beyond it, PodDisruptionBudget")


def test_a_run_that_no_limit_stopped_is_not_decided_again() -> None:
    def never(*_: object) -> Decisions:
        raise AssertionError("decided again")

    snapshot = cluster(*old("one", "two"))
    unstopped: Sequence[Mapping[str, int]] = ({}, {TOTAL: 2}, {NAMESPACE: 1})
    for top in unstopped:
        decisions = decide(load(old_pods_policy(top)), snapshot, now=NOW)

        assert with_beyond(decisions, never) is decisions


def test_when_time_is_over_the_report_has_what_the_run_itself_met() -> None:
    snapshot = cluster(*old("one", "two", "three"))
    decisions = decide(load(old_pods_policy({TOTAL: 1})), snapshot, now=NOW)
    stop = threading.Event()
    stop.set()

    ended = with_beyond_in_time(decisions, decide_again(snapshot, now=NOW), Watch(stop))

    assert replace(ended, beyond=decisions.beyond) == decisions
    assert not ended.beyond.is_whole


def test_work_on_landings_is_bounded_and_says_so() -> None:
    policy = policy_of(["PodLifeTime"], node_fit=False, verifies=True) | {TOTAL: 1}
    pods = [make_pod(f"p{index}", age=90 * 86400) for index in range(20)]
    plan = partial(planned, policy, cluster(*pods))

    bounded, whole = plan(most_judged=5), plan(most_judged=None)

    assert (bounded.beyond.is_whole, whole.beyond.is_whole) == (False, True)
    assert 1 < len(limits(bounded)) < len(limits(whole)) == 19
    assert {each.first.verdict.message for each in staying_pods(bounded)} == {"maxNoOfPodsToEvictTotal (1) reached"}


@pytest.mark.parametrize(("num_blocked", "is_whole"), [(0, False), (3, True)])
def test_requests_that_the_run_has_judged_are_not_counted_against_the_bound(num_blocked: int, is_whole: bool) -> None:
    policy = policy_of(["PodLifeTime"], node_fit=False, verifies=True) | {TOTAL: 2}
    blocked = [make_pod(f"b{index}", age=91 * 86400, labels={"app": "stay"}) for index in range(num_blocked)]
    pods = [*blocked, *(make_pod(f"p{index}", age=90 * 86400) for index in range(6))]
    budget = make_budget("none", {"app": "stay"}, disruptions_allowed=0)

    decisions = planned(policy, cluster(*pods, budgets=(budget,)), most_judged=0)

    assert decisions.beyond.is_whole is is_whole


@pytest.fixture(scope="module")
def world() -> Snapshot:
    builder = SnapshotBuilder("generated", SnapshotRequest(keep_templates=True))
    for page in generate_cluster(nodes=30, pods=1200, seed=3):
        builder.add_object(page)
    return builder.finish(taken_at=GENERATED_AT)


@pytest.mark.long
@pytest.mark.parametrize("names", [list(STRATEGIES), ["PodLifeTime", "RemoveDuplicates"]], ids=["all", "two plugins"])
def test_with_the_limit_of_the_run_lifted_exactly_these_pods_are_evicted(world: Snapshot, names: Sequence[str]) -> None:
    policy = policy_of(list(names), node_fit=False)

    cut_off = limits(planned({**policy, TOTAL: 20}, world, now=GENERATED_AT))

    run = decide(load({**policy, TOTAL: 20}), world, now=GENERATED_AT)
    more = decide(load(policy), world, now=GENERATED_AT)
    assert set(cut_off) == evicted(more) - evicted(run)
    assert set(cut_off.values()) == {TOTAL}


@pytest.mark.long
@pytest.mark.parametrize(
    ("top", "lifted"),
    [
        pytest.param({TOTAL: 20, NODE: 2, NAMESPACE: 5}, [TOTAL], id="of the run, among others"),
        pytest.param({TOTAL: 20, NODE: 2, NAMESPACE: 5}, [TOTAL, NODE], id="of the run and of nodes"),
        pytest.param({TOTAL: 20, NODE: 2, NAMESPACE: 5}, [TOTAL, NODE, NAMESPACE], id="all"),
    ],
)
def test_whatever_limits_are_lifted_no_other_pods_are_evicted(
    world: Snapshot, top: Object, lifted: Sequence[str]
) -> None:
    policy = policy_of(list(STRATEGIES), node_fit=False)

    matching = set(limits(planned({**policy, **top}, world, now=GENERATED_AT)))

    run = decide(load({**policy, **top}), world, now=GENERATED_AT)
    without = {key: value for key, value in top.items() if key not in lifted}
    more = decide(load({**policy, **without}), world, now=GENERATED_AT)
    assert evicted(more) - evicted(run) <= matching


@pytest.mark.long
def test_with_the_limit_of_nodes_lifted_no_other_pods_leave_the_nodes_that_reached_it(world: Snapshot) -> None:
    policy = policy_of(list(STRATEGIES), node_fit=False)

    matching = set(limits(planned({**policy, NODE: 2}, world, now=GENERATED_AT)))

    run = decide(load({**policy, NODE: 2}), world, now=GENERATED_AT)
    full = {name for name, number in Counter(move.pod.node_name for move in run.moves).items() if number >= 2}
    more = {move.pod.key for move in decide(load(policy), world, now=GENERATED_AT).moves if move.pod.node_name in full}
    assert more - evicted(run) <= matching


def test_a_limit_is_only_said_to_be_reached_where_the_run_reached_it(world: Snapshot) -> None:
    policy = policy_of(list(STRATEGIES), node_fit=False) | {TOTAL: 20, NODE: 2, NAMESPACE: 5}

    decisions = planned(policy, world, now=GENERATED_AT)

    by_node = Counter(move.pod.node_name for move in decisions.moves)
    by_namespace = Counter(move.pod.namespace for move in decisions.moves)
    for limit in {each.first.verdict.reached for each in staying_pods(decisions)} - {None}:
        assert limit is not None
        match limit.limit:
            case EvictionLimit.NODE:
                assert by_node[limit.scope] >= limit.value
            case EvictionLimit.NAMESPACE:
                assert by_namespace[limit.scope] >= limit.value


def test_what_blocks_a_pod_once_the_limit_is_lifted_is_told_behind_the_limit() -> None:
    pods = [*old("one"), *old("two", "three", namespace="other")]

    decisions = planned(old_pods_policy({TOTAL: 1, NAMESPACE: 1}), cluster(*pods))

    assert blocks(decisions) == {
        "two": "maxNoOfPodsToEvictTotal (1) reached",
        "three": "maxNoOfPodsToEvictTotal (1) reached; "
        "beyond it, maxNoOfPodsToEvictPerNamespace (1) reached for namespace other",
    }


def test_no_pod_is_both_evicted_and_staying(world: Snapshot) -> None:
    policy = policy_of(list(STRATEGIES), node_fit=False)
    decisions = planned({**policy, TOTAL: 40, NODE: 3}, world, now=GENERATED_AT)

    staying = [each.pod.key for each in staying_pods(decisions)]

    assert not evicted(decisions) & set(staying)
    assert len(staying) == len(set(staying))


def test_every_limit_has_the_key_that_policies_give_it() -> None:
    assert {limit.value for limit in EvictionLimit} == {TOTAL, NODE, NAMESPACE, PLUGIN_NODE, "maxPodsToEvict"}


def planner_policy(**top: object) -> Object:
    """PodLifeTime, then MigrationPlanner, which moves pods off tainted nodes."""
    planner = {"objectives": [{"repairViolations": {"strategies": ["RemovePodsViolatingNodeTaints"]}}], "workLimit": 1}
    old = {"maxPodLifeTimeSeconds": 60, "labelSelector": {"matchLabels": {"app": "old"}}}
    profile = {
        "name": "p",
        "pluginConfig": [
            {"name": "PodLifeTime", "args": old},
            {"name": "MigrationPlanner", "args": planner},
            {"name": "RemovePodsViolatingNodeTaints"},
        ],
        "plugins": {"deschedule": {"enabled": ["PodLifeTime"]}, "balance": {"enabled": ["MigrationPlanner"]}},
    }
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **top}


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[PlanSearch]:
    """Every search of a planner."""
    found: list[PlanSearch] = []
    search = PlanSearch.run

    def noted(self: PlanSearch, last: Any) -> None:
        found.append(self)
        search(self, last)

    monkeypatch.setattr(PlanSearch, "run", noted)
    return found


@pytest.mark.parametrize(
    ("top", "evicted_names", "beyond", "is_whole"),
    [
        pytest.param({TOTAL: 3}, {"o1", "o2", "o3"}, {"o4"}, False, id="nothing is left for the planner"),
        pytest.param({TOTAL: 4, NODE: 3}, {"o1", "o2", "o3", "p1"}, {"o4"}, False, id="the planner moves some"),
        pytest.param({NODE: 3}, {"o1", "o2", "o3", "p1", "p2"}, {"o4"}, True, id="it moves all"),
    ],
)
def test_planner_does_not_search_again_for_the_report(
    searches: list[PlanSearch], top: Mapping[str, int], evicted_names: set[str], beyond: set[str], *, is_whole: bool
) -> None:
    aged = [make_pod(name, node="b", labels={"app": "old"}) for name in ("o1", "o2", "o3", "o4")]

    decisions = planned(planner_policy(**top), tainted(*aged, make_pod("p1"), make_pod("p2")))

    assert len(searches) == 1
    assert {move.pod.name for move in decisions.leaving} == evicted_names
    assert {each.pod.name for each in decisions.beyond.cut_off} == beyond
    assert decisions.beyond.is_whole == is_whole


def test_plugin_that_fails_beyond_the_limits_leaves_open_what_matches() -> None:
    make, built = REGISTRY["PodLifeTime"].factory, list[object]()

    def made_once(args: Any, handle: Any) -> object:
        built.append(handle)
        if len(built) > 1:
            raise StrategyError("no metrics")
        return make(args, handle)

    registry = {**REGISTRY, "PodLifeTime": replace(REGISTRY["PodLifeTime"], factory=made_once)}
    snapshot, setting = cluster(*old("p1", "p2")), RunSetting(registry=registry)

    decisions = decide(load(old_pods_policy({TOTAL: 1})), snapshot, now=NOW, setting=setting)
    decisions = with_beyond(decisions, decide_again(snapshot, now=NOW, setting=setting))

    assert len(built) == 2
    assert not decisions.beyond.is_whole


def test_planner_asks_for_its_earlier_moves_in_place_of_a_search(searches: list[PlanSearch]) -> None:
    aged = [make_pod(name, node="b", labels={"app": "old"}) for name in ("o1", "o2")]
    snapshot = tainted(*aged, make_pod("p1"))
    run = decide(load(planner_policy(**{NODE: 1})), snapshot, now=NOW)

    again = decide(run.policy, snapshot, now=NOW, this_round=Round(earlier=EarlierPlan(run.leaving)))

    assert [(move.pod.name, move.plugin) for move in again.leaving] == [
        (move.pod.name, move.plugin) for move in run.leaving
    ]
    assert len(searches) == 1
