"""Laws of quotas in a few of the random worlds."""

from __future__ import annotations

import pytest

from tests.placement.plugins.elastic_quota.random_quotas import broken_laws

pytestmark = pytest.mark.long


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_laws_hold_in_random_worlds(first: int) -> None:
    assert {seed: found for seed in range(first, first + 50) if (found := broken_laws(seed))} == {}
