"""Migrations in the living cluster, end to end: the observer finds nothing wrong with those that are careful."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.integration.live_runs import run, taint_policy
from tests.living.builders import budget, deployment, living_cluster, node, stateful_set
from tests.living.careful import CarefulMigration
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay, Killed, SeededFaults
from tests.living.observing.observer import Observer
from tests.living.observing.promises import Limits, Promise
from tests.living.store import Object
from tests.migration.stand_ins import Clock


def shop(seed: int = 0) -> LivingCluster:
    """Two workloads of koord-scheduler, with a pod each on node n1, and a budget."""
    workloads = [
        deployment("web", 3, on=["n1", "n2", "n3"], cpu="1", scheduler="koord-scheduler"),
        stateful_set("db", 2, on=["n1", "n2"], cpu="1", scheduler="koord-scheduler"),
    ]
    return living_cluster(3, workloads, [budget("web", maxUnavailable=1)], seed=seed)


def moving(cluster: LivingCluster) -> list[Object]:
    """The pods that are to leave node n1."""
    return cluster.pods(node="n1")


def watched(cluster: LivingCluster) -> Observer:
    """An observer of the limits that the careful migration keeps."""
    return Observer(cluster, Limits(total=2, per_node=2, at_once_per_workload=1))


class VirtualSleeper(Clock):
    """The cluster's clock as a run takes it."""

    def __init__(self, cluster: LivingCluster) -> None:
        super().__init__()
        self._clock = cluster.clock

    def now(self) -> float:
        """The cluster's time in seconds."""
        return self._clock.monotonic()

    def sleep(self, seconds: float) -> None:
        """Lets the cluster live on."""
        self._clock.sleep(seconds)


def test_a_run_of_the_program_evicts_and_the_replacements_land() -> None:
    taint = node("n1", taints=["gone=soon:NoSchedule"])
    workloads = [deployment("web", 2, on=["n1", "n2"]), stateful_set("db", 1, on=["n1"])]
    cluster = living_cluster([taint, node("n2"), node("n3")], workloads, [budget("web", maxUnavailable=1)])
    observer = Observer(cluster)

    run(cluster.client(), taint_policy(), clock=VirtualSleeper(cluster))

    observer.assert_kept()
    assert len(observer.departures) == 2
    assert cluster.pods(node="n1") == []


@pytest.mark.own_calls
def test_pods_move_by_reservations() -> None:
    cluster = shop()
    observer, migration = watched(cluster), CarefulMigration(cluster.client(), cluster.clock)

    phases = [migration.move(pod) for pod in moving(cluster)]

    observer.assert_kept()
    assert phases == ["Succeeded", "Succeeded"]
    assert cluster.pods(node="n1") == []


@pytest.mark.own_calls
@pytest.mark.parametrize("seed", range(30))
def test_whatever_goes_wrong_with_calls_no_promise_is_broken(seed: int) -> None:
    cluster = shop(seed)
    observer = watched(cluster)
    way = FaultyWay(cluster.api, SeededFaults(seed, rate=0.3, most=40))
    migration = CarefulMigration(cluster.client(passage=way), cluster.clock)

    phases = Counter(migration.move(pod) for pod in moving(cluster))

    observer.assert_kept(settle_seconds=200)
    assert "" not in phases


class OneWhoForgetsRoom(CarefulMigration):
    """Leaves what was held, once the job has ended."""

    def release(self, room: str) -> str:
        """Nothing is released."""
        return "Failed"


class OneWhoGoesByNames(CarefulMigration):
    """Takes a new pod of the same name for the one that has to leave, and holds no room."""

    def is_same(self, found: Object, pod: Object) -> bool:
        """Whether the names agree."""
        return bool(found["metadata"]["name"] == pod["metadata"]["name"])

    def lead_away(self, pod: Object, name: str, room: Object | None, job: Object) -> None:
        """Evicts, come what may."""
        self.evict(pod, {})


@pytest.mark.own_calls
@pytest.mark.parametrize(
    ("careless", "promises"),
    [(OneWhoForgetsRoom, {Promise.ROOM_RELEASED}), (OneWhoGoesByNames, {Promise.REPLACEMENT, Promise.LIMIT})],
)
def test_careless_migrations_are_found_out(careless: type[CarefulMigration], promises: set[Promise]) -> None:
    broken: set[Promise] = set()
    for seed in range(5):
        cluster = shop(seed)
        observer = watched(cluster)
        way = FaultyWay(cluster.api, SeededFaults(seed, rate=0.3, most=40))
        migration = careless(cluster.client(passage=way), cluster.clock)
        for pod in moving(cluster):
            migration.move(pod)
        broken |= {found.promise for found in observer.finish(settle_seconds=200)}

    assert promises <= broken


@pytest.mark.long
@pytest.mark.own_calls
@pytest.mark.parametrize("kills_after_effect", [False, True])
def test_a_migration_that_is_ended_at_any_call_is_finished_by_the_next(kills_after_effect: bool) -> None:
    kill_at, is_over = 0, False
    while not is_over:
        kill_at += 1
        cluster = shop()
        observer, pods = watched(cluster), moving(cluster)
        way = FaultyWay(cluster.api, kill_at=kill_at, kills_after_effect=kills_after_effect)
        try:
            first = CarefulMigration(cluster.client(passage=way), cluster.clock)
            is_over = all(first.move(pod) for pod in pods)
        except Killed:
            second = CarefulMigration(cluster.client(), cluster.clock)
            assert [second.move(pod) for pod in pods] == ["Succeeded", "Succeeded"]
        observer.assert_kept()
    assert kill_at > 20
