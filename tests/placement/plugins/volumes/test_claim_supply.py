"""What the unbound claims of a pod get on each node, and what is taken of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from descheduler.model.volume_sources import ClaimReference, CSIDriver, PersistentVolumeClaim
from descheduler.placement.plugins.volumes.claim_supply import ClaimSupply, UnboundClaim
from descheduler.placement.plugins.volumes.node_sets import NodeSets
from descheduler.placement.plugins.volumes.provisioning import Assumed
from descheduler.placement.plugins.volumes.volume_pool import NO_VOLUME
from tests.builders import make_node
from tests.placement.clusters import make_cluster
from tests.placement.plugins.volumes.storage import (
    DRIVER,
    any_of,
    is_in,
    make_capacity,
    make_claim,
    make_class,
    make_storage,
    make_volume,
    on_nodes,
)

NODES = [make_node(name, labels={"rack": name}) for name in "abc"]
FAST = make_class("fast", provisioner=DRIVER)
TRACKED = {"csi_drivers": {DRIVER: CSIDriver(DRIVER, tracks_capacity=True)}}


def supply_of(**storage: Any) -> ClaimSupply:
    """What there is for claims on the nodes a, b and c."""
    made = make_storage(**({"classes": [make_class(), FAST]} | storage))
    cluster = make_cluster(NODES, **made)
    return ClaimSupply(cluster, NodeSets(cluster.table))


def fast(name: str = "c", **facts: Any) -> PersistentVolumeClaim:
    """A claim of a class that makes volumes."""
    return make_claim(name, storage_class="fast", **facts)


def closed(supply: ClaimSupply, *claims: PersistentVolumeClaim, is_new: bool = False) -> tuple[str, str]:
    """The nodes on which the claims get no volume, and those without room for one."""
    found = supply.volumes_for([UnboundClaim(claim, is_new) for claim in claims])
    masks = (found.no_volume, found.no_room)
    no_volume, no_room = ("".join(NODES[index].name for index in np.flatnonzero(mask)) for mask in masks)
    return no_volume, no_room


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        pytest.param([make_claim("c")], ("bc", ""), id="where the volume is"),
        pytest.param([make_claim("c"), make_claim("d")], ("abc", ""), id="one volume for two claims"),
        pytest.param([fast()], ("", ""), id="where one is made, anywhere"),
        pytest.param([make_claim("c"), fast("d")], ("bc", ""), id="both"),
        pytest.param([fast(selected_node="b")], ("ac", ""), id="on the node that is chosen"),
        pytest.param([fast(selected_node="gone")], ("abc", ""), id="on a node that is not there"),
        pytest.param([fast("c", selected_node="b"), fast("d", selected_node="a")], ("abc", ""), id="on two nodes"),
        pytest.param([make_claim("c", selected_node="a")], ("abc", ""), id="a chosen node, and nobody to make one"),
    ],
)
def test_claims_get_volumes_where_these_are_or_can_be_made(
    claims: list[PersistentVolumeClaim], expected: tuple[str, str]
) -> None:
    assert closed(supply_of(volumes=[make_volume("v", node_affinity=on_nodes("a"))]), *claims) == expected


def test_smallest_claim_is_matched_first() -> None:
    """The larger claim, though named first, gets the larger volume."""
    supply = supply_of(volumes=[make_volume("large", size=20), make_volume("small", size=10)])

    found = supply.volumes_for([UnboundClaim(make_claim("big", size=15)), UnboundClaim(make_claim("tiny", size=5))])

    assert [(wanted.claim.name, int(ranks[0])) for wanted, ranks in found.matched] == [("tiny", 0), ("big", 1)]
    assert supply.volume_bytes("slow").tolist() == [10, 20]


def test_claims_of_another_class_leave_its_volumes_alone() -> None:
    volumes = [make_volume("v"), make_volume("w", storage_class="fast")]

    found = supply_of(volumes=volumes).volumes_for([UnboundClaim(make_claim("c")), UnboundClaim(fast("d"))])

    assert [ranks.tolist() for _, ranks in found.matched] == [[0, 0, 0], [0, 0, 0]]


def test_first_claim_that_fails_decides_what_is_said_of_a_node() -> None:
    """On a node b there is no room for the first claim, on c the second one is not served; a has neither."""
    capacities = (make_capacity("a", size=5, node="a"), make_capacity("c", size=50, node="c"))
    far = make_class("far", provisioner="other", allowed_topologies=((is_in("rack", "b"),),))
    supply = supply_of(classes=[FAST, far], storage_capacities=capacities, **TRACKED)

    assert closed(supply, fast("c"), make_claim("d", storage_class="far")) == ("c", "ab")


def test_volume_that_is_there_needs_no_room() -> None:
    volumes = [make_volume("v", storage_class="fast", node_affinity=on_nodes("b"))]

    assert closed(supply_of(volumes=volumes, **TRACKED), fast()) == ("", "ac")


def test_volume_is_taken_for_its_claim_until_it_is_released() -> None:
    supply = supply_of(volumes=[make_volume("v", node_affinity=on_nodes("a"))])
    mine, other = make_claim("c"), make_claim("d")

    taken, doubts = supply.assume([UnboundClaim(mine)], 0)
    held = closed(supply, mine), closed(supply, other)
    for each in taken:
        supply.assumed.release(each)

    assert (taken, doubts) == ((Assumed(volume=(("slow", "v"), ClaimReference("default", "c", "uid-c"))),), ())
    assert held == (("bc", ""), ("abc", ""))
    assert closed(supply, other) == ("bc", "")


def test_volume_that_is_kept_for_the_claim_is_taken_from_nobody() -> None:
    supply = supply_of(volumes=[make_volume("v", claim_ref=ClaimReference("default", "c"))])

    assert supply.assume([UnboundClaim(make_claim("c"))], 0) == ((Assumed(),), ())


def test_claim_yet_to_be_made_is_no_other_claim_of_its_name() -> None:
    supply = supply_of(volumes=[make_volume("v"), make_volume("w")])
    supply.assume([UnboundClaim(make_claim("c"), is_new=True)], 0)

    (taken,), _ = supply.assume([UnboundClaim(make_claim("c"))], 0)

    assert taken.volume == (("slow", "w"), ClaimReference("default", "c", "uid-c"))


def test_claim_is_pinned_to_the_node_for_which_its_volume_is_made() -> None:
    supply = supply_of()

    taken, doubts = supply.assume([UnboundClaim(fast())], 1)

    assert (taken, doubts) == ((Assumed(pin=(("default", "c"), 1)),), ())
    assert closed(supply, fast()) == ("ac", "")
    assert closed(supply, fast("other")) == ("", "")
    assert closed(supply, fast(), is_new=True) == ("", "")


@pytest.mark.parametrize(
    ("wanted", "pin"),
    [
        pytest.param(UnboundClaim(fast(), is_new=True), None, id="a claim yet to be made"),
        pytest.param(UnboundClaim(fast(selected_node="b")), None, id="a claim with a node"),
        pytest.param(UnboundClaim(fast()), (("default", "c"), 1), id="any other"),
    ],
)
def test_claim_is_pinned_unless_it_is_new_or_has_its_node(wanted: UnboundClaim, pin: object) -> None:
    supply = supply_of()

    taken = [each for _ in range(2) for each in supply.assume([wanted], 1)[0]]

    assert {each.pin for each in taken} <= {pin}
    assert bool(taken) is (pin is not None or not wanted.claim.selected_node)


def test_pin_lasts_until_the_last_pod_of_the_claim_is_gone() -> None:
    supply = supply_of()
    first, _ = supply.assume([UnboundClaim(fast())], 1)
    second, _ = supply.assume([UnboundClaim(fast())], 1)
    found = []

    for taken in (first, second):
        for each in taken:
            supply.assumed.release(each)
        found.append(closed(supply, fast()))

    assert found == [("ac", ""), ("", "")]


def test_capacity_that_earlier_pods_use_up_is_doubted_and_not_refused() -> None:
    capacities = (make_capacity("k", size=25, node="a"),)
    supply = supply_of(storage_capacities=capacities, **TRACKED)

    told = [supply.assume([UnboundClaim(fast(name, size=10), is_new=True)], 0) for name in ("c", "d", "e")]

    assert [each.charge for taken, _ in told for each in taken] == [(("kube-system", "k"), 10)] * 3
    assert [len(doubts) for _, doubts in told] == [0, 0, 1]
    assert told[2][1] == (
        "storage class fast publishes too little for the volume of claim default/e on a once the volumes of pods placed"
        " before it are made",
    )
    assert closed(supply, fast("f", size=10)) == ("", "bc")


def test_capacity_that_is_just_enough_is_not_doubted() -> None:
    supply = supply_of(storage_capacities=(make_capacity("k", size=20, node="a"),), **TRACKED)

    assert [supply.assume([UnboundClaim(fast(name, size=10))], 0)[1] for name in ("c", "d")] == [(), ()]


def test_charges_are_given_back() -> None:
    supply = supply_of(storage_capacities=(make_capacity("k", size=20, node="a"),), **TRACKED)
    before = supply.assumed.fingerprint()
    taken = [each for name in ("c", "d") for each in supply.assume([UnboundClaim(fast(name))], 0)[0]]
    charged = supply.assumed.charged(("kube-system", "k"))

    for each in taken:
        supply.assumed.release(each)

    assert (charged, supply.assumed.charged(("kube-system", "k"))) == (20, 0)
    assert supply.assumed.fingerprint() == before


def test_volumes_of_alternative_places_are_matched_node_by_node() -> None:
    volumes = [
        make_volume("v", node_affinity=any_of([is_in("rack", "a")], [is_in("rack", "b")])),
        make_volume("w", size=20, node_affinity=on_nodes("b", "c")),
    ]

    found = supply_of(volumes=volumes).volumes_for([UnboundClaim(make_claim("c")), UnboundClaim(make_claim("d"))])

    assert [ranks.tolist() for _, ranks in found.matched] == [[0, 0, 1], [NO_VOLUME, 1, NO_VOLUME]]
