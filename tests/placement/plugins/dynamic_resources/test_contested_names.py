"""A class that does not get its extended resource: whether pods can request it by its own name, no snapshot tells."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.snapshot import Snapshot
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.builders import Object, node_object, pod_object
from tests.placement.considered import LANDS, NO, UNKNOWN, consider
from tests.placement.plugins.dynamic_resources.worlds import NO_DEVICE_OBJECTS, device, device_class, slice_of

RESOURCE = "example.com/gpu"
OLD, YOUNG = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"
OWN = "deviceclass.resource.kubernetes.io/"
CAUSE = "insufficient {}, unless kube-scheduler was started before DeviceClass {} was created (NodeResourcesFit)"
FREE = [node_object("a", unschedulable=True), node_object("b"), slice_of("b", device("x"), device("y"))]


def made(name: str, created: str) -> Object:
    """A DeviceClass for the resource."""
    found = device_class(name, extendedResourceName=RESOURCE)
    found["metadata"]["creationTimestamp"] = created
    return found


CONTESTED = [made("a", YOUNG), made("b", OLD)]


def requesting(name: str, *resources: str, **facts: Any) -> Object:
    return pod_object(name, requests=dict.fromkeys(resources, "1"), **facts)


def snapshot(*objects: Object) -> Snapshot:
    return snapshot_from_objects([*FREE, *objects, *NO_DEVICE_OBJECTS])


@pytest.mark.parametrize(
    ("classes", "name", "verdict", "cause"),
    [
        pytest.param([("a", YOUNG), ("b", OLD)], "b", UNKNOWN, CAUSE.format(OWN + "b", "a"), id="the older is second"),
        pytest.param([("a", OLD), ("b", OLD)], "b", UNKNOWN, CAUSE.format(OWN + "b", "a"), id="of one age the second"),
        pytest.param([("a", YOUNG), ("b", OLD)], "a", LANDS, "", id="the one that has the resource"),
        pytest.param([("a", OLD), ("b", YOUNG)], "a", LANDS, "", id="the older is entered first"),
        pytest.param([("a", OLD), ("b", YOUNG)], "b", LANDS, "", id="the younger takes the resource over"),
        pytest.param([("a", OLD)], "c", NO, "", id="a class that does not exist"),
    ],
)
def test_name_of_a_class_that_another_has_displaced(
    classes: list[tuple[str, str]], name: str, verdict: LandingVerdict, cause: str
) -> None:
    victim = requesting("victim", OWN + name, node="a")

    landing = consider(snapshot(*(made(*each) for each in classes), victim))

    assert (landing.verdict, landing.cause) == (verdict, cause)


@pytest.mark.parametrize(
    ("resources", "facts", "verdict"),
    [
        pytest.param([OWN + "b", RESOURCE], {}, UNKNOWN, id="beside a resource that a class serves"),
        pytest.param([OWN + "b", "example.com/other"], {}, NO, id="beside a resource that no node has"),
        pytest.param([OWN + "b"], {"cpu": "1000"}, NO, id="where all nodes are too small"),
    ],
)
def test_what_else_the_pod_requests_decides_where_it_can(
    resources: list[str], facts: Object, verdict: LandingVerdict
) -> None:
    landing = consider(snapshot(*CONTESTED, requesting("victim", *resources, node="a", **facts)))

    assert landing.verdict == verdict


def test_pending_pod_is_unknown_and_not_pending() -> None:
    pod = requesting("new", OWN + "b", node=None, phase="Pending")

    prover = LandingProver(snapshot(*CONTESTED, pod))

    assert (prover.still_pending(), prover.undecided) == ((), {CAUSE.format(OWN + "b", "a"): 1})
