"""What one run leaves for the next, and its status, in ConfigMaps beside the Lease."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from descheduler.cycle.live.status_keeping import find_status, keep_status, status_store
from descheduler.cycle.options import ConnectionOptions
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.remembering import KeptMemory, memory_name, recall
from descheduler.cycle.run import run_on_cluster
from descheduler.kube import client as client_module
from descheduler.kube.client import KubeClient
from descheduler.kube.leases.settings import LeaseSettings
from descheduler.kube.stored_object import ConfigMapStore
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.plan.run_memory import RunMemory
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from descheduler.report.outcome.status_document import RunSummary
from descheduler.supervision import RunStopped
from descheduler.transport.errors import ExchangeError
from tests.builders import NOW
from tests.cycle.live.runs import WITH_LEASE, crowded, run, taint_policy
from tests.living.api.server import Call
from tests.living.cluster import LivingCluster
from tests.living.faults import AnyFault, FaultyWay, Kind
from tests.migration.roads.whole_runs import one_after_the_other, watch_of
from tests.policy.builders import koordinator

LEASE = LeaseSettings("kube-system", "d")
AFTER = RunMemory().after(NOW, {"p/q/0": b"1"})


def config_map(cluster: LivingCluster, name: str, data: dict[str, str] | None) -> None:
    """Puts a ConfigMap into the cluster as another client would."""
    content = {} if data is None else {"data": data}
    cluster.add(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "kube-system"}, **content}
    )


def stored(cluster: LivingCluster, name: str) -> dict[str, str]:
    """What a ConfigMap holds."""
    found = cluster.get("configmaps", name, "kube-system")
    return {} if found is None else dict(found.get("data") or {})


def recalled(cluster: LivingCluster, client: KubeClient | None = None) -> KeptMemory:
    return recall(client or cluster.client(), LEASE, watch_of(cluster))


@pytest.mark.parametrize(
    ("data", "is_kept", "notes", "missing"),
    [
        pytest.param("", True, 0, "", id="a ConfigMap that is not there"),
        pytest.param({"memory.json": AFTER.encoded()}, True, 0, "", id="a memory"),
        pytest.param({"memory.json": "{"}, True, 1, "", id="a damaged memory"),
        pytest.param({"else": "x"}, False, 1, "the memory of earlier runs cannot be used", id="what is no memory"),
        pytest.param(None, False, 1, "the memory of earlier runs cannot be used", id="an empty ConfigMap"),
    ],
)
def test_memory_is_what_earlier_runs_have_left(data: Any, is_kept: bool, notes: int, missing: str) -> None:
    cluster = crowded()
    if data != "":
        config_map(cluster, memory_name("d"), data)

    kept = recalled(cluster)

    assert kept.memory.notes == (AFTER.notes if data == {"memory.json": AFTER.encoded()} else {})
    assert (kept.store is not None, len(kept.notes), kept.memory.missing) == (is_kept, notes, missing)


def test_nothing_is_recalled_without_a_lease() -> None:
    cluster = crowded()

    kept = recall(cluster.client(), None, watch_of(cluster))

    assert (kept.store, kept.notes) == (None, ())
    assert kept.memory.missing == "nothing is remembered from one run to the next without a Lease"


def without_connection(cluster: LivingCluster, ending: str) -> KubeClient:
    """A client that does not get through where the path ends so."""

    def choose(call: Call) -> AnyFault | None:
        return Kind.NO_CONNECTION if call.request.path.endswith(ending) else None

    return cluster.client(passage=FaultyWay(cluster.api, choose))


def test_memory_that_cannot_be_read_is_not_overwritten() -> None:
    cluster = crowded()

    kept = recalled(cluster, without_connection(cluster, memory_name("d")))

    assert kept.store is None
    assert kept.notes[0].startswith(
        "the memory of earlier runs cannot be read, so this run starts without and keeps none"
    )


@pytest.mark.parametrize(
    ("memory", "why_not", "notes", "is_written"),
    [
        pytest.param(AFTER, "", 0, True, id="what is new"),
        pytest.param(RunMemory(), "", 0, False, id="nothing new"),
        pytest.param(AFTER, "the Lease is lost", 1, False, id="no call may start"),
        pytest.param(RunMemory(), "the Lease is lost", 0, False, id="nothing new, and no call may start"),
    ],
)
def test_memory_is_written_where_it_is_new_and_a_call_may_start(
    memory: RunMemory, why_not: str, notes: int, is_written: bool
) -> None:
    cluster = crowded()
    kept = recalled(cluster)

    said = kept.keep(memory, watch_of(cluster), why_not=lambda: why_not)

    assert [text.startswith("the memory of this run is not kept: the Lease is lost") for text in said] == [True] * notes
    assert bool(stored(cluster, memory_name("d"))) is is_written


def test_memory_that_cannot_be_written_is_told() -> None:
    cluster = crowded()
    store = ConfigMapStore(without_connection(cluster, memory_name("d")), "kube-system", memory_name("d"))

    (said,) = KeptMemory(RunMemory(), store).keep(AFTER, watch_of(cluster), why_not=lambda: "")

    assert said.startswith("the memory of this run is not kept: ")


def policy(kind: Callable[[str], str] | None = None, kubeconfig: str = "") -> Policy:
    text = taint_policy() if kind is None else kind(f"clientConnection: {{kubeconfig: '{kubeconfig}'}}\n")
    return load_policy(text, REGISTRY)


def test_status_is_beside_the_lease_that_runs_hold_or_would_hold() -> None:
    client = crowded().client()

    def subject(found: Policy | None, options: LeaseOptions) -> str:
        return status_store(client, found, options).subject

    named = LeaseOptions(name="d", namespace="ops")
    assert subject(None, named) == subject(policy(), named) == "ConfigMap ops/d-status"
    assert subject(policy(), LeaseOptions(name="d", namespace="ops", is_wanted=False)) == "ConfigMap ops/d-status"
    assert subject(policy(), LeaseOptions(namespace="ops")) == "ConfigMap ops/descheduler-p-status"
    with pytest.raises(ValueError, match="neither a policy nor the name of a Lease"):
        status_store(client, None, LeaseOptions(namespace="ops"))


def test_status_is_not_kept_where_no_call_may_start() -> None:
    cluster = crowded()
    store = status_store(cluster.client(), policy(), LeaseOptions(name="d", namespace="kube-system"))

    def make() -> RunSummary:
        raise AssertionError("asked for")

    assert keep_status(store, make, watch_of(cluster), why_not=lambda: "the Lease is lost") == (
        "the status of this run is not kept: the Lease is lost",
    )


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The cluster that the program connects to, and the kubeconfigs that it was asked for."""
    found: dict[str, Any] = {"cluster": crowded("web"), "asked": []}

    def connect(kubeconfig: str | None, *options: object, **more: object) -> KubeClient:
        found["asked"].append(kubeconfig)
        client: KubeClient = found["cluster"].client()
        return client

    monkeypatch.setattr(client_module, "connect", connect)
    return found


NAMED = LeaseOptions(name="d", namespace="kube-system")


def test_status_is_found_where_runs_have_left_it(connected: dict[str, Any]) -> None:
    run(connected["cluster"], options=WITH_LEASE)

    found = find_status(policy(), ConnectionOptions(), NAMED)

    assert [each.planned for each in found.runs] == [1]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param("", "no run has left a status: ConfigMap kube-system/d-status does not exist", id="no ConfigMap"),
        pytest.param({}, "no run has left a status", id="an empty one"),
        pytest.param({"status.json": "{"}, "ConfigMap kube-system/d-status is ", id="a damaged one"),
    ],
)
def test_status_that_is_not_there_is_an_error(connected: dict[str, Any], data: Any, message: str) -> None:
    if data != "":
        config_map(connected["cluster"], "d-status", data)

    with pytest.raises(ExchangeError, match=message):
        find_status(policy(), ConnectionOptions(), NAMED)


@pytest.mark.parametrize(
    ("asked", "of_policy", "used"),
    [("mine", "theirs", "mine"), (None, "theirs", "theirs"), ("mine", "", "mine"), (None, "", None)],
)
def test_kubeconfig_is_the_caller_s_else_the_policy_s(
    connected: dict[str, Any], asked: str | None, of_policy: str, used: str | None
) -> None:
    found, connection = policy(koordinator, of_policy), ConnectionOptions(kubeconfig=asked)
    told: list[tuple[str, str]] = []

    with one_after_the_other():
        run_on_cluster(
            found,
            connection,
            WITH_LEASE,
            watch_of(connected["cluster"]),
            now=NOW,
            found_cluster=lambda context, server: told.append((context, server)),
        )
    find_status(found, connection, NAMED)

    assert connected["asked"] == [used, used]
    assert told == [("", "http://living.cluster")]


def test_stopped_run_keeps_no_memory() -> None:
    cluster = crowded()
    watch = watch_of(cluster)
    watch.stop.set()

    with pytest.raises(RunStopped):
        recall(cluster.client(), LEASE, watch)
