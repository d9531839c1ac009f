"""How nodes are scored by the capacity of volumes, existing ones and published capacity alike."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from descheduler.model.volume_sources import CSIStorageCapacity
from descheduler.placement.plugins.helper.scores import ShapePoint
from descheduler.placement.plugins.volume_binding import VolumeBinding, VolumeBindingArgs, VolumeBindingScore
from descheduler.placement.shadow.shadow_cluster import Cycle
from tests.placement.clusters import make_cluster, make_profile
from tests.placement.plugins.volumes.binding import FAST, NODES, TRACKED
from tests.placement.plugins.volumes.storage import (
    Storage,
    make_capacity,
    make_claim,
    make_class,
    make_storage,
    make_volume,
    new_pod,
    on_nodes,
)

_BY_DEFAULT = VolumeBindingArgs()


def _scores(storage: Storage, *claims: str, args: VolumeBindingArgs = _BY_DEFAULT) -> list[int] | None:
    """The scores of all nodes for a pod with `claims`."""
    cluster = make_cluster(NODES, **storage)
    profile = make_profile(args)
    cycle = Cycle(cluster.placement_class(new_pod(*claims)), cluster)
    VolumeBinding(cluster, profile).filter(cycle)
    scores = VolumeBindingScore(cluster, profile).score(cycle, np.ones(len(NODES), dtype=bool))
    return None if scores is None else scores.final.tolist()


def _offers(*sizes: int, classes: Iterable[str] = ("fast",)) -> list[CSIStorageCapacity]:
    return [
        make_capacity(f"{name}-{node}", size=size, node=node, storage_class=name)
        for name in classes
        for node, size in zip("abc", sizes, strict=False)
    ]


@pytest.mark.parametrize(
    ("claims", "scores"),
    [
        pytest.param(["ten"], [90, 50, 0], id="one claim"),
        pytest.param(["ten", "five"], [85, 25, 0], id="claims of a class count together"),
        pytest.param(["bound"], None, id="a claim that is bound"),
    ],
)
def test_published_capacity_that_claims_leave_is_the_score(claims: list[str], scores: list[int] | None) -> None:
    storage = make_storage(
        claims=[
            make_claim("ten", storage_class="fast"),
            make_claim("five", storage_class="fast", size=5),
            make_claim("bound", volume="v"),
        ],
        volumes=[make_volume("v", claim="bound")],
        classes=[FAST, make_class()],
        csi_drivers=TRACKED,
        storage_capacities=_offers(100, 20, 10),
    )

    assert _scores(storage, *claims) == scores


def test_driver_whose_capacity_is_not_looked_at_gives_no_score() -> None:
    claims = [make_claim("data", storage_class="fast")]
    storage = make_storage(claims=claims, classes=[FAST], storage_capacities=_offers(100, 20, 10))

    assert _scores(storage, "data") is None


def test_volume_that_exists_is_all_that_its_node_is_scored_by() -> None:
    storage = make_storage(
        claims=[make_claim("data"), make_claim("new", storage_class="fast")],
        volumes=[make_volume("v", size=40, node_affinity=on_nodes("a"))],
        classes=[make_class(provisioner="slow.example.com"), FAST],
        csi_drivers=TRACKED,
        storage_capacities=_offers(20, 20, 40),
    )

    assert _scores(storage, "data", "new") == [75, 50, 75]


def test_several_classes_are_scored_by_their_rounded_mean() -> None:
    storage = make_storage(
        claims=[make_claim("data"), make_claim("log", storage_class="fast", size=5)],
        volumes=[make_volume("v", size=20), make_volume("w", size=8, storage_class="fast")],
        classes=[make_class(), FAST],
    )

    assert _scores(storage, "data", "log") == [44, 44, 44]


def test_shape_of_the_profile_turns_the_score_round() -> None:
    storage = make_storage(
        claims=[make_claim("data", storage_class="fast")],
        classes=[FAST],
        csi_drivers=TRACKED,
        storage_capacities=_offers(100, 20, 10),
    )
    packing = VolumeBindingArgs((ShapePoint(0, 0), ShapePoint(100, 10)))

    assert _scores(storage, "data", args=packing) == [10, 50, 100]


def test_amounts_beyond_all_measure_are_scored() -> None:
    storage = make_storage(
        claims=[make_claim("data", storage_class="fast", size=2**70)],
        classes=[FAST],
        csi_drivers=TRACKED,
        storage_capacities=_offers(2**80, 2**70, 2**60),
    )

    assert _scores(storage, "data") == [0, 0, 0]
