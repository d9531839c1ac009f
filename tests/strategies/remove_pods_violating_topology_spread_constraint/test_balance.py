"""How many pods move between topology domains."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.strategies.remove_pods_violating_topology_spread_constraint.surplus import (
    Transfer,
    balancing_transfers,
)


def after(sizes: Sequence[int], transfers: Sequence[Transfer]) -> list[int]:
    """The sizes once the transfers are made."""
    result = list(sizes)
    for transfer in transfers:
        result[transfer.source] -= transfer.num_pods
        result[transfer.target] += transfer.num_pods
    return result


@pytest.mark.parametrize(
    ("sizes", "max_skew", "expected"),
    [
        pytest.param([1, 3], 1, [2, 2], id="one of three moves"),
        pytest.param([2, 5], 1, [3, 4], id="an odd sum leaves a skew of one"),
        pytest.param([0, 4], 1, [2, 2], id="an empty domain is filled"),
        pytest.param([0, 1, 100], 1, [34, 33, 34], id="one domain feeds two"),
        pytest.param([0, 1, 3, 5], 1, [2, 2, 3, 2], id="the fullest feeds the emptiest"),
        pytest.param([2, 6], 2, [3, 5], id="a skew of two may stay"),
        pytest.param([0, 7, 8], 1, [5, 5, 5], id="two domains feed one"),
        pytest.param([2, 3, 4], 1, [3, 3, 3], id="a staircase becomes even"),
        pytest.param([5, 5, 5], 1, [5, 5, 5], id="even domains stay"),
        pytest.param([1, 2], 1, [1, 2], id="the allowed skew stays"),
        pytest.param([], 1, [], id="no domains at all"),
    ],
)
def test_domains_end_within_the_allowed_skew(sizes: list[int], max_skew: int, expected: list[int]) -> None:
    transfers = list(balancing_transfers(sizes, max_skew))

    assert after(sizes, transfers) == expected


def literal_transfers(sizes: list[int], max_skew: int) -> Iterator[Transfer]:
    """The same walk step by step to the very end, without knowing when nothing more can happen."""
    ideal = sum(sizes) / len(sizes)
    i, j = 0, len(sizes) - 1
    while i < j:
        if sizes[j] <= ideal:
            j -= 1
        skew = sizes[j] - sizes[i]
        if skew <= max_skew:
            i += 1
            continue
        move = min(ceil(sizes[j] - ideal), ceil(ideal - sizes[i]), ceil((skew - max_skew) / 2))
        if move <= 0:
            i += 1
            continue
        yield Transfer(j, i, move)
        sizes[j] -= move
        sizes[i] += move


sorted_sizes = st.lists(st.integers(0, 30), min_size=1, max_size=12).map(sorted)


@given(sorted_sizes, st.integers(1, 5))
def test_leaving_early_changes_nothing(sizes: list[int], max_skew: int) -> None:
    transfers = list(balancing_transfers(sizes, max_skew))

    assert transfers == list(literal_transfers(list(sizes), max_skew))


@given(sorted_sizes, st.integers(1, 5))
def test_no_domain_passes_the_mean_and_none_gives_what_it_lacks(sizes: list[int], max_skew: int) -> None:
    result = after(sizes, list(balancing_transfers(sizes, max_skew)))

    mean = sum(sizes) / len(sizes)
    assert sum(result) == sum(sizes)
    assert all(
        min(before, int(mean)) <= now <= max(before, ceil(mean)) for before, now in zip(sizes, result, strict=True)
    )
