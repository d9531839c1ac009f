"""One scenario played by one program."""

from __future__ import annotations

from uuid import uuid4

from tests.e2e.closed_loop.contenders import Contender
from tests.e2e.closed_loop.outcome import Outcome, outcome
from tests.e2e.closed_loop.scenario import Scenario
from tests.e2e.closed_loop.sight import look, wait_settled
from tests.e2e.cluster import Cluster
from tests.e2e.control_plane import ControlPlane


def play(scenario: Scenario, contender: Contender, cluster: Cluster) -> Outcome:
    """What `contender` does to `cluster`, which has to be empty and is to be cleared by the caller."""
    scenario.build(cluster)
    before = look(cluster.api)
    contender.run(cluster.plane, scenario.policy(verified=contender.verifies))
    return outcome(before, wait_settled(cluster.api))


def play_on(plane: ControlPlane, scenario: Scenario, contender: Contender) -> Outcome:
    """The same on a control plane without nodes and pods, which is left as it was."""
    cluster = Cluster(plane, f"loop-{uuid4().hex[:8]}")
    try:
        return play(scenario, contender, cluster)
    finally:
        cluster.clear()
