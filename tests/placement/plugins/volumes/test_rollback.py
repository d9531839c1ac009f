"""Whatever is done to pods with volumes can be taken back without a trace."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descheduler.placement.plugins.node_volume_limits import NodeVolumeLimits
from descheduler.placement.plugins.volume_binding import VolumeBinding
from descheduler.placement.plugins.volume_restrictions import VolumeRestrictions
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, make_profile
from tests.placement.plugins.volumes.storage import (
    DRIVER,
    ephemeral,
    make_attachment,
    make_claim,
    make_class,
    make_storage,
    make_volume,
    new_pod,
    on_nodes,
)

NODES = [make_node("a"), make_node("b")]
DISK = {"name": "d", "iscsi": {"iqn": "q"}}
PLACED = [
    make_pod("p0", claims=["bound", "open"], volumes=[DISK]),
    make_pod("p1", node="b", claims=["bound"], volumes=[ephemeral()]),
    make_pod("p2", node="gone", claims=["bound"], volumes=[DISK]),
]
NEW = [
    new_pod("open", "made"),
    new_pod("open", volumes=[DISK]),
    new_pod("made", uid="", volumes=[ephemeral(), ephemeral("more", storage_class="fast")]),
    new_pod("bound", "bound"),
]
STORAGE = make_storage(
    claims=[
        make_claim("bound", volume="v"),
        make_claim("open"),
        make_claim("made", storage_class="fast"),
        make_claim("p1-scratch", owner_uid="default-p1"),
    ],
    volumes=[
        make_volume("v", claim="bound", csi_driver=DRIVER, csi_handle="h"),
        make_volume("free-1", node_affinity=on_nodes("a")),
        make_volume("free-2"),
    ],
    classes=[make_class(), make_class("fast", provisioner=DRIVER)],
    limits={"a": 3, "b": 1},
    attachments=(make_attachment("v", "a"),),
)

_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("place"), st.integers(0, len(NEW) - 1), st.integers(0, 1)),
        st.tuples(st.just("remove"), st.integers(0, len(PLACED) - 1), st.just(0)),
        st.tuples(st.just("terminate"), st.integers(0, len(PLACED) - 1), st.just(0)),
    ),
    max_size=8,
    unique_by=lambda step: step if step[0] == "place" else ("leave", step[1], 0),
)


def _answers(cluster: ShadowCluster) -> list[object]:
    """What every plugin says of every new pod."""
    said: list[object] = []
    for kind in (VolumeRestrictions, NodeVolumeLimits, VolumeBinding):
        plugin = kind(cluster, make_profile())
        for pod in NEW:
            cycle = Cycle(cluster.placement_class(pod), cluster)
            result = plugin.pre_filter(cycle)
            bits = None if result.obstacle or result.is_skipped else plugin.filter(cycle)
            said.append((kind.name, result.obstacle, None if bits is None else tuple(np.asarray(bits).tolist())))
    return said


def _apply(cluster: ShadowCluster, binding: VolumeBinding, step: tuple[str, int, int]) -> None:
    kind, which, node = step
    if kind == "place":
        cycle = Cycle(cluster.placement_class(NEW[which]), cluster)
        binding.filter(cycle)
        cluster.place(cycle, node, [binding.ledger])
    else:
        change: Callable[..., None] = cluster.remove if kind == "remove" else cluster.terminate
        change(PLACED[which])


@pytest.mark.long
@settings(deadline=None, max_examples=60)
@given(_STEPS, st.integers(0, 8))
def test_what_if_leaves_the_digest_and_every_answer_as_they_were(steps: list[tuple[str, int, int]], at: int) -> None:
    cluster = make_cluster(NODES, PLACED, **STORAGE)
    binding = VolumeBinding(cluster, make_profile())
    before, digest = _answers(cluster), cluster.digest()

    with cluster.what_if():
        for step in steps[:at]:
            _apply(cluster, binding, step)
        halfway, digest_halfway = _answers(cluster), cluster.digest()
        with cluster.what_if():
            for step in steps[at:]:
                _apply(cluster, binding, step)
        again, digest_again = _answers(cluster), cluster.digest()

    assert (digest_again, again) == (digest_halfway, halfway)
    assert (cluster.digest(), _answers(cluster)) == (digest, before)


@pytest.mark.long
@given(_STEPS)
@settings(deadline=None, max_examples=30)
def test_followers_that_join_late_know_the_same(steps: list[tuple[str, int, int]]) -> None:
    early, late = (make_cluster(NODES, PLACED, **STORAGE) for _ in range(2))
    moves = [step for step in steps if step[0] != "place"]
    _answers(early)

    for cluster in (early, late):
        binding = VolumeBinding(cluster, make_profile())
        for step in moves:
            _apply(cluster, binding, step)

    assert _answers(late) == _answers(early)
    assert late.digest() == early.digest()
