"""What a simulation says of owners is what controllers do, by the rules that were recorded of them.

`python -m tests.simulation.owners --worlds 2000` tries more clusters.
"""

from __future__ import annotations

import pytest

from tests.simulation.owners.judging import findings

pytestmark = pytest.mark.long

_NUM_WORLDS = 100
_PARTS = 4


@pytest.mark.parametrize("part", range(_PARTS))
def test_simulated_evictions_end_as_live_ones_and_break_no_promise(part: int) -> None:
    found = {seed: findings(seed) for seed in range(part, _NUM_WORLDS, _PARTS)}

    assert {seed: each.problems for seed, each in found.items() if each.problems} == {}
    assert sum(each.num_evicted for each in found.values()) > len(found)
    assert sum(each.num_refused for each in found.values()) > 0
