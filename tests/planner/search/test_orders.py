"""Orders in which parts of a plan are tried: none twice where there are few."""

from __future__ import annotations

from itertools import islice, permutations

import pytest

from descheduler.planner.search.orders import orders_of


@pytest.mark.parametrize("num_parts", range(5))
def test_few_parts_are_tried_in_each_order_once_beginning_with_theirs(num_parts: int) -> None:
    orders = [tuple(order) for order in islice(orders_of(range(num_parts)), 100)]

    assert orders[0] == tuple(range(num_parts))
    assert sorted(orders) == list(permutations(range(num_parts)))


def test_more_parts_are_tried_in_ever_more_orders_which_are_the_same_in_each_run() -> None:
    first, *others = orders = [list(order) for order in islice(orders_of("abcde"), 40)]

    assert first == list("abcde")
    assert all(sorted(order) == first for order in others)
    assert len({tuple(order) for order in orders}) > 20
    assert orders == [list(order) for order in islice(orders_of("abcde"), 40)]
