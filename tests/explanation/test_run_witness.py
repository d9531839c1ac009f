from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round, RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.explanation.run_witness import RunWitness
from descheduler.plan.moves import Move
from descheduler.strategies.pod_life_time import PodLifeTime
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.explanation.questions import policy_of
from tests.report.decided_cycles import pod_life_time_policy

PODS = [make_pod("bare", owners=()), make_pod("old-1"), make_pod("old-2"), make_pod("old-3")]
SNAPSHOT = make_snapshot([make_node("a"), make_node("b")], PODS)


def watched(**policy: Any) -> tuple[RunWitness, tuple[object, ...]]:
    seen = RunWitness(PODS)
    loaded = policy_of(pod_life_time_policy(**policy))
    decisions = decide(
        loaded,
        SNAPSHOT,
        now=NOW,
        setting=RunSetting(registry=seen.registry(REGISTRY)),
        this_round=Round(observer=seen, most_assessed=0),
    )
    return seen, (decisions.moves, decisions.refusals, dict(decisions.results))


def test_watching_changes_no_decision() -> None:
    policy = pod_life_time_policy(["one", "two"], balance=["RemoveDuplicates"], maxNoOfPodsToEvictTotal=2)
    plain = decide(policy_of(policy), SNAPSHOT, now=NOW, this_round=Round(most_assessed=0))

    _, decided = watched(profiles=["one", "two"], balance=["RemoveDuplicates"], maxNoOfPodsToEvictTotal=2)

    assert decided == (plain.moves, plain.refusals, dict(plain.results))


def test_wishes_are_noted_in_order_with_what_was_granted_before() -> None:
    seen, _ = watched(maxNoOfPodsToEvictTotal=1)

    noted = [(w.pod.name, w.is_request, w.verdict.is_accepted, w.num_granted) for w in seen.wishes]
    assert noted == [("bare", False, False, 0), ("old-1", True, True, 0), ("old-2", True, False, 1)]
    assert {(w.profile, w.plugin) for w in seen.wishes} == {("main", "PodLifeTime")}


def test_only_watched_pods_are_noted_but_all_grants() -> None:
    seen = RunWitness(PODS[:1])

    decide(
        policy_of(),
        SNAPSHOT,
        now=NOW,
        setting=RunSetting(registry=seen.registry(REGISTRY)),
        this_round=Round(observer=seen, most_assessed=0),
    )

    assert [wish.pod.name for wish in seen.wishes] == ["bare"]
    assert [pod.name for pod in seen.granted] == ["old-1", "old-2", "old-3"]


def test_pods_that_a_filter_refuses_are_kept_by_code() -> None:
    seen, _ = watched()

    assert {key: list(codes) for key, codes in seen.refused.items()} == {("main", "DefaultEvictor"): ["BarePod"]}


def test_what_is_taken_back_is_not_noted() -> None:
    def propose_first(args: Any, handle: StrategyHandle) -> Any:
        with handle.evictor.what_if():
            PodLifeTime(args, handle).deschedule(SNAPSHOT.nodes)
        return PodLifeTime(args, handle)

    once, _ = watched()
    twice = RunWitness(PODS)
    registry = {**REGISTRY, "PodLifeTime": replace(REGISTRY["PodLifeTime"], factory=propose_first)}
    decide(
        policy_of(),
        SNAPSHOT,
        now=NOW,
        setting=RunSetting(registry=twice.registry(registry)),
        this_round=Round(observer=twice, most_assessed=0),
    )

    assert twice.wishes == once.wishes
    assert twice.granted == once.granted


def test_requests_that_are_granted_after_all_are_noted_in_their_new_order() -> None:
    seen, _ = watched(maxNoOfPodsToEvictTotal=1)
    bare, first, second, _ = PODS

    seen.reordered([Move(second, "main", "PodLifeTime"), Move(first, "main", "PodLifeTime")])

    noted = [(w.pod.name, w.verdict.is_accepted, w.num_granted) for w in seen.wishes]
    assert noted == [("bare", False, 0), ("old-1", True, 1), ("old-2", True, 0)]
    assert [pod.name for pod in seen.granted] == ["old-2", "old-1"]
    assert seen.turned_down("main", "PodLifeTime") == {"BarePod": {id(bare)}, "LimitReached": set()}
    assert seen.wanted_by("main", "PodLifeTime") == {id(bare), id(first), id(second)}


def test_candidate_that_was_not_asked_for_is_not_granted_by_a_new_order() -> None:
    seen, _ = watched()

    seen.reordered([Move(PODS[0], "main", "PodLifeTime")])

    assert [w.verdict.is_accepted for w in seen.wishes if w.pod.name == "bare"] == [False]


def test_requests_of_another_plugin_keep_their_answers_in_a_new_order() -> None:
    seen, _ = watched(maxNoOfPodsToEvictTotal=1)

    seen.reordered([Move(PODS[2], "other", "PodLifeTime")])

    assert [w.verdict.is_accepted for w in seen.wishes if w.pod.name == "old-2"] == [False]


def test_pods_that_a_plugin_did_not_get_are_told_by_code() -> None:
    seen, _ = watched(maxNoOfPodsToEvictTotal=1)

    assert seen.turned_down("main", "PodLifeTime") == {"BarePod": {id(PODS[0])}, "LimitReached": {id(PODS[2])}}
    assert seen.turned_down("main", "RemoveDuplicates") == {}
    assert seen.wanted_by("other", "PodLifeTime") == set()


def test_strategies_and_filters_are_those_of_the_profile() -> None:
    seen, _ = watched()

    assert isinstance(seen.strategy("main", "PodLifeTime"), PodLifeTime)
    assert seen.strategy("other", "PodLifeTime") is None
    assert [seen.filters_of(profile, PODS[0]).is_accepted for profile in ("main", "other")] == [False, True]
    assert seen.filters_of("main", PODS[1]).is_accepted
