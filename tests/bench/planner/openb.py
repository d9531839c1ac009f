"""The openb trace, placed by best-fit: FGD's fragmentation at 90 % load, and room for what is pending at 100 %."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from descheduler.optimizer import Limits, MakeRoom, Problem, ReduceGpuFragmentation, Solution, solve
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Ints
from tests.worlds.openb_arrays import GPU, OpenbWorld, make_openb_world
from tests.worlds.openb_trace import TraceNode, TracePod, read_nodes, read_pods


def report_fragmentation(*, data: Path, seeds: Sequence[int], limits: Limits, num_workers: int) -> None:
    """Prints a line a seed: FGD's ratio before and after moves of at most 5 % of the pods, planned and one by one."""
    for seed in seeds:
        world = make_openb_world(*_trace(data), load=0.9, seed=seed)
        plan = solve(world.problem, world.objective, limits, seed=seed, num_workers=num_workers)
        greedy = move_one_by_one(world.problem, world.objective, seed)
        before, after, by_greedy = (
            fragmentation_ratio(world, at) for at in (world.problem.assignment, plan.assignment, greedy)
        )
        print(
            f"openb-fragmentation {seed}: {before:.1%} -> {after:.1%} of idle GPU with {_moves(world.problem, plan)}; "
            f"one by one {by_greedy:.1%} with {len(world.problem.moved(greedy))} moved; {_line(plan)}",
            flush=True,
        )


def report_room(*, data: Path, seeds: Sequence[int], limits: Limits, num_workers: int) -> None:
    """Prints a line a seed: how many pending pods get a node where at most 5 % of the placed pods are moved."""
    for seed in seeds:
        world = make_openb_world(*_trace(data), load=1.0, seed=seed)
        plan = solve(world.problem, MakeRoom(), limits, seed=seed, num_workers=num_workers)
        pending = int((world.problem.assignment == PENDING).sum())
        print(
            f"openb-room {seed}: {pending - plan.value[0]} of {pending} pending pods placed (0 without moves) with "
            f"{_moves(world.problem, plan)}; {_line(plan)}",
            flush=True,
        )


def _trace(data: Path) -> tuple[list[TraceNode], list[TracePod]]:
    return read_nodes(data / "openb_node_list_gpu_node.csv.gz"), read_pods(data / "openb_pod_list_default.csv.gz")


def _moves(problem: Problem, plan: Solution) -> str:
    placed = int((problem.assignment != PENDING).sum())
    moved = len(problem.moved(plan.assignment))
    return f"{moved} of {placed} pods moved ({moved / placed:.1%})"


def _line(plan: Solution) -> str:
    return f"first plan {plan.first_seconds:.1f} s of {plan.seconds:.1f} s, {len(plan.waves)} waves"


def move_one_by_one(problem: Problem, objective: ReduceGpuFragmentation, seed: int) -> Ints:
    """FGD's own rule for pods that run: each in random order to where the figure falls most, while moves are left."""
    placement = Arrangement(problem)
    descent = objective.prepare(problem).descent(placement)
    for pod in np.random.default_rng(seed).permutation(problem.num_pods).tolist():
        if problem.assignment[pod] != PENDING and placement.may_leave(np.array([pod]))[0]:
            change, _, node = descent.best_open_move(pod)
            if change < 0:
                descent.move(pod, node)
    return placement.at


def fragmentation_ratio(world: OpenbWorld, assignment: Ints) -> float:
    """FGD's fragmentation as a share of idle GPU, counted pod by pod from the trace; any free GPUs serve a class.

    It shares no code with the planner: the paper's definition, host by host and class by class.
    """
    hosts = _Hosts(world, assignment)
    objective = world.objective
    stranded = 0
    for cpu, gpus in zip(hosts.cpu, hosts.gpus, strict=True):
        for need, count, weight in zip(
            objective.classes.tolist(), objective.num_devices.tolist(), objective.weight.tolist(), strict=True
        ):
            fits = sum(free >= need[GPU] for free in gpus)
            can_run = count > 0 and cpu >= need[0] and fits >= count
            stranded += weight * sum(free for free in gpus if not can_run or free < need[GPU])
    idle = sum(map(sum, hosts.gpus))
    return stranded / (int(objective.weight.sum()) * max(idle, 1))


class _Hosts:
    """Thousandths of cores and of each GPU that are free."""

    def __init__(self, world: OpenbWorld, assignment: Ints) -> None:
        self.cpu = [host.cpu_milli for host in world.hosts]
        self.gpus = [[1000] * host.num_gpus for host in world.hosts]
        for pod, node in zip(world.pods, assignment.tolist(), strict=True):
            if node == PENDING:
                continue
            host, gpus = world.choices[node]
            self.cpu[host] -= pod.cpu_milli
            for gpu in gpus:
                self.gpus[host][gpu] -= pod.gpu_milli
