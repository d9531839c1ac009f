"""Others change the cluster between the plan and the eviction: nothing is evicted in vain, nothing is left pending.

`tests/e2e/test_rivals.py` and `tests/e2e/peers/test_koord_rivals.py` play the same on the real control plane.
"""

from __future__ import annotations

from functools import partial

import pytest

from descheduler.cycle.options import RunResult
from tests.living.builders import deployment, living_cluster, node, priority_class
from tests.living.faults import FaultyWay
from tests.living.observing.observer import Observer
from tests.migration.rivals.living_world import LivingRival
from tests.migration.rivals.table import RIVALRIES
from tests.migration.rivals.world import APP, SOURCE, TARGETS
from tests.migration.roads.whole_runs import WAYS, live_run, policy_of


@pytest.mark.parametrize("name", RIVALRIES)
def test_a_rival_has_nothing_evicted_in_vain(name: str) -> None:
    rivalry = RIVALRIES[name]
    way = WAYS[rivalry.way]
    web = deployment(APP, 1, on=[SOURCE], scheduler=way.scheduler, grace_seconds=1, cpu="1")
    nodes = [node(SOURCE, taints=["gone=soon:NoSchedule"]), *map(node, TARGETS)]
    others = [priority_class("descheduler-placeholder", -1_000_000_000)]
    cluster = living_cluster(nodes, [web], others, has_koordinator=way.has_koordinator)
    observer = Observer(cluster)
    passage = FaultyWay(cluster.api)
    passage.before(rivalry.method, rivalry.ending, partial(rivalry.deed, LivingRival(cluster)), nth=rivalry.nth)

    result = live_run(cluster, policy_of(way), passage)

    observer.assert_kept()
    if rivalry.evicted is not None:
        assert len(observer.departures) == rivalry.evicted
    if rivalry.code is not None:
        assert [outcome.code for outcome in result.outcomes] == [rivalry.code], told(result)
    assert all(found["spec"].get("nodeName") for found in cluster.pods(APP))


def told(result: RunResult) -> list[str]:
    return [f"{outcome.code.value}: {outcome.message}" for outcome in result.outcomes]


def test_there_are_as_many_as_promised() -> None:
    assert len(RIVALRIES) == 20
