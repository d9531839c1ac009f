"""The only replica of a workload moves while a second one serves, and nobody else's number is overwritten."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from descheduler.migration.job.surge import Surge
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from tests.living.acting.kubelet import NEVER_READY, READY_SECONDS
from tests.living.builders import LOWEST, budget, deployment, living_cluster, node, stateful_set
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay, Killed
from tests.living.observing.observer import Observer
from tests.migration.roads.playing import Play

Object = dict[str, Any]

COST = "controller.kubernetes.io/pod-deletion-cost"
DEPLOYMENT = "Deployment shop/web"
MOVED = {OutcomeCode.DONE, OutcomeCode.MISSED_ROOM}
"""Room that is held by a placeholder is not tied to the new pod."""


@dataclass
class World:
    """A cluster with a Deployment of one replica on a node that nobody may be on any more."""

    cluster: LivingCluster
    play: Play
    observer: Observer

    def move(self) -> Outcome:
        """The outcome of moving the pod of `web` that is there now."""
        (outcome,) = self.play.evict(*self.cluster.pods("web", node="n1"))
        return outcome

    @property
    def replicas(self) -> int:
        """What the Deployment states."""
        found = self.cluster.get("deployments.apps", "web", "shop")
        assert found is not None
        return int(found["spec"]["replicas"])


def world(provider: str = "placeholder", *others: Object, required: bool = True, **pod: Any) -> World:
    scheduler = "koord-scheduler" if provider == "koordinator" else "default-scheduler"
    nodes = [node("n1", taints=["gone=soon:NoSchedule"]), node("n2"), node("n3")]
    web = deployment("web", 1, on=["n1"], scheduler=scheduler, **pod)
    cluster = living_cluster(nodes, [web], [LOWEST, *others])
    play = Play(cluster, provider, keeps_objects=provider == "koordinator", surge=Surge(is_required=required))
    return World(cluster, play, Observer(cluster))


@pytest.mark.parametrize("provider", ["placeholder", "koordinator"])
def test_the_only_replica_leaves_once_a_second_one_serves(provider: str) -> None:
    shop = world(provider, budget("web", minAvailable=1))
    outcome = shop.move()
    assert outcome.code in MOVED
    assert shop.observer.surged == [DEPLOYMENT]
    shop.observer.assert_kept()
    assert (shop.replicas, shop.cluster.nodes_of("web")) == (1, [outcome.landed_on])
    assert outcome.landed_on in ("n2", "n3")
    assert [job.phase for job in shop.play.jobs()] == ["Succeeded"]


def test_no_pod_is_evicted_through_the_api() -> None:
    shop = world()
    shop.move()
    dry = [
        call.request.document()["deleteOptions"].get("dryRun") for call in shop.cluster.api.sent("POST", "/eviction")
    ]
    assert dry == [["All"]]


def test_a_replica_set_of_its_own_is_scaled_itself() -> None:
    shop = world()
    replica_set = shop.cluster.all("replicasets.apps")[0]["metadata"]
    shop.cluster.store.edit(
        "replicasets.apps", replica_set["name"], "shop", lambda found: found["metadata"].pop("ownerReferences")
    )
    assert shop.move().code in MOVED
    shop.observer.assert_kept()
    assert shop.observer.surged == [f"ReplicaSet shop/{replica_set['name']}"]


def edit(kind: str, name: str, change: Callable[[Object], object]) -> Callable[[World], object]:
    """Has somebody change an object."""
    return lambda shop: shop.cluster.store.edit(kind, name, "shop", change)


def autoscaler() -> Object:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    head = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}
    return {**head, "metadata": {"name": "busy", "namespace": "shop"}, "spec": {"scaleTargetRef": target}}


OBSTACLES = {
    "a HorizontalPodAutoscaler": (lambda shop: shop.cluster.add(autoscaler()), "HorizontalPodAutoscaler busy"),
    "a pause": (edit("deployments.apps", "web", lambda found: found["spec"].update(paused=True)), "is paused"),
    "the strategy Recreate": (
        edit("deployments.apps", "web", lambda found: found["spec"].update(strategy={"type": "Recreate"})),
        "strategy Recreate",
    ),
    "a controller": (
        edit(
            "deployments.apps",
            "web",
            lambda found: found["metadata"].update(
                ownerReferences=[{"apiVersion": "x/v1", "kind": "Shop", "name": "a", "uid": "u", "controller": True}]
            ),
        ),
        "is managed by Shop a",
    ),
    "a deletion cost": (
        lambda shop: shop.cluster.store.edit(
            "pods",
            shop.cluster.pods("web")[0]["metadata"]["name"],
            "shop",
            lambda found: found["metadata"].update(annotations={COST: "5"}),
        ),
        "deletion cost of its own",
    ),
}


@pytest.mark.parametrize(("hinder", "why"), OBSTACLES.values(), ids=OBSTACLES)
def test_a_workload_is_not_scaled_beside(hinder: Callable[[World], object], why: str) -> None:
    shop = world()
    hinder(shop)
    outcome = shop.move()
    assert (outcome.kind, outcome.code) == (OutcomeKind.REFUSED, OutcomeCode.NOT_SURGED)
    assert why in outcome.message
    assert shop.observer.surged == []
    assert shop.cluster.nodes_of("web") == ["n1"]
    shop.observer.assert_kept()


def test_where_no_surge_is_required_the_pod_is_evicted_as_others_are() -> None:
    shop = world(required=False)
    shop.cluster.add(autoscaler())
    assert shop.move().code in MOVED
    shop.observer.assert_kept()
    assert shop.observer.surged == []
    assert shop.cluster.nodes_of("web") != ["n1"]


def test_workloads_with_more_replicas_are_not_surged() -> None:
    shop = world()
    scale(shop.cluster, 2)
    shop.cluster.clock.sleep(20)
    assert shop.move().code in MOVED
    assert (shop.observer.surged, shop.replicas) == ([], 2)
    shop.observer.assert_kept()


def test_a_pod_of_a_stateful_set_is_evicted_as_others_are() -> None:
    cluster = living_cluster([node("n1"), node("n2")], [stateful_set("db", 1, on=["n1"])], [LOWEST])
    observer = Observer(cluster)
    (outcome,) = Play(cluster, "placeholder", keeps_objects=False, surge=Surge()).evict(*cluster.pods("db"))
    assert outcome.code in MOVED
    assert observer.surged == []
    observer.assert_kept()


def test_a_budget_that_allows_no_disruption_keeps_the_pod_and_the_workload_is_scaled_back() -> None:
    shop = world("placeholder", budget("web", maxUnavailable=0))
    outcome = shop.move()
    assert (outcome.kind, outcome.code) == (OutcomeKind.REFUSED, OutcomeCode.BUDGET)
    shop.observer.assert_kept()
    assert (shop.replicas, shop.cluster.nodes_of("web")) == (1, ["n1"])


def test_a_second_pod_that_never_serves_is_given_up() -> None:
    shop = world(annotations={READY_SECONDS: NEVER_READY})
    outcome = shop.move()
    assert outcome.kind is OutcomeKind.REFUSED
    shop.observer.assert_kept()
    assert (shop.replicas, shop.cluster.nodes_of("web")) == (1, ["n1"])


def test_a_second_pod_that_never_serves_is_given_up_without_a_time_limit_too() -> None:
    shop = world(annotations={READY_SECONDS: NEVER_READY})
    shop.play.ttl = None
    outcome = shop.move()
    assert (outcome.code, outcome.message) == (
        OutcomeCode.NOT_SURGED,
        "the new pod did not become available in time",
    )
    shop.observer.assert_kept()


def scale(cluster: LivingCluster, replicas: int) -> None:
    """A user scales the Deployment."""
    path = "/apis/apps/v1/namespaces/shop/deployments/web/scale"
    body = f'{{"spec": {{"replicas": {replicas}}}}}'.encode()
    cluster.client(agent="user").send("PATCH", path, body=body, content_type="application/merge-patch+json")


@pytest.mark.parametrize("replicas", [1, 3])
@pytest.mark.parametrize("seconds", [0.35, 1.0, 4.0])
def test_what_a_user_scales_in_between_stands(replicas: int, seconds: float) -> None:
    shop = world(annotations={READY_SECONDS: "10"})
    way = FaultyWay(shop.cluster.api)
    way.before("PATCH", "/scale", lambda: shop.cluster.clock.after(seconds, lambda: scale(shop.cluster, replicas)))
    shop.play.through(way)
    outcome = shop.move()
    shop.observer.assert_kept()
    assert (outcome.code, shop.replicas) == (OutcomeCode.NOT_SURGED, replicas)


@pytest.mark.parametrize("replicas", [1, 3])
def test_what_a_user_scales_right_before_the_workload_is_scaled_back_stands(replicas: int) -> None:
    shop = world()
    way = FaultyWay(shop.cluster.api)
    way.before("PATCH", "/scale", lambda: scale(shop.cluster, replicas), nth=2)
    shop.play.through(way)
    shop.move()
    shop.observer.assert_kept()
    assert shop.replicas == replicas


def test_the_controller_may_choose_the_new_pod_and_nothing_is_lost() -> None:
    shop = world()
    way = FaultyWay(shop.cluster.api)

    def fail_new_pod() -> None:
        """The new pod stops serving right before the workload is scaled back."""
        (new,) = [pod for pod in shop.cluster.pods("web") if pod["spec"].get("nodeName") != "n1"]
        name = new["metadata"]["name"]
        unready = [{"type": "Ready", "status": "False"}]
        with shop.cluster.store.acting("kubelet"):
            shop.cluster.store.edit("pods", name, "shop", lambda found: found["status"].update(conditions=unready))

    way.before("PATCH", "/scale", fail_new_pod, nth=2)
    shop.play.through(way)
    outcome = shop.move()
    assert (outcome.kind, outcome.code) == (OutcomeKind.REFUSED, OutcomeCode.NOT_SURGED)
    shop.observer.assert_kept()
    assert (shop.replicas, shop.cluster.nodes_of("web")) == (1, ["n1"])
    assert COST not in shop.cluster.pods("web")[0]["metadata"]["annotations"]


def give_cost(cluster: LivingCluster, cost: str) -> None:
    """A user gives the pod that is to move a deletion cost by hand."""
    (old,) = cluster.pods("web", node="n1")
    path = f"/api/v1/namespaces/shop/pods/{old['metadata']['name']}"
    body = json.dumps({"metadata": {"annotations": {COST: cost}}}).encode()
    cluster.client(agent="kubectl").send("PATCH", path, body=body, content_type="application/merge-patch+json")


def costs(cluster: LivingCluster) -> list[str | None]:
    return [(pod["metadata"].get("annotations") or {}).get(COST) for pod in cluster.pods("web", node="n1")]


@pytest.mark.parametrize("cost", ["-2147483648", "5"])
@pytest.mark.parametrize("nth", [1, 2], ids=["as it scales up", "as it scales back"])
def test_a_deletion_cost_that_a_user_gives_meanwhile_stays(cost: str, nth: int) -> None:
    shop = world(annotations={READY_SECONDS: NEVER_READY})
    way = FaultyWay(shop.cluster.api)
    way.before("PATCH", "/scale", lambda: give_cost(shop.cluster, cost), nth=nth)
    shop.play.through(way)

    outcome = shop.move()

    assert outcome.kind is OutcomeKind.REFUSED
    assert costs(shop.cluster) == [cost]
    assert shop.replicas == 1


def test_the_next_run_takes_the_mark_of_a_killed_one_and_leaves_that_of_a_user() -> None:
    for is_marked_by_hand in (False, True):
        shop = world("placeholder", budget("web", minAvailable=1))
        way = FaultyWay(shop.cluster.api)
        way.before("PATCH", "/scale", partial(setattr, way, "is_dead", True), nth=2)
        with suppress(Killed):
            shop.play.through(way)
            shop.move()
        assert costs(shop.cluster) == ["-2147483648"]
        if is_marked_by_hand:
            give_cost(shop.cluster, "0")
            give_cost(shop.cluster, "-2147483648")

        Play(shop.cluster, "placeholder", keeps_objects=False).take_up()

        assert costs(shop.cluster) == (["-2147483648"] if is_marked_by_hand else [None])
        assert shop.replicas == 1


def test_a_run_that_is_stopped_scales_back() -> None:
    shop = world(annotations={READY_SECONDS: "60"})
    end = shop.cluster.clock.monotonic() + 20
    stopped = OutcomeCode.STOPPED, "the run was interrupted"
    shop.play.halted = lambda: stopped if shop.cluster.clock.monotonic() > end else None
    assert shop.move().code is OutcomeCode.STOPPED
    assert (shop.observer.surged, shop.replicas) == ([DEPLOYMENT], 1)
    shop.observer.assert_kept()
    assert shop.cluster.nodes_of("web") == ["n1"]


def test_a_workload_that_another_policy_surges_is_left_to_it() -> None:
    shop = world(annotations={READY_SECONDS: "60"})
    raise_replicas(shop.cluster, manager="descheduler-surge-of-another-job")
    shop.cluster.clock.sleep(80)
    outcome = shop.move()
    assert (outcome.code, shop.replicas) == (OutcomeCode.NOT_SURGED, 2)
    assert "n1" in shop.cluster.nodes_of("web")


def test_a_workload_whose_second_pod_does_not_serve_yet_is_not_taken_for_one_of_two() -> None:
    shop = world(annotations={READY_SECONDS: "60"})
    raise_replicas(shop.cluster, manager="somebody")
    outcome = shop.move()
    assert (outcome.code, shop.replicas) == (OutcomeCode.NOT_SURGED, 2)
    assert "n1" in shop.cluster.nodes_of("web")


def raise_replicas(cluster: LivingCluster, manager: str, *, agent: str = "another") -> None:
    """The workload is scaled up in the name of `manager`."""
    cluster.client(agent=agent).send(
        "PATCH",
        "/apis/apps/v1/namespaces/shop/deployments/web/scale",
        query={"fieldManager": manager},
        body=b'{"spec": {"replicas": 2}}',
        content_type="application/merge-patch+json",
    )


@pytest.mark.own_calls
def test_replicas_that_rise_after_the_run_has_given_up_are_taken_back_by_the_next() -> None:
    shop = world(annotations={READY_SECONDS: "60"})
    shop.play.ttl = timedelta(seconds=30)
    shop.move()
    (job,) = shop.play.jobs()
    raise_replicas(shop.cluster, f"descheduler-surge-{job.uid}", agent="us")
    assert shop.replicas == 2
    shop.play.take_up()
    assert shop.replicas == 1
    shop.observer.assert_kept()
