"""Which single moves each rule leaves open, by hand: at its limit, within a domain, and without a domain or a group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from descheduler.optimizer import AtMost, MaxSkew, MinDomains, MoveLimit, Together, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.kept_domains import with_kept_domains
from descheduler.optimizer.rules import Rule

ZONE = np.array([0, 0, 1, -1])
"""Nodes 0 and 1 are in zone 0, node 2 in zone 1, and node 3 in none."""


def opened(rule: Rule, at: list[int], pod: int, *moves: tuple[int, int]) -> str:
    """The nodes that are open to a pod, such as `02`, once those moves are made."""
    placement = Arrangement(make_problem([[1]] * len(at), [[99]] * 4, at, rules=[rule]))
    for moved, node in moves:
        placement.move(moved, node)
    is_open = placement.open_moves(np.array([pod]), np.arange(4))[0]
    return "".join(str(node) for node in np.flatnonzero(is_open))


def group(*numbers: int) -> Any:
    return np.array(numbers, dtype=np.int64)


@pytest.mark.parametrize(
    ("limit", "at", "pod", "moves", "nodes"),
    [
        pytest.param(1, [0, 2, -1], 2, (), "3", id="both zones are full"),
        pytest.param(2, [0, 2, -1], 2, (), "0123", id="room for one more"),
        pytest.param(1, [0, 2, -1], 0, (), "13", id="within the zone"),
        pytest.param(1, [0, 3, -1], 2, (), "23", id="one is in no zone"),
        pytest.param(1, [0, 2, -1], 2, ((0, 3),), "013", id="one has left for no zone"),
        pytest.param(1, [0, 2, -1], 0, ((1, 3), (2, 2)), "13", id="another one has come"),
        pytest.param(3, [0, 0, 0], 0, (), "123", id="no more pods than may be in one"),
    ],
)
def test_a_domain_takes_as_many_as_it_may_have(
    limit: int, at: list[int], pod: int, moves: tuple[tuple[int, int], ...], nodes: str
) -> None:
    assert opened(AtMost(group(0, 0, 0), ZONE, group(limit)), at, pod, *moves) == nodes


def test_pods_of_no_group_and_of_other_groups_do_not_count() -> None:
    rule = AtMost(group(0, -1, 1, 0), ZONE, group(1, 1))

    assert opened(rule, [0, 0, 0, -1], 3) == "23"
    assert opened(rule, [2, 0, 0, -1], 3) == "013"
    assert opened(rule, [0, 0, 0, 2], 1) == "123"


@pytest.mark.parametrize(
    ("least", "at", "pod", "moves", "nodes"),
    [
        pytest.param(2, [0, 2, -1], 0, (), "1", id="the only one of its zone"),
        pytest.param(2, [0, 0, 2], 0, (), "123", id="another one stays there"),
        pytest.param(1, [0, 2, -1], 0, (), "123", id="one zone is enough"),
        pytest.param(1, [0, 0, -1], 0, ((1, 3),), "12", id="in one zone, but not in none"),
        pytest.param(1, [2, -1, -1], 0, (), "01", id="from one zone to another one"),
        pytest.param(1, [0, 2, -1], 1, ((0, 3),), "01", id="once the only other one has left for no zone"),
        pytest.param(1, [2, -1, -1], 0, ((1, 0),), "013", id="once another one has come to the first zone"),
        pytest.param(0, [0, -1, -1], 0, (), "123", id="none is enough"),
        pytest.param(2, [0, 0, -1], 0, (), "123", id="fewer than there have to be"),
        pytest.param(2, [0, 3, -1], 0, (), "12", id="in the only zone, to another one"),
        pytest.param(2, [0, 2, -1], 2, (), "0123", id="one that is pending"),
        pytest.param(2, [3, 2, 0], 0, (), "012", id="from no zone"),
        pytest.param(2, [0, 2, -1], 0, ((2, 0),), "123", id="once another one has come"),
        pytest.param(2, [0, 0, 2], 0, ((1, 2),), "1", id="once the other one has left"),
        pytest.param(2, [0, 0, 0], 0, ((1, 2), (1, 0)), "123", id="once one was there and left"),
    ],
)
def test_a_group_stays_in_as_many_domains_as_it_has_to(
    least: int, at: list[int], pod: int, moves: tuple[tuple[int, int], ...], nodes: str
) -> None:
    assert opened(MinDomains(group(0, 0, 0), ZONE, group(least)), at, pod, *moves) == nodes


@pytest.mark.parametrize(
    ("at", "pod", "moves", "nodes"),
    [
        pytest.param([0, 0, -1], 1, (), "1", id="the only company"),
        pytest.param([2, 0, -1], 1, (), "123", id="company of none"),
        pytest.param([0, 0, 1], 1, (), "123", id="another one is company, too"),
        pytest.param([0, 0, -1], 0, (), "13", id="to where there is no company"),
        pytest.param([0, 2, -1], 0, (), "123", id="to where there is company"),
        pytest.param([-1, 2, -1], 0, (), "23", id="one that is pending"),
        pytest.param([0, 2, -1], 0, ((2, 0), (1, 3)), "13", id="once company has come, and other company has left"),
        pytest.param([0, 0, -1], 1, ((0, 3),), "123", id="once who needed it has left"),
        pytest.param([3, 0, -1], 1, ((0, 0),), "1", id="once one has come that needs it"),
    ],
)
def test_pods_stay_with_the_company_that_they_need(
    at: list[int], pod: int, moves: tuple[tuple[int, int], ...], nodes: str
) -> None:
    """Pod 0 needs one of pods 1 and 2 in its zone."""
    assert opened(Together(group(0, 1, 1), ZONE, np.array([[0, 1]])), at, pod, *moves) == nodes


def test_a_group_is_its_own_company_and_pods_of_none_need_and_give_none() -> None:
    assert opened(Together(group(0, 0), ZONE, np.array([[0, 0]])), [0, 0], 0) == "123"
    assert opened(Together(group(0, -1), ZONE, np.array([[0, 1]])), [0, 0], 1) == "123"
    assert opened(Together(group(0, -1), ZONE, np.array([[0, 1]])), [0, 2], 0) == "13"


def test_a_pod_of_no_group_that_has_come_is_no_company() -> None:
    assert opened(Together(group(0, 1, -1), ZONE, np.array([[0, 1]])), [0, 0, 0], 0, (2, 2)) == "13"


def test_a_pod_needs_all_that_it_is_paired_with() -> None:
    both = Together(group(0, 1, 2), ZONE, np.array([[0, 1], [0, 2], [0, 1]]))

    assert opened(both, [-1, 0, 2], 0) == "3"
    assert opened(both, [-1, 0, 0], 0) == "013"
    assert opened(both, [-1, 0, 2], 0, (2, 1)) == "013"


@pytest.mark.parametrize(
    ("most", "moves", "pod", "nodes"),
    [
        pytest.param(1, (), 0, "123", id="none has moved"),
        pytest.param(1, ((1, 2),), 0, "", id="the one has moved"),
        pytest.param(1, ((1, 2),), 1, "013", id="the one itself may go on, and home"),
        pytest.param(1, ((1, 2), (1, 0)), 0, "123", id="it is home again"),
        pytest.param(0, (), 0, "", id="none may"),
        pytest.param(0, (), 2, "0123", id="one that was pending"),
        pytest.param(1, ((2, 1),), 0, "123", id="that one does not count"),
        pytest.param(0, (), 3, "123", id="one of no group"),
    ],
)
def test_as_many_pods_are_moved_as_a_limit_allows(
    most: int, moves: tuple[tuple[int, int], ...], pod: int, nodes: str
) -> None:
    assert opened(MoveLimit(group(0, 0, 0, -1), group(most)), [0, 0, -1, 0], pod, *moves) == nodes


def spread(skew: int = 1, **facts: Any) -> MaxSkew:
    return MaxSkew(group(0, 0, 0, -1), ZONE, group(skew), np.ones((1, 2), bool), **facts)


@pytest.mark.parametrize(
    ("rule", "at", "pod", "nodes"),
    [
        pytest.param(spread(), [0, 0, 2, 0], 0, "123", id="to the emptier zone"),
        pytest.param(spread(), [0, 0, 2, 0], 2, "3", id="out of the emptiest zone"),
        pytest.param(spread(2), [0, 0, 2, 0], 2, "3", id="three and none"),
        pytest.param(spread(3), [0, 0, 2, 0], 2, "013", id="three and none are allowed"),
        pytest.param(spread(), [0, 2, -1, 0], 2, "0123", id="one that is pending, with even zones"),
        pytest.param(spread(), [0, 0, -1, 0], 2, "23", id="one that is pending, with uneven zones"),
        pytest.param(spread(), [0, 0, 2, 0], 3, "123", id="one of no group"),
        pytest.param(spread(holds_first=True), [0, 0, 2, 0], 0, "23", id="not within a full zone while it is there"),
        pytest.param(spread(2, holds_first=True), [0, 0, 2, 0], 0, "123", id="within it as far as the skew allows"),
    ],
)
def test_pods_are_spread_as_evenly_as_they_have_to_be(rule: MaxSkew, at: list[int], pod: int, nodes: str) -> None:
    assert opened(rule, at, pod) == nodes


@pytest.mark.parametrize(
    ("at", "skew", "facts", "stay"),
    [
        pytest.param([0, 2], 1, {}, True, id="one in each zone"),
        pytest.param([0, 0, 2], 1, {}, False, id="the second of a zone"),
        pytest.param([0, 0, 2, 2], 1, {}, True, id="two in each zone"),
        pytest.param([0, 0, 2, 2], 2, {}, False, id="two in each zone, and more are allowed"),
        pytest.param([0, 0, 0, 2], 1, {}, False, id="uneven already"),
        pytest.param([0, 2], 1, {"free": [False, True]}, False, id="one that is free"),
        pytest.param([0, 2, -1], 1, {}, False, id="one that is pending"),
        pytest.param([0, 2, 3], 1, {}, False, id="one in no zone"),
        pytest.param([0, 2], 1, {"others": [[0, 1]]}, False, id="others make the other zone fuller"),
        pytest.param([0, 2], 1, {"others": [[1, 1]]}, True, id="others in both zones"),
    ],
)
def test_pods_are_kept_in_their_zones_where_none_may_be_the_first_to_leave(
    at: list[int], skew: int, facts: dict[str, Any], stay: bool
) -> None:
    arrays: dict[str, Any] = {key: np.array(value) for key, value in facts.items()}
    rule = MaxSkew(group(*[0] * len(at)), ZONE, group(skew), np.ones((1, 2), bool), **arrays)
    problem = make_problem([[1]] * len(at), [[9]] * 4, at, rules=[rule], allowed=[[True, True, True, False]])

    kept = with_kept_domains(problem)

    assert kept.allowed[kept.pod_class][0].tolist() == [True, True, not stay, False]
    assert (kept is problem) is not stay


def test_a_node_of_no_zone_that_is_open_lets_pods_leave() -> None:
    problem = make_problem(
        [[1]] * 2, [[9]] * 4, [0, 2], rules=[MaxSkew(group(0, 0), ZONE, group(1), np.ones((1, 2), bool))]
    )

    assert with_kept_domains(problem) is problem
    assert with_kept_domains(make_problem([[1]], [[9]], [0])).rules == ()


def test_limits_bind_where_more_pods_are_of_a_group_than_may_be_moved() -> None:
    limit = MoveLimit(group(0, 0, 1, -1, 2), group(1, 1, -3))

    assert limit.count(np.array([0, 1, 3, 4])).tolist() == [2, 0, 1]
    assert limit.binding(np.arange(5)) == [(0, 1), (2, 0)]
    assert limit.binding(np.array([0, 2, 3])) == []


def test_even_spread_counts_pods_in_domains_with_others() -> None:
    rule = MaxSkew(group(0, 0, 1, -1), ZONE, group(1, 1), np.ones((2, 2), bool), others=np.array([[0, 5], [1, 0]]))

    assert rule.count(np.array([0, 3, 2, 0])).tolist() == [[1, 5], [1, 1]]
    assert rule.count(np.array([-1, 1, -1, 0])).tolist() == [[1, 5], [1, 0]]
    assert rule.holds_for(np.array([3, 0])).tolist() == [False, True]
