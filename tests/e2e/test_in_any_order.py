"""What a run evicts at once is scheduled again, in whatever order the controllers and the scheduler come to it."""

from __future__ import annotations

import pytest

from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import wait_until
from tests.e2e.objects import deployment, node
from tests.e2e.program import Program, koordinator_policy

DIRECTLY = koordinator_policy(
    "RemovePodsViolatingNodeTaints",
    {
        "defaultJobMode": "EvictDirectly",
        "maxMigratingPerNode": 0,
        "maxMigratingPerWorkload": "100%",
        "maxUnavailablePerWorkload": "100%",
        "skipEvictionGates": ["ExpectedReplicas"],
        "objectLimiters": {"workload": {"duration": "0s"}},
    },
)
CLOSED = {"spec": {"taints": [{"key": "closed", "effect": "NoSchedule"}]}}
_TIMES = 2


@pytest.mark.parametrize("time", range(_TIMES))
@pytest.mark.parametrize(
    ("small", "large"),
    [pytest.param("a", "b", id="the small ones first"), pytest.param("b", "a", id="the large ones first")],
)
def test_no_replacement_takes_the_only_node_of_another_one(
    cluster: Cluster, program: Program, small: str, large: str, time: int
) -> None:
    """Each of seven pods has a node that it fills, and emptier nodes score better: evicted at once, some wait."""
    del time  # the order is another one each time
    cluster.add_nodes(node("source", cpu="16"))
    cluster.run(deployment(small, cluster.namespace, replicas=4, cpu="1"))
    cluster.run(deployment(large, cluster.namespace, replicas=3, cpu="3"))
    cluster.add_nodes(*(node(f"small-{index}", cpu="1") for index in range(4)))
    cluster.add_nodes(*(node(f"large-{index}", cpu="3") for index in range(3)))
    cluster.api.patch(node("source"), CLOSED)

    report = program.run(DIRECTLY)

    assert report.exit_code == 0, report.log
    moved = report.evicted_apps()
    assert moved.total() == 7, (report.refusals(), report.codes())
    wait_until("no pod waits for a node", lambda: _num_without_node(cluster) == 0)
    pods = [*cluster.wait_ready(small, 4), *cluster.wait_ready(large, 3)]
    assert sum(pod["spec"]["nodeName"] != "source" for pod in pods) == moved.total()


def _num_without_node(cluster: Cluster) -> int:
    return sum(not pod["spec"].get("nodeName") for pod in cluster.api.pods(cluster.namespace))
