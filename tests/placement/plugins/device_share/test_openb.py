"""The openb sample: every landing is decided, GPU by GPU."""

from __future__ import annotations

import pytest

from tests.placement.plugins.device_share.openb import asks_for_gpus, landings_of, read_sample


@pytest.mark.long
def test_landings_of_the_sample_are_decided_with_their_minors() -> None:
    snapshot = read_sample()
    pods = [pod for pod in snapshot.pods if pod.node_name][::40]

    landings = [each.landing for each in landings_of(snapshot, pods)]

    assert {landing.cause for landing in landings} == {""}
    assert all(
        bool(landing.allocations) == asks_for_gpus(landing.victim) for landing in landings if landing.node is not None
    )
