"""Rivals come while a Reservation of the live koord-scheduler holds room, or right before: nothing is evicted in vain.

The others are in `tests/e2e/test_rivals.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.e2e.binaries import Binaries
from tests.e2e.cluster import Cluster
from tests.e2e.control_plane import ControlPlane, running
from tests.e2e.peers.koordinator import install_koordinator, start_scheduler
from tests.e2e.rivals import assert_kept, play
from tests.migration.rivals.table import RIVALRIES


@pytest.fixture(scope="module")
def plane_with_koordinator(peer_binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane with koord-scheduler."""
    with running(tmp_path_factory.mktemp("rivals"), peer_binaries) as plane:
        install_koordinator(plane)
        start_scheduler(plane)
        yield plane


@pytest.fixture
def cluster_with_koordinator(plane_with_koordinator: ControlPlane) -> Iterator[Cluster]:
    """An empty cluster on it."""
    made = Cluster(plane_with_koordinator, f"e2e-{uuid4().hex[:8]}")
    yield made
    made.clear()


@pytest.mark.parametrize("name", [name for name, each in RIVALRIES.items() if each.way == "reservations"])
def test_a_rival_has_nothing_evicted_in_vain(cluster_with_koordinator: Cluster, name: str) -> None:
    played = play(cluster_with_koordinator, RIVALRIES[name])

    assert_kept(cluster_with_koordinator, RIVALRIES[name], played)
