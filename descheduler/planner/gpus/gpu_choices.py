"""Choices of GPUs on nodes, and the parts that these are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from descheduler.optimizer.arrays import Bools, Ints
from descheduler.optimizer.parts import UNLIMITED, Parts
from descheduler.placement.framework.node_parts import ALL_PARTS, FreePart, PartNeed

NUM_GPU_RESOURCES = 2
"""Percent of the cores and percent of the memory of one GPU, which come last among the resources."""

Choice = tuple[int, tuple[int, ...]]
"""The place of a node of the cluster, and minors of its GPUs."""


class GpuChoices:
    """The nodes of the optimizer's problem: choices of GPUs of the cluster's nodes.

    gpus:      by node of the cluster, what is free of each GPU, by minor.
    needs:     by pod, what it asks of GPUs; None: nothing.
    places:    by pod, the choice that it is on; None: it is pending.
    counts:    int64[P], how many GPUs each pod asks for, or `ALL_PARTS`.
    number_of: the number of each choice, which is the problem's node.
    host:      int64[N], the cluster's node of each choice.

    Each node of the cluster is a choice without any GPU. For several GPUs there are the sets that pods have, and
    further ones of which no two share a GPU: those of neighbours, and those that are about equally free.
    """

    def __init__(
        self,
        gpus: Sequence[Mapping[int, FreePart]],
        needs: Sequence[PartNeed | None],
        places: Sequence[Choice | None],
    ) -> None:
        self._gpus, self._needs, self._places = gpus, needs, places
        minors = [(place, minor) for place, some in enumerate(gpus) for minor in some]
        self._part_of = {key: part for part, key in enumerate(minors)}
        self.counts: Ints = np.array([0 if need is None else need.number for need in needs], dtype=np.int64)
        self._choices = list(dict.fromkeys([*self._offered(), *(place for place in places if place is not None)]))
        self.number_of = {choice: number for number, choice in enumerate(self._choices)}
        self.host: Ints = np.array([place for place, _ in self._choices], dtype=np.int64)

    def _offered(self) -> Iterator[Choice]:
        counts = set(self.counts.tolist())
        sizes = sorted({1, *counts} - {0, ALL_PARTS})
        for place, gpus in enumerate(self._gpus):
            yield place, ()
            if ALL_PARTS in counts:
                yield place, tuple(sorted(gpus))
            for order in (list(gpus), sorted(gpus, key=lambda minor: (*(-free for free in gpus[minor]), minor))):
                for size in sizes:
                    yield from ((place, minors) for minors in _sets(order, size))

    def need(self) -> Ints:
        """int64[P, 2]: what each pod needs of a GPU."""
        rows = [(0, 0) if need is None else (need.core, need.memory_ratio) for need in self._needs]
        return np.array(rows, dtype=np.int64).reshape(-1, NUM_GPU_RESOURCES)

    def allowed(self, kind: Bools, count: int) -> Bools:
        """bool[N]: the choices for a pod that asks for `count` GPUs and may run on `kind`, bool[nodes of the cluster].

        A node without a Device is taken as it is, however many GPUs are asked for.
        """
        sizes = np.array([len(minors) for _, minors in self._choices])
        wanted = np.array([len(gpus) if count == ALL_PARTS else count for gpus in self._gpus])[self.host]
        is_bare = np.array([not gpus for gpus in self._gpus])[self.host]
        return np.asarray(kind[self.host] & ((sizes == wanted) | (is_bare & (sizes == 0))))

    def parts(self, capacity: Ints) -> Parts:
        """The parts that choices are made of: each node of the cluster, with its row of `capacity`, and then each GPU.

        capacity: int64[nodes of the cluster, R]. A GPU has what is free of it and what pods at `places` have of it.
        """
        gpus = self._gpu_capacity()
        of_nodes = np.hstack((capacity, np.full((len(capacity), NUM_GPU_RESOURCES), UNLIMITED)))
        of_gpus = np.hstack((np.full((len(gpus), capacity.shape[1]), UNLIMITED), gpus))
        taken = np.full((len(self._choices), 1 + max(len(minors) for _, minors in self._choices)), -1)
        for row, choice in zip(taken, self._choices, strict=True):
            row[: len(choice[1]) + 1] = [choice[0], *(len(capacity) + part for part in self._gpu_parts(choice))]
        return Parts(np.vstack((of_nodes, of_gpus)), taken, self.host)

    def _gpu_capacity(self) -> Ints:
        """int64[GPUs, 2]."""
        free = [gpu for gpus in self._gpus for gpu in gpus.values()]
        found = np.array(free, dtype=np.int64).reshape(-1, NUM_GPU_RESOURCES)
        for need, place in zip(self.need(), self._places, strict=True):
            if place is not None:
                found[self._gpu_parts(place)] += need
        return found

    def _gpu_parts(self, choice: Choice) -> list[int]:
        place, minors = choice
        return [self._part_of[place, minor] for minor in minors]


def _sets(order: Sequence[int], size: int) -> Iterable[tuple[int, ...]]:
    """Neighbours in `order`, each once."""
    return (tuple(sorted(order[start : start + size])) for start in range(0, len(order) - size + 1, size))
