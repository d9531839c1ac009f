"""The observer sees each promise that is broken, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial

import pytest

from tests.faults.faults import Delivery, Fault
from tests.living.acting.kubelet import STOP_SECONDS
from tests.living.api.request import Target
from tests.living.api.writes import bind
from tests.living.builders import (
    budget,
    deployment,
    elastic_quota,
    living_cluster,
    node,
    placeholder,
    pod,
    reservation,
    stateful_set,
)
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay
from tests.living.observing.observer import Observer
from tests.living.observing.promises import Limits, Promise
from tests.living.resources import by_plural
from tests.living.store import Object
from tests.living.transport import Passage

pytestmark = pytest.mark.own_calls


def job(*, phase: str, creator: str = "descheduler-7c1") -> Object:
    """A PodMigrationJob in a phase, "" for none."""
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "PodMigrationJob",
        "metadata": {"name": "j", "annotations": {"koordinator.sh/job-created-by": creator}},
        "spec": {"podRef": {"namespace": "shop", "name": "web"}},
        "status": {"phase": phase} if phase else {},
    }


def config_map_job(*, phase: str) -> Object:
    """A job where there are no PodMigrationJobs."""
    held = {"spec": {}, **({"status": {"phase": phase}} if phase else {})}
    metadata = {"name": "descheduler-job-1", "namespace": "kube-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"job.json": json.dumps(held)}}


def evict(cluster: LivingCluster, found: Object, *, agent: str = "us", passage: Passage | None = None) -> int:
    """Evicts a pod by the API; the status of the answer."""
    metadata = found["metadata"]
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": metadata["name"]},
        "deleteOptions": {"preconditions": {"uid": metadata["uid"]}},
    }
    path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/eviction"
    client = cluster.client(agent=agent, passage=passage)
    return client.send("POST", path, body=json.dumps(body).encode()).status_code


def delete(cluster: LivingCluster, found: Object) -> None:
    """Deletes a pod by the API, past all budgets."""
    metadata = found["metadata"]
    cluster.client().send("DELETE", f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}")


def broken(observer: Observer) -> list[Promise]:
    """The promises that were broken so far, in order."""
    return [found.promise for found in observer.broken]


class TestEvictions:
    def test_careful_evictions_keep_every_promise(self) -> None:
        cluster = living_cluster(3, [deployment("web", 3), stateful_set("db", 2)], [budget("web", maxUnavailable=1)])
        observer = Observer(cluster, Limits(total=2, per_node=1, at_once_per_workload=1))

        codes = [evict(cluster, cluster.pods(app)[0]) for app in ("web", "db")]

        observer.assert_kept()
        assert (codes, len(observer.departures)) == ([201, 201], 2)

    def test_a_budget_that_a_deletion_violates(self) -> None:
        cluster = living_cluster(3, [deployment("web", 2)], [budget("web", minAvailable=2)])
        observer = Observer(cluster)

        delete(cluster, cluster.pods("web")[0])

        assert broken(observer) == [Promise.BUDGET]
        assert "which leaves 1 healthy pods; budget web needs 2" in observer.broken[0].sentence
        assert str(observer.broken[0]).startswith("30.00 s: request 1: pod shop/web-5d9c7b-")

    def test_what_others_delete_is_not_held_against_the_program(self) -> None:
        cluster = living_cluster(3, [deployment("web", 2)], [budget("web", minAvailable=1)])
        observer = Observer(cluster, Limits(total=0))

        evict(cluster, cluster.pods("web")[0], agent="rival")

        observer.assert_kept()

    def test_an_eviction_that_is_repeated_although_it_was_confirmed(self) -> None:
        cluster = living_cluster(3, [deployment("web", 2, annotations={STOP_SECONDS: "20"})])
        observer, target = Observer(cluster), cluster.pods("web")[0]

        codes = [evict(cluster, target), evict(cluster, target)]

        assert (codes, broken(observer)) == ([201, 201], [Promise.ONCE])

    def test_an_eviction_is_rightly_repeated_when_its_answer_was_lost(self) -> None:
        cluster = living_cluster(3, [deployment("web", 2, annotations={STOP_SECONDS: "20"})])
        observer, target = Observer(cluster), cluster.pods("web")[0]
        way = FaultyWay(cluster.api, lambda call: Fault(delivery=Delivery.TRUNCATED))

        with pytest.raises(Exception, match="cut short"):
            evict(cluster, target, passage=way)
        evict(cluster, target)

        observer.assert_kept()

    def test_a_replacement_that_is_evicted(self) -> None:
        cluster = living_cluster(3, [deployment("web", 1, on=["n1"])])
        observer = Observer(cluster)

        for _ in range(2):
            evict(cluster, cluster.pods("web")[0])
            cluster.clock.sleep(30)

        assert broken(observer) == [Promise.REPLACEMENT]

    def test_a_replacement_may_be_evicted_in_another_round(self) -> None:
        cluster = living_cluster(3, [deployment("web", 1, on=["n1"])])
        observer = Observer(cluster)

        for _ in range(2):
            evict(cluster, cluster.pods("web")[0])
            cluster.clock.sleep(30)
            observer.next_round()

        observer.assert_kept()

    @pytest.mark.parametrize(
        "limits",
        [
            Limits(total=1),
            Limits(per_node=1),
            Limits(per_namespace=1),
            Limits(at_once=1),
            Limits(at_once_per_node=1),
            Limits(at_once_per_namespace=1),
            Limits(at_once_per_workload=1),
        ],
    )
    def test_a_limit_that_is_exceeded(self, limits: Limits) -> None:
        cluster = living_cluster(2, [deployment("web", 3, on=["n1", "n1", "n1"])])
        observer = Observer(cluster, limits)

        for found in cluster.pods("web")[:2]:
            evict(cluster, found)

        assert broken(observer) == [Promise.LIMIT]

    def test_what_is_allowed_at_once_may_be_done_one_after_the_other(self) -> None:
        cluster = living_cluster(2, [deployment("web", 3, on=["n1", "n1", "n1"])])
        observer = Observer(cluster, Limits(at_once=1))

        for found in cluster.pods("web")[:2]:
            evict(cluster, found)
            cluster.clock.sleep(10)

        observer.assert_kept()

    def test_a_pod_that_nothing_replaces(self) -> None:
        cluster = living_cluster(1, [], [pod("bare", on="n1")])
        observer = Observer(cluster)

        evict(cluster, cluster.pods("bare")[0])

        assert broken(observer) == [Promise.NOTHING_LOST]

    def test_two_programs_count_together(self) -> None:
        cluster = living_cluster(2, [deployment("web", 2, on=["n1", "n1"])])
        observer = Observer(cluster, Limits(total=1), agents=("us", "us too"))

        for found, agent in zip(cluster.pods("web"), ("us", "us too"), strict=True):
            evict(cluster, found, agent=agent)

        assert broken(observer) == [Promise.LIMIT]


class TestCapacity:
    def test_a_node_that_holds_too_much(self) -> None:
        cluster = living_cluster([node("n1", cpu="1")], [], [pod("old", cpu="1", on="n1"), pod("new", cpu="1")])
        observer = Observer(cluster)

        bind(cluster.store, Target(by_plural("pods"), "shop", "new"), {"target": {"name": "n1"}})

        assert [found.sentence for found in observer.broken] == ["the pods on node n1 request 2 cpu, and it has 1"]

    def test_a_quota_that_is_exceeded(self) -> None:
        labels = {"quota.scheduling.koordinator.sh/name": "team"}
        quotas = [elastic_quota("root", cpu="1"), elastic_quota("team", parent="root", cpu="10")]
        pods = [pod("a", cpu="1", on="n1", labels=labels), pod("b", cpu="1", labels=labels, scheduler="nobody")]
        cluster = living_cluster(1, [], [*quotas, *pods])
        observer = Observer(cluster)

        bind(cluster.store, Target(by_plural("pods"), "shop", "b"), {"target": {"name": "n1"}})

        assert [found.sentence for found in observer.broken] == [
            "the pods of ElasticQuota root request 2 cpu, and its max is 1"
        ]


class TestLostPods:
    def test_a_replacement_that_fits_nowhere_any_more(self) -> None:
        cluster = living_cluster(2, [deployment("web", 1, cpu="3", on=["n1"])], [pod("rival", cpu="3", on="n2")])
        observer = Observer(cluster, patience_seconds=60)

        cluster.store.edit("nodes", "n1", "", lambda found: found["spec"].update(unschedulable=True))
        evict(cluster, cluster.pods("web")[0])
        cluster.clock.sleep(50)
        assert broken(observer) == []
        cluster.clock.sleep(60)

        assert broken(observer) == [Promise.NOTHING_LOST]
        assert "ReplicaSet shop/web-5d9c7b has 0 of 1 pods on nodes" in observer.broken[0].sentence

    def test_at_the_end_there_is_no_patience(self) -> None:
        cluster = living_cluster(1, [deployment("web", 1, cpu="3", on=["n1"])])
        observer = Observer(cluster)

        evict(cluster, cluster.pods("web")[0])
        cluster.add(pod("rival", cpu="3", on="n1"))

        assert Promise.NOTHING_LOST in [found.promise for found in observer.finish()]

    def test_a_replacement_that_is_late_is_not_lost(self) -> None:
        cluster = living_cluster(1, [stateful_set("db", 1, on=["n1"], annotations={STOP_SECONDS: "29"})])
        observer = Observer(cluster, patience_seconds=60)

        evict(cluster, cluster.pods("db")[0])

        observer.assert_kept()


class TestLeftovers:
    @pytest.mark.parametrize(
        ("left", "promise"),
        [
            (reservation("room", "web", labels={"descheduler/job": "uid"}), Promise.ROOM_RELEASED),
            (reservation("room", "web", labels={"descheduler/job": "uid"}, cpu="99"), Promise.ROOM_RELEASED),
            (placeholder("held", "uid", on="n1"), Promise.ROOM_RELEASED),
            (job(phase="Running"), Promise.JOB_ENDED),
            (job(phase=""), Promise.JOB_ENDED),
            (config_map_job(phase="Running"), Promise.JOB_ENDED),
            (config_map_job(phase=""), Promise.JOB_ENDED),
        ],
        ids=[
            "Reservation",
            "Reservation without a node",
            "placeholder",
            "running job",
            "new job",
            "running job in a ConfigMap",
            "new one",
        ],
    )
    def test_what_is_left_over(self, left: Object, promise: Promise) -> None:
        observer = Observer(living_cluster(1, [], [left]))

        assert [found.promise for found in observer.finish()] == [promise]

    @pytest.mark.parametrize(
        "left",
        [
            [reservation("theirs", "web")],
            [reservation("used", "web", labels={"descheduler/job": "uid"}), pod("web", scheduler="koord-scheduler")],
            [job(phase="Failed")],
            [config_map_job(phase="Succeeded")],
            [job(phase="Running", creator="4f3a")],
        ],
        ids=[
            "Reservation of others",
            "used Reservation",
            "ended job",
            "ended job in a ConfigMap",
            "job of another controller",
        ],
    )
    def test_what_may_stay(self, left: Iterable[Object]) -> None:
        Observer(living_cluster(1, [], left)).assert_kept()


def test_the_same_seed_and_the_same_calls_give_the_same_history() -> None:
    def history(seed: int) -> list[str]:
        cluster = living_cluster(3, [deployment("web", 5), stateful_set("db", 2)], seed=seed)
        for app in ("web", "db"):
            evict(cluster, cluster.pods(app)[0])
            cluster.clock.sleep(20)
        return [f"{change.version} {change.actor} {change.present}" for change in cluster.store.log]

    assert history(1) == history(1)
    assert history(1) != history(2)


def test_a_rival_acts_right_before_a_call() -> None:
    cluster = living_cluster(2, [deployment("web", 1, cpu="3", on=["n1"])])
    observer = Observer(cluster)
    way = FaultyWay(cluster.api)
    way.before("POST", "/eviction", partial(cluster.add, pod("rival", cpu="3", on="n2")))

    evict(cluster, cluster.pods("web")[0], passage=way)

    observer.assert_kept()
    assert cluster.nodes_of("web") == ["n1"]
