"""MigrationPlanner with ReduceFragmentation over GPUs that pods share: free parts that pods can use."""

from __future__ import annotations

from tests.planner.gpus.runs import gpu_node, pending_pod, run_gpus, shared_pod
from tests.planner.runs import goal_of
from tests.strategies.runs import evicted

SHARED = {"reduceFragmentation": {"resource": "koordinator.sh/gpu"}}


def test_parts_of_gpus_are_moved_together_so_that_a_whole_gpu_is_free() -> None:
    """Each of two GPUs is half used, and pods ask for a half or a whole one."""
    nodes = [gpu_node("a", 1), gpu_node("b", 1)]
    pods = [shared_pod("p", "a", 50, 0), shared_pod("q", "b", 50, 0), pending_pod("whole", 100)]

    decisions = run_gpus(SHARED, nodes, pods)

    assert len(evicted(decisions)) == 1
    assert goal_of(decisions).levels[0].counts == "unusable units of free koordinator.sh/gpu"
    assert goal_of(decisions).sentence.startswith("unusable free GPU capacity: 0.33 → 0 GPUs with 1 eviction")
    assert decisions.moves[0].reason.endswith("is 50% free, and pods cannot use all of that")


def test_gpus_of_one_node_are_told_apart() -> None:
    """Node a has as much free as b, on two GPUs instead of one."""
    nodes = [gpu_node("a"), gpu_node("b"), gpu_node("c", 1)]
    pods = [
        shared_pod("a0", "a", 50, 0),
        shared_pod("a1", "a", 50, 1),
        shared_pod("b0", "b", 100, 0),
        shared_pod("c0", "c", 50, 0),
    ]

    decisions = run_gpus(SHARED, nodes, pods)

    assert len(evicted(decisions)) == 1
    assert decisions.moves[0].pod.name in ("a0", "a1")


def test_two_moves_are_made_of_which_only_both_together_gain() -> None:
    """A pod that asks for two whole GPUs can use neither of node a as long as one of them is shared."""
    nodes = [gpu_node("a", 2), gpu_node("b", 1), gpu_node("c", 1)]
    halves = {"a0": ("a", 0), "a1": ("a", 1), "b0": ("b", 0), "c0": ("c", 0)}
    pods = [shared_pod(name, node, 50, minor) for name, (node, minor) in halves.items()]

    decisions = run_gpus(SHARED, nodes, [*pods, pending_pod("pair", 100, number=2)])

    assert sorted(evicted(decisions)) == ["a0", "a1"]
    assert goal_of(decisions).levels[0].after == 0
    assert len({move.bundle for move in decisions.moves}) == 1


def test_gpus_without_the_cores_for_them_are_stranded() -> None:
    """A pod without GPU makes way for those with one."""
    nodes = [gpu_node("a", 1, cpu="8"), gpu_node("plain", 0, cpu="8")]
    web = shared_pod("web", "a", 0, cpu="8")

    decisions = run_gpus(SHARED, nodes, [web, pending_pod("train", 100, cpu="4")])

    assert evicted(decisions) == ["web"]
    assert goal_of(decisions).sentence == "unusable free GPU capacity: 1 → 0 GPUs with 1 eviction"


def test_nothing_is_moved_where_the_scheduler_takes_idle_gpus_first() -> None:
    nodes = [gpu_node(name, 1) for name in "abc"]
    pods = [shared_pod("p", "a", 50, 0), shared_pod("q", "b", 50, 0), pending_pod("whole", 100)]

    decisions = run_gpus(SHARED, nodes, pods, packs=False)

    assert evicted(decisions) == []
    assert "DeviceShare" in goal_of(decisions).sentence


def test_nothing_is_moved_where_no_node_lists_its_gpus() -> None:
    decisions = run_gpus(SHARED, [gpu_node("a", 0), gpu_node("b", 0)], [pending_pod("p", 100)])

    assert goal_of(decisions).sentence == "no node has a Device with GPUs (devices.scheduling.koordinator.sh)"


def test_nothing_is_moved_where_no_pod_asks_for_gpus() -> None:
    decisions = run_gpus(SHARED, [gpu_node("a"), gpu_node("b")], [shared_pod("p", "a", 0)])

    assert goal_of(decisions).sentence == "no pod requests GPUs"


def test_a_pod_stays_whose_gpus_nobody_knows() -> None:
    """Its annotation is missing, so that what it would leave free is not known either."""
    nodes = [gpu_node("a", 1), gpu_node("b", 1)]
    unknown = shared_pod("unknown", "a", 50, 0)
    del unknown["metadata"]["annotations"]

    decisions = run_gpus(SHARED, nodes, [unknown, pending_pod("whole", 100)])

    assert evicted(decisions) == []
