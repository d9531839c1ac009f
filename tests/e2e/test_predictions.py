"""What the placement engine says of a pod is what the live scheduler then does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.binaries import Binaries
from tests.e2e.judge import KUBE_SCHEDULER, generate_case, judging
from tests.e2e.judge.predictions import Tally, predict_case

pytestmark = pytest.mark.e2e

_SEEDS = range(501, 505)
"""Others than those of a full run, `python -m tests.e2e.judge.predictions`."""


def test_engine_predicts_where_the_scheduler_puts_pods(binaries: Binaries, tmp_path: Path) -> None:
    tally = Tally()

    with judging(tmp_path, binaries, KUBE_SCHEDULER) as judge:
        for seed in _SEEDS:
            predict_case(judge, generate_case(seed, 60), KUBE_SCHEDULER.version, tally)

    assert tally.num_rulings == 60 * len(_SEEDS)
    assert tally.faults == []
    assert tally.share_of_expected_nodes >= 0.99, tally.other_nodes
