"""Controllers and kubelets of the living cluster do as those of a real one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.living.acting.kubelet import NEVER_READY, READY_SECONDS, STOP_SECONDS
from tests.living.api.evictions import is_ready
from tests.living.builders import budget, deployment, living_cluster, node, pod, priority_class, stateful_set
from tests.living.cluster import LivingCluster
from tests.living.store import Object

pytestmark = pytest.mark.own_calls


def delete(cluster: LivingCluster, found: Object, *, agent: str = "rival") -> None:
    """Deletes a pod by the API."""
    metadata = found["metadata"]
    path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
    assert cluster.client(agent=agent).send("DELETE", path).is_success


def names(pods: Sequence[Object]) -> set[str]:
    """The names of pods."""
    return {found["metadata"]["name"] for found in pods}


class TestWorkloads:
    def test_pods_of_a_deployment_are_created_placed_and_become_ready(self) -> None:
        cluster = living_cluster(2, [deployment("web", 3)])

        assert [is_ready(found) for found in cluster.pods("web")] == [True] * 3
        status = (cluster.get("deployments.apps", "web", "shop") or {})["status"]
        assert (status["replicas"], status["readyReplicas"]) == (3, 3)

    def test_a_deployment_without_a_replica_set_gets_one(self) -> None:
        whole, *_ = deployment("web", 2)

        cluster = living_cluster(2, [[whole]])

        assert len(cluster.pods("web")) == 2

    def test_a_replica_set_replaces_a_deleted_pod_under_another_name_before_it_is_gone(self) -> None:
        cluster = living_cluster(2, [deployment("web", 1, on=["n1"], annotations={STOP_SECONDS: "20"})])
        (old,) = cluster.pods("web")

        delete(cluster, old)
        cluster.clock.sleep(10)

        assert len(cluster.pods("web")) == 2
        (new,) = names(cluster.pods("web")) - names([old])
        assert new.startswith("web-5d9c7b-")
        cluster.clock.sleep(15)
        assert names(cluster.pods("web")) == {new}

    def test_a_stateful_set_replaces_a_pod_when_it_is_gone_under_the_same_name(self) -> None:
        cluster = living_cluster(2, [stateful_set("db", 2, on=["n1", "n2"], annotations={STOP_SECONDS: "20"})])
        old = cluster.pods("db")[0]

        delete(cluster, old)
        cluster.clock.sleep(10)
        assert len(cluster.pods("db")) == 2
        cluster.clock.sleep(20)

        new = cluster.pods("db")[0]
        assert (new["metadata"]["name"], is_ready(new)) == ("db-0", True)
        assert new["metadata"]["uid"] != old["metadata"]["uid"]

    def test_ordinals_are_created_one_after_the_other(self) -> None:
        cluster = living_cluster(1, [stateful_set("db", 2)], settle_seconds=1)

        assert names(cluster.pods("db")) == {"db-0"}
        cluster.clock.sleep(10)
        assert names(cluster.pods("db")) == {"db-0", "db-1"}

    def test_a_deployment_that_is_scaled_down_loses_pods(self) -> None:
        cluster = living_cluster(2, [deployment("web", 3)])
        cluster.store.edit("deployments.apps", "web", "shop", lambda found: found["spec"].update(replicas=1))

        cluster.clock.sleep(10)

        assert len(cluster.pods("web")) == 1

    def test_pods_that_are_refused_are_tried_again(self) -> None:
        cluster = living_cluster(1, [deployment("web", 1, priorityClassName="late")])
        assert cluster.pods("web") == []

        cluster.add(priority_class("late", 5))
        cluster.clock.sleep(10)

        assert cluster.pods("web")[0]["spec"]["priority"] == 5


class TestKubelets:
    def test_a_pod_is_ready_when_its_annotation_says_so(self) -> None:
        cluster = living_cluster(1, [], [pod("slow", annotations={READY_SECONDS: "60"})])

        assert not is_ready(cluster.pods("slow")[0])
        cluster.clock.sleep(40)
        assert is_ready(cluster.pods("slow")[0])

    def test_a_pod_may_never_be_ready(self) -> None:
        cluster = living_cluster(1, [], [pod("sick", annotations={READY_SECONDS: NEVER_READY})], settle_seconds=600)

        assert (cluster.pods("sick")[0]["status"]["phase"], is_ready(cluster.pods("sick")[0])) == ("Running", False)

    def test_a_pod_ends_within_its_grace_period(self) -> None:
        cluster = living_cluster(1, [], [pod("a", on="n1", grace_seconds=5, annotations={STOP_SECONDS: "60"})])

        delete(cluster, cluster.pods("a")[0])
        cluster.clock.sleep(4)
        assert len(cluster.pods("a")) == 1
        cluster.clock.sleep(2)

        assert cluster.pods("a") == []


class TestBudgets:
    def test_a_budget_allows_what_its_replicas_leave(self) -> None:
        cluster = living_cluster(2, [deployment("web", 4)], [budget("web", maxUnavailable="30%")])

        assert allowed(cluster) == 2

    def test_a_pod_that_is_not_ready_is_one_disruption_less(self) -> None:
        cluster = living_cluster(2, [deployment("web", 4)], [budget("web", minAvailable=3)])
        assert allowed(cluster) == 1

        delete(cluster, cluster.pods("web")[0])
        cluster.clock.sleep(0.5)
        assert allowed(cluster) == 0
        cluster.clock.sleep(10)

        assert allowed(cluster) == 1

    def test_a_budget_without_pods_allows_nothing(self) -> None:
        assert allowed(living_cluster([node("n1")], [], [budget("web", maxUnavailable=1)])) == 0


def allowed(cluster: LivingCluster) -> int:
    """The disruptions that the only budget allows."""
    (found,) = cluster.all("poddisruptionbudgets.policy")
    return int(found["status"]["disruptionsAllowed"])
