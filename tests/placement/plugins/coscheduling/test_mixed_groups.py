"""Replacements in groups of gangs whose match policies differ, against what koord-scheduler was seen to do."""

from __future__ import annotations

from collections import defaultdict

import pytest

from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.placement.plugins.coscheduling.mixed_groups import MixedGroup, measured
from tests.placement.plugins.coscheduling.worlds import group_of, member, nodes_of, prover_of

LANDS, NO, UNKNOWN = LandingVerdict.LANDS, LandingVerdict.NO, LandingVerdict.UNKNOWN
_BOTH_ORDERS: dict[tuple[str, str, bool, frozenset[str]], set[bool]] = defaultdict(set)
for _world in measured():
    _BOTH_ORDERS[(*_world[:3], frozenset(_world.replaced))].add(_world.is_bound)


def prover(world: MixedGroup) -> LandingProver:
    """A prover over the pods as they are bound before anything is replaced."""
    names = ["a-0", "b-0"] if world.is_short else ["a-0", "a-1", "b-0"]
    groups = [
        group_of(name, minimum, policy, groups=("a", "b"))
        for name, minimum, policy in (("a", 2, world.first), ("b", 1, world.second))
    ]
    return prover_of(nodes_of(8), [member(name, name[0]) for name in names], groups)


@pytest.mark.parametrize("world", [pytest.param(each, id=each.name) for each in measured() if len(each.replaced) == 1])
def test_replacement_of_one_pod(world: MixedGroup) -> None:
    found = prover(world)
    (victim,) = (pod for pod, _ in found.cluster.placed_pods if pod.name == world.replaced[0])

    landing, joint = found.consider(victim), found.prove([victim])

    expected = LANDS if world.is_bound else NO
    assert (landing.verdict, joint.verdict) == (expected, expected)


@pytest.mark.parametrize("world", [pytest.param(each, id=each.name) for each in measured() if len(each.replaced) > 1])
def test_replacements_of_several_pods(world: MixedGroup) -> None:
    found = prover(world)
    placed = {pod.name: pod for pod, _ in found.cluster.placed_pods}
    victims = [placed[name] for name in world.replaced]

    joint = found.prove(victims)

    outcomes = _BOTH_ORDERS[(*world[:3], frozenset(world.replaced))]
    if world.goes_by_order and joint.verdict is not NO:
        assert joint.verdict is UNKNOWN
        assert "by the order in which its pods are created" in joint.landings[0].message
    else:
        assert (joint.verdict, {joint.verdict is LANDS}) == (LANDS if True in outcomes else NO, outcomes)


def test_order_of_creation_decides_only_where_one_gang_alone_is_scheduled_pod_by_pod() -> None:
    by_order = {key[:2] for key, outcomes in _BOTH_ORDERS.items() if len(outcomes) > 1}

    assert all(("once-satisfied" in policies) and len(set(policies)) == 2 for policies in by_order)
    assert len(by_order) == 4
