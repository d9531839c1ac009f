"""Volumes and devices that are not on the other node, or that it cannot attach."""

from __future__ import annotations

from tests.e2e.closed_loop.holes import Hole
from tests.e2e.closed_loop.scenario import Scenario
from tests.e2e.closed_loop.steps import HOSTNAME, LEAVES, closed, leaving_rover, run, switch
from tests.e2e.closed_loop.strategies import LEAVING_PODS
from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.objects import deployment, node, pod

_DRIVER = "csi.test"


def _local_volume(cluster: Cluster) -> None:
    cluster.add_nodes(node("a"), closed(node("b")))
    here = {"nodeSelectorTerms": [{"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": ["a"]}]}]}
    _bind_claim(cluster, "local", {"local": {"path": "/mnt/disk"}, "nodeAffinity": {"required": here}})
    run(
        cluster,
        deployment("store", cluster.namespace, labels=LEAVES, volumes=[_volume("local")]),
        leaving_rover(cluster),
    )
    switch(cluster, close="a")


def _no_attachment_is_left(cluster: Cluster) -> None:
    cluster.create(_object("storage.k8s.io/v1", "CSIDriver", _DRIVER, spec={"attachRequired": False}))
    cluster.add_nodes(node("a"), closed(node("b")))
    for name in ("a", "b"):
        cluster.create(_csi_node(name, num_volumes=1))
    for name in ("one", "two"):
        _bind_claim(cluster, name, {"csi": {"driver": _DRIVER, "volumeHandle": f"{cluster.namespace}-{name}"}})
    run(
        cluster,
        pod("cache", cluster.namespace, volumes=[_volume("two")], nodeName="b"),
        deployment("store", cluster.namespace, labels=LEAVES, volumes=[_volume("one")]),
        leaving_rover(cluster),
    )
    switch(cluster, close="a")


def _device_of_the_node(cluster: Cluster) -> None:
    device_class = {"selectors": [{"cel": {"expression": f"device.driver == '{_DRIVER}'"}}]}
    cluster.create(_object("resource.k8s.io/v1", "DeviceClass", "gpu", spec=device_class))
    cluster.add_nodes(node("a"), closed(node("b")))
    pool = {"name": "a", "generation": 1, "resourceSliceCount": 1}
    devices = {"driver": _DRIVER, "nodeName": "a", "pool": pool, "devices": [{"name": "gpu-0"}]}
    cluster.create(_object("resource.k8s.io/v1", "ResourceSlice", "a-gpus", spec=devices))
    asked = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}
    template = _object("resource.k8s.io/v1", "ResourceClaimTemplate", "gpu", spec={"spec": asked})
    template["metadata"]["namespace"] = cluster.namespace
    cluster.create(template)
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    run(
        cluster,
        deployment("train", cluster.namespace, labels=LEAVES, resourceClaims=claims),
        leaving_rover(cluster),
    )
    switch(cluster, close="a")


def _bind_claim(cluster: Cluster, name: str, source: Object) -> None:
    """A claim bound to a volume of its own; volumes have no namespace, and so names that no other run uses."""
    volume_name = f"{cluster.namespace}-{name}"
    modes = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    size = {"storage": "1Gi"}
    volume = {**modes, "capacity": size, "persistentVolumeReclaimPolicy": "Retain", **source}
    cluster.create(_object("v1", "PersistentVolume", volume_name, spec=volume))
    claim = _object(
        "v1", "PersistentVolumeClaim", name, spec={**modes, "resources": {"requests": size}, "volumeName": volume_name}
    )
    claim["metadata"]["namespace"] = cluster.namespace
    cluster.create(claim)
    wait_until(f"claim {name} is bound", lambda: cluster.api.get(claim)["status"].get("phase") == "Bound")


def _volume(claim: str) -> Object:
    return {"name": "data", "persistentVolumeClaim": {"claimName": claim}}


def _csi_node(name: str, *, num_volumes: int) -> Object:
    driver = {"name": _DRIVER, "nodeID": name, "allocatable": {"count": num_volumes}}
    return _object("storage.k8s.io/v1", "CSINode", name, spec={"drivers": [driver]})


def _object(version: str, kind: str, name: str, *, spec: Object) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}


SCENARIOS = (
    Scenario(
        "its volume is on the node that it leaves",
        Hole.VOLUMES,
        LEAVING_PODS,
        _local_volume,
        num_landing=1,
    ),
    Scenario(
        "the other node cannot attach another volume",
        Hole.VOLUMES,
        LEAVING_PODS,
        _no_attachment_is_left,
        num_landing=1,
    ),
    Scenario(
        "only the node that it leaves has its device",
        Hole.DEVICES,
        LEAVING_PODS,
        _device_of_the_node,
        num_landing=1,
    ),
)
