"""What is said of the obstacle on one node, plugin by plugin."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from descheduler.placement.plugins.table import PLUGINS
from tests.builders import Object, node_object, pod_object, required_anti_affinity, required_node_affinity
from tests.explanation.questions import (
    ZONE,
    claim,
    pending_pod,
    placement_of,
    pod_explanation,
    policy_of,
    storage_class,
    volume,
)

SPREAD = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}
AFFINITY = {
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": ZONE}
        ]
    }
}


CORDONING: Object = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerPolicy",
    "profiles": [
        {
            "name": "p",
            "pluginConfig": [
                {
                    "name": "MigrationPlanner",
                    "args": {"objectives": [{"drainNodes": {"nodes": ["old"], "cordon": True}}]},
                }
            ],
            "plugins": {"balance": {"enabled": ["MigrationPlanner"]}},
        }
    ],
}


def port(number: int) -> Object:
    return {"containers": [{"name": "c", "image": "i", "ports": [{"hostPort": number, "containerPort": 80}]}]}


def details(*objects: Object) -> list[tuple[str, str]]:
    """(plugin, sentence) of the obstacles that node `here` has for the pending pod `new`."""
    (miss,) = [miss for miss in placement_of("new", *objects).misses if miss.node == "here"]
    return [(obstacle.plugin, sentence) for obstacle in miss.obstacles for sentence in obstacle.details]


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        pytest.param(
            [
                node_object("here"),
                pod_object("there", node="here", cpu="3700m"),
                pending_pod("new", cpu="500m"),
            ],
            [("NodeResourcesFit", "200m CPU short: requests 500m, 300m of 4 free")],
            id="cpu that others hold",
        ),
        pytest.param(
            [node_object("here", memory="1Gi"), pending_pod("new", memory="1536Mi")],
            [("NodeResourcesFit", "node too small: requests 1.5Gi memory, 1Gi is allocatable")],
            id="memory that no node of the size has",
        ),
        pytest.param(
            [node_object("here", pods="1"), pod_object("there", node="here"), pending_pod("new")],
            [("NodeResourcesFit", "maximum pods reached: 1 of 1 pods")],
            id="all places taken",
        ),
        pytest.param(
            [node_object("here", unschedulable=True), pending_pod("new")],
            [("NodeUnschedulable", "is cordoned; kubectl uncordon here makes it schedulable")],
            id="a cordon",
        ),
        pytest.param(
            [
                node_object("here"),
                pending_pod("new", spec={"hostNetwork": True, "hostUsers": False}),
            ],
            [("NodeDeclaredFeatures", "the node does not declare UserNamespacesHostNetworkSupport")],
            id="a feature of the kubelet",
        ),
        pytest.param(
            [
                node_object("here", cpu="4"),
                pod_object("ending", node="here", cpu="2", deleted=5),
                pod_object("idle", node="here", deleted=5),
                pod_object("running", node="here", cpu="1"),
                pending_pod("new", cpu="3"),
            ],
            [
                (
                    "NodeResourcesFit",
                    "2 CPU short: requests 3, 1 of 4 free; terminating pod default/ending holds 2 until gone",
                )
            ],
            id="room that a terminating pod holds",
        ),
        pytest.param(
            [
                node_object("here", pods="2"),
                *(pod_object(name, node="here", deleted=5) for name in ("one", "two")),
                pending_pod("new"),
            ],
            [
                (
                    "NodeResourcesFit",
                    "maximum pods reached: 2 of 2 pods; terminating pods default/one, default/two hold 2 until gone",
                )
            ],
            id="places that terminating pods hold",
        ),
        pytest.param(
            [node_object("here", taints=["gpu=yes:NoSchedule", "soft:PreferNoSchedule"]), pending_pod("new")],
            [("TaintToleration", "untolerated taint gpu=yes:NoSchedule")],
            id="the taint that keeps pods away",
        ),
        pytest.param(
            [
                node_object("here", labels={"disk": "hdd"}),
                pending_pod("new", node_selector={"disk": "ssd"}, affinity=required_node_affinity("arch", "arm")),
            ],
            [
                ("NodeAffinity", "nodeSelector requires disk=ssd, the node has hdd"),
                ("NodeAffinity", "node affinity requires arch in (arm), the node has no such label"),
            ],
            id="labels that differ or are missing",
        ),
        pytest.param(
            [
                node_object("here"),
                pod_object("holder", node="here", spec=port(80)),
                pending_pod("new", spec=port(80)),
            ],
            [("NodePorts", "host port 80/TCP is in use by default/holder")],
            id="the pod that holds a port",
        ),
        pytest.param(
            [
                node_object("here", labels={ZONE: "z1"}),
                node_object("next", labels={ZONE: "z1"}),
                pod_object("met", node="next", labels={"app": "db"}),
                pending_pod("new", affinity=required_anti_affinity({"app": "db"}, key=ZONE)),
            ],
            [("InterPodAffinity", f"violates required anti-affinity with default/met on next ({ZONE}=z1)")],
            id="the pod that it keeps away from",
        ),
        pytest.param(
            [
                node_object("here"),
                pod_object("holder", node="here", affinity=required_anti_affinity({"app": "web"})),
                pending_pod("new", labels={"app": "web"}),
            ],
            [
                (
                    "InterPodAffinity",
                    "default/holder has required anti-affinity against this pod (kubernetes.io/hostname=here)",
                )
            ],
            id="the pod that keeps it away",
        ),
        pytest.param(
            [
                node_object("here", labels={ZONE: "z1"}),
                node_object("next", labels={ZONE: "z2"}),
                pod_object("db", node="next", labels={"app": "db"}),
                pending_pod("new", affinity=AFFINITY),
            ],
            [("InterPodAffinity", f"no pod that matches the required pod affinity in {ZONE}=z1")],
            id="company that is elsewhere",
        ),
        pytest.param(
            [node_object("here"), pending_pod("new", affinity=AFFINITY)],
            [("InterPodAffinity", f"has no label {ZONE}, the topologyKey of the required pod affinity")],
            id="a node outside of the affinity's topology",
        ),
        pytest.param(
            [
                node_object("here", labels={ZONE: "z1"}),
                node_object("next", labels={ZONE: "z2"}),
                pod_object("web", node="here", labels={"app": "web"}),
                pending_pod("new", labels={"app": "web"}, spread=[SPREAD]),
            ],
            [
                (
                    "PodTopologySpread",
                    f"1 matching pod in {ZONE}=z1, the emptiest domain 0 (maxSkew: 1)",
                )
            ],
            id="a domain that is too full",
        ),
        pytest.param(
            [node_object("here"), pending_pod("new", labels={"app": "web"}, spread=[SPREAD])],
            [("PodTopologySpread", f"has no label {ZONE}, the topologyKey of the spread constraint")],
            id="a node outside of the spread's topology",
        ),
        pytest.param(
            [
                node_object("here", labels={ZONE: "z2"}),
                storage_class(),
                claim("data", volume_name="pv"),
                volume("pv", "data", zone="z1"),
                pending_pod("new", claims=["data"]),
            ],
            [
                (
                    "VolumeBinding",
                    f"volume pv of claim data is reachable only from nodes with {ZONE} in (z1), the node has z2",
                )
            ],
            id="a volume of another zone",
        ),
        pytest.param(
            [
                node_object("here", labels={ZONE: "z1"}),
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "CSINode",
                    "metadata": {
                        "name": "here",
                        "annotations": {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"},
                    },
                },
                storage_class(),
                claim("data", volume_name="pv"),
                volume("pv", "data", zone="z1", source={"awsElasticBlockStore": {"volumeID": "vol-1"}}),
                pending_pod("new", claims=["data"]),
            ],
            [
                (
                    "VolumeBinding",
                    "volume pv of claim data is reachable only from nodes with topology.ebs.csi.aws.com/zone in (z1),"
                    " the node has no such label",
                )
            ],
            id="a volume whose driver asks for a label of its own",
        ),
        pytest.param(
            [node_object("here"), storage_class(), claim("data"), pending_pod("new", claims=["data"])],
            [
                (
                    "VolumeBinding",
                    "no volume for claim data: no free volume of storage class local fits and is reachable from the"
                    " node, and none can be provisioned",
                )
            ],
            id="a claim without a volume",
        ),
        pytest.param(
            [
                node_object("here", labels={ZONE: "z2"}),
                storage_class(),
                claim("data", volume_name="pv"),
                volume("pv", "data", labels={ZONE: "z1"}),
                pending_pod("new", claims=["data"]),
            ],
            [("VolumeZone", f"volume pv of claim data is in {ZONE}=z1, the node in z2")],
            id="a volume whose label names another zone",
        ),
        pytest.param(
            [
                node_object("here"),
                storage_class(),
                claim("data", volume_name="pv", modes=["ReadWriteOncePod"]),
                volume("pv", "data"),
                pod_object("user", node="here", claims=["data"]),
                pending_pod("new", claims=["data"]),
            ],
            [("VolumeRestrictions", "claim data is ReadWriteOncePod and in use by pod default/user on here")],
            id="the pod that uses a claim for one pod",
        ),
    ],
)
def test_an_obstacle_names_what_is_missing_or_in_the_way(
    objects: Sequence[Object], expected: list[tuple[str, str]]
) -> None:
    assert details(*objects) == expected


def test_a_driver_that_attaches_no_more_says_how_many_it_has() -> None:
    volumes = []
    for name in ("one", "two"):
        made = volume(f"pv-{name}", name)
        made["spec"]["csi"] = {"driver": "disk.example.com", "volumeHandle": name}
        volumes += [claim(name, volume_name=f"pv-{name}"), made]
    limits = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": "here", "uid": "csi-here"},
        "spec": {"drivers": [{"name": "disk.example.com", "nodeID": "here", "allocatable": {"count": 1}}]},
    }

    found = details(
        node_object("here"),
        storage_class(),
        limits,
        *volumes,
        pod_object("user", node="here", claims=["one"]),
        pending_pod("new", claims=["two"]),
    )

    assert found == [
        (
            "NodeVolumeLimits",
            "driver disk.example.com attaches at most 1 volumes: 1 attached, 1 more requested",
        )
    ]


def test_every_explained_plugin_is_one_that_filters() -> None:
    assert {name for name, row in PLUGINS.items() if row.explain is not None and row.plugin is None} == set()


def test_cordon_of_the_run_itself_is_not_one_to_take_off() -> None:
    objects = [node_object("old"), node_object("new"), pod_object("one", node="new", cpu="1")]

    placement = pod_explanation("one", objects, policy_of(CORDONING)).placement

    assert placement is not None
    assert [detail for miss in placement.misses for obstacle in miss.obstacles for detail in obstacle.details] == [
        "the run cordons it (cordon: true)"
    ]
