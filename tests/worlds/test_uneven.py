"""The uneven cluster is what it says of itself."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.e2e.balancing.sight import Sight
from tests.worlds.uneven import TIGHT, make_uneven_cluster


def seen(seed: int) -> Sight:
    objects = list(make_uneven_cluster(nodes=40, seed=seed))
    nodes, pods = (tuple(obj for obj in objects if obj["kind"] == kind) for kind in ("Node", "Pod"))
    return Sight(nodes, pods, 0)


@pytest.mark.parametrize("seed", [1, 2])
def test_some_nodes_are_far_over_a_target_that_the_mean_is_under(seed: int) -> None:
    usage = seen(seed).usage().values()

    assert sum(map(sum, usage)) / (2 * len(usage)) == pytest.approx(TIGHT, abs=0.03)
    assert sum(max(shares) > 0.75 for shares in usage) == pytest.approx(0.15 * len(usage), abs=1)
    assert max(map(max, usage)) <= 0.95


def test_pods_that_must_be_apart_are_apart() -> None:
    apart = [pod for pod in seen(1).pods if "affinity" in pod["spec"]]

    places = Counter((pod["metadata"]["labels"]["app"], pod["spec"]["nodeName"]) for pod in apart)

    assert set(places.values()) == {1}


def test_equal_seeds_give_equal_clusters() -> None:
    first, second = (list(make_uneven_cluster(nodes=10, seed=3)) for _ in range(2))

    assert first == second != list(make_uneven_cluster(nodes=10, seed=4))
