"""What pods want of storage, or what makes that impossible on any node."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.model.volume_sources import CSINode, PersistentVolumeClaim
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.volumes.node_sets import NodeSets
from descheduler.placement.plugins.volumes.volume_demands import VolumeDemand, VolumeDemands
from tests.builders import make_node
from tests.placement.clusters import ZONE, make_cluster
from tests.placement.plugins.volumes.storage import (
    any_of,
    ephemeral,
    is_in,
    make_claim,
    make_class,
    make_storage,
    make_volume,
    new_pod,
    on_nodes,
)

GCE = "kubernetes.io/gce-pd"
NODES = [
    make_node("a", labels={ZONE: "east", "topology.gke.io/zone": "east"}),
    make_node("b", labels={ZONE: "east"}),
    make_node("c", labels={ZONE: "west", "topology.gke.io/zone": "west"}),
]
UNREAD = frozenset({"Node", "Pod", "PersistentVolumeClaim"})


def wanted(pod: Pod, **storage: Any) -> VolumeDemand | Obstacle:
    """What a pod wants of a cluster with this storage."""
    cluster = make_cluster(NODES, **make_storage(**storage))
    return VolumeDemands(cluster, NodeSets(cluster.table)).of(cluster.placement_class(pod))


def reached(*claims: PersistentVolumeClaim, **storage: Any) -> list[str | None]:
    """The nodes that reach the volume of each claim; None for a volume that does not exist."""
    found = wanted(new_pod(*(claim.name for claim in claims)), claims=claims, **storage)
    assert isinstance(found, VolumeDemand)
    return [None if nodes is None else "".join(NODES[index].name for index in nodes) for nodes in found.reaches]


def test_pod_without_claims_wants_nothing() -> None:
    assert wanted(new_pod()) == VolumeDemand()


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({"node_affinity": on_nodes("b")}, ["b"], id="where it is"),
        pytest.param({}, [], id="everywhere"),
        pytest.param(None, [None], id="nowhere"),
    ],
)
def test_bound_volume_is_wanted_where_it_can_be_reached(
    facts: dict[str, Any] | None, expected: list[str | None]
) -> None:
    volumes = [] if facts is None else [make_volume("v", **facts)]

    assert reached(make_claim("data", volume="v"), volumes=volumes) == expected


@pytest.mark.parametrize(
    ("migrated", "expected"),
    [
        pytest.param({}, ["ab"], id="by the label of the volume"),
        pytest.param({"a": {GCE}, "c": {GCE}}, ["ab"], id="by that of the driver on the node that left the plugin"),
        pytest.param({"b": {GCE}}, ["a"], id="a node that left the plugin and has no label of the driver"),
        pytest.param({"b": {"kubernetes.io/aws-ebs"}}, ["ab"], id="a node that left another plugin"),
        pytest.param({"gone": {GCE}}, ["ab"], id="a node that is not there"),
    ],
)
def test_node_that_left_a_plugin_to_its_driver_is_asked_for_the_label_of_the_driver(
    migrated: dict[str, set[str]], expected: list[str | None]
) -> None:
    volume = make_volume("v", in_tree_plugin=GCE, node_affinity=any_of([is_in(ZONE, "east")]))
    csi_nodes = {name: CSINode(name, {}, frozenset(plugins)) for name, plugins in migrated.items()}

    found = reached(make_claim("data", volume="v"), volumes=[volume], csi_nodes=csi_nodes)

    assert found == expected


def test_volume_without_a_zone_is_reached_everywhere_whoever_serves_it() -> None:
    csi_nodes = {"a": CSINode("a", {}, frozenset({GCE}))}
    volumes = [make_volume("v", in_tree_plugin=GCE), make_volume("w", in_tree_plugin=GCE, node_affinity=on_nodes("b"))]

    found = reached(make_claim("one", volume="v"), make_claim("two", volume="w"), volumes=volumes, csi_nodes=csi_nodes)

    assert found == ["b"]


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        pytest.param(make_claim("data"), "", id="a class that waits"),
        pytest.param(make_claim("data", storage_class="now"), "pod has unbound immediate", id="a class that does not"),
        pytest.param(make_claim("data", storage_class="none"), "pod has unbound immediate", id="no class"),
        pytest.param(make_claim("data", volume="v", is_bound=False), "pod has unbound immediate", id="half bound"),
        pytest.param(make_claim("data", phase="Lost"), 'persistentvolumeclaim "data" bound to non-existent', id="lost"),
        pytest.param(make_claim("data", is_deleting=True), 'persistentvolumeclaim "data" is being deleted', id="going"),
        pytest.param(make_claim("other"), 'persistentvolumeclaim "data" not found', id="missing"),
    ],
)
def test_claim_that_nothing_can_be_done_about_closes_every_node(claim: PersistentVolumeClaim, reason: str) -> None:
    classes = [make_class(), make_class("now", binding_mode="Immediate")]

    found = wanted(new_pod("data"), claims=[claim], classes=classes)

    if reason:
        assert isinstance(found, Obstacle)
        assert found.code is Code.UNRESOLVABLE
        assert found.reasons[0].startswith(reason)
    else:
        assert isinstance(found, VolumeDemand)
        assert [each.claim for each in found.unbound] == [claim]


@pytest.mark.parametrize(
    ("there", "reason"),
    [
        pytest.param(
            [], 'waiting for ephemeral volume controller to create the persistentvolumeclaim "new-x"', id="no"
        ),
        pytest.param(
            [make_claim("new-x", owner_uid="uid-y")],
            "PVC default/new-x was not created for pod default/new (pod is not owner)",
            id="another's",
        ),
        pytest.param([make_claim("new-x", owner_uid="default-new")], "", id="its own"),
    ],
)
def test_claim_for_the_pod_alone_has_to_be_made_and_its_own(there: list[PersistentVolumeClaim], reason: str) -> None:
    found = wanted(new_pod(volumes=[ephemeral("x")]), claims=there)

    assert (found.reasons[0] if isinstance(found, Obstacle) else "") == reason


@pytest.mark.parametrize(
    ("claim", "storage", "unread"),
    [
        pytest.param(make_claim("data", volume="v"), {}, "PersistentVolume", id="volumes were not read"),
        pytest.param(make_claim("data", volume="v"), {"volumes": [make_volume("v")]}, "", id="the volume is there"),
        pytest.param(make_claim("data", storage_class="none"), {}, "StorageClass", id="classes were not read"),
        pytest.param(make_claim("data"), {}, "", id="the class is there"),
    ],
)
def test_what_was_not_read_leaves_the_pod_undecided(
    claim: PersistentVolumeClaim, storage: dict[str, Any], unread: str
) -> None:
    found = wanted(new_pod("data"), claims=[claim], kinds=UNREAD, **storage)

    assert isinstance(found, Obstacle) is bool(unread)
    if isinstance(found, Obstacle):
        assert found.code is Code.UNDECIDED
        assert found.reasons[0].startswith(f"the snapshot holds no {unread} objects")
