"""Ten thousand small worlds: devices are those of a brute force, are never given out twice, and all come back."""

from __future__ import annotations

import random

import numpy as np
import pytest

from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.plugins.dynamic_resources.grants import ClaimLedger
from tests.builders import node_object
from tests.placement.plugins.dynamic_resources.drawn import Held, drawn_devices, drawn_want, slices
from tests.placement.plugins.dynamic_resources.worlds import claiming, device_class, got, scheduler_of
from tests.series import Part, parts

NUM_WORLDS = 10_000
NODES = ("a", "b")
NUM_PODS = 5


@pytest.mark.long
@pytest.mark.parametrize("part", parts(100))
def test_devices_are_those_of_a_brute_force_and_come_back_in_any_order(part: Part) -> None:
    for seed in part.of(range(NUM_WORLDS)):
        play(random.Random(seed))


def play(drawn: random.Random) -> None:
    """One world: pods are placed one after the other, each checked on all nodes, and leave in another order."""
    devices = {node: drawn_devices(drawn) for node in NODES}
    wants = [drawn_want(drawn) for _ in range(NUM_PODS)]
    scheduler = scheduler_of(
        device_class(),
        *map(node_object, NODES),
        *(piece for node in NODES for piece in slices(node, devices[node])),
        *(want.as_object(f"c{place}") for place, want in enumerate(wants)),
    )
    ledger = scheduler.cluster.ledger(ClaimLedger)
    held = {node: Held() for node in NODES}
    before, placed = ledger.fingerprint(), []
    for place, want in enumerate(wants):
        evaluation = scheduler.evaluate(claiming(f"p{place}", f"c{place}"))
        expected = {node: want.first(devices[node], held[node]) for node in NODES}
        assert {NODES[node]: got(evaluation, node) for node in np.flatnonzero(evaluation.feasible).tolist()} == {
            node: [f"{each.request}={each.device.name}" for each in taken]
            for node, taken in expected.items()
            if taken is not None
        }
        if evaluation.fits:
            node = drawn.choice(evaluation.nodes.tolist())
            taken = expected[NODES[node]] or []
            held[NODES[node]].hold(taken)
            placed.append((put_on_node(evaluation, node).placed, NODES[node], taken))
            assert held[NODES[node]].takes(())
    drawn.shuffle(placed)
    for taken_off, node_name, taken in placed:
        scheduler.cluster.take_off(taken_off)
        held[node_name].hold(taken, -1)
    assert ledger.fingerprint() == before
