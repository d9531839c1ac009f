"""What guards know of a real cluster: nodes by the table that kubectl shows, and pods that find no node."""

from __future__ import annotations

from descheduler.kube.client import connect
from descheduler.kube.lists.listing import column_cells
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.guards import Health, read_health
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import wait_until
from tests.e2e.objects import BEHAVIOUR, node, pod


def test_health_is_read_by_tables(cluster: Cluster) -> None:
    client = connect(str(cluster.kubeconfig), environ={})
    cluster.add_nodes(
        node("fine"), node("cordoned", unschedulable=True), node("broken", annotations={BEHAVIOUR: "not-ready"})
    )
    cluster.create(pod("stuck", cluster.namespace, cpu="900"))
    expected = Health(num_nodes=3, num_not_ready=1, num_unschedulable=1)

    wait_until("the cluster is as described", lambda: read_health(ObjectCalls(client)) == expected)

    cells = column_cells(client, "/api/v1/nodes", "Status")
    assert cells is not None
    assert sorted(cells) == ["NotReady", "Ready", "Ready,SchedulingDisabled"]
