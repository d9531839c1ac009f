"""The openb trace as arrays: best-fit never overcommits, and the ratio counted from the trace is the objective's."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from descheduler.optimizer.arrays import PENDING
from tests.bench.planner.openb import fragmentation_ratio
from tests.worlds.openb_arrays import GPU, OpenbWorld, make_openb_world, make_small_openb_world
from tests.worlds.openb_trace import TraceNode, TracePod


def _pod(number: int, *, gpus: int, share: int, models: tuple[str, ...] = ()) -> TracePod:
    return TracePod(f"pod-{number}", 1000, 1024, gpus, share, models, "LS", "Running", number)


def _host(name: str, gpus: int, model: str = "T4") -> TraceNode:
    return TraceNode(name, 8000, 65_536, gpus, model)


def _without_multi_devices(world: OpenbWorld) -> OpenbWorld:
    """Of several devices the objective looks at single ones alone, the count from the trace at any set."""
    objective = world.objective
    weight = np.where(objective.num_devices > 1, 0, objective.weight)
    return dataclasses.replace(world, objective=dataclasses.replace(objective, weight=weight))


@pytest.mark.parametrize("seed", range(5))
def test_best_fit_overcommits_nothing(seed: int) -> None:
    problem = make_small_openb_world(hosts=12, load=1.0, seed=seed).problem

    assert (problem.usage(problem.assignment) <= problem.part_capacity).all()
    assert (problem.assignment == PENDING).any()


def test_pod_goes_to_the_fullest_gpu_that_has_its_share() -> None:
    pods = [_pod(0, gpus=1, share=600), _pod(1, gpus=1, share=400), _pod(2, gpus=1, share=600)]

    world = make_openb_world([_host("a", 2)], pods, load=0.8, seed=0)

    used = world.problem.usage(world.problem.assignment)[1:, GPU].tolist()
    assert used == [1000, 600]


def test_pod_of_a_model_may_only_be_on_hosts_of_it() -> None:
    world = make_openb_world(
        [_host("a", 1), _host("b", 1, "V100")], [_pod(0, gpus=1, share=500, models=("V100",))], load=0.2, seed=0
    )

    hosts = {world.choices[node][0] for node in np.flatnonzero(world.problem.allowed[0]).tolist()}
    assert hosts == {1}


@pytest.mark.parametrize("seed", range(5))
def test_ratio_counted_from_the_trace_is_that_of_the_objective(seed: int) -> None:
    world = _without_multi_devices(make_small_openb_world(hosts=10, load=0.9, seed=seed))
    problem = world.problem

    stranded = world.objective.prepare(problem).value(problem.assignment)[0]

    free = problem.part_capacity - problem.usage(problem.assignment)
    idle = free[len(world.hosts) :, GPU].sum()
    assert fragmentation_ratio(world, problem.assignment) == pytest.approx(
        stranded / (idle * world.objective.weight.sum())
    )
