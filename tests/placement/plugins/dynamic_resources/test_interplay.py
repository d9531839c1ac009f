"""Which pods bear on each other because of devices."""

from __future__ import annotations

import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.plugins.dynamic_resources.interplay import ClaimInterplay
from descheduler.placement.prover import LandingProver
from tests.builders import Object, make_pod, node_object, owner, pod_object
from tests.placement.plugins.dynamic_resources.worlds import (
    NO_DEVICE_OBJECTS,
    claim,
    device,
    device_class,
    request,
    slice_of,
    template,
)
from tests.placement.workloads import workload_object

NODES = "abcdefghijkl"
MODEL_A = "device.attributes['gpu.example.com'].model == 'A'"
OWN: Object = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}


@pytest.mark.parametrize(
    ("resource", "needs"),
    [
        pytest.param("example.com/gpu", True, id="a class serves it"),
        pytest.param("deviceclass.resource.kubernetes.io/gpu", True, id="the name of a class"),
        pytest.param("nvidia.com/gpu", False, id="a device plugin serves it"),
        pytest.param("cpu", False, id="of the node"),
    ],
)
def test_pods_need_devices_by_the_classes_that_there_are(resource: str, needs: bool) -> None:
    """Without this, GPU pods of clusters without such classes would be proved one by one."""
    interplay, pod = ClaimInterplay({"example.com/gpu"}, lambda _: False), make_pod("p", requests={resource: "1"})

    assert interplay.is_local(pod) is not needs
    assert interplay.can_be_helped(pod) is needs
    assert interplay.interact(pod, pod) is needs


def pieces() -> list[Object]:
    """Two devices on each node."""
    return [slice_of(node, *(device(name, {"model": "A"}) for name in "xy")) for node in NODES]


def is_proven(*objects: Object) -> bool:
    """Whether pods that leave the first nine nodes, each with a device of its own, land in every order."""
    made = list[Object]()
    for node in NODES[:9]:
        pod = pod_object(f"p-{node}", node=node, owners=[owner("ReplicaSet/web")], spec=OWN)
        pod["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": f"c-{node}"}]
        uid = pod["metadata"]["uid"]
        holder = {"apiVersion": "v1", "kind": "Pod", "name": f"p-{node}", "uid": uid, "controller": True}
        held = claim(f"c-{node}", request("r"), devices=["x"], node=node, consumers=[uid], ownerReferences=[holder])
        made += [pod, held]
    web = workload_object("ReplicaSet/web", replicas=9, template=pod_object("t", spec=OWN))
    asked = template("t", request("r", MODEL_A))
    nodes = map(node_object, NODES)
    snapshot = snapshot_from_objects([*nodes, device_class(), asked, web, *made, *objects, *NO_DEVICE_OBJECTS])

    joint = LandingProver(snapshot).prove(list(snapshot.pods))

    assert joint.verdict is LandingVerdict.LANDS
    return joint.is_proven


def test_pods_with_devices_of_their_nodes_land_in_every_order() -> None:
    assert is_proven(*pieces())


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([slice_of("", device("n"), pool="net", allNodes=True)], id="devices that all nodes can use"),
        pytest.param([slice_of("a", device("n"), pool="b", driver="nic")], id="pools of one name on two nodes"),
        pytest.param([slice_of("a", device("n", allowMultipleAllocations=True), pool="n")], id="a shared device"),
        pytest.param([slice_of("a", device("n"), pool="n", driver="nic")], id="a device on which the selector fails"),
    ],
)
def test_nothing_is_proven_where_devices_bear_on_other_nodes(objects: list[Object]) -> None:
    assert not is_proven(*pieces(), *objects)
