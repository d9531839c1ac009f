"""Captures of VMR2L: the fragment rate after 25 and 50 moves within 5 seconds, beside the paper's means."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from descheduler.optimizer import Limits, ReduceFragmentation, Solution, solve
from tests.bench.planner.versus.comparison import Comparison, Options, data_files
from tests.worlds.vmr2l import SLOT_CORES, Fleet, read_fleet

FRAGMENT_RATE = ReduceFragmentation(resource=0, classes=np.array([[SLOT_CORES, 0]]))
"""VMR2L's figure as the objective has it: one class of 16 cores, memory left aside, NUMA nodes as parts."""
_MOVES = (25, 50)
_SECONDS = 5.0
_PAPER = "0.555 before; 50 moves: MIP 0.288 (50 minutes), VMR2L 0.295, POP 0.345, NeuPlan 0.358, genetic 0.388"


def _lines(options: Options) -> Iterator[str]:
    limits = options.limits_or(_SECONDS)
    for path in data_files(options.data, "vmr2l", ("*.json", "*.json.gz")):
        fleet = read_fleet(path)
        problem = fleet.problem
        rate = fleet.fragment_rate(problem.assignment)
        yield f"{path.name}: {problem.num_pods:,} machines on {len(fleet.free_cores):,} NUMA nodes, FR {rate:.3f}"
        for moves in _MOVES:
            for seed in range(options.num_seeds):
                yield f"{moves} moves, seed {seed}: {_outcome(fleet, moves, limits, seed, options.num_workers)}"
        if options.longer is not None:
            outcome = _outcome(fleet, _MOVES[-1], options.longer, options.num_seeds, options.num_workers)
            yield f"{_MOVES[-1]} moves, longer: {outcome}"
    yield f"the paper's means: {_PAPER}"


def _outcome(fleet: Fleet, moves: int, limits: Limits, seed: int, num_workers: int) -> str:
    cpu = time.process_time()
    problem = fleet.limited(moves)
    plan = solve(problem, FRAGMENT_RATE, limits, seed=seed, num_workers=num_workers)
    spent = time.process_time() - cpu
    rate = fleet.fragment_rate(plan.assignment)
    return f"FR {rate:.3f} with {_counted(plan)}; {plan.seconds:.1f} s, {spent:.1f} s of it CPU of this process"


def _counted(plan: Solution) -> str:
    return f"{plan.value[1]} machines moved in {len(plan.waves)} waves"


VMR2L = Comparison("vmr2l", "VMR2L (EuroSys 2025), MIP, POP and NeuPlan as published", "captures, *.json.gz", _lines)
