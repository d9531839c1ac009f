"""Pods of koord-scheduler come to what was said of them (500 of them: `python -m tests.e2e.peers.koord_landings`)."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.binaries import Binaries
from tests.e2e.peers.koord_landings.pods import CLASSES, make_arrivals
from tests.e2e.peers.koord_landings.trial import run_trial
from tests.e2e.peers.koord_landings.world import make_world


def test_pods_land_where_and_with_what_was_said_or_stay_pending(peer_binaries: Binaries, data_folder: Path) -> None:
    tally = run_trial(data_folder, peer_binaries, num_pods=60, seed=2)

    assert tally.contradictions == []
    assert tally.num_asked >= 60
    assert set(tally.counts) == set(CLASSES)
    assert all(counts["bound"] for counts in tally.counts.values())


def test_equal_seeds_give_equal_trials() -> None:
    assert make_world(3, 50) == make_world(3, 50)
    assert make_arrivals(3, 50, 6) == make_arrivals(3, 50, 6)
    assert make_arrivals(3, 50, 6) != make_arrivals(4, 50, 6)
