"""What `moveHistory` of MigrationController refuses: cooldown, moves in the window, and moves back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round, RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.groups.workloads import Workload
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.plan.recent_moves import RECENT_MOVES_KEY, RecentMove, RecentMoves, WorkloadId
from descheduler.plan.run_memory import RunMemory
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.policy.builders import koordinator, messages

MINUTE = timedelta(minutes=1)
TAINTS = "RemovePodsViolatingNodeTaints"
WEB = WorkloadId("ReplicaSet", "default", "web", "replicaset-web")
TAINTED = [make_node("a", taints=["maintenance:NoSchedule"]), make_node("b")]


def policy_of(history: Mapping[str, Any] | None, **args: Any) -> dict[str, object]:
    """RemovePodsViolatingNodeTaints with this `moveHistory`, and no other limit on moves at once."""
    stated = {} if history is None else {"moveHistory": history}
    open_args = {"maxMigratingPerNode": 0, "maxMigratingPerWorkload": 5, "maxUnavailablePerWorkload": 5}
    limiter = {"objectLimiters": {"workload": {"duration": "0s"}}}
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration",
        "profiles": [
            {
                "name": "p",
                "plugins": {"deschedule": {"enabled": [{"name": TAINTS}]}},
                "pluginConfig": [
                    {"name": "MigrationController", "args": {**open_args, **limiter, **stated, **args}},
                ],
            }
        ],
    }


def decided(
    history: Mapping[str, Any] | None,
    moved: Sequence[RecentMove] = (),
    *,
    pods: Sequence[Pod] | None = None,
    nodes: Sequence[Node] = TAINTED,
    prior: Sequence[Pod] = (),
) -> Decisions:
    """A run over ReplicaSet `web` on tainted node a, after runs that have moved `moved`."""
    pods = [web_pod("web-1")] if pods is None else pods
    workloads = {"replicaset-web": Workload("ReplicaSet", "default", "web", "replicaset-web", 10)}
    snapshot = make_snapshot(nodes, [*pods, *prior], workloads=workloads)
    memory = RunMemory().after(NOW, {RECENT_MOVES_KEY: RecentMoves(moved).encoded()})
    prior_moves = [Move(pod, "p", TAINTS) for pod in prior]
    policy = load_policy(policy_of(history), REGISTRY)
    return decide(
        policy, snapshot, now=NOW, setting=RunSetting(memory=memory), this_round=Round(prior_moves=prior_moves)
    )


def web_pod(name: str, **facts: Any) -> Pod:
    """A pod of the ReplicaSet, of koord-scheduler."""
    return make_pod(name, owners=["ReplicaSet/web"], scheduler="koord-scheduler", **{"node": "a", **facts})


def moved(minutes: float, *, source: str = "x", target: str = "y", workload: WorkloadId = WEB) -> RecentMove:
    """A move so many minutes ago."""
    return RecentMove(workload, source, target, NOW - minutes * MINUTE, "done")


def refusals(decisions: Decisions) -> list[tuple[str, str]]:
    """Reason code and sentence of every refusal."""
    return [(refusal.verdict.code, refusal.verdict.message) for refusal in decisions.refusals]


def test_workload_rests_after_a_move() -> None:
    decisions = decided({"cooldown": "10m"}, [moved(4)])

    assert refusals(decisions) == [
        (
            "Cooldown",
            "ReplicaSet default/web lost a pod to an eviction at 2026-06-30 11:56 UTC;"
            " cooldown (10m0s) ends at 2026-06-30 12:06 UTC",
        )
    ]


@pytest.mark.parametrize(
    ("history", "moves"),
    [
        pytest.param({"cooldown": "10m"}, [moved(10)], id="the cooldown has ended"),
        pytest.param({"cooldown": "0s"}, [moved(1)], id="there is no cooldown"),
        pytest.param(None, [moved(1)], id="the profile has no moveHistory"),
        pytest.param(
            {"cooldown": "10m"},
            [moved(1, workload=WorkloadId("ReplicaSet", "default", "api", "other"))],
            id="another workload moved",
        ),
    ],
)
def test_workload_moves_where(history: Mapping[str, Any] | None, moves: list[RecentMove]) -> None:
    decisions = decided(history, moves)

    assert [move.pod.name for move in decisions.moves] == ["web-1"]


def test_moves_of_the_same_run_start_no_cooldown() -> None:
    decisions = decided({"cooldown": "10m"}, pods=[web_pod("web-1"), web_pod("web-2")])

    assert len(decisions.moves) == 2


def test_moves_of_earlier_runs_and_of_this_one_count_in_the_window() -> None:
    history = {"cooldown": "0s", "window": "1h", "maxMovesPerWindow": 2}

    decisions = decided(history, [moved(61), moved(30)], pods=[web_pod("web-1"), web_pod("web-2")])

    assert [move.pod.name for move in decisions.moves] == ["web-1"]
    assert refusals(decisions) == [
        ("MovesPerWindow", "maxMovesPerWindow (2) reached for ReplicaSet default/web: 2 moves within 1h0m0s (window)")
    ]


def test_most_moves_can_be_a_share_of_the_replicas() -> None:
    history = {"cooldown": "0s", "maxMovesPerWindow": "29%"}

    decisions = decided(history, [moved(30)], pods=[web_pod("web-1"), web_pod("web-2")])

    assert [move.pod.name for move in decisions.moves] == ["web-1"]
    assert refusals(decisions) == [
        (
            "MovesPerWindow",
            "maxMovesPerWindow (29%: 2) reached for ReplicaSet default/web: 2 moves within 1h0m0s (window)",
        )
    ]


def test_moves_of_earlier_rounds_count_in_the_window() -> None:
    decisions = decided({"maxMovesPerWindow": 1}, prior=[web_pod("web-0")])

    assert [code for code, _ in refusals(decisions)] == ["MovesPerWindow"]


def test_pod_does_not_go_back_to_where_its_predecessor_was() -> None:
    decisions = decided({"cooldown": "0s"}, [moved(30, source="b", target="a")])

    assert refusals(decisions) == [
        (
            "PingPong",
            "the replacement pod would be scheduled onto b, from which a pod of ReplicaSet default/web was evicted"
            " at 2026-06-30 11:30 UTC (refuseReturn: true, window: 1h0m0s)",
        )
    ]


@pytest.mark.parametrize(
    ("history", "move"),
    [
        pytest.param({"refuseReturn": False}, moved(30, source="b", target="a"), id="it may return"),
        pytest.param({}, moved(61, source="b", target="a"), id="that is longer ago than the window"),
        pytest.param({}, moved(30, source="b", target="c"), id="its predecessor went elsewhere"),
        pytest.param({}, moved(30, source="c", target="a"), id="its predecessor came from elsewhere"),
    ],
)
def test_pod_goes_to_the_node_where(history: Mapping[str, Any], move: RecentMove) -> None:
    decisions = decided({"cooldown": "0s", **history}, [move])

    assert [move.to_node for move in decisions.moves] == ["b"]


def test_damaged_note_is_told_and_counts_as_none() -> None:
    memory = RunMemory().after(NOW, {RECENT_MOVES_KEY: b"{}"})
    snapshot = make_snapshot(TAINTED, [web_pod("web-1")])

    decisions = decide(load_policy(policy_of({}), REGISTRY), snapshot, now=NOW, setting=RunSetting(memory=memory))

    assert [note.partition(":")[0] for note in decisions.notes if "moveHistory" in note] == [
        "evictions of earlier runs do not count for moveHistory, the memory of them"
    ]


def test_run_without_memory_says_so() -> None:
    decisions = decide(load_policy(policy_of({}), REGISTRY), make_snapshot(TAINTED), now=NOW)

    assert decisions.notes == ("evictions of earlier runs do not count for moveHistory: earlier runs are unknown here",)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param("{window: 0s}", "window: 0s is not above 0 and at most 168h", id="no window"),
        pytest.param(
            "{window: 169h}", "window: 169h0m0s is not above 0 and at most 168h", id="a window beyond the memory"
        ),
        pytest.param("{window: 5m}", "cooldown: 10m0s is longer than window (5m0s)", id="a cooldown beyond the window"),
        pytest.param(
            "{maxMovesPerWindow: 0}",
            "maxMovesPerWindow: 0 is below 1; leave it out for no limit",
            id="a limit that forbids all",
        ),
    ],
)
def test_arguments_that_make_no_sense_are_refused(args: str, message: str) -> None:
    policy = koordinator(
        f"profiles: [{{name: p, pluginConfig: [{{name: MigrationController, args: {{moveHistory: {args}}}}}]}}]\n"
    )

    assert [problem.partition("moveHistory.")[2] for problem in messages(policy)] == [message]
