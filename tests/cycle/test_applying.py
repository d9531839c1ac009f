"""A plan from a file against a cluster in which pending pods are gone, or have found a node, since it was made."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from descheduler.cycle.applying import PlanRefusedError, still_valid
from descheduler.cycle.options import PlanToApply
from descheduler.model.held_room import HeldRoom
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.report.plan.file import ClusterIdentity, make_plan_file
from descheduler.report.plan.reading import PlanFileError, read_plan_file
from tests.builders import make_node, make_pod, make_snapshot
from tests.planner.runs import run_objective
from tests.strategies.runs import evicted

NODES = [make_node(name, cpu="10", labels={"disk": name}) for name in "ab"]
RUNNING = [make_pod("p", cpu="8", node="a"), make_pod("fixed", cpu="2", node="b", owners=[])]
"""2 cores of a and 8 of b are free: p can leave for b."""


def member(name: str, node: str | None = None) -> Pod:
    """One of a gang of 5 for node a, for which no room is held by name; pending unless it has a `node`."""
    annotations = {"gang.scheduling.koordinator.sh/name": "g", "gang.scheduling.koordinator.sh/min-available": "5"}
    facts = {"phase": "Pending" if node is None else "Running", "node_selector": {"disk": "a"}}
    return make_pod(name, cpu="2", node=node, annotations=annotations, scheduler="koord-scheduler", **facts)


GANG = [member(f"g{number}") for number in range(5)]


@pytest.fixture
def plan() -> Decisions:
    """Pod p leaves so that the gang can be scheduled onto a."""
    found = run_objective("makeRoom", NODES, [*RUNNING, *GANG])
    assert evicted(found) == ["p"]
    return found


def apply(plan: Decisions, folder: Path, pods: Sequence[Pod], *, allows_partial: bool = False) -> Sequence[str]:
    """The moves of the plan that still hold, by way of its file, where the pods are `pods` by now."""
    path = folder / "plan.json"
    path.write_bytes(msgspec.json.encode(make_plan_file(plan, ClusterIdentity(server="https://a", uid="u"))))
    to_apply = PlanToApply(read_plan_file(path), timedelta(minutes=5), allows_partial)
    moves, _ = still_valid(to_apply, make_snapshot(NODES, pods), lambda _: plan)
    return [move.pod.uid.removeprefix("default-") for move in moves]


def test_move_holds_as_long_as_one_of_the_pending_pods_waits(plan: Decisions, tmp_path: Path) -> None:
    assert apply(plan, tmp_path, [*RUNNING, GANG[3]]) == ["p"]


@pytest.mark.parametrize(
    ("now", "told"),
    [
        pytest.param(
            [],
            "pods default/g0, default/g1, default/g2 and 2 more, for which it makes room, are gone",
            id="all are gone",
        ),
        pytest.param(
            [member("g1", "b")],
            "pods default/g0, default/g2, default/g3 and 1 more, for which it makes room, are gone, "
            "pod default/g1, for which it makes room, is scheduled already",
            id="one has a node",
        ),
    ],
)
def test_plan_for_pending_pods_none_of_which_waits_is_refused(
    plan: Decisions, tmp_path: Path, now: list[Pod], told: str
) -> None:
    with pytest.raises(PlanRefusedError) as refused:
        apply(plan, tmp_path, [*RUNNING, *now])

    assert f"\n  pod default/p: {told}\n" in str(refused.value)


def test_move_for_a_pod_with_held_room_and_a_gang_holds_as_long_as_the_gang_waits(
    plan: Decisions, tmp_path: Path
) -> None:
    single = make_pod("single", cpu="1", node=None, phase="Pending")
    (move,) = plan.moves
    both = msgspec.structs.replace(move, rooms=(HeldRoom(single, "a"),), serves=(single, *move.serves))
    plan = msgspec.structs.replace(plan, moves=(both,))

    assert apply(plan, tmp_path, [*RUNNING, *GANG]) == ["p"]
    with pytest.raises(PlanRefusedError, match="and 3 more, for which it makes room, are gone"):
        apply(plan, tmp_path, RUNNING)


def test_node_that_the_plan_did_not_know_has_not_changed(plan: Decisions, tmp_path: Path) -> None:
    found = make_plan_file(plan, ClusterIdentity(server="https://a", uid="u"))
    bases = tuple(msgspec.structs.replace(basis, source=None) for basis in found.bases)
    path = tmp_path / "plan.json"
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(found, bases=bases)))
    to_apply = PlanToApply(read_plan_file(path), timedelta(minutes=5), False)

    moves, _ = still_valid(to_apply, make_snapshot(NODES, [*RUNNING, *GANG]), lambda _: plan)

    assert [move.pod.name for move in moves] == ["p"]


def test_file_that_names_a_pending_pod_of_a_move_twice_is_none(plan: Decisions, tmp_path: Path) -> None:
    (move,) = plan.moves
    changed = msgspec.structs.replace(move, serves=move.serves * 2)

    with pytest.raises(PlanFileError, match="a pod is named twice in serves; the file was changed"):
        apply(msgspec.structs.replace(plan, moves=(changed,)), tmp_path, RUNNING)


def test_pending_pod_of_a_dump_without_uids_is_taken_to_wait(tmp_path: Path) -> None:
    unknown = make_pod("x", cpu="10", node=None, phase="Pending", uid="")
    plan = run_objective("makeRoom", NODES, [*RUNNING, unknown])

    assert evicted(plan) == ["p"]
    assert apply(plan, tmp_path, RUNNING) == ["p"]


def test_pods_that_leave_together_are_left_out_together(tmp_path: Path) -> None:
    """One of the two has other labels by now; with the other alone there would be room for nobody."""
    both = [make_pod(name, cpu="1", node="a") for name in ("p", "q")]
    fixed = make_pod("fixed", cpu="2", node="b", owners=[])
    plan = run_objective("makeRoom", NODES, [*both, fixed, *GANG])
    relabelled = msgspec.structs.replace(both[0], labels={"app": "another"})

    assert sorted(evicted(plan)) == ["p", "q"]
    with pytest.raises(PlanRefusedError) as refused:
        apply(plan, tmp_path, [relabelled, both[1], fixed, *GANG], allows_partial=True)

    assert "\n  pod default/p: has other labels\n" in str(refused.value)
    assert "--allow-partial" not in str(refused.value)  # nothing is left
