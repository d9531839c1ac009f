"""What a plan leaves for the next run."""

from __future__ import annotations

import json

import pytest

from descheduler.planner.search.last_plan import read_targets, written_targets
from tests.builders import Object, make_node, make_pod
from tests.strategies.runs import evicted, run_plugin

ARGS: Object = {
    "objectives": [{"balanceUtilization": {"targetThresholds": {"cpu": 70}}}],
    "timeLimit": "60s",
    "workLimit": 1,
}


def test_plans_are_read_as_they_were_written() -> None:
    plans = [{"uid-a": "n1"}, {}]

    assert read_targets(written_targets(plans)) == plans
    assert written_targets([{}]) == b""


def test_a_plan_that_is_too_large_to_be_kept_is_cut() -> None:
    plans = [{f"uid-{number}": "n" for number in range(4_999)}, {"x": "n", "y": "n"}]

    assert [len(targets) for targets in read_targets(written_targets(plans))] == [4_999, 1]


@pytest.mark.parametrize("note", [b"{", b'{"a": 1}', b"[[1]]", b"\xff", b"[" * 100_000])
def test_a_damaged_note_is_no_plan(note: bytes) -> None:
    assert read_targets(note) == ()


def test_a_run_remembers_what_it_planned_and_plans_from_what_it_remembers() -> None:
    nodes = [make_node(name, cpu="10") for name in "abc"]
    pods = [make_pod(f"p{number}", cpu="2") for number in range(5)]

    first = run_plugin("MigrationPlanner", nodes, pods, args=ARGS)
    (note,) = first.memory.notes.values()
    second = run_plugin("MigrationPlanner", nodes, pods, args=ARGS, memory=first.memory)

    (targets,) = json.loads(note.text)
    assert [uid.removeprefix("default-") for uid in targets] == evicted(first)
    assert evicted(second) == evicted(first)
