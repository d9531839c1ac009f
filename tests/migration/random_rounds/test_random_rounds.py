"""No limit is exceeded and nothing is relieved twice, whatever the API server refuses."""

from __future__ import annotations

import pytest

from tests.migration.random_rounds.runs import make_run

pytestmark = pytest.mark.long


@pytest.mark.parametrize("first_seed", range(0, 200, 50))
def test_random_runs_keep_every_promise(first_seed: int) -> None:
    runs = [make_run(seed) for seed in range(first_seed, first_seed + 50)]

    assert {run.seed: run.faults for run in runs if run.faults} == {}
    assert any(run.num_rounds > 1 for run in runs)


def test_same_seed_gives_the_same_run() -> None:
    assert make_run(7) == make_run(7)
