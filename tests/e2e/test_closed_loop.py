"""Nothing that this program evicts is left without a node or comes straight back; what can land is still evicted."""

from __future__ import annotations

import pytest

from tests.e2e.closed_loop import OURS, SCENARIOS, Outcome, Scenario, play
from tests.e2e.closed_loop.outcome import outcome
from tests.e2e.closed_loop.sight import Sight
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_every_evicted_pod_lands_on_another_node(scenario: Scenario, cluster: Cluster) -> None:
    result = play(scenario, OURS, cluster)

    assert result == Outcome(num_evicted=scenario.num_landing, num_pending=0, num_returned=0)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param(["one@a", "two@a"], Outcome(0, 0, 0), id="nothing happened"),
        pytest.param(["one@a", "new@b"], Outcome(1, 0, 0), id="a replacement is elsewhere"),
        pytest.param(["one@a", "new@a"], Outcome(1, 0, 1), id="a replacement came back"),
        pytest.param(["one@a", "new@"], Outcome(1, 1, 0), id="a replacement has no node"),
        pytest.param(["one@a"], Outcome(1, 1, 0), id="a replacement was not created"),
        pytest.param(["new@a", "newer@a"], Outcome(2, 0, 2), id="all came back"),
    ],
)
def test_evictions_are_counted_by_what_became_of_the_replicas(after: list[str], expected: Outcome) -> None:
    assert outcome(_sight("one@a", "two@a"), _sight(*after)) == expected


def test_pod_that_was_terminating_before_the_run_is_not_counted_as_evicted() -> None:
    before = _sight("one@a", "two@a")
    before.pods[1]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    assert outcome(before, _sight("one@a", "new@b")) == Outcome(0, 0, 0)


def _sight(*pods: str) -> Sight:
    """Two replicas are wanted of one owner; pods are `uid@node`."""
    return Sight(tuple(_pod(*pod.split("@")) for pod in pods), num_wanted=2)


def _pod(uid: str, node: str) -> Object:
    owner = {"uid": "web", "controller": True}
    return {"metadata": {"uid": uid, "ownerReferences": [owner]}, "spec": {"nodeName": node}}
