"""Jobs of Volcano come to what was said of them (500 of them: `python -m tests.e2e.peers.volcano_landings`)."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.binaries import Binaries
from tests.e2e.peers.volcano_landings.jobs import CLASSES, make_steps
from tests.e2e.peers.volcano_landings.trial import run_trial


def test_pods_of_jobs_are_bound_or_wait_as_was_said(peer_binaries: Binaries, data_folder: Path) -> None:
    tally = run_trial(data_folder, peer_binaries, num_jobs=60, seed=2)

    assert tally.contradictions == []
    assert set(tally.counts) == set(CLASSES)
    assert all(counts["bound"] for counts in tally.counts.values())
    assert tally.steps["evicting"]
    assert tally.steps["proven"]


def test_equal_seeds_give_equal_jobs() -> None:
    assert make_steps(3, 50) == make_steps(3, 50)
    assert make_steps(3, 50) != make_steps(4, 50)
