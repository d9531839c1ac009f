"""The openb trace at a load, as a cluster: pods have the GPUs that best-fit gave them."""

from __future__ import annotations

from collections import Counter

from descheduler.optimizer.arrays import PENDING
from descheduler.placement.prover import LandingProver
from tests.planner.gpus.runs import gpu_snapshot
from tests.worlds.openb_arrays import GPU, OpenbWorld, make_small_openb_world
from tests.worlds.openb_loaded import openb_objects


def _world() -> OpenbWorld:
    return make_small_openb_world(hosts=6, load=1.0, seed=1)


def test_pods_without_room_are_pending() -> None:
    world = _world()

    snapshot = gpu_snapshot([], list(openb_objects(world)))

    pending = int((world.problem.assignment == PENDING).sum())
    assert pending
    assert sum(not pod.node_name for pod in snapshot.pods) == pending


def test_gpus_have_left_what_they_have_left_in_the_arrays() -> None:
    world = _world()
    usage = world.problem.usage(world.problem.assignment)

    openings = LandingProver(gpu_snapshot([], list(openb_objects(world)))).openings()

    free = [
        gpu.memory_ratio for host in world.hosts for gpu in openings.parts.free(openings.place_of(host.name)).values()
    ]
    left = (world.problem.part_capacity - usage)[len(world.hosts) :, GPU] // 10
    assert Counter(free) == Counter(left.tolist())
