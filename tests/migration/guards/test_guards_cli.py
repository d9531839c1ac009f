"""A guard that trips ends the program with exit code 4, and its report says what was left and what comes next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.faults.faults import Answer
from tests.integration.live_processes import Cli
from tests.living.api.server import Call
from tests.living.builders import deployment, living_cluster, node, pod
from tests.living.cluster import LivingCluster
from tests.living.http import LivingServer
from tests.living.observing.observer import Observer
from tests.migration.roads.whole_runs import WAYS, policy_of

NUM_APPS = 6


def crowded_from_the_first_eviction() -> LivingCluster:
    """As many pods as apps have to leave a node; when the first is asked to, five others come that find no node."""
    apps = [deployment(f"app{number}", 1, on=["n1"], grace_seconds=1) for number in range(NUM_APPS)]
    cluster = living_cluster([node("n1", taints=["gone=soon:NoSchedule"]), node("n2"), node("n3")], apps)

    def crowd(call: Call, answer: Answer) -> None:
        del answer
        if call.request.path.endswith("/eviction") and len(cluster.api.sent("POST", "/eviction")) == 1:
            for number in range(5):
                cluster.add(pod(f"stuck-{number}", cpu="64"))

    cluster.api.after_call.append(crowd)
    return cluster


@pytest.mark.long
@pytest.mark.parametrize("flags", [(), ("--detailed-exitcode",)], ids=["plain", "detailed"])
def test_guard_that_trips_is_exit_code_4(
    tmp_path: Path, flags: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = crowded_from_the_first_eviction()
    observer = Observer(cluster)

    with LivingServer(cluster, scale=20) as server:
        cli = Cli(tmp_path, server.write_kubeconfig(tmp_path / "kubeconfig"), capsys)
        guards = "{interval: 1s, maxPendingPodsIncrease: 3}"
        cli.policy.write_text(policy_of(WAYS["directly"], guards=guards, evictQPS="0.5", evictBurst="1"))
        code, out, err = cli.run("-o", "json", *flags)

    outcome = json.loads(out)
    (left,) = outcome["notAttempted"]
    assert code == 4, err
    assert outcome["stoppedBy"] == (
        "5 unschedulable pods, 0 before the first eviction (guards.maxPendingPodsIncrease: 3)"
    )
    assert 0 < len(observer.departures) == outcome["counts"]["evicted"] < NUM_APPS
    assert (left["code"], left["count"]) == ("guard", NUM_APPS - len(observer.departures))
    assert left["message"].endswith("the next run decides again")
    assert "Traceback" not in err
