"""The same cluster and policy: upstream's evictions leave pods pending or bring them back, ours do not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.binaries import Binaries
from tests.e2e.closed_loop import OURS, SCENARIOS, UPSTREAM, Outcome, Scenario, play_on
from tests.e2e.control_plane import ControlPlane, running


@pytest.fixture(scope="module")
def plane(peer_binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """One control plane for all scenarios and both programs."""
    with running(tmp_path_factory.mktemp("closed-loop"), peer_binaries) as made:
        yield made


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_upstream_does_harm_where_we_do_none(scenario: Scenario, plane: ControlPlane) -> None:
    theirs = play_on(plane, scenario, UPSTREAM)
    mine = play_on(plane, scenario, OURS)

    assert theirs.does_harm, theirs
    assert mine == Outcome(num_evicted=scenario.num_landing, num_pending=0, num_returned=0)
