"""Clusters in which a filter that upstream's NodeFit lacks, or has in another form, decides about the pod `victim`.

In each the node `a`, which the victim is on, takes nothing back, so that only the other nodes count.
"""

from __future__ import annotations

from collections.abc import Mapping

from descheduler.cluster.snapshot import Snapshot
from tests.builders import Object, container_status, node_object, pod_object, required_anti_affinity
from tests.placement.workloads import cluster_of, workload_object

ZONE = "topology.kubernetes.io/zone"
FULL = node_object("a", unschedulable=True)


def anti_affinity(labels: Mapping[str, str], *, key: str = ZONE, **term: object) -> Object:
    """Required anti-affinity to pods of `labels`, by zone unless `key` says otherwise."""
    return required_anti_affinity(labels, key=key, **term)


def pod_affinity(labels: Mapping[str, str]) -> Object:
    """Required affinity to pods of `labels`, by zone."""
    term = {"labelSelector": {"matchLabels": dict(labels)}, "topologyKey": ZONE}
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def hole_11_required_pod_affinity() -> Snapshot:
    """The only pod that the victim wants to be near to is in the zone of the node that takes nothing back."""
    return cluster_of(
        node_object("a", unschedulable=True, labels={ZONE: "z1"}),
        node_object("b", labels={ZONE: "z2"}),
        pod_object("db", labels={"app": "db"}),
        pod_object("victim", affinity=pod_affinity({"app": "db"})),
    )


def hole_12_anti_affinity_of_existing_pods() -> Snapshot:
    guard = pod_object("guard", node="b", affinity=required_anti_affinity({"app": "web"}))
    return cluster_of(FULL, node_object("b"), guard, pod_object("victim", labels={"app": "web"}))


def hole_13_anti_affinity_over_a_zone() -> Snapshot:
    """Node c is free of the other pod, but in its zone."""
    return cluster_of(
        node_object("a", unschedulable=True, labels={ZONE: "z1"}),
        node_object("b", labels={ZONE: "z2"}),
        node_object("c", labels={ZONE: "z2"}),
        pod_object("other", node="b", labels={"app": "web"}),
        pod_object("victim", affinity=anti_affinity({"app": "web"})),
    )


def hole_14_namespace_selector() -> Snapshot:
    affinity = required_anti_affinity({"app": "web"}, namespaceSelector={"matchLabels": {"team": "x"}})
    return cluster_of(
        FULL,
        node_object("b"),
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "x"}}},
        pod_object("other", namespace="shop", node="b", labels={"app": "web"}),
        pod_object("victim", affinity=affinity),
    )


def hole_14_mismatch_label_keys() -> Snapshot:
    """Keep away from pods of other tenants; NodeFit keeps away from none, as the template's selector names none."""
    term: Object = {"namespaces": ["shop"], "mismatchLabelKeys": ["tenant"], "namespaceSelector": {}}
    affinity = required_anti_affinity({"app": "web"}, **term)
    return cluster_of(
        FULL,
        node_object("b"),
        pod_object("other", namespace="free", node="b", labels={"app": "web", "tenant": "y"}),
        pod_object("victim", labels={"app": "web", "tenant": "x"}, affinity=affinity),
    )


def hole_15_same_name_in_another_namespace() -> Snapshot:
    affinity = required_anti_affinity({"app": "web"}, namespaces=["shop"])
    return cluster_of(
        FULL,
        node_object("b"),
        pod_object("victim", namespace="shop", node="b", labels={"app": "web"}, uid="other"),
        pod_object("victim", affinity=affinity),
    )


def hole_16_topology_spread() -> Snapshot:
    """The zone of the cordoned node keeps the minimum at zero, so the other zone may not get a second pod."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    return cluster_of(
        node_object("a", unschedulable=True, labels={ZONE: "z1"}),
        node_object("b", labels={ZONE: "z2"}),
        pod_object("other", node="b", labels={"app": "web"}),
        pod_object("victim", labels={"app": "web"}, spread=[constraint]),
    )


def hole_17_host_ports() -> Snapshot:
    port = {"containers": [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]}]}
    return cluster_of(FULL, node_object("b"), pod_object("other", node="b", spec=port), pod_object("victim", spec=port))


def hole_18_zone_of_a_volume() -> Snapshot:
    return cluster_of(
        node_object("a", unschedulable=True, labels={ZONE: "z1"}),
        node_object("b", labels={ZONE: "z2"}),
        claim(),
        volume(labels={ZONE: "z1"}),
        pod_object("victim", claims=["data"]),
    )


def hole_18_node_affinity_of_a_volume() -> Snapshot:
    match = [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["a"]}]
    return cluster_of(
        FULL,
        node_object("b"),
        claim(),
        volume(nodeAffinity={"required": {"nodeSelectorTerms": [{"matchExpressions": match}]}}),
        pod_object("victim", claims=["data"]),
    )


def hole_18_volume_for_one_pod_alone() -> Snapshot:
    return cluster_of(
        FULL,
        node_object("b"),
        claim(mode="ReadWriteOncePod"),
        volume(mode="ReadWriteOncePod"),
        pod_object("other", claims=["data"]),
        pod_object("victim", claims=["data"]),
    )


def hole_18_volume_limit_of_a_node() -> Snapshot:
    csi_node = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": "b"},
        "spec": {"drivers": [{"name": "csi", "nodeID": "b", "allocatable": {"count": 1}}]},
    }
    return cluster_of(
        FULL,
        node_object("b"),
        csi_node,
        claim(),
        claim("more"),
        volume(csi={"driver": "csi", "volumeHandle": "v1"}),
        volume("more", csi={"driver": "csi", "volumeHandle": "v2"}),
        pod_object("other", node="b", claims=["more"]),
        pod_object("victim", claims=["data"]),
    )


def hole_19_resource_claims() -> Snapshot:
    claims = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu-7"}]}
    return cluster_of(FULL, node_object("b"), pod_object("victim", spec=claims))


def hole_20_scheduling_gates() -> Snapshot:
    """The running pod has none any more; its template has."""
    template = pod_object("t", spec={"schedulingGates": [{"name": "quota"}]})
    return cluster_of(
        FULL, node_object("b"), pod_object("victim"), workload_object("ReplicaSet/web", template=template)
    )


def hole_20_scheduling_group() -> Snapshot:
    group = {"schedulingGroup": {"podGroupName": "training"}}
    return cluster_of(FULL, node_object("b"), pod_object("victim", spec=group))


def hole_21_other_scheduler() -> Snapshot:
    return cluster_of(FULL, node_object("b"), pod_object("victim", scheduler="volcano"))


def hole_22_tolerated_cordon() -> Snapshot:
    toleration = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}
    return cluster_of(
        node_object("a", cpu="0"),
        node_object("b", unschedulable=True),
        pod_object("victim", cpu="1", tolerations=[toleration]),
    )


def hole_23_toleration_for_some_seconds() -> Snapshot:
    toleration = {"key": "maintenance", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}
    return cluster_of(
        FULL, node_object("b", taints=["maintenance:NoExecute"]), pod_object("victim", tolerations=[toleration])
    )


def hole_24_toleration_that_compares() -> Snapshot:
    toleration = {"key": "level", "operator": "Gt", "value": "3"}
    return cluster_of(
        FULL, node_object("b", taints=["level=5:NoSchedule"]), pod_object("victim", tolerations=[toleration])
    )


def hole_25_request_of_zero_on_an_overcommitted_node() -> Snapshot:
    return cluster_of(
        FULL,
        node_object("b", cpu="1"),
        pod_object("other", node="b", cpu="2"),
        pod_object("victim", requests={"cpu": "0"}),
    )


def hole_26_pod_that_was_shrunk_in_place() -> Snapshot:
    """Its spec asks for little already, while it still holds much."""
    shrinking = pod_object("other", node="b", cpu="500m", containers=[container_status()])
    held = {"name": "c0", "resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "3"}}
    shrinking["status"]["containerStatuses"] = [container_status() | held]
    return cluster_of(FULL, node_object("b", cpu="4"), shrinking, pod_object("victim", cpu="2"))


def claim(name: str = "data", *, mode: str = "ReadWriteOnce") -> Object:
    """A claim that is bound to the volume of its name."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {"volumeName": name, "accessModes": [mode], "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Bound"},
    }


def volume(
    name: str = "data", *, mode: str = "ReadWriteOnce", labels: Mapping[str, str] | None = None, **spec: object
) -> Object:
    """A volume that is bound to the claim of its name."""
    reference = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": name}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": [mode], "claimRef": reference, **spec},
        "status": {"phase": "Bound"},
    }
