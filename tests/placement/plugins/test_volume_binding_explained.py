"""What VolumeBinding tells about a node on which a pod does not get its volumes, and how its score is configured."""

from __future__ import annotations

import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.model.volume_sources import CSINode, PersistentVolume, PersistentVolumeClaim
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.plugins.helper.scores import ShapePoint
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.plugins.volume_binding import ROW, VolumeBindingArgs
from tests.builders import make_node
from tests.placement.clusters import ZONE, make_cluster
from tests.placement.configuration.kube_scheduler.builders import args_with, warnings, with_args
from tests.placement.plugins.explanations import told
from tests.placement.plugins.volumes.binding import FAST, NODES, TRACKED
from tests.placement.plugins.volumes.storage import (
    any_of,
    is_in,
    make_capacity,
    make_claim,
    make_class,
    make_storage,
    make_volume,
    new_pod,
    on_nodes,
)

_FAR = make_volume("v", claim="data", node_affinity=on_nodes("b"))
_NO_VOLUME = (
    "no volume for claim {}: no free volume of storage class slow fits and is reachable from the node, and none can be"
    " provisioned"
)


@pytest.mark.parametrize(
    ("claim", "volumes", "sentence"),
    [
        pytest.param(
            make_claim("data", volume="v"),
            [_FAR],
            "volume v of claim data is reachable only from nodes with kubernetes.io/hostname in (b), the node has a",
            id="a volume elsewhere",
        ),
        pytest.param(
            make_claim("data", volume="v"),
            [],
            "claim data is bound to volume v, which does not exist",
            id="a volume that is gone",
        ),
        pytest.param(make_claim("data"), [], _NO_VOLUME.format("data"), id="no volume"),
        pytest.param(
            make_claim("data", selected_node="b"),
            [],
            "claim data waits for its volume on node b",
            id="a claim that waits on another node",
        ),
        pytest.param(
            make_claim("data", selected_node="a"), [], _NO_VOLUME.format("data"), id="a claim that waits on this node"
        ),
    ],
)
def test_explanation_says_what_each_claim_lacks(
    claim: PersistentVolumeClaim, volumes: list[PersistentVolume], sentence: str
) -> None:
    cluster = make_cluster(NODES, **make_storage(claims=[claim], volumes=volumes))

    assert told(ROW, cluster, new_pod("data")) == [sentence]


def test_explanation_names_the_alternatives_of_a_volume() -> None:
    volume = make_volume("v", claim="data", node_affinity=any_of([is_in(ZONE, "west")], [is_in("disk", "ssd")]))
    cluster = make_cluster(NODES, **make_storage(claims=[make_claim("data", volume="v")], volumes=[volume]))

    assert told(ROW, cluster, new_pod("data")) == [
        f"volume v of claim data is reachable only from nodes with {ZONE} in (west), the node has east",
        "or with disk in (ssd), the node has no such label",
    ]


def test_explanation_says_that_there_is_no_room() -> None:
    storage = make_storage(
        claims=[make_claim("data", storage_class="fast", size=2**30)],
        classes=[FAST],
        csi_drivers=TRACKED,
        storage_capacities=(make_capacity("c", size=2**20, node="a"),),
    )

    found = told(ROW, make_cluster(NODES, **storage), new_pod("data"))

    assert found == ["no room for the volume of claim data: 1Gi of storage class fast"]


def test_explanation_leaves_out_claims_that_would_get_a_volume() -> None:
    claims = [make_claim("data", volume="v"), make_claim("new", storage_class="fast")]
    storage = make_storage(claims=claims, volumes=[_FAR], classes=[FAST, make_class()])

    (sentence,) = told(ROW, make_cluster(NODES, **storage), new_pod("data", "new"))

    assert sentence.startswith("volume v of claim data")


@pytest.mark.parametrize(
    ("migrated", "key"),
    [
        pytest.param(frozenset({"kubernetes.io/gce-pd"}), "topology.gke.io/zone", id="its driver's"),
        pytest.param(frozenset({"kubernetes.io/aws-ebs"}), ZONE, id="its own, where another plugin was left"),
        pytest.param(frozenset(), ZONE, id="its own"),
    ],
)
def test_explanation_asks_for_the_label_that_the_filter_asks_for(migrated: frozenset[str], key: str) -> None:
    volume = make_volume(
        "v",
        claim="data",
        in_tree_plugin="kubernetes.io/gce-pd",
        csi_driver="pd",
        node_affinity=any_of([is_in(ZONE, "east")]),
    )
    storage = make_storage(claims=[make_claim("data", volume="v")], volumes=[volume])
    storage["csi_nodes"] = {"a": CSINode("a", {}, migrated)}

    (sentence,) = told(ROW, make_cluster([make_node("a")], **storage), new_pod("data"))

    assert f"nodes with {key} in (east)" in sentence


def test_shape_counts_with_the_gate_alone() -> None:
    shape = "{shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}"

    read = args_with("VolumeBinding", shape).of(VolumeBindingArgs)

    assert read.shape == (ShapePoint(0, 0), ShapePoint(100, 10))
    assert args_with("VolumeBinding", "{}").of(VolumeBindingArgs) == VolumeBindingArgs()
    assert args_with("VolumeBinding", "{shape: []}").of(VolumeBindingArgs) == VolumeBindingArgs()
    assert warnings(with_args("VolumeBinding", shape)) == []


def test_shape_is_ignored_with_a_warning_before_the_gate_is_on() -> None:
    text = with_args("VolumeBinding", "{shape: [{utilization: 0, score: 0}]}")

    read = load_scheduler_configuration(text, version=KubeVersion.parse("1.36"), plugins=PLUGINS)

    assert read.profiles[0].args.of(VolumeBindingArgs) == VolumeBindingArgs()
    assert ["is ignored" in str(warning) for warning in read.warnings] == [True]
