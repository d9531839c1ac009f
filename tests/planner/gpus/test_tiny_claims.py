"""Room for pods with resource claims in tiny clusters: planned as well as by trying out all sets of evictions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import chain, combinations, permutations

import pytest

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.builders import Object
from tests.planner.gpus.test_claimed_devices import gpus, pending, run, running, snapshot_of
from tests.planner.runs import goal_of
from tests.strategies.runs import evicted

NUM_WORLDS = 12
NUMBERS = {"one": [1], "two": [2], "fewer": [2, 1]}


def drawn(seed: int) -> list[Object]:
    """Two nodes with two or three GPUs each, pods with some of them, and one or two pods that wait."""
    chance, objects = random.Random(seed), list[Object]()
    for node in "ab":
        most = free = chance.choice([2, 3])
        objects += gpus(node, most)
        for place in range(chance.choice([1, 2, 2, 3])):
            of = chance.choice(["one", "one", "one", "two", "fewer"])
            number = next((each for each in NUMBERS[of] if each <= free), 0)
            if number:
                names = [f"gpu-{each}" for each in range(most - free, most - free + number)]
                objects += running(f"{node}{place}", node, of, *names)
                free -= number
    wanted = [chance.choice(["one", "two", "two", "all", "fewer"]) for _ in range(chance.choice([1, 1, 2]))]
    return [*objects, *(pending(f"new-{place}", of) for place, of in enumerate(wanted))]


def pending_after(snapshot: Snapshot, victims: Sequence[Pod]) -> int | None:
    """How many pods wait once these have left in this order; None if not all replacements can be scheduled."""
    prover = LandingProver(snapshot)
    landings = [prover.book(victim) for victim in victims]
    return len(prover.still_pending()) if all(each.verdict is LandingVerdict.LANDS for each in landings) else None


def best(snapshot: Snapshot) -> tuple[int, int]:
    """The fewest pods that wait, and with how many evictions, whatever their order; pods stay that are not counted."""
    counts = LandingProver(snapshot).openings().parts
    placed = [pod for pod in snapshot.pods if pod.node_name and not counts.why_uncounted(pod)]
    found: list[tuple[int, int]] = []
    for victims in chain.from_iterable(combinations(placed, number) for number in range(len(placed) + 1)):
        first, *rest = {pending_after(snapshot, order) for order in permutations(victims)}
        if first is not None and not rest:
            found.append((first, len(victims)))
    return min(found)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(NUM_WORLDS))
def test_room_is_made_with_as_few_evictions_as_any_plan_takes(seed: int) -> None:
    objects = drawn(seed)

    decisions = run({"makeRoom": {}}, *objects, packs=False)

    assert (goal_of(decisions).levels[0].after, len(evicted(decisions))) == best(snapshot_of(*objects))
