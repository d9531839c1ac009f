"""What rests after a move and what does not go back, asked of each check about one pod."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.checks.move_history import MoveHistoryCheck, ReturnCheck
from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.placement_verification.placement_verification import scheduling_by_profile
from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from descheduler.plan.recent_moves import RecentMove, RecentMoves, WorkloadId
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.policy.builders import koordinator

WEB = WorkloadId("ReplicaSet", "default", "web", "replicaset-web")
POD = make_pod("web-1", cpu="1", node="a", scheduler="koord-scheduler")
OTHER = make_pod("api-1", owners=["ReplicaSet/api"])
UNVERIFIED = "filter: {disabled: [{name: PlacementVerification}]}"


def policy(history: str, verification: str = "", *, verifies: bool = True) -> Policy:
    """Profile p with this `moveHistory`, and one without."""
    plugins = "{}" if verifies else f"{{{UNVERIFIED}}}"
    return load_policy(
        koordinator(
            "profiles:\n"
            "- name: p\n"
            "  pluginConfig:\n"
            f"  - {{name: MigrationController, args: {{moveHistory: {{{history}}}}}}}\n"
            f"  - {{name: PlacementVerification, args: {{{verification}}}}}\n"
            f"  plugins: {plugins}\n"
            "- name: plain\n"
        ),
        REGISTRY,
    )


def moved(minutes: float, source: str = "x", target: str = "y", workload: WorkloadId = WEB) -> RecentMove:
    return RecentMove(workload, source, target, NOW - timedelta(minutes=minutes), "done")


def snapshot_of(*rooms: str) -> Any:
    """Pods of node a, which is closed, and nodes with so much CPU."""
    nodes = [
        make_node("a", cpu="16", unschedulable=True),
        *(make_node(f"n{i}", cpu=cpu) for i, cpu in enumerate(rooms)),
    ]
    workloads = [Workload("ReplicaSet", "default", name, f"replicaset-{name}", 10) for name in ("web", "api")]
    return make_snapshot(nodes, [POD, OTHER], workloads={each.uid: each for each in workloads})


def bundle(*pods: Pod, profile: int = 0, target: str = "") -> Bundle:
    return Bundle("p", "q", tuple(Candidate(pod, target_node=target) for pod in pods), profile)


def resting(history: str, moves: Sequence[RecentMove]) -> MoveHistoryCheck:
    return MoveHistoryCheck(policy(history).profiles, snapshot_of("4"), RecentMoves(moves), NOW)


@pytest.mark.parametrize(
    ("history", "moves", "reason"),
    [
        pytest.param("cooldown: 10m", [moved(9.9)], Reason.COOLDOWN, id="it rests"),
        pytest.param("cooldown: 10m", [moved(10)], None, id="it has rested"),
        pytest.param("cooldown: 10m", [moved(20), moved(5)], Reason.COOLDOWN, id="after the last move"),
        pytest.param("cooldown: 0s", [moved(0)], None, id="it need not rest"),
        pytest.param("cooldown: 10m", [], None, id="it has not moved"),
        pytest.param(
            "cooldown: 0s, maxMovesPerWindow: 1", [moved(5)], Reason.MOVES_PER_WINDOW, id="one move, and over"
        ),
        pytest.param("cooldown: 0s, maxMovesPerWindow: 2", [moved(5)], None, id="one move of two"),
        pytest.param("cooldown: 0s, maxMovesPerWindow: 1", [moved(60)], None, id="a move before the window"),
        pytest.param(
            "cooldown: 0s, maxMovesPerWindow: 20%", [moved(1), moved(2)], Reason.MOVES_PER_WINDOW, id="a share"
        ),
        pytest.param("cooldown: 0s, maxMovesPerWindow: 20%", [moved(1)], None, id="less than the share"),
    ],
)
def test_workload_rests_and_moves_so_often_in_a_window(
    history: str, moves: list[RecentMove], reason: Reason | None
) -> None:
    check = resting(history, moves)

    assert check.verdict(bundle(POD)).reason is reason
    assert check.verdict(bundle(OTHER)).is_accepted
    assert check.verdict(bundle(POD, profile=1)).is_accepted


def test_moves_of_the_run_count_in_the_window_until_they_are_taken_back() -> None:
    check = resting("cooldown: 10m, maxMovesPerWindow: 2", [])

    undo = check.charge(bundle(POD))
    one = check.verdict(bundle(POD)).reason
    check.adopt([Move(POD, "p", "q")])
    two = check.verdict(bundle(POD)).reason
    undo()

    assert (one, two, check.verdict(bundle(POD)).reason) == (None, Reason.MOVES_PER_WINDOW, None)


def returning(
    moves: Sequence[RecentMove], history: str = "", verification: str = "", *, verifies: bool = True, rooms: str = "4"
) -> ReturnCheck:
    """The check where replacements can be scheduled onto node n0 alone."""
    found, snapshot = policy(history, verification, verifies=verifies), snapshot_of(rooms)
    landings = LandingBook(snapshot, scheduling_by_profile(found, None), NOW)
    return ReturnCheck(found.profiles, snapshot, RecentMoves(moves), landings, NOW)


BACK = moved(30, source="n0", target="a")


@pytest.mark.parametrize(
    ("moves", "facts", "is_refused"),
    [
        pytest.param([BACK], {}, True, id="it goes back"),
        pytest.param([], {}, False, id="nothing has moved"),
        pytest.param([moved(30, "n0", "")], {}, True, id="where its predecessor went is not known"),
        pytest.param([moved(30, "n0", "b")], {}, False, id="its predecessor went elsewhere"),
        pytest.param([moved(30, "b", "a")], {}, False, id="its predecessor came from elsewhere"),
        pytest.param([moved(30, "a", "a")], {}, False, id="its predecessor came from this node"),
        pytest.param([moved(60, "n0", "a")], {}, False, id="before the window"),
        pytest.param([BACK], {"history": "refuseReturn: false"}, False, id="it may return"),
        pytest.param([BACK], {"verifies": False}, False, id="it is not known where it goes"),
        pytest.param([BACK], {"rooms": "500m"}, False, id="it has no node"),
        pytest.param([BACK], {"verification": "onUnknown: allow"}, True, id="what is unknown may go"),
    ],
)
def test_pod_does_not_go_back_to_where_its_predecessor_was_evicted(
    moves: list[RecentMove], facts: dict[str, Any], is_refused: bool
) -> None:
    check = returning(moves, **facts)

    assert check.verdict(bundle(POD)).reason is (Reason.PING_PONG if is_refused else None)
    assert check.verdict(bundle(POD, profile=1)).is_accepted


@pytest.mark.parametrize(("target", "is_refused"), [("n0", True), ("n1", False)])
def test_target_of_a_plan_tells_where_a_pod_goes(target: str, is_refused: bool) -> None:
    check = returning([BACK], verifies=False)

    assert check.verdict(bundle(POD, target=target)).reason is (Reason.PING_PONG if is_refused else None)


def test_latest_of_several_moves_is_named() -> None:
    verdict = returning([moved(50, "n0", "a"), moved(20, "n0", "a")]).verdict(bundle(POD))

    assert "at 2026-06-30 11:40 UTC" in verdict.message
    assert verdict.subject == "n0"
