"""In which wave each move is made where room, nodes at once and zones are limited."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from descheduler.optimizer.problem import make_problem
from descheduler.planner.moves.move_waves import MoveWaves
from descheduler.planner.problem.cluster_problem import ClusterProblem
from tests.builders import make_pod

ZONES = {"a": "x", "b": "x", "c": "y"}


def waves_of(
    moves: Sequence[tuple[str, str | None]],
    *,
    sizes: Sequence[int] | None = None,
    nodes_at_once: int | None = None,
    in_zones: bool = False,
) -> tuple[list[int], MoveWaves]:
    """The wave of each of some pods that leave a node for another one; all nodes have room for 9."""
    pods = [make_pod(f"p{number}", node=node) for number, (node, _) in enumerate(moves)]
    need = [[size] for size in sizes or [1] * len(pods)]
    problem = make_problem(need, [[9]] * 3, ["abc".index(node) for node, _ in moves])
    waves = MoveWaves(
        ClusterProblem(problem, pods, "abc", ["cpu"], problem.capacity),
        1,
        nodes_at_once,
        (lambda node: ZONES[node]) if in_zones else (lambda node: ""),
    )
    return [waves.of(pod, node) for pod, (_, node) in zip(pods, moves, strict=True)], waves


@pytest.mark.parametrize(
    ("sizes", "waves"),
    [
        pytest.param([4, 5], [1, 1], id="room for both at once"),
        pytest.param([5, 5], [1, 2], id="the second waits for the first to leave"),
    ],
)
def test_a_move_into_room_that_another_one_leaves_begins_a_wave(sizes: list[int], waves: list[int]) -> None:
    """The first pod leaves a for b, and then another one comes to a, where the first one still is."""
    assert waves_of([("a", "b"), ("c", "a")], sizes=sizes)[0] == waves


def test_moves_after_the_wave_that_one_began_are_in_that_wave() -> None:
    numbers, waves = waves_of([("a", "b"), ("c", "a"), ("b", "c")], sizes=[5, 5, 1])

    assert numbers == [1, 2, 2]
    assert waves.targets == {f"default-p{number}": node for number, node in enumerate("bac")}
    assert waves.text == ""


def test_the_first_move_of_a_wave_is_in_it_whatever_room_there_is() -> None:
    """The scheduler places it by the room that the moves before it leave."""
    assert waves_of([("a", "b"), ("b", "a")], sizes=[9, 9])[0] == [1, 2]


def test_a_pod_without_a_node_or_with_one_of_others_needs_no_room() -> None:
    numbers, waves = waves_of([("a", None), ("b", "elsewhere")], sizes=[9, 9])

    assert numbers == [1, 1]
    assert waves.targets == {"default-p1": "elsewhere"}


@pytest.mark.parametrize(
    ("at_once", "waves"), [(1, [1, 1, 2, 3]), (2, [1, 1, 1, 2]), (3, [1, 1, 1, 1]), (None, [1] * 4)]
)
def test_so_many_nodes_are_left_in_a_wave(at_once: int | None, waves: list[int]) -> None:
    assert waves_of([("a", None), ("a", None), ("b", None), ("c", None)], nodes_at_once=at_once)[0] == waves


def test_nodes_of_two_zones_are_not_left_in_one_wave() -> None:
    numbers, waves = waves_of([("a", None), ("b", None), ("c", None)], nodes_at_once=2, in_zones=True)

    assert numbers == [1, 1, 2]
    assert waves.text == "2 waves (at least 2 are needed)"


def test_each_zone_needs_waves_of_its_own() -> None:
    _, at_once = waves_of([("a", None), ("b", None), ("c", None)], nodes_at_once=1, in_zones=True)
    _, together = waves_of([("a", None), ("b", None), ("c", None)], nodes_at_once=2)

    assert at_once.text == "3 waves (at least 3 are needed)"
    assert together.text == "2 waves (at least 2 are needed)"


def test_nothing_is_said_of_waves_where_none_was_drained() -> None:
    problem = make_problem([[1]], [[9]], [0])
    pods = [make_pod("p", node="a")]

    assert MoveWaves(ClusterProblem(problem, pods, "a", ["cpu"], problem.capacity), 1, 1).text == ""
