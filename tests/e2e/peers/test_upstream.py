"""The upstream descheduler at work."""

from __future__ import annotations

import pytest

from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.objects import BEHAVIOUR, deployment, node
from tests.e2e.peers.upstream import run_once

_POLICY: Object = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerPolicy",
    "profiles": [
        {
            "name": "default",
            "pluginConfig": [
                {"name": "DefaultEvictor", "args": {}},
                {"name": "RemovePodsHavingTooManyRestarts", "args": {"podRestartThreshold": 1}},
            ],
            "plugins": {"deschedule": {"enabled": ["RemovePodsHavingTooManyRestarts"]}},
        }
    ],
}


@pytest.mark.parametrize(
    ("dry_run", "is_evicted"),
    [pytest.param(False, True, id="a run evicts"), pytest.param(True, False, id="a dry run keeps everything")],
)
def test_upstream_descheduler_runs_once(peer_cluster: Cluster, dry_run: bool, is_evicted: bool) -> None:
    peer_cluster.add_nodes(node("a"), node("b"))
    flaky = deployment("flaky", peer_cluster.namespace, annotations={BEHAVIOUR: "restarts"})
    (victim,) = peer_cluster.run(flaky)
    wait_until("the pod has restarted", lambda: _restarts(peer_cluster, victim) > 1)

    log = run_once(peer_cluster.plane, _POLICY, dry_run=dry_run)

    assert "RemovePodsHavingTooManyRestarts" in log
    (pod,) = peer_cluster.wait_ready("flaky", 1)
    assert (pod["metadata"]["name"] != victim["metadata"]["name"]) == is_evicted


def _restarts(cluster: Cluster, pod: Object) -> int:
    return int(cluster.api.get(pod)["status"]["containerStatuses"][0]["restartCount"])
