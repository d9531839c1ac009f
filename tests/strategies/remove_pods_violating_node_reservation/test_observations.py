"""Koordinator's reference, §4.6, step 6: a violation has to be there in two runs in a row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.run_memory import Note, RunMemory
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_budget, make_node, make_pod, make_snapshot
from tests.strategies.runs import evicted, policy_with, refused, run_plugin

PLUGIN = "RemovePodsViolatingNodeReservation"
MINUTE = timedelta(minutes=1)
PODS = (make_pod("first", cpu="1", priority=0), make_pod("second", cpu="3", priority=9))
FIRST = "seen for the first time, evicted from the next run on (consecutiveObservations: 2)"


def reserving(amount: str, name: str = "a") -> Node:
    return make_node(name, annotations={"node.koordinator.sh/reservation": f'{{"resources":{{"cpu":"{amount}"}}}}'})


def run(
    memory: RunMemory,
    minute: float = 0,
    *,
    node: Node | None = None,
    pods: Sequence[Pod] = PODS,
    args: dict[str, Any] | None = None,
    interval: str = "",
    **others: Any,
) -> Decisions:
    """What is decided some minutes after the first run."""
    policy = {**policy_with(PLUGIN, args=args), **others.pop("policy", {})}
    if interval:
        policy |= {"kind": "DeschedulerConfiguration", "deschedulingInterval": interval}
        (profile,) = policy["profiles"]
        on = {"enabled": [{"name": "DefaultEvictor"}], "disabled": [{"name": "*"}, {"name": "PlacementVerification"}]}
        profile["plugins"] = {"deschedule": {"enabled": [{"name": PLUGIN}]}, "evict": on, "filter": on}
    nodes = [node or reserving("1")]
    return decide(
        load_policy(policy, REGISTRY),
        make_snapshot(nodes, pods, **others),
        now=NOW + minute * MINUTE,
        setting=RunSetting(processed_nodes=nodes, memory=memory),
    )


def test_first_run_that_sees_a_violation_says_what_the_next_one_evicts() -> None:
    decisions = run(RunMemory())

    assert evicted(decisions) == []
    assert [(each.pod.name, each.verdict.code, each.verdict.message) for each in decisions.refusals] == [
        ("first", "TooFewObservations", FIRST)
    ]
    assert decisions.facts["p", PLUGIN].counts["waitingNodes"] == 1


def test_second_run_in_a_row_evicts() -> None:
    first = run(RunMemory())

    second = run(first.memory, 5)

    assert evicted(second) == ["first"]


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        pytest.param({"pods": ()}, [], id="the violation ended in between"),
        pytest.param({"node": reserving("2")}, [], id="the reservation was another one in between"),
        pytest.param({}, ["first"], id="nothing changed"),
    ],
)
def test_observations_count_in_a_row_under_one_reservation(between: dict[str, Any], expected: list[str]) -> None:
    args = {"consecutiveObservations": 2 if between else 3}
    first = run(RunMemory(), args=args)
    second = run(first.memory, 5, **between, args=args)

    third = run(second.memory, 10, args=args)

    assert evicted(third) == expected


def test_runs_within_one_descheduling_interval_count_once() -> None:
    first = run(RunMemory(), interval="10m")
    second = run(first.memory, 6, interval="10m")

    third = run(second.memory, 12, interval="10m")

    assert (evicted(second), evicted(third)) == ([], ["first"])


def test_more_observations_can_be_required() -> None:
    first = run(RunMemory(), args={"consecutiveObservations": 3})

    second = run(first.memory, 5, args={"consecutiveObservations": 3})

    assert [each.verdict.message for each in second.refusals] == [
        "seen in 2 runs in a row so far, 3 are required (consecutiveObservations: 3)"
    ]
    assert evicted(run(second.memory, 10, args={"consecutiveObservations": 3})) == ["first"]


def test_reservation_of_a_minimum_age_is_enough_without_a_number_of_runs() -> None:
    args = {"minReservationAgeSeconds": 600}
    first = run(RunMemory(), args=args)
    second = run(first.memory, 5, args=args)

    third = run(second.memory, 10, args=args)

    assert [each.verdict.message for each in first.refusals] == [
        "seen for the first time, 10m0s required (minReservationAgeSeconds: 600)"
    ]
    assert [each.verdict.message for each in second.refusals] == [
        "seen in 2 runs in a row so far since 5m0s, 10m0s required (minReservationAgeSeconds: 600)"
    ]
    assert evicted(third) == ["first"]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param({"minReservationAgeSeconds": 240, "consecutiveObservations": 9}, ["first"], id="old enough"),
        pytest.param({"minReservationAgeSeconds": 900, "consecutiveObservations": 2}, ["first"], id="often enough"),
        pytest.param({"minReservationAgeSeconds": 900, "consecutiveObservations": 9}, [], id="neither"),
    ],
)
def test_age_or_number_of_runs_is_enough(args: dict[str, Any], expected: list[str]) -> None:
    first = run(RunMemory(), args=args)

    assert evicted(run(first.memory, 5, args=args)) == expected


def test_age_counts_anew_under_another_reservation() -> None:
    args = {"minReservationAgeSeconds": 600}
    first = run(RunMemory(), args=args)
    second = run(first.memory, 5, node=reserving("2"), args=args)

    assert evicted(run(second.memory, 12, args=args)) == []


@pytest.mark.parametrize("since", ["1e300", "-1e300", "null"])
def test_note_with_an_odd_first_time_is_harmless(since: str) -> None:
    args = {"minReservationAgeSeconds": 600}
    first = run(RunMemory(), args=args)
    stated = str(NOW.timestamp()).encode()
    notes = {
        key: note._replace(text=note.text.replace(stated + b"]", since.encode() + b"]"))
        for key, note in first.memory.notes.items()
    }

    assert evicted(run(RunMemory(notes), 5, args=args)) == (["first"] if since.startswith("-") else [])


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ({"minReservationAgeSeconds": 0}, "0 is below 1"),
        ({"minReservationAgeSeconds": 10**12}, f"{10**12} is above 315360000 (10 years)"),
        ({"minReservationAgeSeconds": 60, "consecutiveObservations": 1}, "has no effect with"),
    ],
)
def test_age_that_makes_no_sense_is_refused(args: dict[str, int], problem: str) -> None:
    with pytest.raises(PolicyError, match=re.escape(problem)):
        load_policy(policy_with(PLUGIN, args=args), REGISTRY)


def test_run_that_remembers_nothing_says_so() -> None:
    decisions = run_plugin(PLUGIN, [reserving("1")], PODS)

    assert [each.verdict.message for each in decisions.refusals] == [
        "seen for the first time, 2 runs in a row are required (consecutiveObservations: 2); "
        "earlier runs are unknown here"
    ]


def test_node_that_a_limit_kept_from_its_turn_was_seen_all_the_same() -> None:
    nodes = [reserving("1", name) for name in "ab"]
    pods = [make_pod(f"p-{name}", cpu="4", node=name) for name in "ab"]
    policy = load_policy({**policy_with(PLUGIN), "maxNoOfPodsToEvictTotal": 1}, REGISTRY)
    memory, gone = RunMemory(), []
    for minute in (0, 5, 10):
        left = [pod for pod in pods if pod.name not in gone]
        snapshot = make_snapshot(nodes, left)
        decisions = decide(
            policy, snapshot, now=NOW + minute * MINUTE, setting=RunSetting(processed_nodes=nodes, memory=memory)
        )
        memory = decisions.memory
        gone += evicted(decisions)

    assert gone == ["p-a", "p-b"]


def test_pods_that_could_not_leave_anyway_are_not_said_to_leave_later() -> None:
    guarded = make_pod("guarded", cpu="4", labels={"app": "db"})
    budget = make_budget("db", {"app": "db"}, disruptions_allowed=0)

    decisions = run(RunMemory(), pods=[guarded], budgets=(budget,))

    assert refused(decisions) == {"guarded": "DisruptionBudget"}


@pytest.mark.parametrize("note", [b"", b"[]", b'{"a":["x"]}', b'{"a":null}'])
def test_note_that_cannot_be_read_counts_as_none(note: bytes) -> None:
    (key,) = run(RunMemory()).memory.notes

    assert refused(run(RunMemory({key: Note(NOW, note)}), 5)) == {"first": "TooFewObservations"}


def test_nothing_is_remembered_where_nothing_is_violated() -> None:
    assert [note.text for note in run(RunMemory(), pods=()).memory.notes.values()] == [b""]
