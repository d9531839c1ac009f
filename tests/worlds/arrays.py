"""Snapshots as arrays for the planner's trials: nodes of three shapes, and pods of three shapes in workloads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrays import Bools, Floats, Ints
from descheduler.optimizer.parts import Parts
from descheduler.optimizer.problem import Problem, make_problem
from descheduler.optimizer.rules import AtMost, MoveLimit

TARGET_RATIO = 0.7
NODE_SHAPES = np.array([[16_000, 64_000], [32_000, 64_000], [16_000, 128_000]])
"""CPU in milli and memory in MiB of the three shapes of nodes."""
_STEP = np.array([50, 64])
"""Requests are multiples of it."""
_LEANINGS = np.array([[0.75, 0.05, 0.2], [0.05, 0.75, 0.2], [0.25, 0.25, 0.5]])
"""How many of a node's pods are heavy on CPU, heavy on memory and balanced, for three kinds of nodes."""
_USUAL_SIZES = np.array(
    [
        [[250, 256], [500, 512], [1000, 512], [2000, 1024], [4000, 2048], [8000, 4096]],
        [[100, 512], [250, 2048], [500, 4096], [1000, 8192], [2000, 16384], [2000, 32768]],
        [[100, 256], [250, 1024], [500, 2048], [1000, 4096], [2000, 8192], [4000, 16384]],
    ]
)
"""CPU in milli and memory in MiB of pods of the three kinds."""
_USUAL_SHARES = np.array([0.28, 0.26, 0.2, 0.14, 0.08, 0.04])
_LARGE_SIZES = np.array([[8000, 32768], [6000, 24576], [4000, 16384], [4000, 8192], [2000, 8192]])
_HOT_SHARE, _PINNED_SHARE, _ANTI_AFFINE_SHARE = 0.15, 0.2, 0.4


@dataclass(frozen=True, slots=True, eq=False)
class ArrayWorld:
    """A problem, the target of each node (int64[N, 2]), and the workload of each pod (int64[P])."""

    problem: Problem
    ceiling: Ints
    workload: Ints


def make_balance_world(*, nodes: int, seed: int, mean_ratio: float) -> ArrayWorld:
    """Some `nodes` nodes with 15 to 30 pods each, 15 % of them used to 78-95 % of CPU or memory, the mean as told.

    A fifth of the pods is pinned; two fifths are in workloads of which a node may have one pod. The target is 70 % of
    CPU and memory. `mean_ratio` 0.50 is loose, 0.62 tight.
    """
    rng = np.random.default_rng(seed)
    capacity = NODE_SHAPES[rng.integers(len(NODE_SHAPES), size=nodes)]
    goal = draw_utilisation(rng, nodes, mean_ratio)
    need, assignment = _fill(rng, capacity, goal)
    workload, group = _workloads(rng, assignment)
    limit = np.ones(int(group.max(initial=-1)) + 1, np.int64)
    problem = make_problem(
        need,
        capacity,
        assignment,
        evictable=rng.random(len(need)) >= _PINNED_SHARE,
        rules=[AtMost(group, np.arange(nodes), limit)],
    )
    return ArrayWorld(problem, (capacity * TARGET_RATIO).astype(np.int64), workload)


def make_consolidation_world(*, nodes: int, seed: int, mean_ratio: float) -> ArrayWorld:
    """A cluster that has become too large: nodes used to `mean_ratio` on average, between half of it and half more.

    A tenth of the nodes has pinned pods. `ceiling` is 90 % of CPU and memory.
    """
    rng = np.random.default_rng(seed)
    capacity = NODE_SHAPES[rng.integers(len(NODE_SHAPES), size=nodes)]
    goal = mean_ratio * rng.uniform(0.5, 1.5, (nodes, 1)) * rng.uniform(0.85, 1.15, (nodes, 2))
    need, assignment = _fill(rng, capacity, np.clip(goal, 0.05, 0.9))
    workload, group = _workloads(rng, assignment)
    limit = np.ones(int(group.max(initial=-1)) + 1, np.int64)
    has_pinned = rng.random(nodes) < 0.1
    problem = make_problem(
        need,
        capacity,
        assignment,
        evictable=~(has_pinned[assignment] & (rng.random(len(need)) < _PINNED_SHARE)),
        rules=[AtMost(group, np.arange(nodes), limit)],
    )
    return ArrayWorld(problem, (capacity * 0.9).astype(np.int64), workload)


def make_full_world(*, nodes: int, seed: int) -> Problem:
    """A cluster used to 88-97 % with free capacity in pieces, and a tenth as many pending pods as nodes.

    Each pending pod needs 8 to 14 % of a node of 32 cores, more than any node has free.
    """
    rng = np.random.default_rng(seed)
    capacity = NODE_SHAPES[rng.integers(len(NODE_SHAPES), size=nodes)]
    need, assignment = _fill(rng, capacity, rng.uniform(0.88, 0.97, (nodes, 2)))
    used = np.zeros_like(capacity)
    np.add.at(used, assignment, need)
    wanted = np.array([32_000, 64_000]) * rng.uniform(0.08, 0.14, (max(nodes // 10, 1), 1))
    largest = (capacity - used).max(axis=0) + _STEP
    pending = np.maximum(wanted, np.where(wanted > largest, wanted, largest)).astype(np.int64)
    all_needs = np.concatenate((need, pending))
    return make_problem(
        all_needs,
        capacity,
        np.concatenate((assignment, np.full(len(pending), -1))),
        evictable=rng.random(len(all_needs)) >= _PINNED_SHARE,
    )


def make_crowded_world(*, nodes: int, seed: int) -> Problem:
    """A cluster used to 88-97 %, and pending pods of all shapes that need 70 % of its free volume, none of which fits.

    Each needs 10 to 40 % of a node of 32 cores and 64 GiB, other than those of `make_full_world` in both resources.
    """
    rng = np.random.default_rng(seed)
    capacity = NODE_SHAPES[rng.integers(len(NODE_SHAPES), size=nodes)]
    need, assignment = _fill(rng, capacity, rng.uniform(0.88, 0.97, (nodes, 2)))
    free = capacity.copy()
    np.subtract.at(free, assignment, need)
    pending: list[Ints] = []
    left = free.sum(axis=0) * 0.7
    while True:
        wanted = np.array([32_000, 64_000]) * rng.uniform(0.15, 0.3) * rng.uniform(0.7, 1.3, 2)
        size = (wanted // _STEP).astype(np.int64) * _STEP
        if (size > left).any():
            break
        if not (size <= free).all(axis=1).any():
            pending.append(size)
            left -= size
    all_needs = np.concatenate((need, np.array(pending, np.int64).reshape(-1, 2)))
    return make_problem(
        all_needs,
        capacity,
        np.concatenate((assignment, np.full(len(pending), -1))),
        evictable=rng.random(len(all_needs)) >= _PINNED_SHARE,
    )


def make_stranded_world(*, nodes: int, seed: int, pending_ratio: float) -> Problem:
    """A cluster as operators meet it: CPU is used up on some nodes, memory on others, and large pods are pending.

    Nodes have 16 cores and 64 GiB, or twice of it; pods are of the usual sizes, most of them small. Large pods have
    arrived for as long as some node took them. Those that are pending fit on none, and need `pending_ratio` of all free
    CPU or memory, of which they need more.
    """
    rng = np.random.default_rng(seed)
    capacity = np.tile([[16_000, 65_536]], (nodes, 1)) * (1 + (rng.random((nodes, 1)) < 0.3))
    placed = [(size, node) for node in range(nodes) for size in _usual_pods(rng, capacity[node])]
    placed = [pod for pod in placed if rng.random() >= 0.05]
    free = capacity.copy()
    for size, node in placed:
        free[node] -= size
    for size in _LARGE_SIZES:
        while (fits := (size <= free).all(axis=1)).any():
            node = int(np.argmax(np.where(fits, (free / capacity).mean(axis=1), -1.0)))
            placed.append((size, node))
            free[node] -= size
    pending: list[Ints] = []
    left = free.sum(axis=0) * pending_ratio
    while (left >= (size := _LARGE_SIZES[rng.integers(len(_LARGE_SIZES))])).all():
        pending.append(size)
        left -= size
    need = np.array([*(size for size, _ in placed), *pending])
    return make_problem(
        need,
        capacity,
        [*(node for _, node in placed), *[-1] * len(pending)],
        evictable=rng.random(len(need)) >= _PINNED_SHARE,
    )


def _usual_pods(rng: np.random.Generator, capacity: Ints) -> list[Ints]:
    """Pods until a dozen in a row do not fit the node any more."""
    leaning, left, found, misses = _LEANINGS[rng.choice(3, p=[0.4, 0.4, 0.2])], capacity.copy(), list[Ints](), 0
    while misses < 12:
        size = _USUAL_SIZES[rng.choice(3, p=leaning), rng.choice(len(_USUAL_SHARES), p=_USUAL_SHARES)]
        if (size > left).any():
            misses += 1
            continue
        found.append(size)
        left -= size
    return found


def make_numa_world(*, hosts: int = 280, pods: int = 2089, seed: int, most_moves: int = 50) -> Problem:
    """Hosts of two NUMA nodes, 44 cores and 128 GiB each, with virtual machines, of which 50 may be moved.

    Machines of 2-16 cores are on one NUMA node, those of 32 and 64 split evenly over both. Nodes are, host by host, the
    first NUMA node, the second and both. The sizes are those that VMR2L (EuroSys 2025) gives for its own clusters: 280
    hosts, 2,089 machines. They are placed at random where they fit, and some have left since.
    """
    rng = np.random.default_rng(seed)
    first = 2 * np.arange(hosts)
    taken = np.column_stack((first, first * 0 - 1, first + 1, first * 0 - 1, first, first + 1)).reshape(-1, 2)
    need, is_split = _draw_machines(rng, int(pods * 1.05))
    free = np.tile([44, 128], (2 * hosts, 1))
    assignment = np.full(len(need), -1)
    for pod, wanted in enumerate(need):
        fits = np.append((free >= wanted).all(axis=1), True)[taken].all(axis=1)
        options = np.flatnonzero(fits & ((taken[:, 1] >= 0) == is_split[pod]))
        if len(options):
            assignment[pod] = rng.choice(options)
            free[taken[assignment[pod]][taken[assignment[pod]] >= 0]] -= wanted
    placed = np.flatnonzero(assignment >= 0)
    keep = np.sort(rng.choice(placed, size=min(pods, len(placed)), replace=False))
    return make_problem(
        need[keep],
        Parts(np.tile([44, 128], (2 * hosts, 1)), taken, np.repeat(np.arange(hosts), 3)),
        assignment[keep],
        pod_class=is_split[keep].astype(np.int64),
        allowed=np.array([taken[:, 1] < 0, taken[:, 1] >= 0]),
        rules=[MoveLimit(np.zeros(len(keep), np.int64), np.array([most_moves]))],
    )


def _draw_machines(rng: np.random.Generator, count: int) -> tuple[Ints, Bools]:
    """(cores and GiB that each machine takes of a NUMA node, whether it is split over two)."""
    cores = rng.choice([2, 4, 8, 16, 32, 64], size=count, p=[0.15, 0.25, 0.26, 0.24, 0.075, 0.025])
    is_split = cores > 16
    own = np.where(is_split, cores // 2, cores)
    return np.column_stack((own, own * rng.choice([2, 4], size=count, p=[0.8, 0.2]))), is_split


def draw_utilisation(rng: np.random.Generator, nodes: int, mean_ratio: float) -> Floats:
    """float64[N, 2]: hot nodes have one resource at 78-95 %, the other near; the rest is spread below the target."""
    num_hot = max(1, round(nodes * _HOT_SHARE))
    hot = rng.uniform(0.78, 0.95, num_hot)
    other = np.clip(hot + rng.uniform(-0.15, 0.0, num_hot), 0.60, 0.95)
    cold_mean = (mean_ratio * nodes - (hot + other).sum() / 2) / (nodes - num_hot)
    spread = min(0.69 - cold_mean, 0.15)
    cold = np.clip(rng.uniform(cold_mean - spread, cold_mean + spread, (nodes - num_hot, 2)), 0.05, 0.69)
    both = np.column_stack((hot, other))
    swapped = rng.random(num_hot) < 0.5
    both[swapped] = both[swapped][:, ::-1]
    return rng.permutation(np.concatenate((both, cold)))


def _fill(rng: np.random.Generator, capacity: Ints, goal: Floats) -> tuple[Ints, Ints]:
    """Pods for each node whose requests add up to the goal: balanced, heavy on CPU, or heavy on memory."""
    needs, assignment = [], []
    for node, (room, ratio) in enumerate(zip(capacity, goal, strict=True)):
        count = int(rng.integers(15, 31))
        leaning = np.array([[1.0, 1.0], [1.3, 0.7], [0.7, 1.3]])[rng.integers(3, size=count)]
        parts = rng.lognormal(0.0, 0.75, (count, 1)) * leaning * rng.uniform(0.8, 1.25, (count, 2))
        wanted = parts / parts.sum(axis=0) * room * ratio
        needs.append(np.maximum(np.floor(wanted / _STEP), 1).astype(np.int64) * _STEP)
        assignment.extend([node] * count)
    return np.concatenate(needs), np.array(assignment)


def _workloads(rng: np.random.Generator, assignment: Ints) -> tuple[Ints, Ints]:
    """(workload of each pod, the same for anti-affine pods and -1 for others): 4-30 pods on different nodes each."""
    num_pods = len(assignment)
    workload, group = np.full(num_pods, -1), np.full(num_pods, -1)
    waiting, number, num_groups = rng.permutation(num_pods).tolist(), 0, 0
    while waiting:
        size = int(rng.integers(4, 31))
        is_anti_affine = rng.random() < _ANTI_AFFINE_SHARE
        members: list[int] = []
        used: set[int] = set()
        rest: list[int] = []
        for pod in waiting[: 3 * size]:
            if len(members) < size and not (is_anti_affine and assignment[pod] in used):
                members.append(pod)
                used.add(assignment[pod])
            else:
                rest.append(pod)
        waiting = rest + waiting[3 * size :]
        workload[members] = number
        number += 1
        if is_anti_affine:
            group[members] = num_groups
            num_groups += 1
    return workload, group
