"""Where the replacement of a pod with devices is scheduled: its claims are new, and old ones go with their pod."""

from __future__ import annotations

import pytest

from descheduler.cluster.snapshot import Snapshot
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.builders import Object, node_object, owner, pod_object
from tests.placement.considered import LANDS, LANDS_IF, LIKELY, NO, consider
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


def pending_with_template(name: str) -> Object:
    """A pod that is just created: kube-controller-manager has made no claim for it yet."""
    return pod_object(name, node="", phase="Pending", owners=[owner("ReplicaSet/other")], spec=OWN)


class TestPendingPods:
    """Pods whose claims are made in a moment get devices as their templates say."""

    def test_pod_without_its_claim_takes_the_device(self) -> None:
        prover = LandingProver(world(A, X_ON_A, pending_with_template("new"), TEMPLATE))

        assert [(pod.name, node) for pod, node in prover.pending_nodes()] == [("new", "a")]

    def test_two_of_them_do_not_get_the_same_device(self) -> None:
        pods = [pending_with_template(name) for name in ("new-0", "new-1")]

        prover = LandingProver(world(A, X_ON_A, *pods, TEMPLATE))

        assert len(list(prover.pending_nodes())) == len(prover.still_pending()) == 1

    def test_pod_without_its_template_stays_pending(self) -> None:
        prover = LandingProver(world(A, X_ON_A, pending_with_template("new")))

        assert [pod.name for pod in prover.still_pending()] == ["new"]

    def test_replacement_is_not_promised_the_device_that_a_pending_pod_takes(self) -> None:
        victim = pod_with_own_claim("victim", "a")

        landing = consider(world(CORDONED, B, X_ON_A, X_ON_B, *victim, pending_with_template("new"), TEMPLATE))

        condition = "pending pod default/new may be scheduled there first"
        assert (landing.verdict, landing.conditions) == (LANDS_IF, (condition,))


class TestFullClaims:
    """The API server accepts no more than 256 consumers of one claim."""

    @pytest.mark.parametrize(("num_others", "verdict"), [(255, LANDS), (256, NO)])
    def test_replacement_is_bound_while_there_is_a_place(self, num_others: int, verdict: LandingVerdict) -> None:
        victim = pod_object("victim", node="a", owners=[owner(WEB)], spec=SHARED)
        others = [f"other-{number}" for number in range(num_others)]
        consumers = [uid(victim), *others] if num_others < 256 else others
        shared = claim("shared", request("r"), devices=["x"], consumers=consumers)

        landing = consider(world(A, X_ON_A, victim, shared, spec=SHARED))

        assert landing.verdict is verdict
        if verdict is NO:
            assert landing.message == (
                "the scheduler rejects the replacement pod: a resource claim has 256 consumers,"
                " the most that the API server accepts"
            )

    def test_pending_pod_of_a_full_claim_stays_pending(self) -> None:
        shared = claim("shared", request("r"), devices=["x"], consumers=[f"other-{number}" for number in range(256)])
        new = pod_object("new", node="", phase="Pending", owners=[owner(WEB)], spec=SHARED)

        prover = LandingProver(world(A, X_ON_A, new, shared, spec=SHARED))

        assert [pod.name for pod in prover.still_pending()] == ["new"]

    def test_pod_that_names_a_claim_twice_is_never_bound(self) -> None:
        twice: Object = {"resourceClaims": [{"name": each, "resourceClaimName": "shared"} for each in ("r", "s")]}
        victim = pod_object("victim", node="a", owners=[owner(WEB)])
        two = [slice_of(node, device("x"), device("y")) for node in "ab"]

        landing = consider(world(CORDONED, B, *two, victim, claim("shared", request("r")), spec=twice))

        assert (landing.verdict, landing.message) == (
            NO,
            "the scheduler rejects the replacement pod: binding fails: the pod must not name resource claim shared"
            " twice",
        )


@pytest.mark.parametrize("status", ["resourceClaimStatuses", "extendedResourceClaimStatus"])
def test_claim_of_a_pod_that_no_consumer_has_reserved_goes_with_the_pod(status: str) -> None:
    victim = pod_object("victim", node="a", owners=[owner(WEB)], spec=OWN)
    entry = {"name": "gpu", "resourceClaimName": "victim-gpu"}
    victim["status"] = {**victim.get("status", {}), status: [entry] if status == "resourceClaimStatuses" else entry}
    made = claim("victim-gpu", request("r"), devices=["x"])

    landing = consider(world(A, X_ON_A, victim, made, TEMPLATE))

    assert (landing.verdict, landing.node, landing.cold) == (LANDS, "a", NO)


class TestTolerationsForSomeSeconds:
    """The scheduler gives tainted devices to claims that tolerate the taint, for however short a time."""

    SICK = device("x", taints=[{"key": "sick", "value": "yes", "effect": "NoExecute"}])
    AGAIN = "kube-controller-manager deletes the pod again for taint sick of device gpu.example.com/b/x"

    @pytest.mark.parametrize(
        ("seconds", "verdict"),
        [
            pytest.param({}, LANDS, id="for ever"),
            pytest.param({"tolerationSeconds": 60}, LANDS_IF, id="for a minute"),
        ],
    )
    def test_replacement_that_gets_a_tainted_device_is_deleted_again(
        self, seconds: Object, verdict: LandingVerdict
    ) -> None:
        toleration = {"key": "sick", "operator": "Exists", "effect": "NoExecute", **seconds}
        made = template("gpus", request("r", tolerations=[toleration]))

        landing = consider(
            world(CORDONED, B, X_ON_A, slice_of("b", self.SICK), *pod_with_own_claim("victim", "a"), made)
        )

        conditions = (f"{self.AGAIN} (tolerationSeconds: 60)",) if seconds else ()
        assert (landing.verdict, landing.node, landing.conditions) == (verdict, "b", conditions)

    def test_replacement_that_gets_another_device_stays(self) -> None:
        toleration = {"key": "sick", "operator": "Exists", "tolerationSeconds": 60}
        made = template("gpus", request("r", tolerations=[toleration]))
        slices = slice_of("b", device("w"), self.SICK)

        landing = consider(world(CORDONED, B, X_ON_A, slices, *pod_with_own_claim("victim", "a"), made))

        assert (landing.verdict, landing.conditions) == (LANDS, ())

    def test_replacement_that_shares_a_tainted_device_is_deleted_again(self) -> None:
        owners = {"victim": WEB, "other": "ReplicaSet/other"}
        pods = [pod_object(name, node="b", owners=[owner(of)], spec=SHARED) for name, of in owners.items()]
        shared = claim("shared", request("r"), devices=["x"], node="b", consumers=[uid(pod) for pod in pods])

        landing = consider(world(B, slice_of("b", self.SICK), *pods, shared, spec=SHARED))

        condition = f"{self.AGAIN} (no toleration with effect: NoExecute holds that off)"
        assert (landing.verdict, landing.conditions) == (LANDS_IF, (condition,))
