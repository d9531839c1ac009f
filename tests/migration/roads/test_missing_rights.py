"""Whatever right is missing, what a run has made for pods that stay is not left behind where it can be removed."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.faults.faults import Answer, status_body
from tests.faults.wire import json_answer
from tests.living.api.server import Call
from tests.living.cluster import LivingCluster
from tests.living.transport import Passage
from tests.migration.roads.whole_runs import SURGES, live_run, policy_of, world

WAY = SURGES["surges with placeholders"]
RIGHTS = {
    "to list autoscalers": ("GET", "/horizontalpodautoscalers"),
    "to read workloads": ("GET", r"/replicasets/[^/]+"),
    "to scale": ("PATCH", "/scale"),
    "to list pods of a namespace": ("GET", "/namespaces/shop/pods"),
}


class Forbidding(Passage):
    """Refuses all calls of this method whose path ends so."""

    def __init__(self, method: str, ending: str) -> None:
        self._method = method
        self._ending = re.compile(rf"{ending}\Z")

    def answer(self, call: Call, carry_out: Callable[[], Answer]) -> Answer:
        """As the server answers."""
        if call.request.method == self._method and self._ending.search(call.request.path):
            return json_answer(403, status_body(403, "Forbidden", "no such right"))
        return carry_out()


def placeholders(cluster: LivingCluster) -> list[str]:
    return [pod["metadata"]["name"] for pod in cluster.pods() if pod["metadata"]["name"].startswith("placeholder-")]


def replicas(cluster: LivingCluster) -> list[int]:
    return [found["spec"]["replicas"] for found in cluster.all("deployments.apps")]


@pytest.mark.parametrize("right", RIGHTS)
def test_room_is_given_back(right: str) -> None:
    cluster = world(WAY)

    result = live_run(cluster, policy_of(WAY), Forbidding(*RIGHTS[right]))

    assert {(each.kind, each.code) for each in result.outcomes} == {
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.SERVER_ERROR)
    }
    assert all("RBAC" in each.message or "add this rule" in each.message for each in result.outcomes)
    assert not placeholders(cluster)
    assert replicas(cluster) == [1, 1]


def test_workload_is_scaled_back_where_its_room_cannot_be_removed() -> None:
    cluster = world(WAY)

    live_run(cluster, policy_of(WAY), Forbidding("DELETE", "/placeholder-[^/]+"))

    assert placeholders(cluster)
    assert replicas(cluster) == [1, 1]
