"""What a plan says of a run as a whole."""

from __future__ import annotations

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.run_notes import limit_notes, shard_notes
from descheduler.model.shard import Shard
from descheduler.policy.load import load_policy
from tests.builders import make_node, make_pod, make_snapshot
from tests.report.decided_cycles import pod_life_time_policy


def notes_of(most: int, shard: Shard) -> tuple[str, ...]:
    """The notes on a shard of a cluster with two nodes and four pods, of which `most` are to be evicted."""
    pods = [make_pod(name, node=node) for name, node in (("p", "a"), ("q", "a"), ("r", "b"), ("s", "b"))]
    snapshot = make_snapshot([make_node("a"), make_node("b")], pods, shard=shard)
    policy = load_policy(pod_life_time_policy(maxNoOfPodsToEvictTotal=most), REGISTRY)
    return shard_notes(policy, snapshot)


def test_the_whole_cluster_is_no_shard() -> None:
    assert notes_of(1, Shard()) == ()


@pytest.mark.parametrize(("most", "left"), [(2, 0), (1, 1)])
def test_a_limit_that_leaves_a_shard_nothing_is_named(most: int, left: int) -> None:
    notes = [notes_of(most, Shard(index, 2)) for index in (0, 1)]
    without = [note for _, *others in notes for note in others]

    assert len(without) == left
    assert all(note.startswith("maxNoOfPodsToEvictTotal (1) leaves shard ") for note in without)


def test_what_percentages_come_to_is_said() -> None:
    """Ten pods on node a and five on node b, in one namespace."""
    pods = [make_pod(f"p{number}", node="a" if number < 10 else "b") for number in range(15)]
    limits = {
        "maxNoOfPodsToEvictTotal": "40%",
        "maxNoOfPodsToEvictPerNode": "20%",
        "maxNoOfPodsToEvictPerNamespace": "20%",
    }
    policy = load_policy(pod_life_time_policy(**limits), REGISTRY)

    assert limit_notes(policy, make_snapshot([make_node("a"), make_node("b")], pods)) == (
        "maxNoOfPodsToEvictTotal (40%) is 6 of 15 pods",
        "maxNoOfPodsToEvictPerNode (20%) is 1 to 2 pods, depending on the node",
        "maxNoOfPodsToEvictPerNamespace (20%) is 3 pods for each namespace",
    )
