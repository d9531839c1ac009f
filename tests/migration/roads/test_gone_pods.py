"""A pod that somebody else has removed is not reported as evicted."""

from __future__ import annotations

import pytest

from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.living.builders import deployment, living_cluster, priority_class
from tests.living.faults import FaultyWay
from tests.migration.roads.playing import Play


@pytest.mark.parametrize(
    ("provider", "scheduler"), [("koordinator", "koord-scheduler"), ("placeholder", "default-scheduler")]
)
def test_a_pod_that_is_deleted_right_before_its_eviction_is_gone(provider: str, scheduler: str) -> None:
    lowest = priority_class("descheduler-placeholder", -1_000_000_000)
    web = deployment("web", 2, on=["n1", "n1"], scheduler=scheduler)
    cluster = living_cluster(3, [web], [lowest])
    pod = cluster.pods("web")[0]
    path = f"/api/v1/namespaces/shop/pods/{pod['metadata']['name']}"
    admin, way = cluster.client(agent="admin"), FaultyWay(cluster.api)
    way.before("POST", "/eviction", lambda: admin.send("DELETE", path, body=b'{"gracePeriodSeconds": 0}'))

    (outcome,) = Play(cluster, provider=provider).through(way).evict(pod)

    assert (outcome.kind, outcome.code) == (OutcomeKind.GONE, OutcomeCode.POD_GONE)
