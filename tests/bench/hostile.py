"""How long a run takes when a few pods of one tenant ask as much of it as they can."""

from __future__ import annotations

import time
from collections.abc import Sequence

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round
from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.load import load_policy
from tests.bench.measure import in_own_process
from tests.builders import NOW
from tests.worlds.hostile import WORLDS, hostile_policy

_MODES = ((False, False), (True, False), (False, True))


def report() -> None:
    """Prints a line a world: seconds to read it, and to decide without more, with nodeFit and with verification."""
    print(f"{'world of one hostile tenant':<52}{'read: s':>9}{'alone: s':>10}{'nodeFit: s':>12}{'verified: s':>13}")
    for number, world in enumerate(WORLDS):
        seconds = in_own_process(_run, number).figures
        read, alone, with_fit, verified = seconds
        print(f"{world.name:<52}{read:>9.2f}{alone:>10.2f}{with_fit:>12.2f}{verified:>13.2f}")


def _run(number: int) -> Sequence[float]:
    world = WORLDS[number]
    objects = world.objects(1)
    started = time.perf_counter()
    snapshot = snapshot_from_objects(objects, SnapshotRequest(keep_templates=True))
    figures = [time.perf_counter() - started]
    for node_fit, verifies in _MODES:
        policy = load_policy(hostile_policy(world.strategies, node_fit=node_fit, verifies=verifies), REGISTRY)
        started = time.perf_counter()
        decide(policy, snapshot, now=NOW, this_round=Round(most_assessed=0))
        figures.append(time.perf_counter() - started)
    return figures
