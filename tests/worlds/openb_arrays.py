"""The openb trace as a problem of the planner: GPUs by minor, a best-fit placement, and FGD's classes of pods.

A host has its cores and memory, each of its GPUs 1000 thousandths. A node of the problem is a host alone, for pods
without GPU, or one of its GPUs, or an aligned set of 2, 4 or 8 of them, for pods of whole GPUs.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrays import Bools, Ints
from descheduler.optimizer.objectives.reduce_gpu_fragmentation import ReduceGpuFragmentation
from descheduler.optimizer.parts import UNLIMITED, Parts
from descheduler.optimizer.problem import Problem, make_problem
from descheduler.optimizer.rules import MoveLimit
from tests.worlds.openb_trace import TraceNode, TracePod

GPU = 2
"""The resource of thousandths of a GPU, after thousandths of a core and MiB."""
_WHOLE = 1000


@dataclass(frozen=True, slots=True, eq=False)
class OpenbWorld:
    """`pods[i]` is pod i of `problem`, `choices[n]` the host of its node n, with the indexes of the node's GPUs there.

    `objective` is FGD's fragmentation.
    """

    problem: Problem
    objective: ReduceGpuFragmentation
    hosts: tuple[TraceNode, ...]
    pods: tuple[TracePod, ...]
    choices: tuple[tuple[int, tuple[int, ...]], ...]


def make_openb_world(
    hosts: Sequence[TraceNode], trace: Sequence[TracePod], *, load: float, seed: int, moved_ratio: float = 0.05
) -> OpenbWorld:
    """Pods of the trace, in an order that `seed` draws, until they ask for `load` of all GPUs; best-fit places them.

    Where the trace is over before, it begins again in another order, as the paper inflates it. What finds no room is
    pending. Best-fit is that of the paper's simulator: of the hosts with room the one with the least left, cores and
    GPUs each as a share of the most that a host has; a part of a GPU goes to the fullest one that has it. At most
    `moved_ratio` of the placed pods may be moved.
    """
    pods = _draw(trace, load * _WHOLE * sum(host.num_gpus for host in hosts), random.Random(seed))
    places = _best_fit(hosts, pods)
    choices, number = _choices(hosts, places)
    placed = sum(place is not None for place in places)
    problem = make_problem(
        [[pod.cpu_milli, pod.memory_mib, pod.gpu_milli if pod.num_gpus else 0] for pod in pods],
        _parts(hosts, choices),
        [-1 if place is None else number[place] for place in places],
        rules=[MoveLimit(np.zeros(len(pods), np.int64), np.array([int(moved_ratio * placed)]))],
        **_classes(hosts, pods, choices),
    )
    return OpenbWorld(problem, _objective(trace), tuple(hosts), tuple(pods), tuple(choices))


def make_small_openb_world(*, hosts: int, load: float, seed: int, moved_ratio: float = 0.2) -> OpenbWorld:
    """As `make_openb_world`, of a trace of some hosts of 2 to 8 GPUs and the sizes of pods that openb has most of."""
    rng = random.Random(seed)
    sizes = [
        (11_300, 49_152, 1, 1000),
        (3_152, 5_600, 1, 810),
        (3_152, 5_600, 1, 1000),
        (8_000, 30_517, 1, 470),
        (11_908, 47_104, 1, 650),
        (8_000, 16_384, 1, 320),
        (32_000, 65_536, 0, 0),
        (24_000, 98_304, 2, 1000),
    ]
    nodes = [
        TraceNode(f"node-{number}", cpu, memory, gpus, "T4")
        for number in range(hosts)
        for cpu, memory, gpus in [rng.choice([(24_000, 131_072, 2), (64_000, 393_216, 4), (128_000, 786_432, 8)])]
    ]
    pods = [
        TracePod(f"pod-{number}", cpu, memory, gpus, share, (), "LS", "Running", number)
        for number in range(20 * hosts)
        for cpu, memory, gpus, share in rng.choices(sizes, weights=[6, 4, 3, 3, 2, 2, 3, 1])
    ]
    return make_openb_world(nodes, pods, load=load, seed=seed, moved_ratio=moved_ratio)


_Place = tuple[int, tuple[int, ...]]
"""A host and the indexes of GPUs there."""


def _draw(trace: Sequence[TracePod], wanted: float, rng: random.Random) -> list[TracePod]:
    drawn: list[TracePod] = []
    while True:
        for pod in rng.sample(trace, len(trace)):
            if wanted <= 0:
                return drawn
            drawn.append(pod)
            wanted -= pod.num_gpus * pod.gpu_milli


def _best_fit(hosts: Sequence[TraceNode], pods: Sequence[TracePod]) -> list[_Place | None]:
    most = max(host.num_gpus for host in hosts)
    free = np.array([[host.cpu_milli, host.memory_mib] for host in hosts], np.int64)
    gpu = np.array([[_WHOLE] * host.num_gpus + [0] * (most - host.num_gpus) for host in hosts])
    scale = 1.0 / max(host.cpu_milli for host in hosts), 1.0 / (_WHOLE * most)
    found: list[_Place | None] = []
    for pod in pods:
        need = np.array([pod.cpu_milli, pod.memory_mib])
        fits = (free >= need).all(axis=1) & ((gpu >= max(pod.gpu_milli, 1)).sum(axis=1) >= pod.num_gpus)
        options = np.flatnonzero(fits)
        if not len(options):
            found.append(None)
            continue
        left = free[options, 0] * scale[0] + gpu[options].sum(axis=1) * scale[1]
        host = int(options[np.argmin(left)])
        gpus = _fullest(gpu[host], pod)
        free[host] -= need
        gpu[host, list(gpus)] -= pod.gpu_milli
        found.append((host, gpus))
    return found


def _fullest(gpu: Ints, pod: TracePod) -> tuple[int, ...]:
    fitting = sorted((free, index) for index, free in enumerate(gpu.tolist()) if free >= pod.gpu_milli)
    return tuple(sorted(index for _, index in fitting[: pod.num_gpus]))


def _choices(hosts: Sequence[TraceNode], places: Sequence[_Place | None]) -> tuple[list[_Place], dict[_Place, int]]:
    """The nodes of the problem and their numbers: aligned sets of GPUs, and those that pods are on."""
    aligned: list[_Place] = []
    for host, node in enumerate(hosts):
        aligned.append((host, ()))
        for size in (1, 2, 4, 8):
            starts = range(0, node.num_gpus - size + 1, size)
            aligned.extend((host, tuple(range(start, start + size))) for start in starts)
    choices = list(dict.fromkeys([*aligned, *(place for place in places if place is not None)]))
    return choices, {choice: number for number, choice in enumerate(choices)}


def _parts(hosts: Sequence[TraceNode], choices: Sequence[_Place]) -> Parts:
    first = np.cumsum([0, *(host.num_gpus for host in hosts)]) + len(hosts)
    capacity = [[host.cpu_milli, host.memory_mib, UNLIMITED] for host in hosts]
    capacity += [[UNLIMITED, UNLIMITED, _WHOLE]] * int(first[-1] - len(hosts))
    taken = np.full((len(choices), 1 + max(len(gpus) for _, gpus in choices)), -1)
    for number, (host, gpus) in enumerate(choices):
        taken[number, : len(gpus) + 1] = [host, *(first[host] + gpu for gpu in gpus)]
    return Parts(np.array(capacity), taken, np.array([host for host, _ in choices]))


def _classes(
    hosts: Sequence[TraceNode], pods: Sequence[TracePod], choices: Sequence[_Place]
) -> dict[str, Ints | Bools]:
    """`pod_class` and `allowed`: as many GPUs as a pod asks for, of the models that it accepts."""
    keys = sorted({(pod.num_gpus, pod.models) for pod in pods})
    sizes = np.array([len(gpus) for _, gpus in choices])
    models = np.array([hosts[host].model for host, _ in choices])
    allowed = [(sizes == size) & (np.isin(models, accepted) if accepted else True) for size, accepted in keys]
    number = {key: index for index, key in enumerate(keys)}
    return {
        "pod_class": np.array([number[pod.num_gpus, pod.models] for pod in pods]),
        "allowed": np.array(allowed),
    }


def _objective(trace: Sequence[TracePod]) -> ReduceGpuFragmentation:
    """FGD's classes: cores and GPUs as they are asked for, each as often as the trace has it."""
    counts = Counter((pod.cpu_milli, pod.num_gpus, pod.gpu_milli if pod.num_gpus else 0) for pod in trace)
    classes = sorted(counts)
    return ReduceGpuFragmentation(
        resource=GPU,
        classes=np.array([[cpu, 0, gpu] for cpu, _, gpu in classes]),
        num_devices=np.array([devices for _, devices, _ in classes]),
        weight=np.array([counts[one] for one in classes]),
    )
