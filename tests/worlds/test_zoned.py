from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.worlds.zoned import ZonedWorld, make_uneven_zoned_world, make_zoned_world


@pytest.fixture(scope="module")
def world() -> ZonedWorld:
    return make_zoned_world(nodes=100, seed=0, mean_ratio=0.6)


def test_zones_have_half_three_tenths_and_a_fifth_of_the_nodes(world: ZonedWorld) -> None:
    assert np.bincount(world.zone).tolist() == [50, 30, 20]


def test_nodes_hold_what_is_on_them_and_are_used_as_told(world: ZonedWorld) -> None:
    used = np.zeros_like(world.capacity)
    np.add.at(used, world.node, world.need[world.workload])

    assert (used <= world.capacity).all()
    assert (used.sum(axis=0) / world.capacity.sum(axis=0)).max() == pytest.approx(0.45, abs=0.07)


def test_workloads_are_apart_and_spread_as_they_ask_for(world: ZonedWorld) -> None:
    for workload in np.flatnonzero(world.apart | world.spread).tolist():
        places = world.node[world.workload == workload]
        if world.apart[workload]:
            assert len(set(places.tolist())) == len(places)
        else:
            zones = np.bincount(world.zone[places], minlength=3)
            assert zones.max() - zones.min() <= 1


def test_three_of_ten_budgets_allow_nothing(world: ZonedWorld) -> None:
    budgets = world.budget[world.budget >= 0]

    assert (budgets == 0).mean() == pytest.approx(0.3, abs=0.15)


def test_objects_are_those_of_the_arrays(world: ZonedWorld) -> None:
    kinds = Counter(found["kind"] for found in world.objects())

    assert (kinds["Node"], kinds["Pod"]) == (100, len(world.node))
    assert kinds["PodDisruptionBudget"] == (world.budget >= 0).sum()


def test_some_nodes_are_over_a_target_that_the_mean_is_under() -> None:
    uneven = make_uneven_zoned_world(nodes=100, seed=0, mean_ratio=0.5)
    used = np.zeros_like(uneven.capacity)
    np.add.at(used, uneven.node, uneven.need[uneven.workload])
    fuller = (used / uneven.capacity).max(axis=1)

    assert (fuller > 0.7).mean() == pytest.approx(0.15, abs=0.03)
    assert fuller.mean() == pytest.approx(0.5, abs=0.03)
