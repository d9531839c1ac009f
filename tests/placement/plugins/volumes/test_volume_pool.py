"""Which volume a claim gets on which node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.selection.labels import LabelSelector
from descheduler.model.volume_sources import ClaimReference, PersistentVolume, PersistentVolumeClaim
from descheduler.placement.plugins.volumes.node_sets import NodeSets
from descheduler.placement.plugins.volumes.volume_pool import NO_VOLUME, Ranks, VolumePool
from descheduler.placement.shadow.node_table import NodeTable
from tests.builders import make_node
from tests.placement.plugins.volumes.storage import is_in, make_claim, make_volume, on_nodes

NODES = [make_node("a"), make_node("b"), make_node("c")]


def _pool(*volumes: PersistentVolume, compares_attributes: bool = True) -> VolumePool:
    return VolumePool(volumes, NodeSets(NodeTable(NODES)), compares_attributes=compares_attributes)


def _names(pool: VolumePool, ranks: Ranks) -> list[str]:
    return ["" if rank == NO_VOLUME else pool.volumes[rank].name for rank in ranks.tolist()]


def _chosen(pool: VolumePool, claim: PersistentVolumeClaim, taken: Mapping[str, ClaimReference] | None = None) -> Any:
    return _names(pool, pool.choose(claim, taken or {}, ()))


def test_smallest_volume_that_is_big_enough_is_chosen_on_each_node() -> None:
    pool = _pool(
        make_volume("tiny", size=5),
        make_volume("big", size=30),
        make_volume("fits-b", size=20, node_affinity=on_nodes("b")),
    )

    assert _chosen(pool, make_claim("data", size=10)) == ["big", "fits-b", "big"]


def test_volumes_of_one_size_are_taken_in_name_order() -> None:
    pool = _pool(make_volume("v2"), make_volume("v1"))

    assert _chosen(pool, make_claim("data")) == ["v1", "v1", "v1"]


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"phase": "Released"}, id="one that is not available"),
        pytest.param({"is_deleting": True}, id="one that is being deleted"),
        pytest.param({"volume_mode": "Block"}, id="one of another mode"),
        pytest.param({"attributes_class": "gold"}, id="one of another attributes class"),
        pytest.param({"access_modes": frozenset({"ReadOnlyMany"})}, id="one that lacks an access mode"),
        pytest.param({"claim_ref": ClaimReference("default", "other")}, id="one that is kept for another claim"),
        pytest.param({"labels": {"grade": "b"}}, id="one that the claim's selector leaves out"),
    ],
)
def test_unsuitable_volume_is_passed_over(facts: dict[str, Any]) -> None:
    pool = _pool(make_volume("v", **({"labels": {"grade": "a"}} | facts)))
    claim = make_claim("data", selector=LabelSelector((is_in("grade", "a"),)))

    assert _chosen(pool, claim) == ["", "", ""]


def test_volume_of_an_attributes_class_is_for_no_claim_before_the_scheduler_knows_of_them() -> None:
    pool = _pool(
        make_volume("gold", size=10, attributes_class="gold"), make_volume("plain", size=20), compares_attributes=False
    )

    assert _chosen(pool, make_claim("data")) == ["plain", "plain", "plain"]


def test_volume_kept_for_the_claim_is_the_only_one_that_will_do() -> None:
    kept = make_volume(
        "kept", size=50, claim_ref=ClaimReference("default", "data"), node_affinity=on_nodes("a"), phase="Pending"
    )
    pool = _pool(kept, make_volume("free"))

    assert _chosen(pool, make_claim("data")) == ["kept", "", ""]


def test_kept_volume_that_is_too_small_is_passed_over() -> None:
    kept = make_volume("kept", size=5, claim_ref=ClaimReference("default", "data"))
    pool = _pool(kept, make_volume("free"))

    assert _chosen(pool, make_claim("data")) == ["free", "free", "free"]


def test_volume_kept_for_an_earlier_claim_of_the_same_name_is_not_for_this_one() -> None:
    pool = _pool(make_volume("old", claim_ref=ClaimReference("default", "data", "uid-gone")))

    assert _chosen(pool, make_claim("data")) == ["", "", ""]


def test_taken_volume_is_kept_for_its_claim_and_nobody_else() -> None:
    pool = _pool(make_volume("v1"), make_volume("v2"))
    taken = {"v1": ClaimReference("default", "data", "uid-data")}

    own, other = _chosen(pool, make_claim("data"), taken), _chosen(pool, make_claim("other"), taken)

    assert (own, other) == (["v1", "v1", "v1"], ["v2", "v2", "v2"])


def test_second_claim_gets_the_next_volume_on_each_node() -> None:
    pool = _pool(
        make_volume("local-a", size=10, node_affinity=on_nodes("a")),
        make_volume("shared", size=20),
        make_volume("local-b", size=30, node_affinity=on_nodes("b")),
    )
    first = pool.choose(make_claim("one"), {}, ())

    second = pool.choose(make_claim("two"), {}, [first])

    assert _names(pool, first) == ["local-a", "shared", "shared"]
    assert _names(pool, second) == ["shared", "local-b", ""]


_VOLUMES = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from([None, ("a",), ("b",), ("a", "b"), ("b", "c")])), max_size=6
)


@given(_VOLUMES, st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_columns_agree_with_choosing_node_by_node(
    sizes_and_nodes: list[tuple[int, tuple[str, ...] | None]], requests: list[int]
) -> None:
    volumes = [
        make_volume(f"v{index}", size=size, node_affinity=None if names is None else on_nodes(*names))
        for index, (size, names) in enumerate(sizes_and_nodes)
    ]
    pool = _pool(*volumes)

    chosen: list[Ranks] = []
    for index, size in enumerate(sorted(requests)):
        chosen.append(pool.choose(make_claim(f"c{index}", size=size), {}, chosen))

    expected = [_one_by_one(volumes, sizes_and_nodes, node.name, sorted(requests)) for node in NODES]
    assert [list(column) for column in zip(*(_names(pool, ranks) for ranks in chosen), strict=True)] == expected


def _one_by_one(
    volumes: list[PersistentVolume], reach: list[tuple[int, tuple[str, ...] | None]], node: str, requests: list[int]
) -> list[str]:
    left = [volume for volume, (_, names) in zip(volumes, reach, strict=True) if names is None or node in names]
    chosen = []
    for size in requests:
        suitable = [volume for volume in left if volume.capacity_bytes >= size]
        best = min(suitable, key=lambda volume: (volume.capacity_bytes, volume.name), default=None)
        chosen.append("" if best is None else best.name)
        left = [volume for volume in left if volume is not best]
    return chosen


def test_class_without_volumes_has_none_to_offer() -> None:
    assert np.array_equal(_pool().choose(make_claim("data"), {}, ()), [NO_VOLUME] * 3)
