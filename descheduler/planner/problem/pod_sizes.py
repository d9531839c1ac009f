"""The sizes in which the pods of a cluster request a resource."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY
from descheduler.optimizer.arrays import Ints
from descheduler.placement.landings.openings import Openings
from descheduler.planner.problem.pod_needs import needs_of

_MOST_SIZES = 8


class PodSizes:
    """`amounts`: int64[M], ascending, of the resource; `needs`: int64[M, R], with the CPU and memory that go with them;
    `weights`: int64[M], how many pods each stands for."""

    def __init__(self, needs: Ints, resource: int, weights: Ints) -> None:
        self.needs, self.resource, self.weights = needs, resource, weights
        self.amounts: Ints = needs[:, resource]

    def padded(self, num_resources: int) -> Ints:
        """`needs` over that many resources: more of them may have become known since."""
        return np.pad(self.needs, ((0, 0), (0, num_resources - self.needs.shape[1])))

    @property
    def text(self) -> str:
        """Such as `1, 2 or 8`."""
        return _listed([str(amount) for amount in self.amounts.tolist()])

    def text_of(self, which: Sequence[int]) -> str:
        """The text of some of them."""
        return _listed([str(self.amounts[number]) for number in which])


def sizes_of(pods: Sequence[Pod], resource: str, openings: Openings) -> PodSizes | None:
    """The sizes of `pods`, a class an amount of `resource`; None where no pod requests any.

    A class has the median CPU and memory of its pods. Of many amounts neighbours are one class, by the larger; the
    largest is always there, however rare, because nothing else would hold large slots open (Weng et al., USENIX ATC
    2023).
    """
    needs = needs_of(pods, openings)
    names = openings.resources
    if resource not in names:
        return None
    column = names.index(resource)
    needs = needs[needs[:, column] > 0]
    if not len(needs):
        return None
    classes = [_class_of(group, column, names) for group in _groups(needs, column)]
    return PodSizes(np.array([need for need, _ in classes]), column, np.array([number for _, number in classes]))


def _groups(needs: Ints, column: int) -> list[Ints]:
    """The rows by their amounts, ascending, at most `_MOST_SIZES` groups; the largest amount is one by itself."""
    amounts = np.unique(needs[:, column])
    parts = (*np.array_split(amounts[:-1], _MOST_SIZES - 1), amounts[-1:])
    return [needs[np.isin(needs[:, column], part)] for part in parts if len(part)]


def _class_of(needs: Ints, column: int, names: Sequence[str]) -> tuple[Ints, int]:
    need = np.zeros(needs.shape[1], np.int64)
    for name in (CPU, MEMORY):
        row = names.index(name)
        need[row] = np.sort(needs[:, row])[len(needs) // 2]
    need[column] = needs[:, column].max()
    return need, len(needs)


def _listed(texts: Sequence[str]) -> str:
    *others, last = texts
    return f"{', '.join(others)} or {last}" if others else last
