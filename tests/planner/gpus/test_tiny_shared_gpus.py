"""Parts of GPUs in tiny clusters: made usable as well as by trying out all evictions in all orders."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import permutations

import pytest

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.builders import Object
from tests.planner.gpus.runs import gpu_node, gpu_snapshot, pending_pod, prover_of, run_gpus, shared_pod
from tests.planner.runs import goal_of
from tests.strategies.runs import evicted

NUM_WORLDS = 16
SHARED = {"reduceFragmentation": {"resource": "koordinator.sh/gpu"}}
World = tuple[list[list[Object]], list[Object]]


def drawn(seed: int) -> World:
    """Two or three nodes with one or two GPUs each, pods with parts of them, and one that asks for one or two GPUs."""
    chance, pods = random.Random(seed), list[Object]()
    numbers = {node: chance.choice([1, 2, 2]) for node in "abc"[: chance.choice([2, 3, 3])]}
    for node, number in numbers.items():
        for minor in range(number):
            free = 100
            for place in range(chance.choice([0, 1, 1])):
                share = chance.choice([25, 50, 50])
                if share <= free and len(pods) < 4:
                    free -= share
                    pods.append(shared_pod(f"{node}{minor}{place}", node, share, minor))
    waiting = pending_pod("new", 100, number=chance.choice([1, 1, 2]))
    return [gpu_node(node, number) for node, number in numbers.items()], [*pods, waiting]


def stranded(prover: LandingProver, snapshot: Snapshot) -> int:
    """Percent of GPUs that are free and that pods of a size cannot use, summed over the pods of all sizes."""
    openings, total = prover.openings(), 0
    sizes = Counter(openings.parts.need_of(pod, 0) for pod in snapshot.pods)
    for node in snapshot.nodes:
        free = [part.memory_ratio for part in openings.parts.free(openings.place_of(node.name)).values()]
        for need, number in sizes.items():
            assert need is not None
            usable = [each for each in free if each >= need.memory_ratio]
            total += number * (sum(free) - (sum(usable) if len(usable) >= need.number else 0))
    return total


def figure_after(snapshot: Snapshot, victims: Sequence[Pod]) -> int | None:
    """What is stranded once these have left in this order; None if a replacement is not scheduled onto another node."""
    prover = prover_of(snapshot)
    for victim in victims:
        landing = prover.book(victim)
        if landing.verdict is not LandingVerdict.LANDS or landing.node == victim.node_name:
            return None
    return stranded(prover, snapshot)


def best(snapshot: Snapshot) -> tuple[int, int]:
    """The least that is stranded, and with how many evictions."""
    placed = [pod for pod in snapshot.pods if pod.node_name]
    orders = (order for number in range(len(placed) + 1) for order in permutations(placed, number))
    found = ((figure_after(snapshot, order), len(order)) for order in orders)
    return min((figure, number) for figure, number in found if figure is not None)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(NUM_WORLDS))
def test_parts_of_gpus_are_made_usable_with_as_few_evictions_as_any_plan_takes(seed: int) -> None:
    nodes, pods = drawn(seed)

    decisions = run_gpus(SHARED, nodes, pods)

    assert (goal_of(decisions).levels[0].after, len(evicted(decisions))) == best(gpu_snapshot(nodes, pods))
