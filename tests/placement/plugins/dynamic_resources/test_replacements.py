"""Where the replacement of a pod with devices is scheduled: its claims are new, and old ones go with their pod."""

from __future__ import annotations

import pytest

from descheduler.cluster.snapshot import Snapshot
from tests.builders import Object, node_object, owner, pod_object
from tests.placement.considered import LANDS, LIKELY, NO, consider
from tests.placement.plugins.dynamic_resources.worlds import (
    NO_DEVICE_OBJECTS,
    claim,
    device,
    device_class,
    request,
    slice_of,
    template,
)
from tests.placement.workloads import cluster_of, workload_object

OWN: Object = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpus"}]}
SHARED: Object = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "shared"}]}
WEB = "ReplicaSet/web"
A, B, CORDONED = node_object("a"), node_object("b"), node_object("a", unschedulable=True)
X_ON_A, X_ON_B = slice_of("a", device("x")), slice_of("b", device("x"))
TEMPLATE = template("gpus", request("r"))


def uid(pod: Object) -> str:
    return str(pod["metadata"]["uid"])


def pod_with_own_claim(name: str, node: str, *, of: str = WEB) -> tuple[Object, Object]:
    """A running pod with device `x` of its node, and its claim."""
    pod = pod_object(name, node=node, owners=[owner(of)], spec=OWN)
    pod["status"] = {
        **pod.get("status", {}),
        "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": f"{name}-gpu"}],
    }
    holder = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid(pod), "controller": True}
    made = claim(f"{name}-gpu", request("r"), devices=["x"], node=node, consumers=[uid(pod)], ownerReferences=[holder])
    return pod, made


def world(*objects: Object, of: str = WEB, spec: Object = OWN) -> Snapshot:
    workload = workload_object(of, template=pod_object("t", spec=spec))
    return cluster_of(*objects, workload, device_class(), *NO_DEVICE_OBJECTS)


@pytest.mark.parametrize("of", [WEB, "StatefulSet/db"])
def test_replacement_gets_a_claim_of_its_own_where_a_device_is_free(of: str) -> None:
    victim = pod_with_own_claim("victim", "a", of=of)

    landing = consider(world(CORDONED, B, X_ON_A, X_ON_B, *victim, TEMPLATE, of=of))

    assert (landing.verdict, landing.node, landing.cold) == (LANDS, "b", LANDS)


def test_device_of_the_victim_is_free_only_once_it_is_gone() -> None:
    landing = consider(world(A, B, X_ON_A, *pod_with_own_claim("victim", "a"), TEMPLATE))

    assert (landing.verdict, landing.node, landing.cold) == (LANDS, "a", NO)


def test_device_of_another_pod_is_not_free() -> None:
    other, victim = pod_with_own_claim("other", "b"), pod_with_own_claim("victim", "a")

    landing = consider(world(CORDONED, B, X_ON_A, X_ON_B, *other, *victim, TEMPLATE))

    assert (landing.verdict, landing.obstacles["cannot allocate all claims"]) == (NO, 1)


@pytest.mark.parametrize("others", [["other"], []], ids=["another pod uses it", "only the victim uses it"])
def test_shared_claim_pins_the_replacement_while_others_use_it(others: list[str]) -> None:
    pods = [pod_object(name, node="a", owners=[owner(WEB)], spec=SHARED) for name in ("victim", *others)]
    shared = claim("shared", request("r"), devices=["x"], consumers=[uid(pod) for pod in pods])

    landing = consider(world(CORDONED, B, X_ON_A, X_ON_B, *pods, shared, spec=SHARED))

    assert landing.cold is NO
    if others:
        assert (landing.verdict, landing.obstacles["resourceclaim not available on the node"]) == (NO, 1)
    else:
        assert (landing.verdict, landing.node) == (LANDS, "b")


def test_claim_follows_the_template_as_it_is_now() -> None:
    now = template("gpus", request("r", count=2))

    landing = consider(world(CORDONED, B, X_ON_A, X_ON_B, *pod_with_own_claim("victim", "a"), now))

    assert (landing.verdict, landing.obstacles["cannot allocate all claims"]) == (NO, 2)


def test_replacement_is_never_scheduled_without_its_template() -> None:
    landing = consider(world(CORDONED, B, X_ON_A, X_ON_B, *pod_with_own_claim("victim", "a")))

    assert landing.verdict is NO
    assert "a ResourceClaimTemplate does not exist" in landing.message


def test_selector_outside_the_subset_leaves_the_landing_open() -> None:
    odd = template("gpus", request("r", "url(device.driver).getHost() == 'x'"))

    landing = consider(world(CORDONED, B, X_ON_A, X_ON_B, *pod_with_own_claim("victim", "a"), odd))

    assert (landing.verdict, landing.node) == (LIKELY, "b")
    assert landing.cause.startswith("a selector of devices uses ")
