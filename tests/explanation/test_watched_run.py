"""What one run decides about each of the pods that are watched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.explanation.run_witness import RunWitness
from descheduler.explanation.watched_run import PluginMiss, WatchedRun, plugin_misses, watched_run
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Failure
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.explanation.questions import policy_of
from tests.report.decided_cycles import pod_life_time_policy

NODES = (make_node("a"), make_node("b"), make_node("c", ready=False))
PODS = {
    pod.name: pod
    for pod in (
        make_pod("bare", owners=()),
        make_pod("old-1"),
        make_pod("old-2"),
        make_pod("young", age=1),
        make_pod("on-c", node="c"),
        make_pod("lost", node="gone"),
        make_pod("waits", node="", phase="Pending"),
    )
}
SNAPSHOT = make_snapshot(NODES, PODS.values())


def run(**policy: Any) -> WatchedRun:
    return watched_run(policy_of(pod_life_time_policy(**policy)), SNAPSHOT, PODS.values(), NOW)


ONE_PROFILE = run()
TWO_PROFILES = run(profiles=["one", "two"])
LIMITED = run(maxNoOfPodsToEvictTotal=1)
SKIPPED = run(nodeSelector="pool=none")


@pytest.mark.parametrize(
    ("name", "outcome", "summary"),
    [
        ("old-1", "evicted", "evicted by PodLifeTime (profile main): 1 h old (maxPodLifeTimeSeconds: 60)"),
        (
            "bare",
            "kept",
            "not evicted: selected by PodLifeTime (profile main): 1 h old (maxPodLifeTimeSeconds: 60); blocked by"
            " BarePod: the pod has no owner that recreates it",
        ),
        ("young", "unwanted", "not selected by any plugin"),
    ],
)
def test_decision_is_summed_up(name: str, outcome: str, summary: str) -> None:
    decision = ONE_PROFILE.decision_about(PODS[name])

    assert (decision.outcome, decision.summary) == (outcome, summary)


def test_run_that_was_skipped_decides_nothing() -> None:
    decision = SKIPPED.decision_about(PODS["old-1"])

    assert decision.outcome == "unjudged"
    assert decision.summary.startswith("skipped: no ready node matches nodeSelector")
    assert (decision.answers, decision.not_selected, decision.wave) == ((), (), None)


@pytest.mark.parametrize(("name", "before"), [("old-1", []), ("old-2", ["old-1"]), ("young", []), ("bare", [])])
def test_pods_that_were_evicted_before_are_those_at_the_time_of_the_decision(name: str, before: list[str]) -> None:
    assert [pod.name for pod in ONE_PROFILE.moves_before(PODS[name])] == before
    assert ONE_PROFILE.decision_about(PODS[name]).num_moves_before == len(before)


def test_pod_that_a_limit_keeps_counts_the_evictions_before() -> None:
    assert [pod.name for pod in LIMITED.moves_before(PODS["old-2"])] == ["old-1"]


def test_second_request_for_a_pod_does_not_count_the_pod_itself() -> None:
    assert [pod.name for pod in TWO_PROFILES.moves_before(PODS["old-2"])] == ["old-1"]
    assert [pod.name for pod in TWO_PROFILES.moves_before(PODS["old-1"])] == []


def test_each_plugin_that_selected_a_pod_answers_once() -> None:
    answers = TWO_PROFILES.decision_about(PODS["bare"]).answers

    assert [(each.profile, each.plugin, each.result, each.code) for each in answers] == [
        ("one", "PodLifeTime", "kept", "BarePod"),
        ("two", "PodLifeTime", "kept", "BarePod"),
    ]


@pytest.mark.parametrize(
    ("name", "result", "code"),
    [("old-1", "evicted", ""), ("old-2", "refused", "LimitReached"), ("bare", "kept", "BarePod")],
)
def test_request_is_told_from_a_candidate_that_was_not_asked_for(name: str, result: str, code: str) -> None:
    answer = LIMITED.decision_about(PODS[name]).answers[0]

    assert (answer.result, answer.code) == (result, code)


def test_filters_of_each_profile_answer_for_a_pod_with_a_node() -> None:
    def filters(name: str) -> list[tuple[str, str]]:
        return [(each.profile, each.code) for each in TWO_PROFILES.decision_about(PODS[name]).filters]

    assert filters("bare") == [("one", "BarePod"), ("two", "BarePod")]
    assert filters("young") == [("one", ""), ("two", "")]
    assert filters("waits") == []


def test_filters_of_a_run_without_plugins_accept_all() -> None:
    assert [each.code for each in SKIPPED.decision_about(PODS["bare"]).filters] == [""]


def test_evicted_pod_has_its_wave_and_others_have_none() -> None:
    moves = tuple(replace(move, wave=number) for number, move in enumerate(ONE_PROFILE.decisions.moves, start=2))
    in_waves = replace(ONE_PROFILE, decisions=replace(ONE_PROFILE.decisions, moves=moves))

    waves = {name: in_waves.decision_about(PODS[name]).wave for name in ("old-1", "old-2", "young")}

    assert waves == {"old-1": 2, "old-2": 3, "young": None}
    assert in_waves.decision_about(PODS["young"]).num_waves == 3
    assert SKIPPED.decision_about(PODS["young"]).num_waves == 0


def test_rooms_are_held_for_the_moves_that_say_so() -> None:
    first, second = ONE_PROFILE.decisions.moves
    held = replace(ONE_PROFILE, decisions=replace(ONE_PROFILE.decisions, moves=(replace(first, held_on="b"), second)))

    assert list(held.held) == [("default-old-1", "default", "old-1")]
    assert ONE_PROFILE.held == {}


def test_notes_name_plugins_that_failed_and_what_the_run_says() -> None:
    failure = Failure(profile="main", plugin="P", message="boom")
    decisions = replace(ONE_PROFILE.decisions, failures=(failure,), notes=("a note",))

    notes = replace(ONE_PROFILE, decisions=decisions).notes

    assert notes[0].startswith("P (profile main) failed: ")
    assert notes[1:] == ("a note",)


def misses(
    name: str, found: WatchedRun = ONE_PROFILE, *, selecting: frozenset[tuple[str, str]] = frozenset(), **change: Any
) -> list[PluginMiss]:
    return list(plugin_misses(PODS[name], replace(found.decisions, **change), found.watch, selecting))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("young", "1 s old (maxPodLifeTimeSeconds: 60)"),
        ("on-c", "node c is not ready"),
        ("lost", "node gone does not exist"),
        ("waits", "the pod is not scheduled onto a node"),
    ],
)
def test_plugin_says_why_it_does_not_select_a_pod(name: str, message: str) -> None:
    assert misses(name) == [PluginMiss(profile="main", plugin="PodLifeTime", message=message)]


def test_plugins_that_select_the_pod_are_left_out() -> None:
    selecting = frozenset({("one", "PodLifeTime")})

    assert [miss.profile for miss in misses("young", TWO_PROFILES, selecting=selecting)] == ["two"]
    assert misses("young", SKIPPED) == []


def test_plugin_that_failed_says_so_and_one_after_it_did_not_run() -> None:
    failure = Failure(profile="main", plugin="PodLifeTime", message="boom")

    assert misses("young", failures=(failure,))[0].message.startswith("failed: ")
    never = WatchedRun(ONE_PROFILE.decisions, RunWitness(()))
    assert misses("young", never)[0].message == "did not run: a plugin before it failed"


def test_pod_that_a_plugin_would_select_now_was_cut_off_by_a_limit() -> None:
    (miss,) = misses("old-2", LIMITED)

    assert miss.message == (
        "a limit stopped the plugin before it came to the pod; without it, evicting other pods is enough"
    )
    assert misses("old-2") == []


@pytest.mark.parametrize(
    ("selectors", "message"),
    [
        ({"policy": "pool=web"}, "1 s old (maxPodLifeTimeSeconds: 60)"),
        ({"policy": "pool=gpu"}, "node a does not match nodeSelector"),
    ],
    ids=["that matches", "that does not"],
)
def test_node_that_the_policy_does_not_select_is_named(selectors: Mapping[str, str], message: str) -> None:
    nodes: list[Node] = [make_node("a", labels={"pool": "web"})]
    nodes += [make_node(name, labels={"pool": pool}) for name, pool in (("b", "web"), ("c", "gpu"), ("d", "gpu"))]
    pod: Pod = make_pod("young", age=1)
    policy = policy_of(pod_life_time_policy(nodeSelector=selectors["policy"]))

    found = watched_run(policy, make_snapshot(nodes, [pod]), [pod], NOW)

    assert [miss.message for miss in plugin_misses(pod, found.decisions, found.watch, frozenset())] == [message]
