"""Who leads of several processes that loop: the one that holds the Lease of the loop."""

from __future__ import annotations

import logging
import signal
import threading
from datetime import timedelta
from typing import Any

import pytest

from descheduler.cycle.live.leading import Leader, leadership
from descheduler.cycle.options import ConnectionOptions
from descheduler.cycle.plugins import REGISTRY
from descheduler.kube import client as client_module
from descheduler.kube.client import KubeClient
from descheduler.kube.leases.store import micro_time
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.policy.load import load_policy
from descheduler.supervision import RunStopped
from tests.cycle.live.runs import taint_policy
from tests.living.builders import living_cluster
from tests.living.cluster import LivingCluster
from tests.migration.roads.whole_runs import watch_of
from tests.policy.builders import koordinator

OPTIONS = LeaseOptions(name="d", namespace="kube-system", duration_seconds=60)
LEASES = "leases.coordination.k8s.io"


KUBECONFIGS: list[str | None] = []
"""Those by which a process has connected."""


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> LivingCluster:
    """A cluster that the process connects to."""
    found = living_cluster()
    KUBECONFIGS.clear()

    def connect(kubeconfig: str | None, *options: object, **more: object) -> KubeClient:
        KUBECONFIGS.append(kubeconfig)
        return found.client()

    monkeypatch.setattr(client_module, "connect", connect)
    return found


def lead(cluster: LivingCluster, options: LeaseOptions = OPTIONS, **facts: Any) -> Any:
    """Leads runs of a policy."""
    policy = load_policy(taint_policy(), REGISTRY)
    return leadership(policy, ConnectionOptions(), options, facts.get("watch") or watch_of(cluster))


def holder(cluster: LivingCluster, name: str = "d-loop") -> str:
    """Who holds the Lease."""
    lease = cluster.get(LEASES, name, "kube-system")
    return "" if lease is None else lease["spec"].get("holderIdentity", "")


def foreign(cluster: LivingCluster, seconds: float = 0.0) -> None:
    """The Lease of another process, renewed so many seconds ago."""
    at = micro_time(cluster.clock.now() - timedelta(seconds=seconds))
    times = {"acquireTime": at, "renewTime": at, "leaseDurationSeconds": 60, "leaseTransitions": 0}
    head = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
    metadata = {"name": "d-loop", "namespace": "kube-system"}
    cluster.add({**head, "metadata": metadata, "spec": {"holderIdentity": "other", **times}})


def test_leader_holds_the_lease_of_the_loop_beside_that_of_runs(cluster: LivingCluster) -> None:
    with lead(cluster) as leader:
        assert holder(cluster)
        assert holder(cluster, "d") == ""
        assert leader.loss == ""

    assert holder(cluster) == ""


def test_name_of_the_lease_of_the_loop_is_no_longer_than_names_may_be(cluster: LivingCluster) -> None:
    with lead(cluster, LeaseOptions(name="d" * 250, namespace="kube-system", duration_seconds=60)):
        assert holder(cluster, f"{'d' * 248}-loop")


def test_process_without_a_lease_always_leads(cluster: LivingCluster) -> None:
    stop = threading.Event()

    with lead(cluster, LeaseOptions(is_wanted=False)) as leader:
        leader.stop_at_loss(stop)

        assert leader.loss == ""
    assert cluster.all(LEASES) == []
    assert not stop.is_set()


def test_process_waits_while_another_one_leads(cluster: LivingCluster, caplog: pytest.LogCaptureFixture) -> None:
    foreign(cluster)
    began = cluster.clock.monotonic()

    with caplog.at_level(logging.INFO), lead(cluster):
        assert holder(cluster) != "other"

    assert cluster.clock.monotonic() - began >= 60
    assert [record.message for record in caplog.records if "Waiting" in record.message] == [
        "Waiting: another process leads"
    ]


def test_process_that_is_told_to_stop_waits_no_longer(cluster: LivingCluster) -> None:
    foreign(cluster)
    watch = watch_of(cluster)
    cluster.clock.after(20, lambda: watch.request_stop(signal.SIGTERM))

    with pytest.raises(RunStopped), lead(cluster, watch=watch):
        raise AssertionError("it leads")
    assert holder(cluster) == "other"


@pytest.mark.parametrize(
    ("asked", "of_policy", "used"),
    [("mine", "theirs", "mine"), (None, "theirs", "theirs"), ("mine", "", "mine"), (None, "", None)],
)
def test_kubeconfig_is_the_caller_s_else_the_policy_s(
    cluster: LivingCluster, asked: str | None, of_policy: str, used: str | None
) -> None:
    policy = load_policy(koordinator(f"clientConnection: {{kubeconfig: '{of_policy}'}}\n"), REGISTRY)

    with leadership(policy, ConnectionOptions(kubeconfig=asked), OPTIONS, watch_of(cluster)):
        assert [used] == KUBECONFIGS


class Lease:
    """Stands for a Lease that may be lost."""

    def __init__(self, loss: str) -> None:
        self.loss = loss
        self.flags: list[threading.Event] = []

    def stopping(self, stop: threading.Event) -> None:
        """Notes the flag that it is to set."""
        self.flags.append(stop)


@pytest.mark.parametrize("loss", ["", "another process has taken it"])
def test_flag_is_set_at_once_where_the_lease_is_lost_already(loss: str) -> None:
    lease, stop = Lease(loss), threading.Event()
    leader = Leader(lease)  # type: ignore[arg-type] # stands for it

    leader.stop_at_loss(stop)

    assert leader.loss == loss
    assert lease.flags == [stop]
    assert stop.is_set() is bool(loss)
