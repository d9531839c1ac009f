"""The sizes in which pods ask for GPUs: how many, how much of each, and with how many cores and how much memory."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY
from descheduler.optimizer.arrays import Ints
from descheduler.placement.framework.node_parts import ALL_PARTS, PartNeed
from descheduler.placement.landings.openings import Openings

_MOST_CPU_SIZES = 8


class GpuClasses:
    """`gpus`: int64[M, 3], rows of `PartNeed`; `needs`: int64[M, R], the CPU and memory that go with them; `weights`:
    int64[M], how many pods each stands for."""

    def __init__(self, gpus: Ints, needs: Ints, weights: Ints) -> None:
        self.gpus, self._needs, self.weights = gpus, needs, weights

    @property
    def numbers(self) -> Ints:
        """int64[M]: how many GPUs."""
        return self.gpus[:, 0]

    def over(self, num_resources: int, units: Ints | int = 1) -> Ints:
        """int64[M, num_resources + 2]: the needs of nodes, each in its unit, and then of each GPU."""
        needs = np.pad(self._needs, ((0, 0), (0, num_resources - self._needs.shape[1])))
        return np.hstack((-(-needs // units), self.gpus[:, 1:]))


def gpu_classes(pods: Iterable[Pod], openings: Openings, most_memory: int) -> GpuClasses | None:
    """The classes of `pods`; None where none asks for GPUs. `most_memory` is as in NodeParts.

    Pods with equal needs of GPUs are of one class a number of cores, or of few where these differ much, with the
    median of their cores and memory. Pods that ask for all GPUs of a node are of none.
    """
    by_need: dict[PartNeed, list[Ints]] = {}
    for pod in pods:
        need = openings.parts.need_of(pod, most_memory)
        if need is not None and need.memory_ratio and need.number != ALL_PARTS:
            by_need.setdefault(need, []).append(openings.need(pod.spec))
    columns = [openings.resources.index(name) for name in (CPU, MEMORY)]
    found = [
        (need, amounts)
        for need, rows in sorted(by_need.items())
        for amounts in _by_cpu(np.array([row[columns] for row in rows]))
    ]
    if not found:
        return None
    needs = np.zeros((len(found), len(openings.resources)), dtype=np.int64)
    needs[:, columns] = [np.sort(amounts, axis=0)[len(amounts) // 2] for _, amounts in found]
    return GpuClasses(np.array([need for need, _ in found]), needs, np.array([len(amounts) for _, amounts in found]))


def _by_cpu(amounts: Ints) -> list[Ints]:
    """int64[n, 2] in rows of about as much CPU."""
    sizes = np.unique(amounts[:, 0])
    groups = np.array_split(sizes, min(len(sizes), _MOST_CPU_SIZES))
    return [amounts[np.isin(amounts[:, 0], group)] for group in groups]
