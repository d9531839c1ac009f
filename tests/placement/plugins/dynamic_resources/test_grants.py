"""Who holds the devices of a claim, and when they are free again."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.plugins.dynamic_resources.grants import ClaimGrants
from descheduler.placement.plugins.dynamic_resources.interplay import ClaimInterplay
from tests.builders import Object, make_pod, node_object
from tests.placement.plugins.dynamic_resources.worlds import (
    claim,
    claiming,
    claiming_object,
    device,
    device_class,
    devices_on,
    request,
    scheduler_of,
    slice_of,
)

WORLD = (node_object("a"), node_object("b"), device_class(), slice_of("a", device("x")))


def bound(name: str, *claims: str) -> Object:
    """A pod on node a that uses these claims."""
    pod = claiming_object(name, *claims, phase="Running")
    pod["spec"]["nodeName"] = "a"
    return pod


def held(*consumers: str, **metadata: Any) -> Object:
    """A claim that has the only device, for the pods of these UIDs."""
    return claim("c", request("r"), devices=["x"], consumers=consumers, **metadata)


def takes_another(scheduler: Scheduler) -> bool:
    """Whether the only device is free for another claim."""
    return bool(devices_on(scheduler, claiming("new", "other")))


def scheduler_with(*objects: Object) -> Scheduler:
    """The scheduler of a cluster with one device, and with another claim that has none yet."""
    return scheduler_of(*WORLD, claim("other", request("r")), *objects)


def remove(scheduler: Scheduler, *names: str) -> None:
    """Takes pods of the snapshot off the cluster."""
    for pod in scheduler.cluster.snapshot.pods:
        if pod.name in names:
            scheduler.cluster.remove(pod)


def test_device_is_free_once_the_last_consumer_is_gone() -> None:
    pods = [bound(name, "c") for name in "pq"]
    scheduler = scheduler_with(held(*(pod["metadata"]["uid"] for pod in pods)), *pods)
    seen = [takes_another(scheduler)]

    for name in "pq":
        remove(scheduler, name)
        seen.append(takes_another(scheduler))

    assert seen == [False, False, True]


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(held("uid-of-nobody"), id="a pod that is not there"),
        pytest.param(held(), id="nobody, as it was allocated without a consumer"),
    ],
)
def test_device_stays_with_a_claim_whose_consumer_does_not_leave(made: Object) -> None:
    scheduler = scheduler_with(made, bound("p", "c"))

    remove(scheduler, "p")

    assert not takes_another(scheduler)


def test_consumer_that_is_no_pod_stays_whoever_has_its_uid() -> None:
    pod = bound("p", "c")
    made = held(pod["metadata"]["uid"])
    made["status"]["reservedFor"][0]["resource"] = "podgroups"
    scheduler = scheduler_with(made, pod)

    remove(scheduler, "p")

    assert not takes_another(scheduler)


def test_claim_made_for_a_pod_goes_with_it_although_nobody_consumes_it() -> None:
    pod = pod_with_template()
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": pod["metadata"]["uid"], "controller": True}
    scheduler = scheduler_with(held(ownerReferences=[owner]), pod)

    remove(scheduler, "p")

    assert takes_another(scheduler)


def pod_with_template() -> Object:
    """A pod on node a for which the claim `c` was made."""
    pod = bound("p")
    pod["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    pod["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": "c"}]
    return pod


def test_pod_that_waits_and_has_the_claim_reserved_does_not_free_it() -> None:
    pod = claiming_object("p", "c")
    scheduler = scheduler_with(held(pod["metadata"]["uid"]), pod)
    (waiting,) = scheduler.cluster.snapshot.pods

    placed = scheduler.place(scheduler.evaluate(waiting), 0)
    scheduler.cluster.take_off(placed)

    assert not takes_another(scheduler)


def test_claim_is_allocated_again_when_its_consumer_comes_back() -> None:
    """While it is gone, another pod of the claim is placed and taken off again."""
    pod = bound("p", "c")
    scheduler = scheduler_with(held(pod["metadata"]["uid"]), pod)
    before = scheduler.cluster.digest()

    with scheduler.cluster.what_if():
        sharing = scheduler.place(scheduler.evaluate(claiming("q", "c")), 0)
        remove(scheduler, "p")
        scheduler.cluster.take_off(sharing)
        during = takes_another(scheduler)

    assert during
    assert not takes_another(scheduler)
    assert devices_on(scheduler, claiming("q", "c")) == {"a": []}
    assert scheduler.cluster.digest() == before


def test_devices_that_a_placed_pod_got_are_free_when_it_is_taken_off() -> None:
    scheduler = scheduler_with(claim("c", request("r")))
    grants = scheduler.cluster.follow(ClaimGrants)
    before = grants.fingerprint()

    placed = scheduler.place(scheduler.evaluate(claiming("p", "c")), 0)
    during = takes_another(scheduler), grants.by_key["default", "c"].num_consumers
    scheduler.cluster.take_off(placed)

    assert during == (False, 1)
    assert takes_another(scheduler)
    assert (grants.fingerprint(), grants.by_key["default", "c"].grants) == (before, [])


@pytest.mark.parametrize(
    ("first", "second", "own", "do_interact"),
    [
        pytest.param("example.com/gpu", "example.com/gpu", "", True, id="both need devices"),
        pytest.param("example.com/gpu", "cpu", "", False, id="one needs none"),
        pytest.param("cpu", "example.com/gpu", "", False, id="the other needs none"),
        pytest.param("example.com/gpu", "example.com/gpu", "first", True, id="one of them of its own node alone"),
        pytest.param("example.com/gpu", "example.com/gpu", "both", False, id="both of their own nodes alone"),
    ],
)
def test_pods_bear_on_each_other_where_both_need_devices_and_one_others_than_its_nodes(
    first: str, second: str, own: str, do_interact: bool
) -> None:
    pods = [make_pod(name, requests={asked: "1"}) for name, asked in (("first", first), ("second", second))]
    rule = ClaimInterplay({"example.com/gpu"}, lambda pod: own in (pod.name, "both"))

    assert rule.interact(*pods) is do_interact
    assert rule.interact(*reversed(pods)) is do_interact
