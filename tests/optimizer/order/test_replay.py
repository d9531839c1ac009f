"""The replay of a plan names everything that breaks on the way, and nothing of a sound plan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from descheduler.optimizer import AtMost, MaxSkew, MinDomains, MoveLimit, Parts, Problem, Together, make_problem, replay
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.rules import Rule

Wave = Sequence[tuple[int, int, int]]


def faults(problem: Problem, *waves: Wave, ends: Sequence[int] | None = None) -> list[str]:
    """What is wrong with waves of (pod, source, target), which are said to lead to `ends`, by default where they do."""
    at = problem.assignment.copy()
    for wave in waves:
        for pod, _, target in wave:
            at[pod] = target
    made = [[Reassignment(*move) for move in wave] for wave in waves]
    return replay(problem, made, at if ends is None else np.array(ends))


def problem_with(*rules: Rule, assignment: Sequence[int] = (0, 0, 1, -1)) -> Problem:
    """Pods of 1 on three nodes with room for all."""
    return make_problem([[1]] * len(assignment), [[9]] * 3, assignment, rules=rules)


ZONE = np.array([0, 0, 1])


def group(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(numbers, dtype=np.int64)


def test_a_sound_plan_has_no_fault() -> None:
    """Pod 1 takes what pod 0 leaves in the wave before, and the pending pod what is left."""
    problem = make_problem([[4], [5], [2]], [[7], [6], [9]], [0, 1, -1])

    assert faults(problem, [(0, 0, 2)], [(1, 1, 0)], [(2, -1, 1)]) == []


@pytest.mark.parametrize(
    ("waves", "ends", "fault"),
    [
        pytest.param([[(0, 0, 1)]], [1, 1, 1, -1], "pod 1 ends on node 0, expected 1", id="another end"),
        pytest.param([[(0, 1, 2)]], None, "wave 0: pod 0 is on node 0, not 1", id="another beginning"),
        pytest.param([[], [(3, 0, 1)]], None, "wave 1: pod 3 is on node -1, not 0", id="it was pending"),
    ],
)
def test_moves_lead_from_where_pods_are_to_where_the_plan_says(
    waves: list[Wave], ends: list[int] | None, fault: str
) -> None:
    found = faults(problem_with(), *waves, ends=ends)

    assert found[0] == fault
    assert len(found) == 1 or found[1:] == []


def test_pods_that_stay_and_nodes_that_are_closed_are_named() -> None:
    problem = make_problem(
        [[1]] * 2, [[9]] * 2, [0, 0], evictable=[False, True], pod_class=[0, 1], allowed=[[True, True], [True, False]]
    )

    assert faults(problem, [(0, 0, 1), (1, 0, 1)]) == [
        "wave 0: pod 0 is not evictable",
        "wave 0: pod 1 is not allowed on node 1",
    ]


@pytest.mark.parametrize(("size", "is_full"), [(5, False), (6, True)])
def test_both_ends_hold_a_pod_until_its_wave_is_done(size: int, is_full: bool) -> None:
    """Pod 0 leaves in the same wave, and holds 4 of 9 to its end; a wave later the node has room for both."""
    problem = make_problem([[4], [size]], [[9], [9]], [0, 1])
    wanted = [f"wave 0: node 0 holds {4 + size} of resource 0, capacity 9"] if is_full else []

    assert faults(problem, [(1, 1, 0), (0, 0, 1)])[:1] == wanted
    assert faults(make_problem([[4], [size]], [[9]] * 3, [0, 1]), [(0, 0, 2)], [(1, 1, 0)]) == []


def test_a_node_that_was_too_full_may_stay_so_but_takes_no_more_of_it() -> None:
    problem = make_problem([[8, 1], [0, 1], [1, 0]], [[6, 9], [9, 9]], [0, 1, 1])

    assert faults(problem, [(1, 1, 0)]) == []
    assert faults(problem, [(2, 1, 0)]) == ["wave 0: node 0 holds 9 of resource 0, capacity 6"]


def test_a_pod_that_is_held_at_both_ends_is_so_to_the_end_of_the_plan() -> None:
    """Pods 0 and 1 change places in two waves; a pod that was pending takes what is left at the end."""
    problem = make_problem([[4, 1], [4, 1], [5, 0]], [[9, 9]] * 3, [0, 1, -1], both_ends=[True, False])
    around: list[Wave] = [[(0, 0, 2)], [(1, 1, 0)]]

    assert faults(problem, *around) == []
    assert faults(problem, *around, [(2, -1, 0)]) == []
    tight = make_problem([[5, 1], [5, 1]], [[9, 9]] * 3, [0, 1], both_ends=[True, False])
    assert faults(tight, *around) == ["node 0 holds 10 of resource 0 with all that moves"]


def test_what_no_pod_that_came_needs_is_not_held_against_it() -> None:
    problem = make_problem([[8], [0], [3]], [[9], [9], [9]], [0, 1, 0], both_ends=[True])

    assert faults(problem, [(1, 1, 0)]) == []


@pytest.mark.parametrize(("most", "is_over"), [(1, True), (2, False)])
def test_pods_of_a_limit_that_have_moved_are_counted(most: int, is_over: bool) -> None:
    """The third pod is of no group, and the one that was pending is placed."""
    limit = MoveLimit(group(0, 0, -1, 0), group(most))

    found = faults(problem_with(limit), [(0, 0, 2), (1, 0, 2), (2, 1, 2), (3, -1, 2)])

    assert found == (["group 0 has 2 moved pods, limit 1"] if is_over else [])


def test_a_pod_that_is_back_home_has_not_moved() -> None:
    limit = MoveLimit(group(0, 0, 0, 0), group(0))

    assert faults(problem_with(limit), [(0, 0, 2)], [(0, 2, 0)]) == []


@pytest.mark.parametrize(
    ("wave", "fault"),
    [
        pytest.param([(0, 0, 1)], [], id="within the domain"),
        pytest.param([(2, 1, 2)], [], id="into an empty domain"),
        pytest.param(
            [(3, -1, 1)],
            ["wave 0: group 0 has too many pods in domain 0 meanwhile", "wave 0: AtMost broken for (0, 0, 2)"],
            id="one that was pending",
        ),
        pytest.param([(1, 0, 2), (3, -1, 0)], ["wave 0: group 0 has too many pods in domain 0 meanwhile"], id="while"),
    ],
)
def test_a_domain_never_has_more_pods_of_a_group_than_it_may_have(wave: Wave, fault: list[str]) -> None:
    """Domain 0 has as many as it may have: pods 0 and 1; pod 2 is of no group."""
    rule = AtMost(group(0, 0, -1, 0), ZONE, group(2))

    assert faults(problem_with(rule), wave) == fault


def test_a_domain_with_room_for_one_more_takes_one() -> None:
    rule = AtMost(group(0, 0, -1, 0), ZONE, group(3))

    assert faults(problem_with(rule), [(3, -1, 1)]) == []
    assert faults(problem_with(rule, assignment=[0, 0, 2, 2]), [(3, 2, 1)]) == []


@pytest.mark.parametrize(
    ("wave", "fault"),
    [
        pytest.param([(0, 0, 1)], [], id="within the domain"),
        pytest.param([(2, 2, 0)], ["wave 0: MinDomains broken for (0, 1)"], id="the last one of a domain leaves"),
        pytest.param([(2, 2, 0), (0, 0, 2)], [], id="another one comes for it"),
        pytest.param([(3, -1, 2)], [], id="one more"),
    ],
)
def test_pods_of_a_group_stay_in_as_many_domains_as_they_have_to(wave: Wave, fault: list[str]) -> None:
    rule = MinDomains(group(0, 0, 0, 0), ZONE, group(2))

    assert faults(problem_with(rule, assignment=[0, 0, 2, -1]), wave) == fault


def test_a_pod_whose_company_has_left_is_named() -> None:
    """Pods 0 and 1 need pod 2 in their domain."""
    rule = Together(group(0, 0, 1, -1), ZONE, np.array([[0, 1]]))
    problem = problem_with(rule, assignment=[0, 1, 0, -1])

    assert faults(problem, [(2, 0, 1)]) == []
    assert faults(problem, [(2, 0, 2)]) == [
        "wave 0: Together broken for (0, 1, 0, 0)",
        "wave 0: Together broken for (0, 1, 0, 1)",
    ]
    assert faults(problem, [(0, 0, 2), (1, 1, 2), (2, 0, 2)]) == []
    assert faults(problem_with(rule, assignment=[0, 0, 2, -1]), [(0, 0, 1)]) == []


def test_nodes_of_no_domain_need_no_company_and_are_no_domain_for_pods_to_be_in() -> None:
    zone = np.array([0, 1, -1])
    together = Together(group(0, 1, -1, -1), zone, np.array([[0, 1]]))
    two_domains = MinDomains(group(0, 0, -1, -1), zone, group(2))

    assert faults(problem_with(together, assignment=[0, 0, 1, -1]), [(0, 0, 2)]) == []
    assert faults(problem_with(two_domains, assignment=[0, 1, 1, -1]), [(0, 0, 2)]) == [
        "wave 0: MinDomains broken for (0, 1)"
    ]


def spread(*, free: Sequence[bool] | None = None, holds_first: bool = False, skew: int = 1) -> MaxSkew:
    """Pods of one group over two zones."""
    is_free = None if free is None else np.array(free)
    return MaxSkew(group(0, 0, 0, 0), ZONE, group(skew), np.ones((1, 2), bool), holds_first, free=is_free)


UNEVEN, UNEVEN_TOO = (f"wave 0: domain {domain} may have too many pods of group 0" for domain in (0, 1))
BROKEN = "wave 0: MaxSkew broken for (0, 0, {})".format


@pytest.mark.parametrize(
    ("rule", "wave", "fault"),
    [
        pytest.param(spread(), [(2, 2, 1)], [UNEVEN, *map(BROKEN, (1, 2))], id="out of the emptier zone"),
        pytest.param(spread(), [(0, 0, 1)], [], id="within the zone"),
        pytest.param(spread(holds_first=True), [(0, 0, 1)], [UNEVEN], id="within the zone, held first"),
        pytest.param(spread(skew=2, holds_first=True), [(0, 0, 1)], [], id="held first, with room for it"),
        pytest.param(spread(), [(3, -1, 2)], [], id="into the emptier zone"),
        pytest.param(spread(), [(3, -1, 0)], [UNEVEN, BROKEN(1)], id="the fuller zone"),
        pytest.param(spread(skew=2), [(3, -1, 0)], [], id="as much as the skew allows"),
        pytest.param(spread(free=[False, False, False, True]), [(3, -1, 0)], [], id="one that is free"),
        pytest.param(spread(), [(0, 0, 2), (2, 2, 0)], [UNEVEN, UNEVEN_TOO], id="in whatever order they end"),
        pytest.param(spread(skew=2), [(0, 0, 2), (2, 2, 0)], [UNEVEN], id="three and none"),
        pytest.param(spread(skew=3), [(0, 0, 2), (2, 2, 0)], [], id="three and none are allowed"),
    ],
)
def test_pods_that_are_spread_stay_so(rule: MaxSkew, wave: Wave, fault: list[str]) -> None:
    """Zone 0 has two of them, and zone 1 has one."""
    assert faults(problem_with(rule, assignment=[0, 0, 2, -1]), wave) == fault


@pytest.mark.parametrize(
    ("rule", "wave", "fault"),
    [
        pytest.param(spread(holds_first=True), [(0, 0, 1)], [], id="within the zone, held first"),
        pytest.param(spread(), [(1, 2, 0)], [UNEVEN, BROKEN(1)], id="out of its zone"),
        pytest.param(spread(), [(0, 0, 1), (2, -1, 2)], [UNEVEN, UNEVEN_TOO], id="within the zone beside another one"),
        pytest.param(spread(skew=2), [(0, 0, 1), (2, -1, 2)], [], id="beside another one, with room for it"),
    ],
)
def test_an_emptiest_zone_counts_without_the_pods_that_leave_it(rule: MaxSkew, wave: Wave, fault: list[str]) -> None:
    """Both zones have one."""
    assert faults(problem_with(rule, assignment=[0, 2, -1, -1]), wave) == fault


def test_a_pod_over_parts_counts_on_each_of_them() -> None:
    parts = Parts(np.full((3, 1), 9), np.array([[0, 1], [2, -1]]), np.array([0, 1]))
    problem = make_problem([[5], [5]], parts, [0, 1])

    assert faults(problem, [(1, 1, 0)]) == [
        f"wave 0: part {part} holds 10 of resource 0, capacity 9" for part in (0, 1)
    ]
    held = make_problem([[5], [4]], parts, [0, 1], both_ends=[True])
    assert faults(held, [(0, 0, 1)]) == []
    full = make_problem([[5], [5], [5]], parts, [0, 1, -1], both_ends=[True])
    assert faults(full, [(0, 0, 1)], [(2, -1, 0)]) == [
        "wave 0: part 2 holds 10 of resource 0, capacity 9",
        "part 2 holds 10 of resource 0 with all that moves",
    ]


@pytest.mark.parametrize(
    ("waves", "fault"),
    [
        pytest.param([[(0, 0, 1)]], ["wave 0: pod 0 does not leave its machine"], id="another node of the machine"),
        pytest.param([[(0, 0, 2)]], [], id="another machine"),
        pytest.param([[(0, 0, 2)], [(0, 2, 0)]], [], id="back home"),
        pytest.param([[(0, 0, 2)], [(0, 2, 1)]], ["wave 1: pod 0 does not leave its machine"], id="back next to home"),
        pytest.param([[(1, -1, 2)]], [], id="one that was pending"),
    ],
)
def test_a_pod_that_moves_leaves_its_machine(waves: Sequence[Wave], fault: list[str]) -> None:
    """Nodes 0 and 1 are parts of one machine, and node 2 is another."""
    parts = Parts(np.array([[9], [9], [9]]), np.array([[0], [1], [2]]), np.array([0, 0, 1]))
    problem = make_problem([[1], [1]], parts, [0, -1])

    assert faults(problem, *waves) == fault
