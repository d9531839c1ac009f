"""MigrationPlanner with MakeRoom for pods whose in-place resize is deferred."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from tests.builders import Object, make_budget, make_node, make_pod
from tests.planner.runs import goal_of, run_objective
from tests.strategies.runs import evicted

NODES = [make_node("a", cpu="10"), make_node("b", cpu="10")]
OTHERS = [make_pod("a1", cpu="3", node="a"), make_pod("a2", cpu="1", node="a"), make_pod("b0", cpu="4", node="b")]


def resizing(cpu: str, *, reason: str = "Deferred", **facts: Any) -> Pod:
    """A pod of node a that asks for so much since its requests were changed."""
    conditions = [{"type": "PodResizePending", "status": "True", "reason": reason}]
    return make_pod("db", cpu=cpu, node="a", conditions=conditions, **facts)


def run(pods: Sequence[Pod], *, args: Object | None = None, **others: Any) -> Decisions:
    chosen = {"for": "deferredResizes", **(args or {})}
    return run_objective("makeRoom", others.pop("nodes", NODES), pods, args=chosen, packs=False, **others)


def test_room_is_made_on_its_own_node() -> None:
    decisions = run([resizing("8", owners=[]), *OTHERS])

    assert {move.pod.name: move.to_node for move in decisions.moves} == {"a1": "b"}
    (move,) = decisions.moves
    assert move.reason == "makes room on node a for the deferred in-place resize of pod default/db"
    assert goal_of(decisions).sentence == (
        "1 node without room for a deferred resize → 0 with 1 eviction (at least 1 is needed)"
    )


def test_the_pod_moves_where_that_takes_fewer_evictions() -> None:
    """Two pods of 2 would have to leave for it; another node has room for its 6."""
    pods = [resizing("6"), *(make_pod(f"a{number}", cpu="2", node="a") for number in range(4)), OTHERS[2]]

    decisions = run(pods)

    (move,) = decisions.moves
    assert (move.pod.name, move.to_node) == ("db", "b")
    assert move.reason == "its in-place resize is deferred: node a has no room for it"


@pytest.mark.parametrize(
    ("pod", "sentence"),
    [
        pytest.param(
            resizing("8", reason="Infeasible"),
            "no pod with a deferred in-place resize is selected (makeRoom.for: deferredResizes)",
            id="a resize that no room helps",
        ),
        pytest.param(
            resizing("6"),
            "1 pod with a deferred in-place resize: their nodes have room for it",
            id="a resize that the kubelet has not tried again",
        ),
    ],
)
def test_nothing_is_done_where_no_room_is_missing(pod: Pod, sentence: str) -> None:
    decisions = run([pod, *OTHERS])

    assert evicted(decisions) == []
    assert goal_of(decisions).sentence == sentence


@pytest.mark.parametrize(
    "args", [{"namespaces": {"exclude": ["default"]}}, {"labelSelector": {"matchLabels": {"app": "other"}}}]
)
def test_only_selected_pods_count(args: Object) -> None:
    assert evicted(run([resizing("8"), *OTHERS], args=args)) == []


def test_a_node_that_is_overcommitted_for_another_cause_is_left_as_it_is() -> None:
    pods = [make_pod("a0", cpu="8", node="a"), *OTHERS]

    assert evicted(run(pods)) == []


def test_goal_names_the_pods_that_keep_the_room() -> None:
    budgets = (make_budget("keep", {"app": "x"}, disruptions_allowed=0),)
    pods = [make_pod("a1", cpu="3", node="a", owners=[]), resizing("8", owners=[]), OTHERS[2]]

    decisions = run(pods, budgets=budgets)

    assert evicted(decisions) == []
    assert "node a has no room for a deferred resize: 2 of 2 pods cannot be evicted" in goal_of(decisions).sentence


@pytest.mark.parametrize("seed", range(6))
def test_no_fewer_evictions_make_the_room(seed: int) -> None:
    """Beside every choice of pods that leave; node b has room for all of them."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, 5).tolist()
    others = [make_pod(f"a{number}", cpu=str(size), node="a") for number, size in enumerate(sizes)]
    nodes = [make_node("a", cpu="10"), make_node("b", cpu="40")]

    decisions = run([resizing("5", owners=[]), *others], nodes=nodes)

    excess = 5 + sum(sizes) - 10
    fewest = next(n for n in range(6) if any(sum(chosen) >= excess for chosen in combinations(sizes, n)))
    assert len(evicted(decisions)) == fewest
    assert goal_of(decisions).levels[0].after == 0
