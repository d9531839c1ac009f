"""MigrationPlanner with MakeRoom for pods that share GPUs, or want several of one node."""

from __future__ import annotations

import pytest

from tests.builders import Object, node_object, pod_object
from tests.planner.gpus.runs import gpu_node, pending_pod, run_gpus, shared_pod
from tests.planner.runs import goal_of
from tests.strategies.runs import evicted

pytestmark = pytest.mark.long

ROOM: Object = {"makeRoom": {}}


def test_a_part_of_a_gpu_makes_room_for_a_whole_one() -> None:
    """Half of the node is free, and no GPU of it."""
    nodes = [gpu_node("a"), gpu_node("b", 1)]
    pods = [
        shared_pod("a0", "a", 50, 0),
        shared_pod("a1", "a", 60, 1),
        shared_pod("b0", "b", 50, 0),
        pending_pod("whole", 100),
    ]

    decisions = run_gpus(ROOM, nodes, pods)

    (name,) = evicted(decisions)
    assert name in ("a0", "b0")
    assert decisions.moves[0].reason == "makes room for pending pod default/whole"
    assert goal_of(decisions).levels[0].after == 0


def test_pods_leave_several_gpus_of_one_node_for_a_pod_that_wants_them() -> None:
    nodes = [gpu_node(name, 2) for name in "abc"]
    pods = [
        shared_pod("a0", "a", 100, 0),
        shared_pod("b0", "b", 100, 0),
        shared_pod("c0", "c", 100, 0),
        pending_pod("pair", 100, number=2),
    ]

    decisions = run_gpus(ROOM, nodes, pods)

    assert len(evicted(decisions)) == 1
    assert goal_of(decisions).levels[0].after == 0


def test_a_heavy_pod_takes_the_place_of_a_light_one() -> None:
    """No node has room for the pending pod or for any pod in its way but the lightest."""
    nodes = [gpu_node("a", 1), gpu_node("b", 1), gpu_node("c", 1)]
    pods = [
        shared_pod("a60", "a", 60, 0),
        shared_pod("b30", "b", 30, 0),
        shared_pod("b-fixed", "b", 40, 0, owners=[]),
        shared_pod("c-fixed", "c", 70, 0, owners=[]),
        pending_pod("whole", 100),
    ]

    decisions = run_gpus(ROOM, nodes, pods)

    assert sorted(evicted(decisions)) == ["a60", "b30"]
    assert len({move.bundle for move in decisions.moves}) == 1
    assert goal_of(decisions).levels[0].after == 0


def test_nothing_leaves_where_the_scheduler_would_place_it_again() -> None:
    nodes = [gpu_node("a", 1), gpu_node("b", 1)]
    pods = [shared_pod("a0", "a", 100, 0), shared_pod("b0", "b", 100, 0), pending_pod("whole", 100)]

    assert evicted(run_gpus(ROOM, nodes, pods)) == []


@pytest.mark.parametrize(
    ("waiting", "text"),
    [
        pytest.param(
            pending_pod("p", 100, number=3),
            "requests 300 koordinator.sh/gpu-core, the largest node has 200",
            id="more GPUs than a node has",
        ),
        pytest.param(pending_pod("p", 50, cpu="65"), "requests 65 CPU, the largest node has 64", id="more cores"),
    ],
)
def test_it_is_said_what_no_node_has_as_much_of(waiting: Object, text: str) -> None:
    decisions = run_gpus(ROOM, [gpu_node("a")], [shared_pod("a0", "a", 50, 0), waiting])

    assert goal_of(decisions).sentence == f"1 pod pending → 1 with 0 evictions; no room: pod default/p {text}"


def test_gpus_that_no_device_lists_are_counted_by_node() -> None:
    """Only of nodes as a whole the planner proves how many evictions are needed."""
    gpu = "nvidia.com/gpu"
    nodes = [[node_object(name, allocatable={gpu: "2"})] for name in "ab"]
    pods = [pod_object(name, node=name, requests={gpu: "1"}) for name in "ab"]
    pods.append(pod_object("pair", node="", phase="Pending", requests={gpu: "2"}))

    decisions = run_gpus(
        ROOM, nodes, [{**pod, "spec": {**pod["spec"], "schedulerName": "koord-scheduler"}} for pod in pods]
    )

    assert (
        goal_of(decisions).sentence == "1 pod pending → 0 (default/pair onto a) with 1 eviction (at least 1 is needed)"
    )
