"""The synthetic cluster."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache

import pytest

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import NodeMatch, match_node
from descheduler.model.selection.taints import NO_SCHEDULE, tolerates_all
from tests.worlds.generate import GENERATED_AT, generate_cluster


@cache
def cluster() -> Snapshot:
    builder = SnapshotBuilder("generated")
    for page in generate_cluster(nodes=400, pods=8000, seed=3):
        builder.add_object(page)
    return builder.finish()


def bound() -> list[Pod]:
    return [pod for pod in cluster().pods if pod.node_name]


def test_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    first, again, other = (list(generate_cluster(nodes=20, pods=200, seed=seed)) for seed in (1, 1, 2))

    assert first == again
    assert first != other


@pytest.mark.long
def test_cluster_has_the_size_that_was_asked_for() -> None:
    assert (len(cluster().nodes), len(cluster().pods)) == (400, 8000)


@pytest.mark.parametrize(("nodes", "pods"), [(0, 0), (1, 0), (0, 30), (1, 7), (3, 1)])
def test_smallest_clusters_have_their_size_too(nodes: int, pods: int) -> None:
    builder = SnapshotBuilder("generated")
    for page in generate_cluster(nodes=nodes, pods=pods, seed=1):
        builder.add_object(page)

    assert (len(builder.nodes), len(builder.pods)) == (nodes, pods)


def test_pages_hold_no_more_objects_than_asked() -> None:
    pages = [json.loads(page) for page in generate_cluster(nodes=30, pods=330, seed=1, page_size=100)]

    assert Counter(len(page["items"]) for page in pages if page["kind"] == "PodList") == {100: 3, 30: 1}
    assert max(len(page["items"]) for page in pages) == 100


def test_pods_are_as_large_as_those_of_the_api() -> None:
    pages = [page for page in generate_cluster(nodes=30, pods=300, seed=1) if page.startswith(b'{"kind":"PodList"')]

    assert 3000 < sum(map(len, pages)) / 300 < 8000


def test_names_and_uids_are_unique_and_pods_are_on_nodes_that_exist() -> None:
    nodes = {node.name for node in cluster().nodes}

    assert len({pod.uid for pod in cluster().pods}) == len(cluster().pods)
    assert {pod.node_name for pod in bound()} <= nodes


def test_no_node_holds_more_than_it_has() -> None:
    for node in cluster().nodes:
        pods = cluster().pods_by_node.get(node.name, ())
        for resource in ("cpu", "memory"):
            assert sum(pod.spec.requests.get(resource, 0) for pod in pods) <= node.allocatable[resource]


def test_ages_lie_before_the_moment_of_the_snapshot() -> None:
    assert all(pod.created_at is not None and pod.created_at < GENERATED_AT for pod in cluster().pods)


def test_load_is_uneven() -> None:
    shares = []
    for node in cluster().nodes:
        pods = cluster().pods_by_node.get(node.name, ())
        shares.append(sum(pod.spec.requests.get("cpu", 0) for pod in pods) / node.allocatable["cpu"])

    assert sum(share < 0.2 for share in shares) > 20
    assert sum(share > 0.6 for share in shares) > 20


def test_every_strategy_finds_something() -> None:
    nodes = {node.name: node for node in cluster().nodes}
    by_owner = Counter((pod.node_name, pod.owners[0].uid) for pod in bound() if pod.owners)
    restarts = [pod for pod in bound() if any(status.restart_count >= 100 for status in pod.container_statuses)]
    misplaced = [
        pod
        for pod in bound()
        if match_node(pod.spec.node_selector, pod.spec.affinity, pod.node_name, nodes[pod.node_name].labels)
        is NodeMatch.DIFFERS
    ]
    tainted = [
        pod
        for pod in bound()
        if not tolerates_all(pod.spec.tolerations, (t for t in nodes[pod.node_name].taints if t.effect == NO_SCHEDULE))
    ]
    clashing = [
        pod
        for pod in bound()
        if pod.spec.affinity and pod.spec.affinity.anti_required and by_owner[pod.node_name, pod.owners[0].uid] > 1
    ]

    found = {
        "duplicates": any(number > 1 for number in by_owner.values()),
        "restarts": bool(restarts),
        "misplaced": bool(misplaced),
        "tainted": bool(tainted),
        "clashing": bool(clashing),
        "failed": any(pod.phase == "Failed" for pod in bound()),
        "spread": any(pod.spec.topology_spread for pod in bound()),
        "cordoned": any(node.unschedulable for node in nodes.values()),
        "not ready": any(not node.is_ready for node in nodes.values()),
        "budgets": bool(cluster().budgets),
        "claims": any(pod.claim_names for pod in bound()),
        "bare": any(not pod.owners for pod in bound()),
    }
    assert found == dict.fromkeys(found, True)


def test_negative_size_is_refused() -> None:
    with pytest.raises(ValueError, match=r"nodes \(-1\)"):
        next(generate_cluster(nodes=-1, pods=0, seed=1))
