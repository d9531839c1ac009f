"""Out of which published capacity a new volume comes."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.volume_sources import ClaimReference, CSIDriver, CSIStorageCapacity, PersistentVolumeClaim
from descheduler.placement.plugins.volumes.node_sets import NodeSets
from descheduler.placement.plugins.volumes.provisioning import Assumed, AssumedVolumes, Provisioning
from descheduler.placement.shadow.node_table import NodeTable
from tests.builders import make_node, make_snapshot
from tests.placement.clusters import HOSTNAME
from tests.placement.plugins.volumes.storage import DRIVER, is_in, make_capacity, make_claim, make_class


def test_volume_comes_out_of_the_largest_capacity_that_is_told_in_bytes() -> None:
    nodes = [make_node("a", labels={HOSTNAME: "a"})]
    snapshot = make_snapshot(
        nodes,
        storage_classes={"fast": make_class("fast", provisioner=DRIVER)},
        csi_drivers={DRIVER: CSIDriver(DRIVER, tracks_capacity=True)},
        storage_capacities=(
            make_capacity("untold", size=None, node="a", maximum_volume_size=1000),
            make_capacity("small", size=50, node="a"),
            make_capacity("large", size=80, node="a"),
        ),
    )
    provisioning = Provisioning(snapshot, NodeSets(NodeTable(snapshot.nodes)))

    small, huge = (make_claim("c", size=size, storage_class="fast") for size in (40, 90))

    assert provisioning.source(small, 0, AssumedVolumes()) == (("kube-system", "large"), 80)
    assert provisioning.source(huge, 0, AssumedVolumes()) is None


def provisioning_of(*capacities: CSIStorageCapacity, tracks: bool = True, **facts: Any) -> Provisioning:
    """What a class `fast` of these facts can have made on the nodes a and b."""
    snapshot = make_snapshot(
        [make_node(name, labels={HOSTNAME: name, "rack": name}) for name in "ab"],
        storage_classes={"fast": make_class("fast", **({"provisioner": DRIVER} | facts))},
        csi_drivers={DRIVER: CSIDriver(DRIVER, tracks_capacity=tracks)},
        storage_capacities=capacities,
    )
    return Provisioning(snapshot, NodeSets(NodeTable(snapshot.nodes)))


def fast(size: int = 10) -> PersistentVolumeClaim:
    """A claim of the class."""
    return make_claim("c", size=size, storage_class="fast")


@pytest.mark.parametrize(
    ("facts", "reached"),
    [
        pytest.param({}, [True, True], id="any node"),
        pytest.param({"provisioner": "kubernetes.io/no-provisioner"}, [False, False], id="nobody makes volumes"),
        pytest.param({"allowed_topologies": ((is_in("rack", "a"),),)}, [True, False], id="one rack"),
        pytest.param(
            {"allowed_topologies": ((is_in("rack", "a"),), (is_in("rack", "b"),))}, [True, True], id="alternatives"
        ),
        pytest.param(
            {"allowed_topologies": ((is_in("rack", "a"), is_in(HOSTNAME, "b")),)}, [False, False], id="both at once"
        ),
        pytest.param({"allowed_topologies": ((),)}, [False, False], id="a term that asks for nothing"),
    ],
)
def test_volumes_are_made_where_the_class_allows_it(facts: dict[str, Any], reached: list[bool]) -> None:
    assert provisioning_of(**facts).reaches(fast()).tolist() == reached


@pytest.mark.parametrize(
    ("capacity", "room", "offered"),
    [
        pytest.param({"size": 10}, True, 10, id="exactly as much"),
        pytest.param({"size": 9}, False, 0, id="less"),
        pytest.param({"size": 50, "maximum_volume_size": 9}, False, 0, id="too small volumes"),
        pytest.param({"size": 50, "maximum_volume_size": 10}, True, 50, id="volumes just large enough"),
        pytest.param({"size": None, "maximum_volume_size": 10}, True, 0, id="an amount that is not told"),
        pytest.param({"size": None}, False, 0, id="nothing told"),
        pytest.param({"size": 50, "storage_class": "other"}, False, 0, id="another class"),
    ],
)
def test_node_has_room_where_a_capacity_is_published_that_the_claim_fits(
    capacity: dict[str, Any], room: bool, offered: int
) -> None:
    found = provisioning_of(make_capacity("k", node="a", **capacity))

    told = found.offered(fast())

    assert found.has_room(fast()).tolist() == [room, False]
    assert told is not None
    assert told.tolist() == [offered, 0]
    assert (found.source(fast(), 0, AssumedVolumes()) is not None) is bool(offered)
    assert found.source(fast(), 1, AssumedVolumes()) is None


def test_largest_of_several_capacities_is_offered() -> None:
    found = provisioning_of(*(make_capacity(f"k{size}", size=size, node="a") for size in (20, 50, 30)))

    told = found.offered(fast())

    assert told is not None
    assert told.tolist() == [50, 0]


@pytest.mark.parametrize(
    ("tracks", "size"),
    [pytest.param(False, 10, id="a driver that publishes nothing"), pytest.param(True, 0, id="a claim of no size")],
)
def test_room_is_not_looked_at_for(tracks: bool, size: int) -> None:
    found = provisioning_of(make_capacity("k", size=50, node="a"), tracks=tracks)

    assert found.has_room(fast(size)).tolist() == [True, True]
    assert found.offered(fast(size)) is None
    assert found.source(fast(size), 0, AssumedVolumes()) is None


def test_capacity_with_most_left_is_the_source() -> None:
    found, assumed = provisioning_of(*(make_capacity(name, size=50, node="a") for name in "kl")), AssumedVolumes()

    assumed.hold(Assumed(charge=(("kube-system", "k"), 1)))

    assert found.source(fast(), 0, assumed) == (("kube-system", "l"), 50)
    assumed.hold(Assumed(charge=(("kube-system", "l"), 2)))
    assert found.source(fast(), 0, assumed) == (("kube-system", "k"), 49)


def test_volume_of_several_pods_is_free_when_the_last_one_leaves() -> None:
    assumed = AssumedVolumes()
    taken = Assumed(volume=(("slow", "v"), ClaimReference("default", "c")), pin=(("default", "c"), 1))
    seen = []

    for change in (assumed.hold, assumed.hold, assumed.release, assumed.release):
        change(taken)
        seen.append((list(assumed.taken("slow")), assumed.node_of(make_claim("c"))))

    assert seen == [(["v"], 1), (["v"], 1), (["v"], 1), ([], None)]
    assert assumed.fingerprint() == AssumedVolumes().fingerprint()
