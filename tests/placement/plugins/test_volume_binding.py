"""Claims and volumes: where bound ones can be used, what unbound ones get, and what placing a pod takes."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.volume_sources import CSINode, PersistentVolumeClaim
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.volume_binding import VolumeBinding
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from tests.builders import make_node, make_pod
from tests.placement.clusters import ZONE, make_cluster, make_profile, obstacles, passing
from tests.placement.plugins.volumes.binding import FAST, NODES, TRACKED
from tests.placement.plugins.volumes.storage import (
    Storage,
    any_of,
    ephemeral,
    is_in,
    make_capacity,
    make_claim,
    make_class,
    make_storage,
    make_volume,
    new_pod,
    on_nodes,
)

ELSEWHERE = "node(s) didn't match PersistentVolume's node affinity"
NO_VOLUME = "node(s) didn't find available persistent volumes to bind"
NO_ROOM = "node(s) did not have enough free storage"
LOST = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


def _against(*reasons: str) -> Obstacle:
    return Obstacle("VolumeBinding", Code.UNRESOLVABLE, reasons)


def _place(cluster: ShadowCluster, name: str, *claims: str, **facts: Any) -> list[str]:
    """Places a pod that uses `claims` on a node; returns the conditions of that."""
    plugin = VolumeBinding(cluster, make_profile())
    pod = new_pod(*claims, **facts)
    cycle = Cycle(cluster.placement_class(pod), cluster)
    node = cluster.table.index[name]
    plugin.filter(cycle)
    cluster.place(cycle, node, [plugin.ledger])
    return cycle.notes


def test_bound_claim_is_used_where_its_volume_can_be_reached() -> None:
    volume = make_volume("v", claim="data", node_affinity=on_nodes("b"))
    cluster = make_cluster(NODES, **make_storage(claims=[make_claim("data", volume="v")], volumes=[volume]))

    assert obstacles(VolumeBinding, cluster, new_pod("data")) == {"a": _against(ELSEWHERE), "c": _against(ELSEWHERE)}


def test_node_that_left_the_plugin_to_its_driver_is_asked_for_the_label_of_the_driver() -> None:
    """Nodes a and b have migrated; only a has the driver's label. Node c is asked for what the volume says."""
    plugin = "kubernetes.io/gce-pd"
    east = {ZONE: "east"}
    nodes = [make_node("a", labels=east | {"topology.gke.io/zone": "east"}), *(make_node(n, labels=east) for n in "bc")]
    volume = make_volume(
        "v", claim="data", in_tree_plugin=plugin, csi_driver="pd", node_affinity=any_of([is_in(ZONE, "east")])
    )
    storage = make_storage(
        claims=[make_claim("data", volume="v")],
        volumes=[volume],
        csi_nodes={name: CSINode(name, {}, frozenset({plugin})) for name in "ab"},
    )

    assert passing(VolumeBinding, make_cluster(nodes, **storage), new_pod("data")) == ["a", "c"]


def test_first_volume_that_is_at_fault_is_told_whatever_its_kind() -> None:
    """The claim of the ephemeral volume is bound to nothing, the other one elsewhere: the order of volumes decides."""
    owned = make_claim("new-scratch", volume="gone", owner_uid="uid-new")
    elsewhere = make_volume("v", claim="data", node_affinity=on_nodes("b"))
    storage = make_storage(claims=[owned, make_claim("data", volume="v")], volumes=[elsewhere])
    data = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    cluster = make_cluster(NODES, **storage)

    reasons = [
        obstacles(VolumeBinding, cluster, new_pod(uid="uid-new", volumes=volumes))["a"]
        for volumes in ([data, ephemeral()], [ephemeral(), data])
    ]

    assert reasons == [_against(ELSEWHERE), _against(LOST)]


def test_all_bound_volumes_have_to_be_reached() -> None:
    storage = make_storage(
        claims=[make_claim("one", volume="v1"), make_claim("two", volume="v2")],
        volumes=[
            make_volume("v1", claim="one", node_affinity=any_of([is_in(ZONE, "west")])),
            make_volume("v2", claim="two", node_affinity=on_nodes("a", "c")),
        ],
    )

    assert passing(VolumeBinding, make_cluster(NODES, **storage), new_pod("one", "two")) == ["c"]


def test_bound_volume_that_is_gone_is_named_on_every_node() -> None:
    cluster = make_cluster(NODES, **make_storage(claims=[make_claim("data", volume="gone")]))

    assert obstacles(VolumeBinding, cluster, new_pod("data")) == dict.fromkeys("abc", _against(LOST))


def test_pod_without_claims_passes() -> None:
    assert obstacles(VolumeBinding, make_cluster(NODES), new_pod()) == {}


def _claim(**facts: Any) -> PersistentVolumeClaim:
    return make_claim("data", **facts)


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        pytest.param([], 'persistentvolumeclaim "data" not found', id="claim is missing"),
        pytest.param(
            [_claim(volume="v", phase="Lost")],
            'persistentvolumeclaim "data" bound to non-existent persistentvolume "v"',
            id="claim has lost its volume",
        ),
        pytest.param(
            [_claim(is_deleting=True)], 'persistentvolumeclaim "data" is being deleted', id="claim is being deleted"
        ),
        pytest.param(
            [_claim(storage_class="now")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="unbound claim of a class that does not wait",
        ),
        pytest.param(
            [_claim(volume="v", is_bound=False)],
            "pod has unbound immediate PersistentVolumeClaims",
            id="claim whose binding is not finished",
        ),
        pytest.param(
            [_claim(storage_class="none")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="unbound claim whose class does not exist",
        ),
    ],
)
def test_claim_that_nothing_can_be_done_about_refuses_its_pod(claims: list[PersistentVolumeClaim], reason: str) -> None:
    classes = [make_class(), make_class("now", binding_mode="Immediate")]
    cluster = make_cluster(NODES, **make_storage(claims=claims, volumes=[make_volume("v")], classes=classes))

    assert obstacles(VolumeBinding, cluster, new_pod("data")) == {"*": _against(reason)}


@pytest.mark.parametrize(
    ("kinds", "reason"),
    [
        pytest.param(
            {"Pod"},
            'the snapshot holds no PersistentVolumeClaim objects, so "lost" cannot be looked up',
            id="claims",
        ),
        pytest.param(
            {"PersistentVolumeClaim"},
            'the snapshot holds no PersistentVolume objects, so "v" cannot be looked up',
            id="volumes",
        ),
        pytest.param(
            {"PersistentVolumeClaim", "PersistentVolume"},
            'the snapshot holds no StorageClass objects, so "unknown" cannot be looked up',
            id="classes",
        ),
    ],
)
def test_kinds_that_were_not_read_are_undecided(kinds: set[str], reason: str) -> None:
    claims = [] if kinds == {"Pod"} else [make_claim("bound", volume="v"), make_claim("new", storage_class="unknown")]
    cluster = make_cluster(NODES, **make_storage(claims=claims, kinds=frozenset(kinds)))

    against = obstacles(VolumeBinding, cluster, new_pod(*([claim.name for claim in claims] or ["lost"])))

    assert against == {"*": Obstacle("VolumeBinding", Code.UNDECIDED, (reason,))}


def _waiting(**others: Any) -> Storage:
    """Two unbound claims of 10 and 20 bytes, and a local volume of 10 on node a and of 20 on node b."""
    return make_storage(
        claims=[make_claim("small", size=10), make_claim("large", size=20)],
        volumes=[
            make_volume("local-a", size=10, node_affinity=on_nodes("a")),
            make_volume("local-b", size=20, node_affinity=on_nodes("b")),
        ],
        **others,
    )


def test_unbound_claim_goes_where_a_volume_is_for_it() -> None:
    cluster = make_cluster(NODES, **_waiting())

    small, large = (
        obstacles(VolumeBinding, cluster, new_pod("small")),
        passing(VolumeBinding, cluster, new_pod("large")),
    )

    assert (small, large) == ({"c": _against(NO_VOLUME)}, ["b"])


def test_two_claims_need_two_volumes() -> None:
    cluster = make_cluster(NODES, **_waiting())

    assert passing(VolumeBinding, cluster, new_pod("small", "large")) == []


def test_volume_elsewhere_and_no_volume_are_both_named() -> None:
    storage = _waiting()
    storage["claims"]["default", "bound"] = make_claim("bound", volume="v")
    storage["volumes"]["v"] = make_volume("v", claim="bound", node_affinity=on_nodes("a"))

    against = obstacles(VolumeBinding, make_cluster(NODES, **storage), new_pod("bound", "large"))

    assert against == {
        "a": _against(NO_VOLUME),
        "b": _against(ELSEWHERE),
        "c": _against(NO_VOLUME, ELSEWHERE),
    }


def test_claim_that_finds_no_volume_is_provisioned_where_its_class_can() -> None:
    fast = make_class("fast", provisioner="p", allowed_topologies=((is_in(ZONE, "east"),), (), (is_in(ZONE, "north"),)))
    storage = make_storage(
        claims=[make_claim("data", storage_class="fast")],
        volumes=[make_volume("v", storage_class="fast", node_affinity=on_nodes("c"))],
        classes=[fast],
    )

    assert passing(VolumeBinding, make_cluster(NODES, **storage), new_pod("data")) == ["a", "c"]


def test_claim_pinned_to_a_node_is_served_there_alone() -> None:
    claim = make_claim("data", storage_class="fast", selected_node="b")
    cluster = make_cluster(NODES, **make_storage(claims=[claim], classes=[FAST]))

    assert obstacles(VolumeBinding, cluster, new_pod("data")) == {"a": _against(NO_VOLUME), "c": _against(NO_VOLUME)}


def _published(**others: Any) -> Storage:
    """Claims of a driver that publishes 10 bytes on node a, 15 on node b in volumes up to 9, and nothing on node c."""
    return make_storage(
        claims=[make_claim(name, storage_class="fast", size=size) for name, size in (("one", 10), ("two", 9))],
        classes=[FAST],
        csi_drivers=TRACKED,
        storage_capacities=(
            make_capacity("cap-a", size=10, node="a"),
            make_capacity("cap-b", size=15, node="b", maximum_volume_size=9),
            make_capacity("cap-c", size=None, node="c"),
            make_capacity("other", size=99, node="c", storage_class="slow"),
        ),
        **others,
    )


def test_driver_that_publishes_capacity_must_have_enough() -> None:
    cluster = make_cluster(NODES, **_published())

    large, small = obstacles(VolumeBinding, cluster, new_pod("one")), passing(VolumeBinding, cluster, new_pod("two"))

    assert (large, small) == ({"b": _against(NO_ROOM), "c": _against(NO_ROOM)}, ["a", "b"])


def test_capacity_of_a_driver_that_does_not_track_it_is_not_looked_at() -> None:
    cluster = make_cluster(NODES, **(_published() | {"csi_drivers": {}}))

    assert passing(VolumeBinding, cluster, new_pod("one")) == ["a", "b", "c"]


def test_placed_pod_takes_the_volume_that_its_claim_got() -> None:
    storage = make_storage(
        claims=[make_claim("one"), make_claim("two")],
        volumes=[make_volume("v1", node_affinity=on_nodes("a", "b")), make_volume("v2", node_affinity=on_nodes("c"))],
    )
    cluster = make_cluster(NODES, **storage)

    _place(cluster, "a", "one")

    assert passing(VolumeBinding, cluster, new_pod("two")) == ["c"]
    assert passing(VolumeBinding, cluster, new_pod("one")) == ["a", "b"]


def test_placed_pod_pins_the_claim_that_is_provisioned() -> None:
    storage = make_storage(claims=[make_claim("data", storage_class="fast")], classes=[FAST])
    cluster = make_cluster(NODES, **storage)

    _place(cluster, "b", "data")

    assert passing(VolumeBinding, cluster, new_pod("data")) == ["b"]


def test_published_capacity_that_earlier_pods_use_up_is_a_doubt_and_no_refusal() -> None:
    cluster = make_cluster(NODES, **_published())

    first, second = _place(cluster, "a", "one"), _place(cluster, "a", "two")

    doubt = (
        "storage class fast publishes too little for the volume of claim default/two on a once the volumes of pods"
        " placed before it are made"
    )
    assert (first, second) == ([], [doubt])


def test_what_if_gives_back_volumes_pins_and_capacity() -> None:
    storage = _published()
    storage["claims"]["default", "local"] = make_claim("local")
    storage["volumes"]["v"] = make_volume("v")
    storage["storage_classes"]["slow"] = make_class()
    cluster = make_cluster(NODES, **storage)
    VolumeBinding(cluster, make_profile())
    before = cluster.digest()

    trial = cluster.what_if()
    _place(cluster, "a", "one", "local")
    during = cluster.digest()
    trial.take_back()

    assert during != before
    assert cluster.digest() == before


def test_missing_claim_of_an_ephemeral_volume_is_waited_for() -> None:
    cluster = make_cluster(NODES, **make_storage())

    against = obstacles(VolumeBinding, cluster, new_pod(uid="u", volumes=[ephemeral()]))

    reason = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "new-scratch"'
    assert against == {"*": _against(reason)}


def test_ephemeral_claim_of_another_pod_refuses_the_pod() -> None:
    claim = make_claim("new-scratch", owner_uid="another")
    cluster = make_cluster(NODES, **make_storage(claims=[claim]))

    against = obstacles(VolumeBinding, cluster, new_pod(uid="u", volumes=[ephemeral()]))

    assert against == {"*": _against("PVC default/new-scratch was not created for pod default/new (pod is not owner)")}


def test_ephemeral_claim_of_the_pod_itself_is_matched_like_any_other() -> None:
    claim = make_claim("new-scratch", owner_uid="u")
    volume = make_volume("v", node_affinity=on_nodes("b"))
    cluster = make_cluster(NODES, **make_storage(claims=[claim], volumes=[volume]))

    assert passing(VolumeBinding, cluster, new_pod(uid="u", volumes=[ephemeral()])) == ["b"]


def test_replacement_gets_a_new_ephemeral_claim() -> None:
    cluster = make_cluster(NODES, **make_storage(volumes=[make_volume("v", node_affinity=on_nodes("b"))]))

    assert passing(VolumeBinding, cluster, new_pod(uid="", volumes=[ephemeral()])) == ["b"]


def test_new_ephemeral_claim_without_class_is_of_the_newest_default_class() -> None:
    fast = make_class("fast", provisioner="p", is_default=True, allowed_topologies=((is_in(ZONE, "east"),),))
    cluster = make_cluster(NODES, **make_storage(classes=[make_class(), fast]))

    assert passing(VolumeBinding, cluster, new_pod(uid="", volumes=[ephemeral(storage_class=None)])) == ["a"]


def test_replacements_of_the_same_name_do_not_share_a_volume() -> None:
    volumes = [make_volume("v1", node_affinity=on_nodes("b")), make_volume("v2", node_affinity=on_nodes("c"))]
    cluster = make_cluster(NODES, **make_storage(volumes=volumes))

    _place(cluster, "b", uid="", volumes=[ephemeral()])

    assert passing(VolumeBinding, cluster, new_pod(uid="", volumes=[ephemeral()])) == ["c"]


def test_replacement_of_the_same_name_waits_until_the_claim_of_its_predecessor_is_gone() -> None:
    victim = make_pod("new", uid="old", volumes=[ephemeral()])
    storage = make_storage(claims=[make_claim("new-scratch", owner_uid="old")], volumes=[make_volume("v")])
    cluster = make_cluster(NODES, [victim], **storage)
    replacement = new_pod(uid="", volumes=[ephemeral()])

    trial = cluster.what_if()
    cluster.terminate(victim)
    cold = passing(VolumeBinding, cluster, replacement)
    trial.take_back()
    cluster.remove(victim)
    settled = passing(VolumeBinding, cluster, replacement)

    assert (cold, settled) == ([], ["a", "b", "c"])
